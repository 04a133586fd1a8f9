"""Any sequence of verbs on a pool leaves it as a model of it says; two runs at once end as one would."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from fracgpu.errors import Conflict, FracgpuError
from fracgpu.operations.outcome import Outcome
from fracgpu.spec import NodePool
from tests.life import CLOUDS, MINUTE, Hand, spec
from tests.sandbox.conftest import Sandbox

FEW = settings(max_examples=6, stateful_step_count=10, suppress_health_check=list(HealthCheck))
KEYS = st.sampled_from(["team", "tier"])
WORDS = st.sampled_from(["a", "b"])
COUNTS = st.integers(1, 4)
"""From 1: EKS has no maximum of 0, so a group of none reads as one with limits 0 and 1."""


class Sequence(RuleBasedStateMachine):
    """A pool in the hands of somebody who creates, scales, updates and deletes it in any order."""

    sandbox: Sandbox
    cloud: str

    def __init__(self) -> None:
        super().__init__()
        self.sandbox.world.reset()
        self.sandbox.world.operation_seconds = 0
        self.hand = Hand(self.sandbox, self.cloud)
        self.model: dict[str, Any] | None = None

    @precondition(lambda self: self.model is None)
    @rule(count=COUNTS, labels=st.dictionaries(KEYS, WORDS, min_size=1))
    def create(self, count: int, labels: dict[str, str]) -> None:
        self.model = {"nodes": {"count": count}, "labels": labels}
        assert self.hand.create(self.wanted()).outcome is Outcome.DONE

    @precondition(lambda self: self.model is not None)
    @rule(count=COUNTS)
    def scale(self, count: int) -> None:
        nodes = self.known["nodes"]
        low, high = nodes.get("min", 0), nodes.get("max", count)
        if not low <= count <= high:
            with pytest.raises(FracgpuError) as refused:
                self.hand.scale(count)
            assert refused.value.exit_code == 2
            return
        self.hand.scale(count)
        nodes["count"] = count

    @precondition(lambda self: self.model is not None)
    @rule(low=st.integers(0, 3), more=st.integers(1, 3))
    def limit(self, low: int, more: int) -> None:
        nodes = self.known["nodes"]
        count = min(max(nodes["count"], low), low + more)
        self.hand.scale(low=low, high=low + more)
        self.known["nodes"] = {"count": count, "min": low, "max": low + more}

    @precondition(lambda self: self.model is not None)
    @rule(key=KEYS, word=WORDS)
    def label(self, key: str, word: str) -> None:
        changes = self.known["labels"].get(key) != word
        self.known["labels"][key] = word
        outcome = self.hand.update(labels={key: word}).outcome
        assert outcome is (Outcome.DONE if changes else Outcome.UNCHANGED)

    @precondition(lambda self: self.model is not None)
    @rule()
    def delete(self) -> None:
        self.hand.delete()
        self.model = None

    @property
    def known(self) -> dict[str, Any]:
        assert self.model is not None
        return self.model

    def wanted(self) -> NodePool:
        return spec(self.cloud, **self.known)

    @invariant()
    def is_as_the_model_says(self) -> None:
        if self.model is None:
            assert self.hand.ours() == []
            return
        read = self.hand.read()
        assert {"min": read["nodes"].get("min", 0), **read["nodes"]} == {"min": 0, **at_rest(self.known["nodes"])}
        assert read["labels"] == self.known["labels"]
        assert self.hand.apply(self.wanted()).outcome is Outcome.UNCHANGED


def at_rest(nodes: dict[str, int]) -> dict[str, int]:
    """As the file form says counts: one that equals min is not told."""
    return {key: value for key, value in nodes.items() if key != "count" or value != nodes.get("min")}


@pytest.mark.parametrize("cloud", CLOUDS)
def test_any_sequence_ends_as_the_model_says(running: Sandbox, cloud: str) -> None:
    machine = type("Sequence", (Sequence,), {"sandbox": running, "cloud": cloud})
    run_state_machine_as_test(machine, settings=FEW)


POOLS = st.fixed_dictionaries(
    {
        "nodes": st.one_of(
            st.builds(lambda count: {"count": count}, COUNTS),
            st.builds(lambda low, more: {"min": low, "max": low + more}, st.integers(0, 2), st.integers(1, 3)),
        ),
        "labels": st.dictionaries(KEYS, WORDS, min_size=1),
        "taints": st.lists(st.sampled_from(["a=b:NoSchedule", "c=d:NoExecute"]), unique=True),
        "tags": st.dictionaries(st.sampled_from(["owner", "cost"]), WORDS),
        "capacity": st.sampled_from(["on-demand", "spot"]),
        "sharing": st.sampled_from([{"timeSlicing": {"replicas": 4}}, {"mps": {"replicas": 2}}, {}]),
    }
)


CUTS: dict[str, dict[str, Any]] = {
    "gke": {"machine": "a2-highgpu-1g", "sharing": {"mig": {"profile": "1g.5gb"}, "mps": {"replicas": 2}}},
    "aks": {"machine": "Standard_NC24ads_A100_v4", "sharing": {"mig": {"profile": "2g.20gb", "strategy": "mixed"}}},
    "eks": {"machine": "p4d.24xlarge", "sharing": {"mig": {"layout": {"3g.20gb": 1, "2g.10gb": 2}}}},
}
"""A pool of each cloud whose GPUs are cut; on EKS by a launch template of its own."""


@pytest.mark.parametrize("cloud", CLOUDS)
def test_applied_it_plans_to_nothing_and_so_does_its_export(running: Sandbox, cloud: str) -> None:
    @settings(max_examples=12, suppress_health_check=list(HealthCheck))
    @given(POOLS, st.booleans())
    def holds(members: dict[str, Any], cut: bool) -> None:
        running.world.reset()
        running.world.operation_seconds = 0
        hand = Hand(running, cloud)
        pool = spec(cloud, **{**members, **(CUTS[cloud] if cut else {})})
        hand.apply(pool)
        assert hand.apply(pool).outcome is Outcome.UNCHANGED
        exported = NodePool.model_validate({"metadata": {"name": "gpu"}, "spec": hand.read()})
        assert hand.apply(exported).outcome is Outcome.UNCHANGED

    holds()


@pytest.mark.parametrize("before", [None, {}], ids=["made", "changed"])
def test_two_at_once_end_as_one(hand: Hand, before: dict[str, Any] | None) -> None:
    """Both succeed, or one is told of a conflict; either way the pool is there once and as wanted."""
    hand.sandbox.world.operation_seconds = MINUTE / 10
    if before is not None:
        hand.create(spec(hand.cloud))
    wanted = spec(hand.cloud, labels={"team": "audio"}, nodes={"count": 2})
    hands = [Hand(hand.sandbox, hand.cloud) for _ in range(2)]
    errors: list[FracgpuError] = []
    together = threading.Barrier(2)

    def run(one: Hand) -> None:
        together.wait(60)
        try:
            one.apply(wanted)
        except FracgpuError as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(one,)) for one in hands]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [error for error in errors if not isinstance(error, Conflict)] == []
    assert len(errors) < 2
    assert hand.ours() == ["gpu"]
    assert hand.apply(wanted).outcome is Outcome.UNCHANGED
