"""What the nodes of a pool are."""

from __future__ import annotations

from typing import Any

import pytest

from fracgpu.sandbox.world import Cloud
from tests.sandbox.aks.pools import SUBSCRIPTION, Put, skus_of
from tests.sandbox.conftest import Sandbox


def shape_of(sandbox: Sandbox, name: str = "gpu") -> Any:
    cluster = sandbox.world.cluster(Cloud.AKS, SUBSCRIPTION, "sandbox", "sandbox")
    return sandbox.world.shapes[Cloud.AKS](cluster, cluster.pools[name])


@pytest.mark.parametrize(
    ("size", "profile", "slices"),
    [
        ("Standard_NC24ads_A100_v4", "MIG1g", {"1g.10gb": 7}),
        ("Standard_ND96asr_v4", "MIG1g", {"1g.5gb": 7}),
        ("Standard_ND96asr_v4", "MIG2g", {"2g.10gb": 3}),
        ("Standard_NC40ads_H100_v5", "MIG3g", {"3g.47gb": 2}),
        ("Standard_ND96isr_H100_v5", "MIG4g", {"4g.40gb": 1}),
        ("Standard_ND96isr_H200_v5", "MIG7g", {"7g.141gb": 1}),
    ],
)
def test_what_a_profile_cuts(put: Put, sandbox: Sandbox, size: str, profile: str, slices: dict[str, int]) -> None:
    put(vmSize=size, gpuInstanceProfile=profile, count=1)
    shape = shape_of(sandbox)
    assert shape.slices == (slices,) * shape.gpu_count != ()
    assert shape.broken is None
    assert shape.allocatable is None


@pytest.mark.parametrize(
    ("properties", "why"),
    [
        ({"vmSize": "Standard_NC4as_T4_v3", "gpuInstanceProfile": "MIG1g"}, "no profile of the GPUs"),
        ({"gpuInstanceProfile": "MIG1g", "gpuProfile": {"driver": "None"}}, "mig-partition"),
        ({"vmSize": "Standard_NV36ads_A10_v5", "gpuProfile": {"driver": "None"}}, "GRID"),
    ],
)
def test_nodes_that_never_advertise(put: Put, sandbox: Sandbox, properties: dict[str, Any], why: str) -> None:
    put(**properties)
    assert why in (shape_of(sandbox).broken or "")


def test_nodes_carry_the_labels_and_taints_of_the_service(put: Put, sandbox: Sandbox) -> None:
    put(
        scaleSetPriority="Spot",
        availabilityZones=["1", "3"],
        nodeLabels={"nvidia.com/device-plugin.config": "time-sliced-10"},
        nodeTaints=["nvidia.com/gpu=present:NoSchedule"],
    )
    shape = shape_of(sandbox)
    assert shape.labels["kubernetes.azure.com/scalesetpriority"] == "spot"
    assert shape.labels["kubernetes.azure.com/accelerator"] == "nvidia"
    assert shape.labels["nvidia.com/device-plugin.config"] == "time-sliced-10"
    assert shape.taints == [
        {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"},
        {"key": "kubernetes.azure.com/scalesetpriority", "value": "spot", "effect": "NoSchedule"},
    ]
    assert shape.zones == ("eastus-1", "eastus-3")


def test_every_gpu_size_of_the_catalog_is_offered(sandbox: Sandbox) -> None:
    from fracgpu.sandbox import hardware

    names = {machine.name for machine in hardware.machines("aks")}
    assert names
    assert names - set(skus_of(sandbox)) == set()
