"""NodePoolSpec + Catalog -> ResolvedPool: every default filled, every fact attached.

Nothing here knows how a cloud spells anything; what a cloud refuses is in its `rules`. All findings of a spec are
collected, and only what the next step cannot do without (a machine and its GPU) stops the resolution.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from fracgpu.catalog.choose import Choice, choose
from fracgpu.catalog.load import Catalog
from fracgpu.catalog.models import Gpu, Machine, Profile, ProviderName
from fracgpu.cluster import PLACEHOLDER, ClusterRef, cluster_ref
from fracgpu.cut import cut_of, profiles_of, written_at
from fracgpu.errors import Finding, Level, info
from fracgpu.options import AksOptions, EksOptions, GkeOptions
from fracgpu.sharing import Backend, Cut, Mig, Mps, Share, Sharing, Strategy, TimeSlicing, Whole
from fracgpu.spec import Capacity, NodePool, NodePoolSpec
from fracgpu.spec_rules import check
from fracgpu.taints import GPU_TAINT, Taint

__all__ = [
    "PLACEHOLDER",
    "ClusterRef",
    "Nodes",
    "Resolution",
    "ResolvedPool",
    "cluster_ref",
    "default_name",
    "resolve",
]


@dataclass(frozen=True, slots=True)
class Nodes:
    """Node counts over all zones. `autoscaling` is True where min < max; else min and max equal count."""

    count: int
    min: int
    max: int

    @property
    def autoscaling(self) -> bool:
        return self.min < self.max


@dataclass(frozen=True, slots=True)
class ResolvedPool:
    """A pool with nothing left to decide: what the user said, what follows from it, and the facts of its hardware."""

    name: str
    cluster: ClusterRef
    machine: Machine
    gpu: Gpu
    gpus_per_node: int
    sharing: Sharing
    nodes: Nodes
    capacity: Capacity
    disk_gb: int | None
    zones: tuple[str, ...]
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    tags: Mapping[str, str]
    aks: AksOptions = field(default_factory=AksOptions)
    gke: GkeOptions = field(default_factory=GkeOptions)
    eks: EksOptions = field(default_factory=EksOptions)
    backend: Backend | None = None
    """On EKS who cuts and shares; None on the other clouds."""
    cut_field: str = "spec.sharing.mig"
    """Where the spec says what the GPUs are cut into."""
    machine_chosen: bool = False
    notes: tuple[Finding, ...] = ()

    @property
    def provider(self) -> ProviderName:
        return self.cluster.provider

    @property
    def spot(self) -> bool:
        return self.capacity is Capacity.SPOT

    def profiles(self) -> dict[str, Profile]:
        """The MIG profiles in use, by name, in the order of the layouts: the largest first."""
        if not isinstance(self.sharing.cut, Mig):
            return {}
        known = {profile.name: profile for profile in self.gpu.profiles}
        return {name: known[name] for name in self.sharing.cut.counts}

    @property
    def slices_per_gpu(self) -> int:
        """GPU instances of a cut GPU (the largest number, where GPUs differ); 1 where it is whole."""
        if not isinstance(self.sharing.cut, Mig):
            return 1
        return max((sum(count for _, count in layout) for layout in self.sharing.cut.devices if layout), default=1)


@dataclass(frozen=True, slots=True)
class Resolution:
    """A resolved pool, or None where an error made that impossible, and every finding on the way."""

    pool: ResolvedPool | None
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.level is Level.ERROR)


def resolve(written: NodePool, catalog: Catalog, *, placeholder: bool = False) -> Resolution:
    """Resolve one pool. With `placeholder` a spec may leave its cluster open.

    Every finding is returned, errors among them; `pool` is None only where machine, GPU or cluster could not be told.
    """
    spec = written.spec
    findings = list(check(spec))
    cluster = cluster_ref(spec.cluster, findings, placeholder=placeholder)
    if cluster is None:
        return Resolution(None, tuple(findings))
    choice = choose(catalog, cluster.provider, machine=spec.machine, gpu=spec.gpu, profiles=profiles_of(spec.sharing))
    if isinstance(choice, Finding):
        return Resolution(None, (*findings, choice))
    sharing = _sharing(spec, choice, findings)
    if choice.chosen:
        findings.append(_machine_chosen(choice, sharing))
    if _wants_gpu_taint(spec):
        findings.append(_gpu_taint_added())
    notes = tuple(finding for finding in findings if finding.level is not Level.ERROR)
    return Resolution(_pool(written, cluster, choice, sharing, notes), tuple(findings))


NO_AKS, NO_GKE, NO_EKS = AksOptions.model_construct(), GkeOptions.model_construct(), EksOptions.model_construct()
"""Made once: they never change, and a file may hold thousands of pools."""


def _pool(
    written: NodePool, cluster: ClusterRef, choice: Choice, sharing: Sharing, notes: tuple[Finding, ...]
) -> ResolvedPool:
    spec = written.spec
    return ResolvedPool(
        name=written.metadata.name or default_name(sharing),
        cluster=cluster,
        machine=choice.machine,
        gpu=choice.gpu,
        gpus_per_node=(spec.gke and spec.gke.accelerator_count) or choice.machine.gpu_count,
        sharing=sharing,
        nodes=_nodes(spec),
        capacity=spec.capacity or Capacity.ON_DEMAND,
        disk_gb=spec.disk.size_gb,
        zones=tuple(spec.zones or ()),
        labels=dict(spec.labels or {}),
        taints=_taints(spec),
        tags=dict(spec.tags or {}),
        aks=spec.aks or NO_AKS,
        gke=spec.gke or NO_GKE,
        eks=spec.eks or NO_EKS,
        backend=_backend(spec, cluster.provider, choice.gpu, sharing),
        cut_field=written_at(spec.sharing.mig),
        machine_chosen=choice.chosen,
        notes=notes,
    )


def _nodes(spec: NodePoolSpec) -> Nodes:
    nodes = spec.nodes
    if nodes.max is None:
        count = 1 if nodes.count is None else nodes.count
        return Nodes(count, count, count)
    system = bool(spec.aks and spec.aks.mode == "System")
    low = nodes.min if nodes.min is not None else min(int(system), nodes.max)
    if nodes.count is not None:
        count = nodes.count
    else:
        count = nodes.min if nodes.min is not None else min(1, nodes.max)
    return Nodes(count, low, nodes.max)


def _taints(spec: NodePoolSpec) -> tuple[Taint, ...]:
    """The user's taints, and the GPU taint unless it was declined or replaced by one of the same key."""
    own = tuple(spec.taints or ())
    return (_GPU_TAINT, *own) if _wants_gpu_taint(spec) else own


