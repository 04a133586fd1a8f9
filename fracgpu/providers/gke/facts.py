"""What the nodes of a GKE pool show: GKE's labels and taints, and how its device plugin counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from fracgpu.advertise import NodeFacts, PluginOwner
from fracgpu.errors import Finding, info
from fracgpu.providers.gke.desired import partition_size
from fracgpu.resolve import ResolvedPool
from fracgpu.sharing import Mig, Mps, TimeSlicing
from fracgpu.taints import GPU_TAINT, GPU_TAINT_KEY, Taint

_PREFIX = "cloud.google.com/gke-"
NODE_POOL = f"{_PREFIX}nodepool"
ACCELERATOR = f"{_PREFIX}accelerator"
PARTITION = f"{_PREFIX}gpu-partition-size"
STRATEGY = f"{_PREFIX}gpu-sharing-strategy"
CLIENTS = f"{_PREFIX}max-shared-clients-per-gpu"
SPOT = f"{_PREFIX}spot"


def node_facts(pool: ResolvedPool) -> NodeFacts:
    """Labels, taints, selector and limits, as GKE's own device plugin has them.

    https://github.com/GoogleCloudPlatform/container-engine-accelerators/tree/master/pkg/gpu/nvidia
    """
    selector = _selector(pool)
    labels = {**pool.labels, NODE_POOL: pool.name, **selector}
    if pool.spot:
        labels[SPOT] = "true"
    return NodeFacts(
        labels=labels,
        taints=_taints(pool),
        selector=selector,
        plugin=PluginOwner.CLOUD,
        named_by_strategy=False,
        max_per_container=_max_per_container(pool),
        host_ipc=isinstance(pool.sharing.share, Mps),
        notes=tuple(_notes(pool)),
    )


def _selector(pool: ResolvedPool) -> dict[str, str]:
    """Every GPU and slice is an nvidia.com/gpu here, so labels alone tell one kind of node from another."""
    chosen = {ACCELERATOR: pool.machine.accelerator or pool.gpu.gke_accelerator or ""}
    if isinstance(pool.sharing.cut, Mig):
        chosen[PARTITION] = partition_size(pool).replace("+", ".")  # a label value has no plus
    share = pool.sharing.share
    if share is not None:
        chosen[STRATEGY] = "mps" if isinstance(share, Mps) else "time-sharing"
        chosen[CLIENTS] = str(share.replicas)
    return chosen


def _taints(pool: ResolvedPool) -> tuple[Taint, ...]:
    """The pool's own, and the GPU taint that GKE adds where there is none with its key."""
    if any(taint.key == GPU_TAINT_KEY for taint in pool.taints):
        return pool.taints
    key, value, effect = GPU_TAINT
    return (*pool.taints, Taint.of(key, value, effect))


def _max_per_container(pool: ResolvedPool) -> int | None:
    """The plugin grants several shares under MPS only, and only where the node has one device, GPU or slice."""
    match pool.sharing.share:
        case None:
            return None
        case TimeSlicing():
            return 1
        case Mps(replicas=clients):
            return clients if pool.gpus_per_node * pool.slices_per_gpu == 1 else 1
    assert_never(pool.sharing.share)


def _notes(pool: ResolvedPool) -> Iterator[Finding]:
    if pool.spot:
        message = "GKE labels Spot nodes cloud.google.com/gke-spot=true and does not taint them"
        hint = "add a taint of your own to keep other pods off: --taint cloud.google.com/gke-spot=true:NoSchedule"
        yield info("spot-not-tainted", message, field="spec.capacity", hint=hint)
    if isinstance(pool.sharing.cut, Mig):
        message = "GKE has no GPU metrics of containers on partitioned GPUs"
        link = "https://github.com/GoogleCloudPlatform/container-engine-accelerators/blob/master/cmd/nvidia_gpu/nvidia_gpu.go"
        yield info("no-gpu-metrics", message, field="spec.sharing.mig", link=link)
