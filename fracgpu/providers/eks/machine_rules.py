"""What goes with the machine: its image, the other instance types of the group, its capacity, placement and disk."""

from __future__ import annotations

from collections.abc import Iterator

from fracgpu.catalog import query
from fracgpu.catalog.load import load
from fracgpu.catalog.models import CpuArchitecture, Machine, ProviderName
from fracgpu.errors import Finding, info, warning
from fracgpu.nearest import nearest_words
from fracgpu.providers.eks import ami
from fracgpu.providers.eks.facts import capacity_block, instance_types
from fracgpu.resolve import ResolvedPool
from fracgpu.sharing import Backend, Mig
from fracgpu.spec import Capacity

_AMIS = "https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-optimized-ami.html"
_BLOCKS = "https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html"
_PLACEMENT = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html"
_TEMPLATES = "https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html"

MOST_TYPES = 20
DISK_TYPES = ("gp3", "gp2")
LEAST_DISK = 20
"""GiB, as large as the snapshots of EKS's images are; Bottlerocket's second volume has as much."""
MOST_DISK = 16384
"""GiB: https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html, and EBS's own for gp3."""


def check(pool: ResolvedPool) -> Iterator[Finding]:
    """Every finding about image, instance types, capacity, placement and disk."""
    yield from _image(pool)
    yield from _types(pool)
    yield from _capacity(pool)
    yield from _placement(pool)
    yield from _disk(pool)
    if pool.machine.note:
        yield info("machine-note", pool.machine.note.rstrip("."), field="spec.machine")


def _image(pool: ResolvedPool) -> Iterator[Finding]:
    said, derived = pool.eks.ami_type, ami.derived(pool)
    field = "spec.eks.amiType"
    if derived is None and (said is None or ami.family(pool.backend) == "BOTTLEROCKET"):
        message = f"there is no {ami.family(pool.backend)} image with the driver for {pool.machine.name}"
        others = tuple(pool.machine.ami_types)
        hint = _other_backend(pool) if pool.backend is Backend.BOTTLEROCKET else None
        yield Finding("not-expressible", message, field="spec.eks.backend", nearest=others, hint=hint, link=_AMIS)
        return
    near = (derived,) if derived else ()
    hint = f"leave it out for {derived}" if derived else None
    if said is None or said == ami.CUSTOM:
        yield from _custom(pool)
    elif said in ami.RETIRED:
        message = f"{said} has no images any more: Amazon Linux 2 ended in November 2025"
        yield Finding("ami-retired", message, field=field, nearest=near, hint=hint, link=_AMIS)
    elif said in ami.WITHOUT_DRIVER:
        message = f"{said} has no NVIDIA driver, so the GPUs of {pool.machine.name} would not show"
        link = "https://github.com/awslabs/amazon-eks-ami/issues/1817"
        yield Finding("ami-not-gpu", message, field=field, nearest=near, hint=hint, link=link)
    elif said not in ami.WITH_DRIVER:
        close = nearest_words(said, ami.WITH_DRIVER) or near
        yield Finding("invalid-value", f"{said!r} is no AMI type of EKS", field=field, nearest=close, hint=hint)
    else:
        yield from _image_fits(pool, said, near)


def _other_backend(pool: ResolvedPool) -> str:
    cuts = isinstance(pool.sharing.cut, Mig)
    return f"--backend {Backend.USER_DATA if cuts else Backend.DEVICE_PLUGIN}"


def _custom(pool: ResolvedPool) -> Iterator[Finding]:
    if pool.eks.ami_type != ami.CUSTOM:
        return
    if pool.eks.launch_template is None:
        message = "a custom image is named in a launch template of your own"
        hint = "--set eks.launchTemplate.name=NAME, or leave amiType out"
        yield Finding("missing-field", message, field="spec.eks.launchTemplate", hint=hint, link=_TEMPLATES)
    for name, value in {"version": pool.eks.version, "releaseVersion": pool.eks.release_version}.items():
        if value is not None:
            message = f"a custom image has its own Kubernetes, so EKS refuses {name} beside it"
            link = "https://github.com/awslabs/amazon-eks-ami/issues/1480"
            yield Finding("conflicting-fields", message, field=f"spec.eks.{name}", hint="leave it out", link=link)
    message = "whether a custom image has the NVIDIA driver cannot be told from here"
    yield info("custom-image", message, field="spec.eks.amiType")


