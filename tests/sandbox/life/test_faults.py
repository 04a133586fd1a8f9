"""Every kind of fault x every verb x every cloud: the right exit code, nothing done twice, and a second run converges.

The verbs are the operations that the command line runs, with the clouds' real SDKs; no pause is really waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from fracgpu.errors import FracgpuError
from fracgpu.operations.apply import How
from fracgpu.operations.outcome import Outcome
from fracgpu.operations.planning import Choices
from fracgpu.providers import Phase
from fracgpu.sandbox.control import FAULT_FIELDS
from tests.life import CLOUDS, MINUTE, Hand, fail, spec
from tests.sandbox.conftest import Sandbox

WRITES: dict[str, Callable[[Hand], Any]] = {
    "create": lambda hand: hand.create(wanted(hand, "create")),
    "apply": lambda hand: hand.apply(wanted(hand, "apply")),
    "scale": lambda hand: hand.scale(3),
    "update": lambda hand: hand.update(labels={"team": "audio"}),
    "delete": lambda hand: hand.delete() if hand.observe() else None,
}
READS: dict[str, Callable[[Hand], Any]] = {
    "wait": Hand.waits,
    "verify": Hand.verify,
    "list": Hand.pools,
    "show": Hand.found,
}
VERBS = WRITES | READS
AFTER: dict[str, dict[str, Any]] = {
    "create": {},
    "apply": {"labels": {"team": "audio"}},
    "scale": {"nodes": {"count": 3}},
    "update": {"labels": {"team": "audio"}},
}
"""What a verb makes of the pool; `delete` leaves none."""
CALLS: dict[str, dict[str, str]] = {
    "gke": {
        "create": "CreateNodePool",
        "scale": "SetNodePoolSize",
        "delete": "DeleteNodePool",
        **dict.fromkeys(("apply", "update"), "UpdateNodePool"),
        "list": "ListNodePools",
        "wait": "GetNodePool",
        "show": "GetNodePool",
    },
    "aks": {
        **dict.fromkeys(("create", "apply", "scale", "update"), "AgentPools_CreateOrUpdate"),
        "delete": "AgentPools_Delete",
        "list": "AgentPools_List",
        "wait": "AgentPools_Get",
        "show": "AgentPools_Get",
    },
    "eks": {
        "create": "CreateNodegroup",
        "delete": "DeleteNodegroup",
        **dict.fromkeys(("apply", "scale", "update"), "UpdateNodegroupConfig"),
        "list": "ListNodegroups",
        "wait": "DescribeNodegroup",
        "show": "DescribeNodegroup",
    },
}
"""The call that a verb cannot do without; that of `verify` is Kubernetes' own."""


@dataclass(frozen=True)
class Trouble:
    """A fault, and the exit code in which a verb ends: 0 where it is overcome.

    `exits` is by verb, by `writes` or `reads`, or by verb and cloud, of which the last counts; `where` is what says the
    same in another cloud's words.
    """

    how: Mapping[str, Any]
    exits: Mapping[str, int] = field(default_factory=dict)
    verbs: tuple[str, ...] = tuple(VERBS)
    where: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def exit_code(self, verb: str, cloud: str) -> int:
        kind = "writes" if verb in WRITES else "reads"
        keys = (f"{verb} {cloud}", f"{kind} {cloud}", verb, kind)
        return next((self.exits[key] for key in keys if key in self.exits), 0)

    def fault(self, verb: str, cloud: str) -> dict[str, Any]:
        return {**self.how, **({} if verb == "verify" else self.where.get(cloud, {}))}


