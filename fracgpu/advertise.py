"""What the nodes of a pool will show Kubernetes, and what a pod must ask for.

A function of the resolved pool and of the cloud's `NodeFacts`, so that one place knows how GPUs, slices and shares
multiply, and each cloud says only how it names them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from fracgpu.catalog import geometry
from fracgpu.catalog.models import Profile
from fracgpu.errors import Finding, info, warning
from fracgpu.resolve import ResolvedPool
from fracgpu.sharing import Mig, Mps, SharingKind, Strategy, TimeSlicing
from fracgpu.taints import Taint

GPU_RESOURCE = "nvidia.com/gpu"


class PluginOwner(StrEnum):
    """Who runs the device plugin that advertises the GPUs."""

    CLOUD = "cloud"
    IMAGE = "node image"
    CLUSTER = "cluster"
    """Whoever runs the cluster installs it: the device-plugin chart or the GPU Operator."""


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What a cloud adds to the nodes of a pool, and how it names what they offer.

    `labels` and `taints` are all that the nodes will carry and a pod may need; `selector` picks exactly such nodes.
    `max_per_container` is how many of the resource one container may ask for, None where there is no limit.
    """

    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    selector: Mapping[str, str]
    plugin: PluginOwner
    named_by_strategy: bool = True
    """False where every slice is an nvidia.com/gpu whatever the strategy (GKE)."""
    max_per_container: int | None = None
    host_ipc: bool = False
    startup_taints: tuple[Taint, ...] = ()
    """Those that a node is made with and loses before it takes pods."""
    notes: tuple[Finding, ...] = ()


class Guard(StrEnum):
    """What keeps one workload's memory or compute from another's."""

    HARDWARE = "hardware"
    LIMIT = "limit"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Isolation:
    memory: Guard
    compute: Guard
    faults_isolated: bool


@dataclass(frozen=True, slots=True)
class Unused:
    """What the chosen cut leaves idle on each GPU; None where the catalog does not know."""

    compute_slices: int | None
    memory_slices: int | None


@dataclass(frozen=True, slots=True)
class Slice:
    """What one request gets: memory in GiB (by agreement only, under time-slicing) and the part of a GPU's compute."""

    memory_gib: float | None
    compute_fraction: float | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """The contract of a pool: what its nodes promise and what a pod must ask for."""

    pool: ResolvedPool
    facts: NodeFacts
    resources: Mapping[str, int]
    slice: Slice
    unused: Unused
    isolation: Isolation
    notes: tuple[Finding, ...] = field(default=())

    @property
    def pod_resources(self) -> tuple[str, ...]:
        """The resources that a pod may ask for, the usual one first."""
        return tuple(name for name, count in self.resources.items() if count)

    def to_json(self) -> dict[str, Any]:
        pool, facts = self.pool, self.facts
        return {
            "gpu": pool.gpu.key,
            "machine": pool.machine.name,
            "gpusPerNode": pool.gpus_per_node,
            "gpuFraction": pool.machine.gpu_fraction,
            "slicesPerGpu": pool.slices_per_gpu,
            "sharesPerSlice": pool.sharing.replicas,
            "perNode": {
                "resources": dict(self.resources),
                "labels": dict(facts.labels),
                "taints": [taint_json(taint) for taint in facts.taints],
            },
            "pod": {
                "resource": self.pod_resources[0] if self.pod_resources else None,
                "resources": list(self.pod_resources),
                "maxPerContainer": facts.max_per_container,
                "nodeSelector": dict(facts.selector),
                "tolerations": [toleration(taint) for taint in facts.taints],
                "hostIPC": facts.host_ipc,
            },
            "slice": {"memoryGib": self.slice.memory_gib, "computeFraction": self.slice.compute_fraction},
            "unused": {"computeSlices": self.unused.compute_slices, "memorySlices": self.unused.memory_slices},
            "isolation": {
                "memory": self.isolation.memory.value,
                "compute": self.isolation.compute.value,
                "faults": "isolated" if self.isolation.faults_isolated else "shared",
            },
            "plugin": facts.plugin.value,
            "notes": [note.to_json() for note in self.notes],
        }


def taint_json(taint: Taint) -> dict[str, str]:
    return {"key": taint.key, "value": taint.value, "effect": taint.effect.value}


def toleration(taint: Taint) -> dict[str, str]:
    """The toleration that lets a pod onto a node with this taint."""
    if not taint.value:
        return {"key": taint.key, "operator": "Exists", "effect": taint.effect.value}
    return {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect.value}


def explain(pool: ResolvedPool, facts: NodeFacts) -> Explanation:
    """The contract of a pool on its cloud."""
    known = {note.code for note in pool.notes}
    return Explanation(
        pool=pool,
        facts=facts,
        resources=resources(pool, facts),
        slice=_slice(pool),
        unused=_unused(pool),
        isolation=isolation(pool),
        notes=(*pool.notes, *(note for note in remarks(pool) if note.code not in known), *facts.notes),
    )