def _image_fits(pool: ResolvedPool, said: str, near: tuple[str, ...]) -> Iterator[Finding]:
    field = "spec.eks.amiType"
    hint = f"leave it out for {near[0]}" if near else None
    if ami.is_arm(said) != (pool.machine.architecture is CpuArchitecture.ARM64):
        message = f"{said} is for another CPU than {pool.machine.name}'s, which is {pool.machine.architecture}"
        yield Finding("conflicting-fields", message, field=field, nearest=near, hint=hint)
    elif not said.startswith(ami.family(pool.backend)):
        message = f"the backend {pool.backend} runs on {ami.family(pool.backend)} images, and amiType is {said}"
        yield Finding("conflicting-fields", message, field=field, nearest=near, hint=hint)
    elif said not in pool.machine.ami_types:
        message = f"that {said} has the driver for {pool.machine.name} is not documented"
        yield warning("ami-unconfirmed", message, field=field, nearest=near, hint=hint, link=_AMIS)


def _types(pool: ResolvedPool) -> Iterator[Finding]:
    names = instance_types(pool)
    field = "spec.eks.instanceTypes"
    if len(names) > MOST_TYPES:
        message = f"{len(names)} instance types, and a node group takes {MOST_TYPES} at most"
        yield Finding("invalid-value", message, field=field, hint="leave some out")
    if pool.machine.name not in names:
        message = f"the pool's machine {pool.machine.name} is not among {', '.join(names)}"
        hint = f"--machine {names[0]}, or name it among them"
        yield Finding("conflicting-fields", message, field=field, hint=hint, nearest=names)
    if len(names) > 1 and pool.capacity is Capacity.ON_DEMAND:
        message = "On-Demand nodes take the first of these types that there is; Spot makes more of several"
        yield info("types-in-order", message, field=field)
    if len(names) > 1 and pool.capacity is Capacity.RESERVED and not (pool.eks.reservation or "").startswith("arn:"):
        message = f"a {'capacity block' if capacity_block(pool) else 'capacity reservation'} is of one instance type"
        hint = "one pool for each, or a resource group of reservations by its ARN"
        yield Finding("conflicting-fields", message, field=field, hint=hint, link=_BLOCKS)
    for name in names:
        yield from _type(pool, name)


def _type(pool: ResolvedPool, name: str) -> Iterator[Finding]:
    """Another type of the group: the same GPUs, or the nodes differ; the same shape, or the autoscaler is misled."""
    field = "spec.eks.instanceTypes"
    rows = query.find_machine(load(), ProviderName.EKS, name)
    if not rows or rows[0].name != name:
        near = (rows[0].name,) if rows else query.nearest_machines(load(), ProviderName.EKS, name)
        message = f"{name} is no GPU machine of EKS that the catalog knows"
        yield Finding("unknown-machine", message, field=field, nearest=near)
        return
    other, machine = rows[0], pool.machine
    if (other.gpu, other.gpu_count, other.gpu_fraction) != (machine.gpu, machine.gpu_count, machine.gpu_fraction):
        message = f"{name} has {_gpus(other)}, and {machine.name} has {_gpus(machine)}: their nodes would differ"
        yield Finding("machine-gpu-mismatch", message, field=field, hint="one pool for each kind of GPU")
    elif (other.vcpus, other.memory_gib) != (machine.vcpus, machine.memory_gib):
        message = f"{name} has {_shape(other)}, {machine.name} {_shape(machine)}; the autoscaler knows one type a group"
        link = "https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/aws/README.md"
        hint = "name types of equal vCPUs and memory"
        yield warning("scale-from-zero-blind", message, field=field, hint=hint, link=link)


