"""A launch template of the user's own: what it says of machine and sharing, held against the pool made with it."""

from __future__ import annotations

from collections.abc import Iterator

from fracgpu.errors import Finding
from fracgpu.options import TemplateSays
from fracgpu.plan import Json
from fracgpu.providers.eks import ami
from fracgpu.providers.eks.desired import desired
from fracgpu.providers.eks.read_sharing import read_sharing
from fracgpu.providers.eks.template import decode, says, text_of
from fracgpu.resolve import ResolvedPool

_FIELD = "spec.eks.launchTemplate"
_SAYS = f"{_FIELD}.says"
NOT_ALLOWED = ("IamInstanceProfile", "InstanceInitiatedShutdownBehavior", "HibernationOptions")
_TEMPLATES = "https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html"


def rules(pool: ResolvedPool) -> Iterator[Finding]:
    """What contradicts itself before the template is known."""
    if says(pool, TemplateSays.SHARING) and not text_of(pool):
        message = "the template is to bring the sharing, and this pool's needs no user data"
        yield Finding("conflicting-fields", message, field=_SAYS, hint="leave sharing out of eks.launchTemplate.says")
    if says(pool, TemplateSays.MACHINE) and pool.eks.instance_types:
        message = "the template is to bring the machine, and eks.instanceTypes names some"
        yield Finding("conflicting-fields", message, field=_SAYS, hint="leave one of them out", link=_TEMPLATES)


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
