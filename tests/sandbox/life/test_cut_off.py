"""The program ends at every step of every verb on every cloud, before it is taken or after: a second run converges.

To a cloud a program that was ended by force is one that is never heard of again; `test_killed` does it for real.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from fracgpu.errors import FracgpuError, NotFound
from fracgpu.operations.outcome import Outcome
from fracgpu.operations.planning import Choices
from fracgpu.operations.waiting import Goal
from fracgpu.plan import Action
from fracgpu.providers import Phase
from tests.life import MINUTE, Hand, PushedClock, Severed, spec
from tests.sandbox.conftest import Sandbox

MIG: dict[str, Any] = {"machine": "p4d.24xlarge", "sharing": {"mig": {"profile": "1g.5gb"}}}
CUT_ANEW: dict[str, Any] = {**MIG, "sharing": {"mig": {"profile": "2g.10gb"}}}
MANY: dict[str, Any] = {"labels": {"team": "audio"}, "tags": {"owner": "a"}, "nodes": {"count": 2}}

JOURNEYS: dict[str, tuple[dict[str, Any] | None, dict[str, Any] | None, list[str]]] = {
    "gke create": (None, {}, ["CreateNodePool"]),
    "gke change": (
        {"gke": {"autoUpgrade": False}},
        {**MANY, "sharing": {"timeSlicing": {"replicas": 2}}, "gke": {"autoUpgrade": True}},
        ["SetNodePoolManagement", "UpdateNodePool", "UpdateNodePool", "SetNodePoolSize"],
    ),
    "gke limits": ({}, {"nodes": {"min": 1, "max": 3}}, ["SetNodePoolAutoscaling"]),
    "gke replace": ({}, {"capacity": "spot"}, ["DeleteNodePool", "CreateNodePool"]),
    "gke delete": ({}, None, ["DeleteNodePool"]),
    "aks create": (None, {}, ["AgentPools_CreateOrUpdate"]),
    "aks change": ({}, MANY, ["AgentPools_CreateOrUpdate"]),
    "aks replace": ({}, {"machine": "Standard_NC8as_T4_v3"}, ["AgentPools_Delete", "AgentPools_CreateOrUpdate"]),
    "aks delete": ({}, None, ["AgentPools_Delete"]),
    "eks create": (None, MIG, ["CreateLaunchTemplate", "CreateNodegroup"]),
    "eks change": ({"tags": {"cost": "b"}}, MANY, ["TagResource", "UntagResource", "UpdateNodegroupConfig"]),
    "eks roll": (MIG, CUT_ANEW, ["CreateLaunchTemplateVersion", "TagResource", "UpdateNodegroupVersion"]),
    "eks change and roll": (
        MIG,
        {**CUT_ANEW, **MANY},
        ["CreateLaunchTemplateVersion", "TagResource", "UpdateNodegroupConfig", "UpdateNodegroupVersion"],
    ),
    "eks replace": (
        MIG,
        {**MIG, "capacity": "spot"},
        ["DeleteNodegroup", "DeleteLaunchTemplate", "CreateLaunchTemplate", "CreateNodegroup"],
    ),
    "eks replace and cut anew": (
        MIG,
        {**CUT_ANEW, "capacity": "spot"},
        ["DeleteNodegroup", "DeleteLaunchTemplate", "CreateLaunchTemplate", "CreateNodegroup"],
    ),
    "eks delete": (MIG, None, ["DeleteNodegroup", "DeleteLaunchTemplate"]),
}
"""The pool that is there (None: none), the one that is wanted, and the calls that make the one of the other."""


class Ended(BaseException):
    """No handler of the program's own sees it."""


@dataclass
class LastPause(PushedClock):
    """The program that has been cut off ends in its next pause."""

    sandbox: Sandbox
    cut: Severed

    def __post_init__(self) -> None:
        super().__init__(self.sandbox)

    def sleep(self, seconds: float) -> None:
        if self.cut.cut:
            raise Ended
        super().sleep(seconds)


