"""Which cuts and shares GKE has: one partition size a pool, made and advertised by GKE's own device plugin."""

from __future__ import annotations

from collections.abc import Iterator

from fracgpu.catalog import query
from fracgpu.catalog.models import Profile
from fracgpu.errors import Finding, info, warning
from fracgpu.providers import ClusterFacts, fraction_rules
from fracgpu.providers.gke.versions import older
from fracgpu.resolve import ResolvedPool
from fracgpu.sharing import Mig, Mps, Strategy, TimeSlicing

_PLUGIN = "https://github.com/GoogleCloudPlatform/container-engine-accelerators/blob/master/pkg/gpu/nvidia/mig/mig.go"
_SHARING = "https://cloud.google.com/kubernetes-engine/docs/concepts/timesharing-gpus"
_MIG = "https://cloud.google.com/kubernetes-engine/docs/how-to/gpus-multi"
_MPS = "https://cloud.google.com/kubernetes-engine/docs/how-to/nvidia-mps-gpus"

CLIENTS = (2, 48)
"""Clients of a GPU, or of each slice of one: https://cloud.google.com/kubernetes-engine/docs/how-to/timesharing-gpus"""

SINCE = {TimeSlicing: "1.23.7-gke.1400", Mps: "1.27.7-gke.1088000"}
"""The first versions of Standard clusters with each: the pages above."""


def check(pool: ResolvedPool, facts: ClusterFacts | None) -> Iterator[Finding]:
    """Every finding about cut and share."""
    yield from fraction_rules.check(pool)
    if not pool.machine.fractional and isinstance(pool.sharing.cut, Mig):
        yield from _mig(pool, pool.sharing.cut)
    yield from _share(pool, facts)
    yield from _plugin(pool)
    yield from _driver(pool)


def _share_name(pool: ResolvedPool) -> str:
    return "mps" if isinstance(pool.sharing.share, Mps) else "timeSlicing"


def _mig(pool: ResolvedPool, cut: Mig) -> Iterator[Finding]:
    if not pool.machine.mig:
        message = pool.machine.mig_reason or f"GKE cannot partition the GPUs of {pool.machine.name}"
        hint = "fracgpu catalog machines --provider gke --mig PROFILE"
        yield Finding("not-expressible", message, field="spec.sharing.mig", hint=hint, link=_MIG)
        return
    if cut.one_profile is None:
        message = "GKE cuts every GPU of a pool into one kind of slice: a pool has a single partition size"
        hint = "one pool for each profile, such as --mig 1g.5gb in one and --mig 3g.20gb in another"
        yield Finding("not-expressible", message, field=pool.cut_field, hint=hint, nearest=sizes(pool)[:3], link=_MIG)
        return
    yield from _profile(pool, cut)
    if cut.strategy is Strategy.MIXED:
        message = "GKE names every slice nvidia.com/gpu, as strategy single does; a node label tells their size"
        hint = "leave the strategy out; pods choose slices by cloud.google.com/gke-gpu-partition-size"
        field = "spec.sharing.mig.strategy"
        yield Finding("not-expressible", message, field=field, hint=hint, nearest=("single",), link=_MIG)
    yield from _mig_notes(pool)


def _mig_notes(pool: ResolvedPool) -> Iterator[Finding]:
    if pool.gpu.reboots_for_mig:
        message = f"a node with {pool.gpu.product} reboots once before its slices are there"
        yield info("first-boot-reboots", message, field="spec.sharing.mig")
    if pool.machine.accelerator == "nvidia-h100-mega-80gb":
        message = f"that GKE takes a partition size with {pool.machine.accelerator} is not confirmed"
        near = ("a3-highgpu-8g",)
        hint = "a3-highgpu-8g has the same GPU under a name that takes one"
        yield warning("partition-unconfirmed", message, field="spec.sharing.mig", hint=hint, nearest=near)


def _profile(pool: ResolvedPool, cut: Mig) -> Iterator[Finding]:
    profile = next(iter(pool.profiles().values()), None)
    if profile is None or not cut.alike:
        return
    if profile.gke is None:
        yield _unknown_size(pool, profile)
    elif cut.alike[0][1] < profile.max_per_gpu:
        near = (f"{profile.name}={profile.max_per_gpu}",)
        message = f"GKE cuts a GPU into as many {profile.name} as it holds, which is {profile.max_per_gpu}"
        hint = f"--mig {profile.name}"
        yield Finding("not-expressible", message, field=pool.cut_field, hint=hint, nearest=near, link=_MIG)