def resources(pool: ResolvedPool, facts: NodeFacts) -> dict[str, int]:
    """Extended resource -> how many a node will have allocatable: GPUs x slices x replicas.

    Names follow k8s-device-plugin: strategy mixed names a slice by its profile, sharing that is renamed appends
    `.shared`.
    """
    sharing, cut = pool.sharing, pool.sharing.cut
    suffix = ".shared" if sharing.renamed else ""
    if not isinstance(cut, Mig):
        return {GPU_RESOURCE + suffix: pool.gpus_per_node * sharing.replicas}
    if cut.strategy is Strategy.SINGLE or not facts.named_by_strategy:
        return {GPU_RESOURCE + suffix: sum(cut.counts.values()) * sharing.replicas}
    names = pool.profiles()
    found = {
        names[profile].resource + suffix: count * sharing.replicas
        for profile, count in cut.counts.items()
        if profile in names
    }
    if cut.whole_gpus:
        found[GPU_RESOURCE + suffix] = cut.whole_gpus * sharing.replicas
    return found


def isolation(pool: ResolvedPool) -> Isolation:
    """What keeps two pods on one GPU apart."""
    match pool.sharing.share:
        case TimeSlicing():
            return Isolation(Guard.NONE, Guard.NONE, faults_isolated=False)
        case Mps():
            return Isolation(Guard.LIMIT, Guard.LIMIT, faults_isolated=False)
        case None:
            return Isolation(Guard.HARDWARE, Guard.HARDWARE, faults_isolated=True)


def slice_memory_gib(pool: ResolvedPool, profile: Profile | None) -> float | None:
    """Memory of one slice, or of the whole device where there is no profile; None where no source says."""
    if profile is None:
        return pool.machine.gpu_memory_gib or pool.gpu.memory_gib
    if profile.memory_gib is not None:
        return profile.memory_gib
    return profile.memory_mib / 1024 if profile.memory_mib else None


def _slice(pool: ResolvedPool) -> Slice:
    """The first profile's slice, divided among its shares."""
    profile = next(iter(pool.profiles().values()), None)
    memory = slice_memory_gib(pool, profile)
    compute = pool.machine.gpu_fraction
    if profile is not None and pool.gpu.compute_slices:
        compute = profile.compute_slices / pool.gpu.compute_slices
    replicas = pool.sharing.replicas
    return Slice(round(memory / replicas, 2) if memory is not None else None, round(compute / replicas, 4))


def _unused(pool: ResolvedPool) -> Unused:
    """What is idle on the GPU that wastes most; zero on whole GPUs."""
    cut = pool.sharing.cut
    if not isinstance(cut, Mig):
        return Unused(0, 0)
    left = [geometry.left(pool.gpu, geometry.Layout(layout)) for layout in set(cut.devices) if layout]
    if not left:
        return Unused(0, 0)
    worst = max(left, key=lambda one: (one.compute_slices or 0, one.memory_slices or 0))
    return Unused(worst.compute_slices, worst.memory_slices)


def remarks(pool: ResolvedPool) -> Iterator[Finding]:
    """What is worth knowing about a cut or a share on any cloud: slices left idle, memory that nothing isolates."""
    sharing, unused = pool.sharing, _unused(pool)
    if unused.compute_slices:
        message = f"{unused.compute_slices} of {pool.gpu.compute_slices} compute slices of each GPU stay idle"
        yield warning("compute-wasted", message, field="spec.sharing.mig", hint=_fuller(pool))
    if sharing.kind in (SharingKind.TIME_SLICING, SharingKind.MIG_TIME_SLICING):
        memory = _slice(pool).memory_gib
        agreed = f"; by agreement each share may use {memory:g} GiB" if memory else ""
        message = f"time-slicing isolates no memory and no faults{agreed}; more shares buy neither compute nor memory"
        yield info("memory-not-isolated", message, field="spec.sharing.timeSlicing", hint="MIG isolates in hardware")


def _fuller(pool: ResolvedPool) -> str | None:
    """A layout with the same slices that leaves less idle."""
    cut = pool.sharing.cut
    if not isinstance(cut, Mig) or not cut.alike:
        return None
    have = geometry.Layout(cut.alike).counts
    holding = (
        one
        for one in geometry.maximal_layouts(pool.gpu)
        if have.items() != one.counts.items() and _holds(one.counts, have)
    )
    best = min(holding, key=lambda one: geometry.left(pool.gpu, one).compute_slices or 0, default=None)
    return f"{best} would use more of it, where mixed layouts can be had" if best else None


def _holds(more: Mapping[str, int], less: Mapping[str, int]) -> bool:
    return all(more.get(name, 0) >= count for name, count in less.items())
