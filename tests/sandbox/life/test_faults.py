"""Every kind of trouble x every verb x every cloud: the right error, nothing done twice, and a second run converges."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from fracgpu.errors import FracgpuError
from fracgpu.operations.planning import Choices
from fracgpu.providers import Phase
from tests.life import CLOUDS, MINUTE, Hand, fail, spec

BEFORE: dict[str, Any] = {"nodes": {"count": 1}, "labels": {"team": "vision"}}
AFTER: dict[str, dict[str, Any]] = {
    "create": {**BEFORE},
    "label": {**BEFORE, "labels": {"team": "audio"}},
    "scale": {**BEFORE, "nodes": {"count": 3}},
}
"""What each verb makes of a pool; `delete` leaves none."""
VERBS = (*AFTER, "delete")
CALLS = {
    "gke": {
        "create": "CreateNodePool",
        "label": "UpdateNodePool",
        "scale": "SetNodePoolSize",
        "delete": "DeleteNodePool",
    },
    "aks": {
        "create": "AgentPools_CreateOrUpdate",
        "label": "AgentPools_CreateOrUpdate",
        "scale": "AgentPools_CreateOrUpdate",
        "delete": "AgentPools_Delete",
    },
    "eks": {
        "create": "CreateNodegroup",
        "label": "UpdateNodegroupConfig",
        "scale": "UpdateNodegroupConfig",
        "delete": "DeleteNodegroup",
    },
}


@dataclass(frozen=True)
class Trouble:
    """A fault and the exit codes that it may end in: 0 where it is overcome."""

    how: dict[str, Any]
    exits: tuple[int, ...] = (0,)
    verbs: tuple[str, ...] = VERBS
    says: str = ""
    """Part of the error's code."""
    where: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Cloud -> what is different there."""


ENDS = ("create", "delete")
BAD_TOKEN = {"eks": {"status": 403, "code": "UnrecognizedClientException"}}
TROUBLES = {
    "answer lost": Trouble({"drop": True, "times": 1}),
    "throttled once": Trouble({"status": 429, "retry_after": 1, "times": 1}),
    "unavailable once": Trouble({"status": 503, "times": 1}),
    "forbidden": Trouble({"status": 403, "times": None}, (4,), ("create", "label"), says="forbidden"),
    "not signed in": Trouble({"status": 401, "times": None}, (4,), ENDS, says="not-signed-in", where=BAD_TOKEN),
    "down for good": Trouble({"status": 503, "times": None}, (9,), ("create",)),
    "never ends": Trouble({"outcome": "endless", "times": 1}, (7,), says="timeout"),
    "made in failure": Trouble({"outcome": "failed", "times": 1}, (5,), ("create",)),
    "changed in failure": Trouble({"outcome": "failed", "times": 1}, (0, 5, 8, 9), ("label", "scale")),
    "deleted in failure": Trouble({"outcome": "failed", "times": 1}, (8, 9), ("delete",)),
    "made in part": Trouble({"outcome": "partial", "times": 1}, (5,), ("create",)),
}


def cases() -> Iterator[Any]:
    for name, trouble in TROUBLES.items():
        for cloud in CLOUDS:
            for verb in trouble.verbs:
                yield pytest.param(cloud, verb, trouble, id=f"{name}-{verb}-{cloud}")


def run(hand: Hand, verb: str) -> None:
    verbs: dict[str, Callable[[], Any]] = {
        "create": lambda: hand.create(spec(hand.cloud, **AFTER["create"])),
        "label": lambda: hand.apply(spec(hand.cloud, **AFTER["label"])),
        "scale": lambda: hand.scale(3),
        "delete": lambda: hand.delete() if hand.observe() else None,
    }
    verbs[verb]()


@pytest.mark.parametrize(("cloud", "verb", "trouble"), list(cases()))
def test_trouble(world: Any, cloud: str, verb: str, trouble: Trouble) -> None:
    hand = Hand(world, cloud, limit=10 * MINUTE)
    if verb != "create":
        hand.create(spec(cloud, **BEFORE))
    fail(world, cloud, CALLS[cloud][verb], **{**trouble.how, **trouble.where.get(cloud, {})})
    code, said = outcome(hand, verb)
    assert code in trouble.exits, said
    assert trouble.says in said
    world.world.faults.clear()
    converge(world, cloud, verb)


def outcome(hand: Hand, verb: str) -> tuple[int, str]:
    try:
        run(hand, verb)
    except FracgpuError as error:
        return error.exit_code, f"{type(error).__name__} {error.findings[0].code}: {error.message}"
    return 0, ""


def converge(world: Any, cloud: str, verb: str) -> None:
    """A second run, in another process as it were, brings about what was wanted; a third finds nothing to do."""
    abandon(world)
    hand = Hand(world, cloud, limit=60 * MINUTE)
    if verb == "delete":
        run(hand, verb)
        assert hand.ours() == []
        return
    wanted = spec(cloud, **AFTER[verb])
    hand.apply(wanted, Choices(recreate=True))
    assert hand.ours() == ["gpu"]
    seen = hand.observe()
    assert seen is not None
    assert seen.status.phase is Phase.READY
    assert hand.apply(wanted).outcome.value == "unchanged"


def abandon(world: Any) -> None:
    """Whatever never ends is ended by the cloud after all."""
    for cluster in world.world.clusters.values():
        for operation in cluster.running():
            operation.ends = min(operation.ends, world.world.now())
            operation.outcome = None if operation.outcome == "endless" else operation.outcome
    world.advance(0)


def test_the_verbs_are_those_of_the_table() -> None:
    """The matrix leaves no cloud and no verb out."""
    assert {verb for calls in CALLS.values() for verb in calls} == set(VERBS)
    assert set(CALLS) == set(CLOUDS)
