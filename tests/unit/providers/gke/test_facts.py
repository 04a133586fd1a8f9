"""What GKE nodes show: GPUs x slices x clients of nvidia.com/gpu, told apart by labels."""

from __future__ import annotations

from typing import Any

import pytest

from fracgpu.advertise import PluginOwner, explain
from fracgpu.providers import gke
from tests.gke_pools import pool

A100, L4 = "nvidia-tesla-a100", "nvidia-l4"
GKE = "cloud.google.com/gke-"


@pytest.mark.parametrize(
    ("spec", "count", "most", "selector"),
    [
        ({"machine": "a2-highgpu-1g"}, 1, None, {"accelerator": A100}),
        ({"machine": "a2-highgpu-4g"}, 4, None, {"accelerator": A100}),
        (
            {"machine": "a2-highgpu-2g", "sharing": {"mig": {"profile": "1g.5gb"}}},
            14,
            None,
            {"accelerator": A100, "gpu-partition-size": "1g.5gb"},
        ),
        (
            {"machine": "g2-standard-4", "sharing": {"timeSlicing": {"replicas": 10}}},
            10,
            1,
            {"accelerator": L4, "gpu-sharing-strategy": "time-sharing", "max-shared-clients-per-gpu": "10"},
        ),
        (
            {"machine": "g2-standard-4", "sharing": {"mps": {"replicas": 8}}},
            8,
            8,
            {"accelerator": L4, "gpu-sharing-strategy": "mps", "max-shared-clients-per-gpu": "8"},
        ),
        (
            {"machine": "g2-standard-24", "sharing": {"mps": {"replicas": 8}}},
            16,
            1,
            {"accelerator": L4, "gpu-sharing-strategy": "mps", "max-shared-clients-per-gpu": "8"},
        ),
        (
            {"machine": "a2-highgpu-1g", "sharing": {"mig": {"profile": "1g.5gb"}, "mps": {"replicas": 2}}},
            14,
            1,
            {
                "accelerator": A100,
                "gpu-partition-size": "1g.5gb",
                "gpu-sharing-strategy": "mps",
                "max-shared-clients-per-gpu": "2",
            },
        ),
        (
            {"machine": "a2-highgpu-1g", "sharing": {"mig": {"profile": "7g.40gb"}, "mps": {"replicas": 4}}},
            4,
            4,
            {
                "accelerator": A100,
                "gpu-partition-size": "7g.40gb",
                "gpu-sharing-strategy": "mps",
                "max-shared-clients-per-gpu": "4",
            },
        ),
        (
            {"machine": "g4-standard-48", "sharing": {"mig": {"profile": "1g.24gb+me"}}},
            1,
            None,
            {"accelerator": "nvidia-rtx-pro-6000", "gpu-partition-size": "1g.24gb.me"},
        ),
    ],
)
def test_what_a_pod_asks_for(spec: dict[str, Any], count: int, most: int | None, selector: dict[str, str]) -> None:
    made = pool(**spec)
    facts = gke.node_facts(made)
    assert explain(made, facts).resources == {"nvidia.com/gpu": count}
    assert facts.max_per_container == most
    assert facts.selector == {f"{GKE}{key}": value for key, value in selector.items()}
    assert facts.selector.items() <= facts.labels.items()
    assert facts.plugin is PluginOwner.CLOUD
    assert facts.host_ipc == ("mps" in spec.get("sharing", {}))


def test_labels_are_the_users_and_gkes() -> None:
    made = pool("spotty", machine="g2-standard-4", labels={"team": "vision"}, capacity="spot")
    assert gke.node_facts(made).labels == {
        "team": "vision",
        f"{GKE}nodepool": "spotty",
        f"{GKE}accelerator": L4,
        f"{GKE}spot": "true",
    }


@pytest.mark.parametrize(
    ("spec", "taints"),
    [
        ({}, ["nvidia.com/gpu=present:NoSchedule"]),
        ({"gpuTaint": False}, ["nvidia.com/gpu=present:NoSchedule"]),
        ({"taints": ["nvidia.com/gpu=present:NoSchedule"]}, ["nvidia.com/gpu=present:NoSchedule"]),
        ({"taints": ["nvidia.com/gpu=mine:NoExecute"]}, ["nvidia.com/gpu=mine:NoExecute"]),
        ({"taints": ["a=b:NoExecute"], "gpuTaint": False}, ["a=b:NoExecute", "nvidia.com/gpu=present:NoSchedule"]),
        ({"capacity": "spot"}, ["nvidia.com/gpu=present:NoSchedule"]),
    ],
)
def test_the_gpu_taint_is_there_once(spec: dict[str, Any], taints: list[str]) -> None:
    facts = gke.node_facts(pool(machine="g2-standard-4", **spec))
    assert list(map(str, facts.taints)) == taints