_GPU_TAINT = Taint.of(*GPU_TAINT)


def _wants_gpu_taint(spec: NodePoolSpec) -> bool:
    return spec.gpu_taint is not False and not any(taint.key == _GPU_TAINT.key for taint in spec.taints or ())


def _sharing(spec: NodePoolSpec, choice: Choice, findings: list[Finding]) -> Sharing:
    written = spec.sharing
    cut: Cut = Whole()
    if written.mig:
        cut = cut_of(written, choice, findings)
    rename = bool(written.rename_by_default)
    share: Share = None
    if written.time_slicing:
        one = written.time_slicing.fail_requests_greater_than_one
        share = TimeSlicing(written.time_slicing.replicas, bool(one), rename, several_said=one is False)
    elif written.mps:
        share = Mps(written.mps.replicas, rename)
    return Sharing(cut, share, written.config_key)


def _machine_chosen(choice: Choice, sharing: Sharing) -> Finding:
    machine, gpu = choice.machine, choice.gpu
    cut = sharing.cut
    slices = f", {sum(cut.counts.values())} slices" if isinstance(cut, Mig) else ""
    message = f"{machine.name} was chosen: {machine.gpu_count} x {gpu.product} a node{slices}"
    detail = {"machine": machine.name, "gpusPerNode": machine.gpu_count}
    return info("machine-chosen", message, field="spec.machine", hint="--machine NAME names another", detail=detail)


def _gpu_taint_added() -> Finding:
    key, value, effect = GPU_TAINT
    message = f"the nodes carry {key}={value}:{effect}, so that only pods that want a GPU land there"
    return info("gpu-taint-added", message, field="spec.gpuTaint", hint="--no-gpu-taint leaves it out")


def _backend(spec: NodePoolSpec, provider: ProviderName, gpu: Gpu, sharing: Sharing) -> Backend | None:
    """On EKS who cuts and shares; elsewhere what the user said, which the cloud's rules refuse."""
    said = (spec.eks and spec.eks.backend) or (spec.sharing.mig and spec.sharing.mig.backend) or None
    if said or provider is not ProviderName.EKS:
        return said
    image = ((spec.eks and spec.eks.ami_type) or "").upper()
    if image.startswith("BOTTLEROCKET"):
        return Backend.BOTTLEROCKET
    cut = sharing.cut
    if not isinstance(cut, Mig):
        return Backend.DEVICE_PLUGIN
    # Bottlerocket cuts every GPU that it has settings for into one profile and names slices by strategy single only:
    # https://github.com/bottlerocket-os/bottlerocket/issues/4483
    name = cut.one_profile
    profile = next((row for row in gpu.profiles if row.name == name), None)
    uniform = profile and cut.alike == ((profile.name, profile.max_per_gpu),) and profile.bottlerocket
    simple = uniform and not image and cut.strategy is Strategy.SINGLE
    return Backend.BOTTLEROCKET if simple else Backend.USER_DATA


NAME = re.compile(r"[a-z][a-z0-9]{0,11}")


def default_name(sharing: Sharing) -> str:
    """`mig1g5gb`, `ts10`, `mps4`, `mig1g5gbts2`, `gpu`: legal on every cloud; longer ones end in a hash."""
    parts = [_cut_word(sharing.cut)]
    match sharing.share:
        case TimeSlicing(replicas=n):
            parts.append(f"ts{n}")
        case Mps(replicas=n):
            parts.append(f"mps{n}")
        case None:
            pass
    name = "".join(parts) or "gpu"
    if NAME.fullmatch(name):
        return name
    return name[:7] + hashlib.sha256(name.encode()).hexdigest()[:5]


def _cut_word(cut: Cut) -> str:
    if not isinstance(cut, Mig):
        return ""
    profile = cut.one_profile
    words: Iterable[str] = [profile] if profile else _layout_words(cut)
    return "mig" + re.sub(r"[^a-z0-9]", "", "".join(words).lower())


def _layout_words(cut: Mig) -> Iterator[str]:
    for layout in dict.fromkeys(cut.devices):
        yield from (f"{count}x{profile}" for profile, count in layout or (("whole", 1),))
