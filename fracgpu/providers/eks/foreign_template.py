"""A launch template of the user's own: what it says of machine and sharing, held against the pool made with it."""

from __future__ import annotations

from collections.abc import Iterator

from fracgpu.errors import Finding, info
from fracgpu.options import TemplateSays
from fracgpu.plan import Json
from fracgpu.providers.eks import ami
from fracgpu.providers.eks.desired import desired
from fracgpu.providers.eks.read_sharing import read_sharing
from fracgpu.providers.eks.template import decode, is_moving, needed, says, text_of
from fracgpu.resolve import ResolvedPool
from fracgpu.spec import Capacity

_FIELD = "spec.eks.launchTemplate"
_SAYS = f"{_FIELD}.says"
NOT_ALLOWED = ("IamInstanceProfile", "InstanceInitiatedShutdownBehavior", "HibernationOptions")
_TEMPLATES = "https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html"


def rules(pool: ResolvedPool) -> Iterator[Finding]:
    """What contradicts itself before the template is known."""
    yield from _own(pool)
    if says(pool, TemplateSays.SHARING) and not text_of(pool):
        message = "the template is to bring the sharing, and this pool's needs no user data"
        yield Finding("conflicting-fields", message, field=_SAYS, hint="leave sharing out of eks.launchTemplate.says")
    if says(pool, TemplateSays.MACHINE) and pool.eks.instance_types:
        message = "the template is to bring the machine, and eks.instanceTypes names some"
        yield Finding("conflicting-fields", message, field=_SAYS, hint="leave one of them out", link=_TEMPLATES)


def _own(pool: ResolvedPool) -> Iterator[Finding]:
    """A template of the user's own is passed on untouched, so nothing that only a template can say may be said."""
    said = pool.eks.launch_template
    if said is None:
        return
    if bool(said.name) == bool(said.id):
        message = "a launch template is named by its name or by its id, by one of them"
        yield Finding("invalid-value", message, field=_FIELD, hint="--set eks.launchTemplate.name=NAME")
    if is_moving(said.version):
        message = f"EKS turns {said.version} into the number that it means when the group is made, and keeps that"
        hint = "a number in its place moves the group to a newer version"
        yield info("template-version-kept", message, field=f"{_FIELD}.version", hint=hint, link=_TEMPLATES)
    if pool.disk_gb is not None:
        message = "with a launch template EKS takes no disk size: the template has it"
        link = "https://github.com/crossplane-contrib/provider-upjet-aws/issues/866"
        yield Finding("conflicting-fields", message, field="spec.disk.sizeGb", hint="set it there", link=link)
    elif needed(pool):
        message = f"{_why_needed(pool)} needs a launch template of fracgpu's own, and a group has only one"
        hint = _own_hint(pool)
        yield Finding("conflicting-fields", message, field=_FIELD, hint=hint, link=_TEMPLATES)


def _own_hint(pool: ResolvedPool) -> str:
    if text_of(pool):
        return "leave eks.launchTemplate out; or, where it does this itself, --set eks.launchTemplate.says=[sharing]"
    return "leave eks.launchTemplate out, or have your template do it and leave it out here"


def _why_needed(pool: ResolvedPool) -> str:
    if pool.eks.disk_type:
        return "eks.diskType"
    if pool.eks.placement_group:
        return "eks.placementGroup"
    if pool.capacity is Capacity.RESERVED:
        return "a reservation"
    return f"the backend {pool.backend}"


def check(pool: ResolvedPool, name: str, data: Json) -> Iterator[Finding]:
    """What the template's data says otherwise than the pool."""
    yield from _machine(pool, name, data.get("InstanceType"))
    yield from _image(pool, name, data.get("ImageId"))
    yield from _not_allowed(name, data)
    if says(pool, TemplateSays.SHARING):
        yield from _sharing(pool, name, decode(data.get("UserData")))


def _machine(pool: ResolvedPool, name: str, found: str | None) -> Iterator[Finding]:
    """EKS refuses a group whose types are said twice or nowhere."""
    told = says(pool, TemplateSays.MACHINE)
    if told and found is None:
        message = f"the launch template {name} names no InstanceType"
        yield Finding("conflicting-fields", message, field=_SAYS, hint="leave machine out of it", link=_TEMPLATES)
    elif told and found != pool.machine.name:
        message = f"the launch template {name} makes {found}, and the pool is of {pool.machine.name}"
        yield Finding("conflicting-fields", message, field="spec.machine", hint=f"--machine {found}")
    elif not told and found is not None:
        message = f"the launch template {name} names the InstanceType {found}, and EKS then takes none from the group"
        hint = "--set eks.launchTemplate.says=[machine]"
        yield Finding("conflicting-fields", message, field=_FIELD, hint=hint, link=_TEMPLATES)


def _image(pool: ResolvedPool, name: str, found: str | None) -> Iterator[Finding]:
    """An image of one's own is said in both places, by an AMI type of CUSTOM and by its id."""
    custom = pool.eks.ami_type == ami.CUSTOM
    if found is not None and not custom:
        message = f"the launch template {name} names the image {found}, which EKS takes with the AMI type CUSTOM alone"
        hint = "--set eks.amiType=CUSTOM, or take the image out of the template"
        yield Finding("conflicting-fields", message, field="spec.eks.amiType", hint=hint, link=_TEMPLATES)
    elif found is None and custom:
        message = f"the AMI type is CUSTOM, and the launch template {name} names no image"
        yield Finding("conflicting-fields", message, field="spec.eks.amiType", hint="leave it out", link=_TEMPLATES)


def _not_allowed(name: str, data: Json) -> Iterator[Finding]:
    """What EKS takes in no template, since it says it itself."""
    found = [member for member in NOT_ALLOWED if data.get(member)]
    if any(card.get("SubnetId") for card in data.get("NetworkInterfaces", ())):
        found.append("SubnetId of a network interface")
    if data.get("InstanceMarketOptions", {}).get("MarketType") == "spot":
        found.append("the market type spot")
    for member in found:
        message = f"the launch template {name} has {member}, which EKS refuses in one"
        hint = "take it out in a new version of the template"
        yield Finding("conflicting-fields", message, field=_FIELD, hint=hint, link=_TEMPLATES)


def _sharing(pool: ResolvedPool, name: str, text: str) -> Iterator[Finding]:
    """Both texts are read back and compared, so that it does not matter how they are written."""
    group = desired(pool, None)[-1].body
    theirs, ours = (read_sharing(group, one, pool.machine) for one in (text, text_of(pool)))
    if (theirs.sharing, theirs.backend) == (ours.sharing, ours.backend):
        return
    message = f"the launch template {name} {_told(theirs.sharing)}, and the pool is to have {_words(ours.sharing)}"
    hint = "change the template, or leave eks.launchTemplate out: fracgpu then makes one that does it"
    yield Finding("conflicting-fields", message, field="spec.sharing", hint=hint)


def _told(sharing: Json) -> str:
    return f"says {_words(sharing)}" if sharing else "says nothing of sharing that fracgpu can read"


def _words(sharing: Json) -> str:
    return ", ".join(f"{key} {_flat(value)}" for key, value in sharing.items())


def _flat(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{key} {_flat(one)}" for key, one in value.items())
    return str(value)
