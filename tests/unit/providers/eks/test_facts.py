"""What EKS nodes are said to show, and what the autoscaler is told of them."""

from __future__ import annotations

from typing import Any

import pytest

from fracgpu.advertise import PluginOwner, explain
from fracgpu.providers import eks
from fracgpu.providers.eks.autoscaler import PREFIX
from tests.eks_pools import body, pool

A100: dict[str, Any] = {"machine": "p4d.24xlarge"}
H100: dict[str, Any] = {"machine": "p5.4xlarge"}
MIXED = {"mig": {"profile": "1g.5gb", "strategy": "mixed"}}


def told(**spec: Any) -> dict[str, str]:
    """What the autoscaler reads from the group's tags."""
    return {key.removeprefix(PREFIX): value for key, value in body(**spec)["tags"].items() if key.startswith(PREFIX)}


SHOWN: list[tuple[dict[str, Any], dict[str, int]]] = [
    ({"machine": "g5.12xlarge"}, {"nvidia.com/gpu": 4}),
    ({"machine": "g6f.2xlarge"}, {"nvidia.com/gpu": 1}),
    ({"machine": "g5.xlarge", "sharing": {"timeSlicing": {"replicas": 10}}}, {"nvidia.com/gpu": 10}),
    (
        {"machine": "g5.xlarge", "sharing": {"mps": {"replicas": 4}, "renameByDefault": True}},
        {"nvidia.com/gpu.shared": 4},
    ),
    ({**A100, "sharing": {"mig": {"profile": "1g.5gb"}}}, {"nvidia.com/gpu": 56}),
    ({**A100, "sharing": MIXED}, {"nvidia.com/mig-1g.5gb": 56}),
    ({**A100, "sharing": {**MIXED, "timeSlicing": {"replicas": 2}}}, {"nvidia.com/mig-1g.5gb": 112}),
    (
        {**A100, "sharing": {"mig": {"profile": "1g.5gb"}, "timeSlicing": {"replicas": 4}, "renameByDefault": True}},
        {"nvidia.com/gpu.shared": 224},
    ),
    (
        {"machine": "g7e.12xlarge", "sharing": {"mig": {"devices": [{"1g.24gb+me": 1, "2g.48gb": 1}, None]}}},
        {"nvidia.com/mig-2g.48gb": 1, "nvidia.com/mig-1g.24gb.me": 1, "nvidia.com/gpu": 1},
    ),
]


@pytest.mark.parametrize(("spec", "resources"), SHOWN)
def test_resources(spec: dict[str, Any], resources: dict[str, int]) -> None:
    made = pool(**spec)
    assert explain(made, eks.node_facts(made)).resources == resources


@pytest.mark.parametrize(("spec", "resources"), SHOWN)
def test_the_autoscaler_is_told_exactly_that(spec: dict[str, Any], resources: dict[str, int]) -> None:
    """And of no whole GPU where there is none; of whole ones it knows by itself."""
    expected = {"nvidia.com/gpu": "0", **{name: str(count) for name, count in resources.items()}}
    assert told(**spec) == ({} if spec["machine"] == "g5.12xlarge" else expected)


def test_the_tags_can_be_left_out_and_overruled() -> None:
    shared = {"machine": "g5.xlarge", "sharing": {"timeSlicing": {"replicas": 4}}}
    assert told(**shared, eks={"autoscalerTags": False}) == {}
    assert told(**shared, tags={f"{PREFIX}nvidia.com/gpu": "3"}) == {"nvidia.com/gpu": "3"}


def test_no_label_that_stops_the_autoscaler() -> None:
    assert "k8s.amazonaws.com/accelerator" not in body(**A100, sharing=MIXED)["labels"]


def test_labels_taints_and_selector() -> None:
    facts = eks.node_facts(
        pool("gpus", machine="g5.xlarge", capacity="spot", labels={"team": "vision"}, zones=["us-east-1a"])
    )
    assert facts.labels == {
        "team": "vision",
        "eks.amazonaws.com/nodegroup": "gpus",
        "eks.amazonaws.com/capacityType": "SPOT",
        "node.kubernetes.io/instance-type": "g5.xlarge",
        "topology.kubernetes.io/region": "us-east-1",
        "topology.kubernetes.io/zone": "us-east-1a",
    }
    assert [str(taint) for taint in facts.taints] == ["nvidia.com/gpu=present:NoSchedule"]
    assert facts.selector == {"eks.amazonaws.com/nodegroup": "gpus"}


def test_several_instance_types_promise_none() -> None:
    facts = eks.node_facts(pool(machine="g5.xlarge", eks={"instanceTypes": ["g5.xlarge", "g5.2xlarge"]}))
    assert "node.kubernetes.io/instance-type" not in facts.labels


def test_the_startup_taint_is_sent_and_is_gone_when_pods_come() -> None:
    spec = {
        **H100,
        "sharing": {"mig": {"profile": "1g.10gb", "backend": "gpu-operator"}},
        "eks": {"startupTaint": True},
    }
    assert {"key": "fracgpu.dev/mig-pending", "value": "true", "effect": "NO_SCHEDULE"} in body(**spec)["taints"]
    assert [taint.key for taint in eks.node_facts(pool(**spec)).taints] == ["nvidia.com/gpu"]


LIMITS: list[tuple[dict[str, Any], int | None]] = [
    ({}, None),
    ({"timeSlicing": {"replicas": 4}}, None),
    ({"timeSlicing": {"replicas": 4, "failRequestsGreaterThanOne": True}}, 1),
    ({"mps": {"replicas": 4}}, 1),
]


@pytest.mark.parametrize(("sharing", "most"), LIMITS)
def test_how_much_a_container_may_ask_for(sharing: dict[str, Any], most: int | None) -> None:
    facts = eks.node_facts(pool(machine="g5.xlarge", sharing=sharing))
    assert facts.max_per_container == most
    assert not facts.host_ipc


def test_who_runs_the_plugin() -> None:
    assert eks.node_facts(pool(machine="g5.xlarge")).plugin is PluginOwner.CLUSTER
    assert eks.node_facts(pool(**A100, sharing={"mig": {"profile": "1g.5gb"}})).plugin is PluginOwner.IMAGE
