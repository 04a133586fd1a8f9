"""From an existing node group to the file form, ours or not, such that planning it changes nothing."""

from __future__ import annotations

from collections.abc import Iterator

from fracgpu.catalog import query
from fracgpu.catalog.load import load
from fracgpu.catalog.models import Machine, ProviderName
from fracgpu.errors import Finding, info, warning
from fracgpu.options import TemplateSays
from fracgpu.plan import Json
from fracgpu.providers import Observed
from fracgpu.providers.eks import ami, bottlerocket
from fracgpu.providers.eks.autoscaler import resource_tags
from fracgpu.providers.eks.compare import DEFAULT_DISK_GB, settled
from fracgpu.providers.eks.desired import EFFECTS, taint_order
from fracgpu.providers.eks.facts import STARTUP_TAINT
from fracgpu.providers.eks.names import LAUNCH_TEMPLATE, template_name
from fracgpu.providers.eks.read_sharing import Seen, read_sharing
from fracgpu.providers.eks.template import DEFAULT_VOLUME, decode
from fracgpu.providers.file_members import (
    Unsaid,
    nodes,
    not_in_file_form,
    some,
    taints,
    unless,
    unsaid,
    without_autoscaler_tags,
)
from fracgpu.resolve import resolve
from fracgpu.sharing import Backend
from fracgpu.spec import NodePool

UNSAID = (Unsaid("remoteAccess", "remote access"), Unsaid("warmPoolConfig", "a warm pool"))
"""Members of CreateNodegroup that the file form has no word for; a group made anew would not have them."""

SPOKEN = frozenset(
    {
        "UserData",
        "BlockDeviceMappings",
        "MetadataOptions",
        "CapacityReservationSpecification",
        "InstanceMarketOptions",
        "InstanceType",
        "Placement",
    }
)
"""Members of a template's data that the file form can say."""


def read(observed: Observed) -> tuple[NodePool, tuple[Finding, ...]]:
    """The file form of a node group, and notes on what it cannot say."""
    body = settled(observed.resources[-1]).body
    data = _template_data(observed)
    foreign = _foreign_data(observed)
    machine = _machine(body, data or foreign)
    sizes = body["scalingConfig"]
    seen = read_sharing(body, decode((data or foreign).get("UserData")), machine)
    template = _foreign_template(observed, body, foreign, machine, seen)
    spec: Json = {
        "cluster": observed.cluster.to_json(),
        "gpu": machine.gpu if machine else None,
        "machine": _first_type(body, data or foreign),
        "sharing": seen.sharing,
        "nodes": nodes(sizes["minSize"], sizes["maxSize"], sizes["desiredSize"]),
        "capacity": _capacity(body, data),
        "disk": some({"sizeGb": _disk(body, data)}),
        "labels": seen.labels,
        "tags": body.get("tags"),
        **taints(_taints(body, startup=_startup(body, seen))),
        "eks": some({**_options(body, data, machine, seen), "launchTemplate": template}),
    }
    written = {"metadata": {"name": observed.name}, "spec": some(spec)}
    notes = tuple(_notes(observed, machine, data, seen, foreign=template is not None))
    return NodePool.model_validate(_without_autoscaler_tags(written)), notes


def _template_data(observed: Observed) -> Json:
    """The data of the group's own template; empty where it has none."""
    for resource in observed.resources:
        if resource.kind == LAUNCH_TEMPLATE:
            data: Json = settled(resource).body["LaunchTemplateData"]
            return data
    return {}


def _foreign_data(observed: Observed) -> Json:
    """The data of the template of somebody else's; empty where it has none, and where it could not be read."""
    for resource in observed.uses:
        data: Json = settled(resource).body["LaunchTemplateData"]
        return data
    return {}


def _first_type(body: Json, data: Json) -> str | None:
    types = body.get("instanceTypes") or [data.get("InstanceType")]
    return str(types[0]) if types[0] else None


def _machine(body: Json, data: Json) -> Machine | None:
    rows = query.find_machine(load(), ProviderName.EKS, _first_type(body, data) or "")
    return rows[0] if rows else None


def _capacity(body: Json, data: Json) -> str | None:
    if body.get("capacityType") == "SPOT":
        return "spot"
    return "reserved" if _reservation(data) else None


def _reservation(data: Json) -> str | None:
    target = data.get("CapacityReservationSpecification", {}).get("CapacityReservationTarget", {})
    found: str | None = target.get("CapacityReservationId") or target.get("CapacityReservationResourceGroupArn")
    return found


def _volume(data: Json) -> Json:
    mappings: list[Json] = data.get("BlockDeviceMappings", [])
    disk: Json = mappings[0].get("Ebs", {}) if mappings else {}
    return disk


