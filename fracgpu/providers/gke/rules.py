"""What GKE refuses or what bites on it, found before anything is sent. The sharing of GPUs is in `sharing_rules`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fracgpu.errors import Finding, info, warning
from fracgpu.providers import ClusterFacts, other_clouds
from fracgpu.providers.gke import count_rules, label_rules, sharing_rules
from fracgpu.providers.gke.places import is_location, region_of
from fracgpu.providers.gke.versions import older
from fracgpu.resolve import ResolvedPool
from fracgpu.spec import Capacity
from fracgpu.taints import GPU_TAINT_KEY

NAME = re.compile(r"[a-z]([-a-z0-9]{0,38}[a-z0-9])?")
"""The server's own expression: https://github.com/pulumi/pulumi-gcp/issues/1510"""

_SPOT_DOCS = "https://cloud.google.com/kubernetes-engine/docs/concepts/spot-vms"


def rules(pool: ResolvedPool, facts: ClusterFacts | None) -> Iterator[Finding]:
    """Every finding about a pool, in the order of the file form; `facts` None is offline."""
    yield from _name(pool)
    yield from _location(pool)
    yield from _cluster(facts)
    yield from _machine(pool, facts)
    yield from sharing_rules.check(pool, facts)
    yield from count_rules.check(pool, facts)
    yield from _capacity(pool)
    yield from _disk(pool)
    yield from label_rules.check(pool)
    yield from _taints(pool)
    yield from _options(pool)
    yield from other_clouds.check(pool)


def _name(pool: ResolvedPool) -> Iterator[Finding]:
    if NAME.fullmatch(pool.name):
        return
    near = nearest_name(pool.name)
    form = "lower-case letters, digits and '-', a letter first, at most 40"
    message = f"{pool.name!r} is no node pool name on GKE: {form}"
    hint = f"call it {near}"
    yield Finding("invalid-name", message, field="metadata.name", hint=hint, nearest=(near,))


