"""Pods leave a pool's nodes before it is deleted; whoever may not leave is named, and nothing is deleted."""

from __future__ import annotations

from typing import Any

import pytest

from fracgpu.errors import DrainBlocked
from fracgpu.kube.promise import POOL_LABELS
from fracgpu.operations.apply import How
from fracgpu.operations.delete import delete, deletion_of
from fracgpu.operations.drain import Drain, residents
from fracgpu.operations.kube import open_kube
from fracgpu.operations.listing import found
from fracgpu.operations.outcome import Item, Outcome
from fracgpu.sandbox.settings import change
from tests.life import MINUTE, Hand, ended, spec
from tests.sandbox.conftest import Sandbox

APP = {"app": "model"}


@pytest.fixture
def made(hand: Hand) -> Hand:
    """A pool of one node, on which one pod runs."""
    hand.sandbox.world.settings.clear()
    hand.create(spec(hand.cloud))
    (node,) = nodes(hand)
    change(hand.sandbox.world, "pod", {"node": node["metadata"]["name"], "labels": APP})
    hand.sandbox.advance(MINUTE)
    return hand


def nodes(hand: Hand) -> list[dict[str, Any]]:
    with open_kube(hand.session) as kube:
        return kube.nodes({POOL_LABELS[hand.ref.provider]: "gpu"})


def guard(hand: Hand) -> None:
    """A budget that lets no pod of the app go."""
    change(hand.sandbox.world, "pdb", {"namespace": "default", "selector": APP, "min_available": 1})
    hand.sandbox.advance(MINUTE)


def deleted(hand: Hand, drain: Drain) -> Item:
    return ended(delete(deletion_of(hand.session, hand.ref, "gpu"), hand.session, hand.wait(), How(drain=drain)))


def cordoned(hand: Hand) -> list[bool]:
    return [bool(node["spec"].get("unschedulable")) for node in nodes(hand)]


def test_pods_leave_and_the_pool_goes(made: Hand) -> None:
    assert [str(one) for one in residents(found(made.session, "gpu"), made.session)] == ["default/sandbox-pod-0"]
    assert deleted(made, Drain()).outcome is Outcome.DONE
    assert made.ours() == []


@pytest.mark.parametrize(
    "lost", [{"status": 401}, {"status": 503, "times": 9}, {"status": 500, "times": 9}, {"drop": True, "times": 9}]
)
def test_a_cluster_out_of_reach_in_the_middle_is_no_reason_to_delete(
    made: Hand, unhurried: Sandbox, lost: dict[str, Any]
) -> None:
    """A token that ends while a budget blocks is had anew, and the budget still counts."""
    guard(made)
    unhurried.world.faults.add("k8s", "create pods/eviction", times=2, delay=1)
    unhurried.world.faults.add("k8s", "create pods/eviction", **lost)
    with pytest.raises(DrainBlocked, match="disruption budget"):
        deleted(made, Drain(limit=5 * MINUTE))
    assert made.ours() == ["gpu"]
    assert cordoned(made) == [False]


def test_one_that_stays_out_of_reach_keeps_its_pool(made: Hand, unhurried: Sandbox) -> None:
    guard(made)
    unhurried.world.faults.add("k8s", "create pods/eviction", times=2, delay=1)
    unhurried.world.faults.add("k8s", "create pods/eviction", status=503, times=None)
    with pytest.raises(DrainBlocked, match="Kubernetes API"):
        deleted(made, Drain(limit=5 * MINUTE))
    assert made.ours() == ["gpu"]


def test_whoever_blocks_is_named_and_the_pool_stays_in_service(made: Hand) -> None:
    guard(made)
    with pytest.raises(DrainBlocked) as blocked:
        deleted(made, Drain(limit=2 * MINUTE))
    assert "default/sandbox-pod-0" in blocked.value.message
    assert "sandbox-app-model" in blocked.value.message
    assert "--force" in str(blocked.value.hint)
    assert made.ours() == ["gpu"]
    assert cordoned(made) == [False]


def test_force_does_not_wait(made: Hand) -> None:
    guard(made)
    slept = len(made.clock.slept)
    done = deleted(made, Drain(force=True))
    assert [note.code for note in done.notes] == ["pod-ends-with-node"]
    assert made.ours() == []
    assert max(made.clock.slept[slept:]) <= MINUTE


def test_a_cluster_that_cannot_be_asked_is_left_to_its_cloud(world: Any) -> None:
    hand = Hand(world, "gke")
    hand.create(spec("gke"))
    world.world.faults.add("k8s", "list nodes", status=403, times=None)
    done = deleted(hand, Drain())
    assert [note.code for note in done.notes] == ["not-drained"]
    assert hand.ours() == []


def test_a_replaced_pool_is_drained_too(made: Hand) -> None:
    from fracgpu.operations.planning import Choices

    guard(made)
    wanted = spec(made.cloud, capacity="spot")
    with pytest.raises(DrainBlocked):
        made.apply(wanted, Choices(replace=True), How(drain=Drain(limit=MINUTE)))
    assert made.ours() == ["gpu"]
