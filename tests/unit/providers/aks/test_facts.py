"""What the nodes of a pool show, and what a pod must ask for."""

from __future__ import annotations

from typing import Any

import pytest

from fracgpu.advertise import PluginOwner, explain, resources
from fracgpu.plan import Json
from fracgpu.providers import aks
from tests.aks_pools import A100, A100_MIG, pool

MIXED: Json = {"machine": A100, "sharing": {"mig": {"profile": "1g.10gb", "strategy": "mixed"}}}


@pytest.mark.parametrize(
    ("spec", "advertised"),
    [
        (A100_MIG, {"nvidia.com/gpu": 7}),
        (MIXED, {"nvidia.com/mig-1g.10gb": 7}),
        ({"machine": "Standard_ND96asr_v4", "sharing": {"mig": {"profile": "1g.5gb"}}}, {"nvidia.com/gpu": 56}),
        ({"machine": A100, "sharing": {"timeSlicing": {"replicas": 10}}}, {"nvidia.com/gpu": 10}),
        (
            {"machine": A100, "sharing": {"timeSlicing": {"replicas": 10}, "renameByDefault": True}},
            {"nvidia.com/gpu.shared": 10},
        ),
        (
            {"machine": A100, "sharing": {"mig": {"profile": "3g.40gb"}, "timeSlicing": {"replicas": 2}}},
            {"nvidia.com/gpu": 4},
        ),
        ({"machine": "Standard_NC64as_T4_v3"}, {"nvidia.com/gpu": 4}),
    ],
)
def test_resources(spec: dict[str, Any], advertised: dict[str, int]) -> None:
    made = pool(**spec)
    assert resources(made, aks.node_facts(made)) == advertised


def test_a_pod_selects_by_the_name_of_the_pool() -> None:
    facts = aks.node_facts(pool("a100mig", **A100_MIG))
    assert facts.selector == {"kubernetes.azure.com/agentpool": "a100mig"}
    assert facts.selector.items() <= facts.labels.items()
    assert facts.plugin is PluginOwner.CLUSTER


def test_spot_nodes_have_a_label_and_a_taint_more() -> None:
    shown = explain(pool(**A100_MIG, capacity="spot"), aks.node_facts(pool(**A100_MIG, capacity="spot"))).to_json()
    assert shown["perNode"]["labels"]["kubernetes.azure.com/scalesetpriority"] == "spot"
    assert shown["pod"]["tolerations"] == [
        {"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"},
        {"key": "kubernetes.azure.com/scalesetpriority", "operator": "Equal", "value": "spot", "effect": "NoSchedule"},
    ]


def test_the_taint_of_spot_is_there_once_though_the_user_wrote_it() -> None:
    taint = "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"
    facts = aks.node_facts(pool(machine=A100, capacity="spot", taints=[taint]))
    assert [str(one) for one in facts.taints] == ["nvidia.com/gpu=present:NoSchedule", taint]


@pytest.mark.parametrize(
    ("sharing", "most"),
    [
        ({"timeSlicing": {"replicas": 4}}, None),
        ({"timeSlicing": {"replicas": 4, "failRequestsGreaterThanOne": True}}, 1),
        ({"mps": {"replicas": 4}}, 1),
        ({"mig": {"profile": "1g.10gb"}}, None),
        ({}, None),
    ],
)
def test_how_much_a_container_may_ask_for(sharing: dict[str, Any], most: int | None) -> None:
    assert aks.node_facts(pool(machine=A100, sharing=sharing)).max_per_container == most


def test_the_config_of_the_device_plugin_is_a_label() -> None:
    facts = aks.node_facts(pool(machine=A100, sharing={"timeSlicing": {"replicas": 10}}))
    assert facts.labels["nvidia.com/device-plugin.config"] == "time-sliced-10"


def test_a_system_pool_says_so() -> None:
    assert aks.node_facts(pool(machine=A100, aks={"mode": "System"})).labels["kubernetes.azure.com/mode"] == "system"
