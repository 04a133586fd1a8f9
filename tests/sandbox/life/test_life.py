"""A pool from birth to death on each cloud: made once, changed in place, made anew, deleted; nothing done twice."""

from __future__ import annotations

from typing import Any

import pytest

from fracgpu.errors import ExistsDifferently, FracgpuError, ImmutableField, NotFound, NotOurs, Quota, Stock
from fracgpu.operations.outcome import Outcome
from fracgpu.operations.planning import Choices
from fracgpu.plan import Action
from fracgpu.providers import MANAGED, Phase
from fracgpu.sandbox.settings import change
from fracgpu.spec import NodePool
from tests.life import MACHINES, MINUTE, Hand, spec
from tests.sandbox.conftest import Sandbox

OTHER_MACHINES = {"aks": "Standard_NC8as_T4_v3", "eks": "g5.2xlarge"}


def test_made_once_and_then_unchanged(hand: Hand) -> None:
    pool = spec(hand.cloud)
    made = hand.create(pool)
    assert (made.action, made.outcome) == (Action.CREATE, Outcome.DONE)
    assert hand.ours() == ["gpu"]
    again = hand.create(pool)
    assert (again.action, again.outcome) == (Action.NO_OP, Outcome.UNCHANGED)
    assert hand.apply(pool).outcome is Outcome.UNCHANGED


def test_a_pool_that_differs_is_changed_by_apply_alone(hand: Hand) -> None:
    hand.create(spec(hand.cloud))
    wanted = spec(hand.cloud, labels={"team": "audio"})
    with pytest.raises(ExistsDifferently, match=r"team: vision -> audio"):
        hand.create(wanted)
    assert hand.read()["labels"] == {"team": "vision"}
    assert hand.apply(wanted).action is Action.UPDATE
    assert hand.read()["labels"] == {"team": "audio"}
    assert hand.apply(wanted).outcome is Outcome.UNCHANGED


def test_counts_and_limits(hand: Hand) -> None:
    hand.create(spec(hand.cloud))
    assert hand.scale(3).action is Action.UPDATE
    assert hand.read()["nodes"] == {"count": 3}
    hand.scale(low=1, high=4)
    assert hand.read()["nodes"] == {"count": 3, "min": 1, "max": 4}
    hand.scale(2)
    assert hand.read()["nodes"] == {"count": 2, "min": 1, "max": 4}
    hand.scale(low=2, high=2)
    assert hand.read()["nodes"] == {"count": 2}
    assert hand.scale(2).outcome is Outcome.UNCHANGED


def test_to_nothing_and_back(hand: Hand) -> None:
    hand.create(spec(hand.cloud))
    hand.scale(0)
    assert hand.apply(spec(hand.cloud, nodes={"count": 0})).outcome is Outcome.UNCHANGED
    hand.scale(3)
    assert hand.read()["nodes"] == {"count": 3}


def test_updates_add_to_what_is_there(hand: Hand) -> None:
    hand.create(spec(hand.cloud, tags={"owner": "a"}))
    hand.update(labels={"tier": "batch"}, tags={"cost": "b"}, taints=["dedicated=vision:NoSchedule"])
    now = hand.read()
    assert now["labels"] == {"team": "vision", "tier": "batch"}
    assert now["tags"] == {"owner": "a", "cost": "b"}
    assert now["taints"] == ["dedicated=vision:NoSchedule"]
    assert hand.ours() == ["gpu"]


def replaced(cloud: str) -> dict[str, Any]:
    """A change that needs a new pool: GKE moves nodes to another machine, and has a fixed price class."""
    return {"capacity": "spot"} if cloud == "gke" else {"machine": OTHER_MACHINES[cloud]}


def test_what_is_fixed_at_creation_needs_a_word(hand: Hand) -> None:
    hand.create(spec(hand.cloud))
    wanted = spec(hand.cloud, **replaced(hand.cloud))
    with pytest.raises(ImmutableField) as refused:
        hand.apply(wanted)
    assert "--replace" in str(refused.value.hint)
    done = hand.apply(wanted, Choices(replace=True))
    assert (done.action, done.outcome) == (Action.REPLACE, Outcome.DONE)
    assert hand.ours() == ["gpu"]
    assert hand.apply(wanted).outcome is Outcome.UNCHANGED


def test_deleted_with_all_that_belongs_to_it(hand: Hand) -> None:
    hand.create(spec(hand.cloud))
    assert hand.delete().outcome is Outcome.DONE
    assert hand.ours() == []
    with pytest.raises(NotFound):
        hand.delete()
    assert hand.create(spec(hand.cloud)).action is Action.CREATE