BUSY = {"gke": {"status": 400, "code": "CLUSTER_ALREADY_HAS_OPERATION"}}
BAD_TOKEN = {"eks": {"status": 403, "code": "ExpiredTokenException"}}
MAKING = ("create", "apply", "scale", "update")
TROUBLES = {
    # passed over by asking again, or by looking at what has become of what was asked
    "answer lost": Trouble({"drop": True}),
    "never arrived": Trouble({"drop": True, "status": 503}),
    "answered late": Trouble({"delay": 3}),
    "throttled": Trouble({"status": 429}),
    "put off": Trouble({"status": 429, "retry_after": 20}),
    "unavailable": Trouble({"status": 503}),
    "broken": Trouble({"status": 500}),
    "busy": Trouble({"status": 409}, verbs=tuple(WRITES), where=BUSY),
    "every answer lost": Trouble({"drop": True, "times": None}, {"reads": 9}),
    # told
    "throttled for good": Trouble(
        {"status": 429, "times": None}, {"writes": 9, "writes gke": 8, "reads": 9, "wait": 7}
    ),
    "put off for good": Trouble(
        {"status": 429, "retry_after": 20, "times": None}, {"writes": 9, "writes gke": 8, "reads": 9, "wait": 7}
    ),
    "unavailable for good": Trouble({"status": 503, "times": None}, {"writes": 9, "reads": 9}),
    "broken for good": Trouble({"status": 500, "times": None}, {"writes": 9, "reads": 9}),
    "busy for good": Trouble({"status": 409, "times": None}, {"writes": 8}, tuple(WRITES), BUSY),
    "refused": Trouble({"status": 400, "message": "No.", "times": None}, {"writes": 9, "reads": 9}),
    "not signed in": Trouble({"status": 401, "times": None}, {"writes": 4, "reads": 4}, where=BAD_TOKEN),
    "forbidden": Trouble({"status": 403, "times": None}, {"writes": 4, "reads": 4}),
    "not there": Trouble({"status": 404, "times": None}, {"writes": 3, "reads": 3}, (*MAKING, *READS)),
    # the call goes well, and what it began does not
    "never ends": Trouble({"outcome": "endless"}, {"writes": 7}, tuple(WRITES)),
    "ends in failure": Trouble(
        {"outcome": "failed"},
        {"writes": 9, "writes aks": 5, "create": 5, "create gke": 5, "scale gke": 5, "delete aks": 8},
        tuple(WRITES),
    ),
    "ends in part": Trouble(
        {"outcome": "partial"},
        {"writes": 5, "delete": 9, "delete aks": 8, "apply gke": 9, "update gke": 9, "apply eks": 0, "update eks": 0},
        tuple(WRITES),
    ),
}


def cells() -> Iterator[Any]:
    for name, trouble in TROUBLES.items():
        for verb in trouble.verbs:
            for cloud in CLOUDS:
                yield pytest.param(name, verb, cloud, id=f"{name}-{verb}-{cloud}")


def wanted(hand: Hand, verb: str) -> Any:
    return spec(hand.cloud, **AFTER.get(verb, {}))


@pytest.mark.parametrize(("name", "verb", "cloud"), list(cells()))
def test_trouble(world: Sandbox, unhurried: Sandbox, name: str, verb: str, cloud: str) -> None:
    trouble = TROUBLES[name]
    world.world.operation_seconds = 0
    hand = Hand(world, cloud, limit=10 * MINUTE)
    if verb != "create":
        hand.create(spec(cloud), how=How(preflight=False))
    before = hand.operations()
    meet(hand, verb, trouble)
    code, error = outcome(hand, verb)
    assert code == trouble.exit_code(verb, cloud), repr(error)
    assert error is None or error.hint, f"no next step: {error.message}"
    begun = hand.operations() - before
    assert begun == (verb in WRITES) if code == 0 else begun <= 1
    world.world.faults.clear()
    converge(Hand(world, cloud), verb, broken="outcome" in trouble.how)
    if "outcome" not in trouble.how:
        assert hand.operations() - before == (verb in WRITES)


def meet(hand: Hand, verb: str, trouble: Trouble) -> None:
    how = trouble.fault(verb, hand.cloud)
    if verb == "verify":
        hand.sandbox.world.faults.add("k8s", "list nodes", **how)
    else:
        fail(hand.sandbox, hand.cloud, CALLS[hand.cloud][verb], **how)


def outcome(hand: Hand, verb: str) -> tuple[int, FracgpuError | None]:
    try:
        VERBS[verb](hand)
    except FracgpuError as error:
        return error.exit_code, error
    return 0, None


def converge(hand: Hand, verb: str, *, broken: bool) -> None:
    """A second run, in another process as it were, brings about what was wanted; a third finds nothing to do."""
    if broken:
        abandon(hand.sandbox)
    if broken and verb in AFTER:
        hand.apply(wanted(hand, verb), Choices(recreate=True))
    else:
        VERBS[verb](hand)
    if verb == "delete":
        assert hand.ours() == []
        return
    assert hand.ours() == ["gpu"]
    assert hand.found().status.phase is Phase.READY
    assert hand.apply(wanted(hand, verb)).outcome is Outcome.UNCHANGED


def abandon(world: Sandbox) -> None:
    """Whatever never ends is ended by the cloud after all."""
    for cluster in world.world.clusters.values():
        for operation in cluster.running():
            operation.ends = min(operation.ends, world.world.now())
            operation.outcome = None if operation.outcome == "endless" else operation.outcome
    world.advance(0)


def test_the_table_leaves_nothing_out() -> None:
    """Every field of a fault, every outcome, every verb and cloud is in it."""
    said = {name for trouble in TROUBLES.values() for how in (trouble.how, *trouble.where.values()) for name in how}
    assert said == set(FAULT_FIELDS)
    assert {trouble.how.get("outcome") for trouble in TROUBLES.values()} == {None, "failed", "endless", "partial"}
    assert {*CALLS} == {*CLOUDS}
    assert all({*calls} | {"verify"} == {*VERBS} for calls in CALLS.values())