def nearest_name(name: str) -> str:
    """The legal name most like this one."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).lstrip("-0123456789")[:40].strip("-")
    return plain or "gpu"


def _location(pool: ResolvedPool) -> Iterator[Finding]:
    location = pool.cluster.location
    if location is None:  # a placeholder cluster
        return
    if not is_location(location):
        message = f"{location!r} is neither a region such as us-central1 nor a zone such as us-central1-a"
        yield Finding("invalid-value", message, field="spec.cluster.location", hint="--location us-central1")
        return
    for index, zone in enumerate(pool.zones):
        if region_of(zone) != region_of(location) or zone == region_of(zone):
            message = f"{zone} is not a zone of {region_of(location)}, where the cluster is"
            hint = f"a zone is {region_of(location)} and a letter"
            yield Finding("invalid-value", message, field=f"spec.zones[{index}]", hint=hint)
        elif zone in pool.zones[:index]:
            yield Finding("invalid-value", f"{zone} stands twice", field=f"spec.zones[{index}]", hint="leave one out")


def _cluster(facts: ClusterFacts | None) -> Iterator[Finding]:
    if facts is None:
        return
    if facts.extra.get("autopilot"):
        message = "the cluster is an Autopilot cluster, which makes its nodes itself and takes no node pools"
        hint = "choose a Standard cluster; on Autopilot a pod asks for GPUs by node selectors of its own"
        yield Finding("not-expressible", message, field="spec.cluster.name", hint=hint)
    if facts.extra.get("pools_without_gpu") == 0:
        message = "the cluster has no pool without GPUs, so GKE does not taint this one and system pods may fill it"
        link = "https://github.com/terraform-google-modules/terraform-google-kubernetes-engine/issues/703"
        hint = "add a small pool without GPUs first"
        yield warning("no-pool-without-gpu", message, field="spec.cluster.name", hint=hint, link=link)


def _machine(pool: ResolvedPool, facts: ClusterFacts | None) -> Iterator[Finding]:
    machine = pool.machine
    if pool.gpus_per_node not in machine.gpu_counts:
        counts = tuple(map(str, machine.gpu_counts))
        message = f"{machine.name} takes {' or '.join(counts)} x {pool.gpu.product}, not {pool.gpus_per_node}"
        hint = f"gke.acceleratorCount={counts[0]}"
        yield Finding("machine-gpu-mismatch", message, field="spec.gke.acceleratorCount", nearest=counts, hint=hint)
    if not machine.on_demand and pool.capacity is Capacity.ON_DEMAND:
        message = f"{machine.name} is believed not to be sold on demand, so a pool of it may never get a node"
        hint = "--spot, or a reservation"
        yield warning("on-demand-unconfirmed", message, field="spec.capacity", hint=hint)
    version = pool.gke.version or (facts.version if facts else None)
    if machine.min_version and version and older(version, machine.min_version):
        message = f"{machine.name} needs GKE {machine.min_version} or newer, and this is {version}"
        hint = "upgrade the cluster, or choose another machine"
        yield warning("version-too-old", message, field="spec.machine", hint=hint)


def _capacity(pool: ResolvedPool) -> Iterator[Finding]:
    if pool.capacity is Capacity.RESERVED and not pool.gke.reservation:
        message = "reserved capacity needs the name of the reservation"
        yield Finding("missing-field", message, field="spec.gke.reservation", hint="--set gke.reservation=NAME")
    if pool.gke.reservation and pool.capacity is not Capacity.RESERVED:
        message = f"a reservation is named, and the capacity is {pool.capacity}"
        hint = "--capacity reserved; Spot nodes cannot use reservations"
        yield Finding("conflicting-fields", message, field="spec.gke.reservation", hint=hint, link=_SPOT_DOCS)


def _disk(pool: ResolvedPool) -> Iterator[Finding]:
    if pool.disk_gb is not None and not 10 <= pool.disk_gb <= 65536:
        near = str(min(max(pool.disk_gb, 10), 65536))
        message = f"a boot disk has 10 to 65536 GB, not {pool.disk_gb}"
        yield Finding("invalid-value", message, field="spec.disk.sizeGb", nearest=(near,), hint=f"--disk-gb {near}")


def _taints(pool: ResolvedPool) -> Iterator[Finding]:
    if not any(taint.key == GPU_TAINT_KEY for taint in pool.taints):
        message = "GKE adds nvidia.com/gpu=present:NoSchedule itself, unless the cluster has no pool without GPUs"
        link = "https://cloud.google.com/kubernetes-engine/docs/how-to/gpus#create"
        yield info("gpu-taint-added", message, field="spec.gpuTaint", link=link)


def _options(pool: ResolvedPool) -> Iterator[Finding]:
    said = pool.gke
    surge = 1 if said.max_surge is None else said.max_surge
    unavailable = said.max_unavailable or 0
    if surge < 0 or unavailable < 0 or not 1 <= surge + unavailable <= 20:
        message = f"maxSurge {surge} and maxUnavailable {unavailable}: together they are 1 to 20"
        yield Finding("invalid-value", message, field="spec.gke.maxSurge", hint="gke.maxSurge=1")
    if said.max_pods is not None and not 8 <= said.max_pods <= 256:
        yield Finding("invalid-value", "a node has 8 to 256 pods", field="spec.gke.maxPods", nearest=("110",))
    if said.driver == "None" and said.driver_version:
        message = f"driver None installs nothing, and driverVersion says {said.driver_version}"
        yield Finding("conflicting-fields", message, field="spec.gke.driverVersion", hint="leave one out")
    if said.location_policy and not pool.nodes.autoscaling:
        message = "locationPolicy is the autoscaler's, and this pool has a fixed size"
        hint = "--min and --max, or leave it out"
        yield Finding("conflicting-fields", message, field="spec.gke.locationPolicy", hint=hint)