def _unknown_size(pool: ResolvedPool, profile: Profile) -> Finding:
    """The partitioner and the plugin have tables of their own; a size in only one of them makes nodes without GPUs."""
    known = sizes(pool)
    near = tuple(one for one in query.nearest_profiles(pool.gpu, profile.name, limit=99) if one in known)[:3]
    noted = profile.note if profile.note and "GKE" in profile.note else "GKE's device plugin has no such size."
    message = f"GKE cannot use {profile.name} on {pool.gpu.product}, only {', '.join(known)}. {noted}"
    hint = f"--mig {near[0]}" if near else None
    return Finding("not-expressible", message, field=pool.cut_field, hint=hint, nearest=near, link=_PLUGIN)


def sizes(pool: ResolvedPool) -> tuple[str, ...]:
    """The profiles of this GPU that GKE can use."""
    return tuple(profile.name for profile in pool.gpu.profiles if profile.gke)


def _share(pool: ResolvedPool, facts: ClusterFacts | None) -> Iterator[Finding]:
    share = pool.sharing.share
    if share is None:
        return
    low, high = CLIENTS
    if not low <= share.replicas <= high and share.replicas >= low:  # fewer than two is refused on every cloud
        message = f"GKE shares a GPU or slice among {low} to {high} clients, not {share.replicas}"
        field, near = f"spec.sharing.{_share_name(pool)}.replicas", (str(high),)
        hint = f"at most {high}"
        yield Finding("replicas-out-of-range", message, field=field, hint=hint, nearest=near, link=_SHARING)
    version = pool.gke.version or (facts.version if facts else None)
    since = SINCE[type(share)]
    if isinstance(share, TimeSlicing) and share.several_said:
        message = "a container on GKE gets one share at most, whatever failRequestsGreaterThanOne says"
        field = "spec.sharing.timeSlicing.failRequestsGreaterThanOne"
        yield warning("one-share-at-most", message, field=field, hint="leave it out, or say true", link=_SHARING)
    if version and older(version, since):
        message = f"{_share_name(pool)} needs GKE {since} or newer, and this is {version}"
        field = f"spec.sharing.{_share_name(pool)}"
        yield warning("version-too-old", message, field=field, hint="upgrade the cluster", link=_MPS)


def _plugin(pool: ResolvedPool) -> Iterator[Finding]:
    """What other device plugins can do: GKE's is not configured by a ConfigMap."""
    if pool.sharing.renamed:
        message = "GKE's device plugin calls a share nvidia.com/gpu and cannot rename it"
        hint = "leave it out; the labels gke-gpu-sharing-strategy and gke-max-shared-clients-per-gpu tell shared nodes"
        yield Finding("not-expressible", message, field="spec.sharing.renameByDefault", hint=hint, link=_SHARING)
    if pool.sharing.config_key is not None:
        message = "GKE's device plugin reads no plugin config; its sharing is a field of the pool"
        yield Finding("not-expressible", message, field="spec.sharing.configKey", hint="leave it out", link=_SHARING)


def _driver(pool: ResolvedPool) -> Iterator[Finding]:
    """Without the managed driver a DaemonSet of Google's installs it; one variant of that cuts the GPUs too
    (https://github.com/GoogleCloudPlatform/container-engine-accelerators/tree/master/nvidia-driver-installer)."""
    if pool.gke.driver != "None":
        return
    field, link = "spec.gke.driver", "https://cloud.google.com/kubernetes-engine/docs/how-to/gpus#installing_drivers"
    if isinstance(pool.sharing.cut, Mig):
        message = "GKE cuts the GPUs with the driver that it installs; without it nothing does until you see to it"
        hint = "leave gke.driver out, or apply the MIG variant of Google's driver installer"
        yield warning("driver-none-with-mig", message, field=field, hint=hint, nearest=("Install",), link=link)
    else:
        message = "GKE installs no driver; until something else does, the nodes have no nvidia.com/gpu"
        yield info("driver-none", message, field=field, hint="apply Google's driver installer", link=link)
