"""What the nodes of a GKE pool are: machine, labels, taints, and how many `nvidia.com/gpu` GKE's own plugin shows.

The plugin shows GPUs x slices x clients under that one name, however they are cut or shared
(GoogleCloudPlatform/container-engine-accelerators@992db812 `pkg/gpu/nvidia/manager.go`).
"""

from __future__ import annotations

from fracgpu.sandbox.gke import tables
from fracgpu.sandbox.gke.machines import MachineType, machine_type
from fracgpu.sandbox.gke.names import region
from fracgpu.sandbox.gke.pool import accelerators, is_spot
from fracgpu.sandbox.world import Cluster, Cuts, Json, NodeShape, Pool

_EFFECTS = {"NO_SCHEDULE": "NoSchedule", "PREFER_NO_SCHEDULE": "PreferNoSchedule", "NO_EXECUTE": "NoExecute"}

_GKE = "cloud.google.com"

_OWN_PLUGIN = "gke-no-default-nvidia-gpu-device-plugin"
"""Nodes with this label set to true are left alone by GKE's device plugin: somebody else's has to show the GPUs.

https://github.com/NVIDIA/aicr/issues/2047
"""

_DRIVERS = {"DEFAULT": "default", "LATEST": "latest", "INSTALLATION_DISABLED": "disabled"}


def shape(cluster: Cluster, pool: Pool) -> NodeShape:
    """The nodes of a pool, read from its body."""
    config = pool.body["config"]
    machine = machine_type(config["machineType"]) or MachineType(config["machineType"], 2, 4)
    gpu = next(iter(accelerators(pool.body)), None)
    known = tables.ACCELERATORS.get(gpu["acceleratorType"]) if gpu else None
    allocatable, broken = (None, None) if gpu is None else _shown(config, gpu)
    return NodeShape(
        machine=machine.name,
        gpu_product=known.product if known else "",
        gpu_count=int(gpu["acceleratorCount"]) if gpu else 0,
        vcpus=max(int(machine.vcpus), 1),
        memory_gib=machine.memory_gib,
        architecture=machine.architecture,
        labels={**config.get("labels", {}), **_labels(cluster, pool, machine), **(_gpu_labels(gpu) if gpu else {})},
        taints=[_taint(taint) for taint in config.get("taints", [])],
        slices=_slices(gpu) if gpu else (),
        allocatable=allocatable,
        zones=tuple(pool.body["locations"]),
        broken=broken,
    )


def _labels(cluster: Cluster, pool: Pool, machine: MachineType) -> dict[str, str]:
    config, spot = pool.body["config"], is_spot(pool.body)
    labels = {
        f"{_GKE}/gke-nodepool": pool.name,
        f"{_GKE}/machine-family": machine.series,
        f"{_GKE}/gke-os-distribution": "ubuntu" if config["imageType"].lower().startswith("ubuntu") else "cos",
        f"{_GKE}/gke-container-runtime": "containerd",
        f"{_GKE}/gke-boot-disk": config["diskType"],
        f"{_GKE}/gke-max-pods-per-node": pool.body["maxPodsConstraint"]["maxPodsPerNode"],
        f"{_GKE}/gke-provisioning": "spot" if spot else "standard",
        "node.kubernetes.io/instance-type": machine.name,
        "topology.kubernetes.io/region": region(cluster.path[1]),
    }
    if config.get("spot"):
        labels[f"{_GKE}/gke-spot"] = "true"
    if config.get("preemptible"):
        labels[f"{_GKE}/gke-preemptible"] = "true"
    return labels


def _gpu_labels(gpu: Json) -> dict[str, str]:
    labels = {
        f"{_GKE}/gke-accelerator": gpu["acceleratorType"],
        f"{_GKE}/gke-accelerator-count": gpu["acceleratorCount"],
        f"{_GKE}/gke-gpu-driver-version": _DRIVERS[_driver(gpu)],
    }
    if size := gpu.get("gpuPartitionSize"):
        # A label's value cannot hold the plus of 1g.24gb+me.
        labels[f"{_GKE}/gke-gpu-partition-size"] = size.replace("+", ".")
    if sharing := gpu.get("gpuSharingConfig"):
        labels[f"{_GKE}/gke-gpu-sharing-strategy"] = sharing["gpuSharingStrategy"].replace("_", "-").lower()
        labels[f"{_GKE}/gke-max-shared-clients-per-gpu"] = sharing["maxSharedClientsPerGpu"]
    return labels


def _shown(config: Json, gpu: Json) -> tuple[dict[str, int] | None, str | None]:
    """What GKE's plugin advertises (None: that is another plugin's affair), and why where it is nothing."""
    if config.get("labels", {}).get(_OWN_PLUGIN) == "true":
        return None, None
    if _driver(gpu) == "INSTALLATION_DISABLED":
        return {"nvidia.com/gpu": 0}, "no GPU driver is installed: installation is disabled for this pool"
    size = gpu.get("gpuPartitionSize")
    shown = int(gpu["acceleratorCount"]) * _each(gpu) * _clients(gpu)
    return {"nvidia.com/gpu": shown}, None if shown else f"{size} is not a valid GPU partition size"


def _each(gpu: Json) -> int:
    """Devices that one GPU shows: 1, or its slices."""
    size = gpu.get("gpuPartitionSize")
    return tables.ACCELERATORS[gpu["acceleratorType"]].partitions.get(size, 0) if size else 1


def _clients(gpu: Json) -> int:
    return int(gpu.get("gpuSharingConfig", {}).get("maxSharedClientsPerGpu", 1))


def _slices(gpu: Json) -> Cuts:
    """All GPUs are cut alike; with a size that the plugin does not know they are cut all the same."""
    size = gpu.get("gpuPartitionSize")
    return ({size: max(_each(gpu), 1)},) * int(gpu["acceleratorCount"]) if size else ()


def _driver(gpu: Json) -> str:
    return str(gpu["gpuDriverInstallationConfig"]["gpuDriverVersion"])


def _taint(taint: Json) -> dict[str, str]:
    return {"key": taint["key"], "value": taint.get("value", ""), "effect": _EFFECTS[taint["effect"]]}