def foreign(hand: Hand) -> NodePool:
    """A pool that is there and does not carry the mark."""
    pool = spec(hand.cloud)
    hand.create(pool)
    strip_mark(hand)
    assert hand.ours() == []
    return pool


def strip_mark(hand: Hand) -> None:
    """Take the mark off every pool, as if another tool had made them."""

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without(inner) for key, inner in value.items() if key != MANAGED}
        return [without(item) for item in value] if isinstance(value, list) else value

    for cluster in hand.sandbox.world.clusters.values():
        for pool in cluster.pools.values():
            pool.body = without(pool.body)


def test_a_pool_of_another_tool_is_not_touched_unasked(hand: Hand) -> None:
    pool = foreign(hand)
    same = hand.apply(pool)
    assert same.outcome is Outcome.UNCHANGED
    assert [note.code for note in same.notes if note.code == "not-ours"]
    with pytest.raises(NotOurs):
        hand.apply(spec(hand.cloud, labels={"team": "audio"}))
    with pytest.raises(NotOurs):
        hand.apply(spec(hand.cloud, **replaced(hand.cloud)), Choices(replace=True))
    with pytest.raises(NotOurs):
        hand.delete()


def test_scaling_does_not_take_over(hand: Hand) -> None:
    foreign(hand)
    assert hand.scale(2).outcome is Outcome.DONE
    assert hand.read()["nodes"] == {"count": 2}
    assert hand.ours() == []


def test_adopting_takes_over(hand: Hand) -> None:
    pool = foreign(hand)
    assert hand.apply(pool, Choices(adopt=True)).action is Action.UPDATE
    assert hand.ours() == ["gpu"]
    assert hand.apply(pool, Choices(adopt=True)).outcome is Outcome.UNCHANGED


def test_fleets_leave_each_other_alone(hand: Hand) -> None:
    red, blue = Choices(fleet="red"), Choices(fleet="blue")
    hand.apply(spec(hand.cloud), red)
    assert hand.apply(spec(hand.cloud), red).outcome is Outcome.UNCHANGED
    with pytest.raises(NotOurs, match="belongs to fleet red"):
        hand.apply(spec(hand.cloud, labels={"team": "audio"}), blue)
    with pytest.raises(NotOurs, match="belongs to fleet red"):
        hand.apply(spec(hand.cloud), blue)
    hand.scale(2)
    seen = hand.observe()
    assert seen is not None
    assert seen.fleet == "red"


def test_a_run_that_was_left_is_picked_up(hand: Hand) -> None:
    """What another process has begun is waited for, not begun again."""
    from fracgpu.operations.apply import How

    pool = spec(hand.cloud)
    assert hand.create(pool, how=How(wait=False)).outcome is Outcome.PENDING
    second = Hand(hand.sandbox, hand.cloud)
    seen = second.observe()
    assert seen is not None
    assert seen.status.phase is Phase.CREATING
    done = second.create(pool)
    assert (done.action, done.outcome) == (Action.CREATE, Outcome.DONE)
    assert sum(hand.clock.slept) < 1
    assert MINUTE * 0.9 < sum(second.clock.slept) < MINUTE * 1.2
    assert second.ours() == ["gpu"]


def test_machines(hand: Hand) -> None:
    assert hand.create(spec(hand.cloud)).pool is not None
    assert hand.read()["machine"] == MACHINES[hand.cloud]


@pytest.mark.parametrize(
    ("kind", "fields", "error"),
    [
        ("quota", {"cloud": "aks", "metric": "cores", "limit": 2}, Quota),
        ("quota", {"cloud": "aks", "metric": "Standard NCASv3_T4 Family", "limit": 2}, Quota),
        ("offering", {"cloud": "aks", "machine": MACHINES["aks"], "zone": "eastus", "on": False}, Stock),
    ],
)
def test_what_the_cloud_would_refuse_is_told_before_anything_is_sent(
    world: Sandbox, kind: str, fields: dict[str, Any], error: type[FracgpuError]
) -> None:
    hand = Hand(world, "aks")
    change(world.world, kind, fields)
    try:
        with pytest.raises(error) as told:
            hand.create(spec("aks"))
    finally:
        world.world.settings.clear()
    assert told.value.exit_code == 5
    assert told.value.hint
    assert "call" not in told.value.detail
    assert hand.operations() == 0
