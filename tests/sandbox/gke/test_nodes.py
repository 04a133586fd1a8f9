"""What the nodes of a GKE pool show: labels, taints, and how many nvidia.com/gpu."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fracgpu.catalog.load import load
from fracgpu.catalog.models import ProviderName
from fracgpu.sandbox.gke import tables
from fracgpu.sandbox.gke.machines import machine_type
from fracgpu.sandbox.gke.nodes import shape
from fracgpu.sandbox.gke.pool import new_pool
from fracgpu.sandbox.world import Cloud, Cluster, NodeShape
from tests.sandbox.gke.pools import CLUSTER, a100, create

if TYPE_CHECKING:
    from tests.sandbox.conftest import Sandbox

GKE = "cloud.google.com"


def shape_of(machine: str, kind: str, count: int, **gpu: Any) -> NodeShape:
    accelerator = {"acceleratorType": kind, "acceleratorCount": str(count), **gpu}
    cluster = Cluster(Cloud.GKE, ("p", "us-central1", "c"))
    pool = new_pool(cluster, {"name": "p", "config": {"machineType": machine, "accelerators": [accelerator]}})
    return shape(cluster, pool)


def shared(strategy: str, clients: int) -> dict[str, Any]:
    return {"gpuSharingConfig": {"gpuSharingStrategy": strategy, "maxSharedClientsPerGpu": str(clients)}}


@pytest.mark.parametrize(
    ("machine", "kind", "count", "gpu", "shown"),
    [
        ("a2-highgpu-1g", "nvidia-tesla-a100", 1, {}, 1),
        ("a2-highgpu-1g", "nvidia-tesla-a100", 1, {"gpuPartitionSize": "1g.5gb"}, 7),
        ("a2-highgpu-1g", "nvidia-tesla-a100", 1, {"gpuPartitionSize": "1g.5gb", **shared("TIME_SHARING", 10)}, 70),
        ("a2-highgpu-8g", "nvidia-tesla-a100", 8, {"gpuPartitionSize": "3g.20gb"}, 16),
        ("a2-highgpu-1g", "nvidia-tesla-a100", 1, {"gpuPartitionSize": "4g.20gb"}, 0),
        ("a2-ultragpu-1g", "nvidia-a100-80gb", 1, {"gpuPartitionSize": "4g.40gb"}, 0),
        ("a3-highgpu-8g", "nvidia-h100-80gb", 8, {"gpuPartitionSize": "1g.20gb", **shared("MPS", 2)}, 64),
        ("g2-standard-24", "nvidia-l4", 2, shared("MPS", 48), 96),
        ("g4-standard-6", "nvidia-rtx-pro-6000", 1, {}, 1),
        ("g4-standard-48", "nvidia-rtx-pro-6000", 1, {"gpuPartitionSize": "1g.24gb"}, 4),
    ],
)
def test_what_the_plugin_shows(machine: str, kind: str, count: int, gpu: dict[str, Any], shown: int) -> None:
    nodes = shape_of(machine, kind, count, **gpu)

    assert nodes.allocatable == {"nvidia.com/gpu": shown}
    assert (nodes.broken is None) == (shown > 0)
    assert nodes.gpu_count == count


def test_labels_of_a_shared_slice() -> None:
    gpu = {"gpuPartitionSize": "1g.5gb", **shared("TIME_SHARING", 10)}
    labels = shape_of("a2-highgpu-1g", "nvidia-tesla-a100", 1, **gpu).labels

    assert labels[f"{GKE}/gke-accelerator"] == "nvidia-tesla-a100"
    assert labels[f"{GKE}/gke-accelerator-count"] == "1"
    assert labels[f"{GKE}/gke-gpu-partition-size"] == "1g.5gb"
    assert labels[f"{GKE}/gke-gpu-sharing-strategy"] == "time-sharing"
    assert labels[f"{GKE}/gke-max-shared-clients-per-gpu"] == "10"
    assert labels[f"{GKE}/gke-gpu-driver-version"] == "default"
    assert labels[f"{GKE}/gke-nodepool"] == "p"
    assert labels["topology.kubernetes.io/region"] == "us-central1"
    assert labels["node.kubernetes.io/instance-type"] == "a2-highgpu-1g"


def test_a_size_with_a_plus_is_a_legal_label() -> None:
    labels = shape_of("g4-standard-48", "nvidia-rtx-pro-6000", 1, gpuPartitionSize="1g.24gb+me").labels

    assert labels[f"{GKE}/gke-gpu-partition-size"] == "1g.24gb.me"


def test_without_a_driver_nothing_is_shown() -> None:
    driver = {"gpuDriverInstallationConfig": {"gpuDriverVersion": "INSTALLATION_DISABLED"}}
    nodes = shape_of("a2-highgpu-1g", "nvidia-tesla-a100", 1, **driver)

    assert nodes.allocatable == {"nvidia.com/gpu": 0}
    assert nodes.broken is not None
    assert "driver" in nodes.broken


def test_gpus_of_the_machine_are_there_unasked() -> None:
    cluster = Cluster(Cloud.GKE, ("p", "us-central1-a", "c"))
    nodes = shape(cluster, new_pool(cluster, {"name": "p", "config": {"machineType": "g2-standard-24"}}))

    assert nodes.allocatable == {"nvidia.com/gpu": 2}
    assert nodes.gpu_product == "NVIDIA-L4"


def test_nodes_without_gpus() -> None:
    cluster = Cluster(Cloud.GKE, ("p", "us-central1-a", "c"))
    nodes = shape(cluster, new_pool(cluster, {"name": "p", "config": {"machineType": "e2-standard-4"}}))

    assert (nodes.gpu_count, nodes.allocatable, nodes.vcpus, nodes.memory_gib) == (0, None, 4, 16)


def test_another_plugin_shows_them() -> None:
    cluster = Cluster(Cloud.GKE, ("p", "us-central1-a", "c"))
    label = {"gke-no-default-nvidia-gpu-device-plugin": "true"}
    nodes = shape(
        cluster, new_pool(cluster, {"name": "p", "config": {"machineType": "g2-standard-4", "labels": label}})
    )

    assert (nodes.gpu_count, nodes.allocatable) == (1, None)


def test_taints_and_spot_as_kubernetes_says_them(instant: Sandbox, client: Any) -> None:
    create(client, a100(config={"spot": True, "taints": [{"key": "k", "value": "v", "effect": "PREFER_NO_SCHEDULE"}]}))
    client.get_cluster(name=CLUSTER)
    cluster = instant.world.cluster(Cloud.GKE, "sandbox", "us-central1", "regional-sandbox")
    nodes = instant.world.shapes[Cloud.GKE](cluster, cluster.pools["p"])

    assert nodes.taints == [
        {"key": "k", "value": "v", "effect": "PreferNoSchedule"},
        {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"},
    ]
    assert nodes.labels[f"{GKE}/gke-spot"] == "true"
    assert nodes.zones == ("us-central1-a", "us-central1-b", "us-central1-c")


MACHINES = [row.name for row in load().machines(ProviderName.GKE) if machine_type(row.name)]


@given(st.sampled_from(MACHINES), st.data(), st.integers(2, 48))
def test_a_node_shows_gpus_times_slices_times_clients(name: str, data: st.DataObject, clients: int) -> None:
    machine = machine_type(name)
    assert machine is not None
    kind = machine.accelerator or "nvidia-tesla-t4"
    count = machine.gpus or 1
    sizes = tables.ACCELERATORS[kind].partitions
    size = data.draw(st.sampled_from(["", *sizes]))
    partition = {"gpuPartitionSize": size} if size else {}

    nodes = shape_of(name, kind, count, **partition, **shared("MPS", clients))
    assert nodes.allocatable == {"nvidia.com/gpu": count * sizes.get(size, 1) * clients}


@pytest.mark.parametrize("row", load().machines(ProviderName.GKE), ids=lambda row: f"{row.name}-{row.gpu}")
def test_the_catalog_and_the_sandbox_know_the_same_machines(row: Any) -> None:
    machine = machine_type(row.name)

    assert machine is not None
    if row.accessory:
        assert machine.takes_gpus
        assert set(row.gpu_counts) <= set(tables.ACCELERATORS[row.accelerator].n1_counts)
    else:
        assert (machine.accelerator, machine.gpus) == (row.accelerator, row.gpu_count)