def _gpus(machine: Machine) -> str:
    return f"{machine.gpu_count * machine.gpu_fraction:g} x {machine.gpu}"


def _shape(machine: Machine) -> str:
    return f"{machine.vcpus} vCPUs and {machine.memory_gib:g} GiB" if machine.memory_gib else f"{machine.vcpus} vCPUs"


def _capacity(pool: ResolvedPool) -> Iterator[Finding]:
    field = "spec.eks.reservation"
    if pool.capacity is Capacity.RESERVED and not pool.eks.reservation:
        message = "reserved capacity needs the id of the capacity reservation"
        yield Finding("missing-field", message, field=field, hint="--set eks.reservation=cr-...", link=_BLOCKS)
    if pool.capacity is not Capacity.RESERVED and pool.eks.reservation:
        message = f"a reservation is named, and the capacity is {pool.capacity}"
        yield Finding("conflicting-fields", message, field=field, hint="--capacity reserved")
    if pool.eks.capacity_block is not None and pool.capacity is not Capacity.RESERVED:
        message = f"capacityBlock says which kind of reservation, and the capacity is {pool.capacity}"
        yield Finding("conflicting-fields", message, field="spec.eks.capacityBlock", hint="--capacity reserved")
    if capacity_block(pool) and not (pool.zones or pool.eks.subnets):
        message = "a capacity block is in one zone, and the group spans all that the cluster has"
        hint = "--zone ZONE of the block, or eks.subnets"
        yield warning("capacity-block-zone", message, field="spec.zones", hint=hint, link=_BLOCKS)
    if not pool.machine.on_demand and pool.capacity is not Capacity.RESERVED:
        message = f"{pool.machine.name} is sold in capacity blocks, so a pool of it may never get a node"
        hint = "--capacity reserved --set eks.reservation=cr-..."
        yield warning("on-demand-unconfirmed", message, field="spec.capacity", hint=hint, link=_BLOCKS)


def _placement(pool: ResolvedPool) -> Iterator[Finding]:
    spans = len(pool.zones) != 1 and len(pool.eks.subnets or ()) != 1
    if pool.eks.placement_group and spans:
        message = "a placement group of strategy cluster is in one zone, and the nodes may come into several"
        hint = "--zone ZONE, or one of eks.subnets; strategies spread and partition span zones"
        yield warning("placement-group-zones", message, field="spec.eks.placementGroup", hint=hint, link=_PLACEMENT)


def _disk(pool: ResolvedPool) -> Iterator[Finding]:
    if pool.disk_gb is not None and not 1 <= pool.disk_gb <= MOST_DISK:
        near = str(min(max(pool.disk_gb, 1), MOST_DISK))
        message = f"a disk has 1 to {MOST_DISK} GiB, not {pool.disk_gb}"
        yield Finding("invalid-value", message, field="spec.disk.sizeGb", nearest=(near,), hint=f"--disk-gb {near}")
    elif pool.disk_gb is not None and pool.disk_gb < LEAST_DISK:
        message = f"EKS's images are of {LEAST_DISK} GiB, and EC2 makes no smaller disk of one: {pool.disk_gb} GiB"
        link = "https://github.com/cilium/cilium/pull/43051"
        near, hint = str(LEAST_DISK), "--disk-gb 100"
        yield warning("disk-too-small", message, field="spec.disk.sizeGb", hint=hint, nearest=(near,), link=link)
    said = pool.eks.disk_type
    if said is not None and said not in DISK_TYPES:
        reason = "has provisioned IOPS, which cannot be said here" if said in ("io1", "io2") else "holds no node"
        message = f"a disk of type {said} {reason}; {' and '.join(DISK_TYPES)} do"
        link = "https://docs.aws.amazon.com/ebs/latest/userguide/ebs-volume-types.html"
        yield Finding("invalid-value", message, field="spec.eks.diskType", nearest=DISK_TYPES, link=link)