def _disk(body: Json, data: Json) -> int | None:
    size: int | None = _volume(data).get("VolumeSize") or body.get("diskSize")
    return size if data or size != DEFAULT_DISK_GB else None


def _startup(body: Json, seen: Seen) -> bool:
    """Whether the startup taint is there for what it is for."""
    tainted = any(taint["key"] == STARTUP_TAINT.key for taint in body.get("taints", ()))
    return tainted and seen.backend is Backend.GPU_OPERATOR and "mig" in seen.sharing


def _taints(body: Json, *, startup: bool) -> Iterator[Json]:
    """All but the startup taint, which is told by its option."""
    words = {native: effect.value for effect, native in EFFECTS.items()}
    for taint in sorted(body.get("taints", ()), key=taint_order):
        if taint.get("effect") in words and not (startup and taint["key"] == STARTUP_TAINT.key):
            yield {"key": taint["key"], "value": taint.get("value", ""), "effect": words[taint["effect"]]}


def _options(body: Json, data: Json, machine: Machine | None, seen: Seen) -> Json:
    types = body.get("instanceTypes", [])
    return {
        "backend": seen.backend.value if seen.backend else None,
        "amiType": _ami_type(body, machine, seen.backend),
        "nodeRole": body.get("nodeRole"),
        "subnets": body.get("subnets"),
        "instanceTypes": types if len(types) > 1 else None,
        "updateConfig": _update_config(body, data),
        "nodeRepairConfig": body.get("nodeRepairConfig"),
        "reservation": _reservation(data),
        "diskType": unless(_volume(data).get("VolumeType"), DEFAULT_VOLUME) if _volume(data) else None,
        "startupTaint": _startup(body, seen) or None,
        "capacityBlock": _capacity_block(body, data, machine),
        "placementGroup": data.get("Placement", {}).get("GroupName"),
    }


def _ami_type(body: Json, machine: Machine | None, backend: Backend | None) -> str | None:
    """The image where it is not the one that follows from machine and backend."""
    usual = ami.derived_for(machine.ami_types, backend) if machine else None
    return None if body.get("amiType") == usual else body.get("amiType")


def _update_config(body: Json, data: Json) -> Json | None:
    """As the group has it; said in full where a reservation would make it another."""
    said: Json | None = body.get("updateConfig")
    if not _reservation(data):
        return said
    return None if said == {"maxUnavailable": 1, "updateStrategy": "MINIMAL"} else said or {"maxUnavailable": 1}


def _capacity_block(body: Json, data: Json, machine: Machine | None) -> bool | None:
    if not _reservation(data):
        return None
    block = body.get("capacityType") == "CAPACITY_BLOCK"
    usual = machine is not None and not machine.on_demand
    return None if block == usual else block


def _foreign_template(observed: Observed, body: Json, data: Json, machine: Machine | None, seen: Seen) -> Json | None:
    """A template that is not fracgpu's own is named; ours follows from the rest."""
    template: Json | None = body.get("launchTemplate")
    ours = template_name(observed.cluster.name, observed.name)
    if template is None or (template.get("name") == ours and not observed.uses):
        return None
    named = {key: value for key, value in template.items() if key != "id" or not template.get("name")}
    return named | some({"says": list(_says(body, data, machine, seen))})


def _says(body: Json, data: Json, machine: Machine | None, seen: Seen) -> Iterator[str]:
    """What such a template brings in the group's place; `seen` is the sharing with it."""
    if data.get("InstanceType") and not body.get("instanceTypes"):
        yield TemplateSays.MACHINE.value
    if decode(data.get("UserData")) and seen.sharing != read_sharing(body, "", machine).sharing:
        yield TemplateSays.SHARING.value


def _without_autoscaler_tags(written: Json) -> Json:
    pool = resolve(NodePool.model_validate(written), load()).pool
    return without_autoscaler_tags(written, "eks", resource_tags(pool) if pool else {})


def _notes(observed: Observed, machine: Machine | None, data: Json, seen: Seen, *, foreign: bool) -> Iterator[Finding]:
    if machine is None:
        message = f"{observed.name} has no GPU that the catalog knows; fracgpu makes GPU pools"
        yield warning("no-gpu", message, field="spec.machine")
    yield from seen.notes
    yield from unsaid(observed.body, UNSAID)
    for member in sorted(set(data) - SPOKEN):
        yield not_in_file_form("something of the launch template", member)
    for member in bottlerocket.others(decode(data.get("UserData"))):
        yield not_in_file_form("other settings in the user data", member)
    if foreign:
        message = "the group has a launch template of another's, which may set disk and more; the file names it"
        yield info("foreign-launch-template", message, field="spec.eks.launchTemplate")