@pytest.fixture
def sandbox_here(world: Sandbox, unhurried: Sandbox) -> Iterator[Sandbox]:
    """A world whose faults the test replaces by its own."""
    own = world.world.faults
    yield world
    world.world.faults = own


def begin(sandbox: Sandbox, journey: str) -> tuple[Hand, Callable[[Hand], Any]]:
    """A hand on the pool that is there, and what brings about the one that is wanted."""
    before, after, _ = JOURNEYS[journey]
    hand = Hand(sandbox, journey.split(maxsplit=1)[0])
    if before is not None:
        hand.create(spec(hand.cloud, **before))
    if after is None:
        return hand, lambda one: one.delete() if one.observe() or one.session.leftovers("gpu") else None
    return hand, lambda one: one.apply(spec(one.cloud, **after), Choices(replace=True))


@pytest.mark.parametrize("journey", JOURNEYS)
def test_the_steps_are_those_of_the_table(sandbox_here: Sandbox, journey: str) -> None:
    hand, go = begin(sandbox_here, journey)
    sandbox_here.world.faults = watched = Severed()
    go(hand)
    assert watched.changes == JOURNEYS[journey][2]
    as_wanted(hand, journey)


ENDS = [
    pytest.param(journey, step, done, id=f"{journey}-{'after' if done else 'before'}-{step}-{calls[step - 1]}")
    for journey, (_, _, calls) in JOURNEYS.items()
    for step in range(1, len(calls) + 1)
    for done in (False, True)
]


@pytest.mark.parametrize(("journey", "step", "done"), ENDS)
def test_a_second_run_converges(sandbox_here: Sandbox, journey: str, step: int, done: bool) -> None:
    hand, go = begin(sandbox_here, journey)
    calls = JOURNEYS[journey][2]
    goes_on = done and step == len(calls) and calls[-1] != "DeleteLaunchTemplate"  # which is done at once
    sandbox_here.world.operation_seconds = (20 if goes_on else 1) * MINUTE
    sandbox_here.world.faults = cut = Severed(step, done=done)
    hand.clock = LastPause(sandbox_here, cut)
    with pytest.raises((FracgpuError, Ended)):
        go(hand)
    assert cut.cut
    sandbox_here.world.faults = Severed()
    second = Hand(sandbox_here, hand.cloud)
    assert in_flight(sandbox_here) or not goes_on
    go(second)
    as_wanted(second, journey)


def in_flight(sandbox: Sandbox) -> bool:
    """What the first run began goes on as the second begins."""
    return any(not one.done for cluster in sandbox.world.clusters.values() for one in cluster.operations.values())


def as_wanted(hand: Hand, journey: str) -> None:
    """The pool is there once, as wanted and at rest, or nothing of it is; and there is nothing left to do."""
    after = JOURNEYS[journey][1]
    if after is None:
        assert hand.ours() == []
        assert list(hand.session.leftovers("gpu")) == []
        return
    assert hand.ours() == ["gpu"]
    assert hand.found().status.phase is Phase.READY
    assert hand.apply(spec(hand.cloud, **after)).outcome is Outcome.UNCHANGED


def test_whoever_waits_for_the_end_is_told_what_was_left_behind(sandbox_here: Sandbox) -> None:
    """A wait looks and deletes nothing; the delete that it names does, of a pool that is gone by then."""
    hand, go = begin(sandbox_here, "eks delete")
    sandbox_here.world.faults = cut = Severed(1, done=True)
    hand.clock = LastPause(sandbox_here, cut)
    with pytest.raises((FracgpuError, Ended)):
        go(hand)
    sandbox_here.world.faults = Severed()
    second = Hand(sandbox_here, "eks")
    (note,) = second.waits(Goal.DELETED).notes
    assert (note.code, note.hint) == ("left-behind", "fracgpu pool delete gpu removes it")
    done = second.delete()
    assert (done.action, done.outcome) == (Action.DELETE, Outcome.DONE)
    assert list(second.session.leftovers("gpu")) == []
    with pytest.raises(NotFound):
        second.delete()
