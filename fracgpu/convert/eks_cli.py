"""`aws eks create-nodegroup`: what it sends to EKS.

https://docs.aws.amazon.com/cli/latest/reference/eks/create-nodegroup.html
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from fracgpu.catalog.models import ProviderName
from fracgpu.convert import eks_template
from fracgpu.convert.flags import Given, Row, Takes, gap, only, runs, to, wrong
from fracgpu.convert.made import Made
from fracgpu.convert.shorthand import structure, structures, texts
from fracgpu.errors import Finding, Invalid, info, warning
from fracgpu.nearest import nearest_words
from fracgpu.plan import Json
from fracgpu.taints import GPU_TAINT_KEY

COMMAND = ("eks", "create-nodegroup")
_NONE, _MANY = Takes.NOTHING, Takes.MANY
SHARING = ("sharing.mig", "sharing.timeSlicing", "sharing.mps", "sharing.renameByDefault", "sharing.configKey")
ROWS: dict[str, Row] = {
    "--cluster-name": to("cluster.name"),
    "--nodegroup-name": to("metadata.name"),
    "--region": to("cluster.region"),
    "--scaling-config": to("nodes"),
    "--capacity-type": to("capacity"),
    "--instance-types": to("machine", "eks.instanceTypes", takes=_MANY),
    "--ami-type": to("eks.amiType", "eks.backend"),
    "--disk-size": to("disk.sizeGb"),
    "--subnets": to("eks.subnets", takes=_MANY),
    "--node-role": to("eks.nodeRole"),
    "--labels": to("labels", *SHARING),
    "--taints": to("taints", takes=_MANY),
    "--tags": to("tags"),
    "--launch-template": to("eks.launchTemplate"),
    "--update-config": to("eks.updateConfig"),
    "--node-repair-config": to("eks.nodeRepairConfig"),
    "--kubernetes-version": to("eks.version"),
    "--release-version": to("eks.releaseVersion"),
    "--cli-input-json": to("metadata.name", "machine", "nodes", "labels", "taints", "tags", "eks"),
    "--remote-access": gap("remote access"),
    "--warm-pool-config": gap("a warm pool"),
    "--client-request-token": runs(),
    "--generate-cli-skeleton": runs(),
    "--output": runs(),
    "--query": runs(),
    "--profile": runs(),
    "--color": runs(),
    "--endpoint-url": runs(),
    "--ca-bundle": runs(),
    "--cli-read-timeout": runs(),
    "--cli-connect-timeout": runs(),
    "--debug": runs(_NONE),
    "--no-verify-ssl": runs(_NONE),
    "--no-paginate": runs(_NONE),
    "--no-sign-request": runs(_NONE),
    "--no-cli-pager": runs(_NONE),
    "--no-cli-auto-prompt": runs(_NONE),
}
DEFAULT_SCALING = {"minSize": 2, "maxSize": 2, "desiredSize": 2}
"""What EKS makes where no sizes are said, as far as is known."""


def made(commands: Sequence[Given]) -> Made:
    """The node group that the command makes, with the launch template that a command before it makes."""
    given, templates = _sorted(commands)
    if given.positionals:
        raise Invalid.one("usage", f"aws eks create-nodegroup: what is {given.positionals[0]}?", hint="leave it out")
    body = create_nodegroup(given)
    name = body.get("nodegroupName")
    if not name:
        flag = "--nodegroup-name"
        raise Invalid.one("usage", f"aws: {flag} is missing", field=flag, hint=f"{flag} POOL")
    cluster = {"name": body.get("clusterName"), "region": given.text("--region")}
    told = {"scalingConfig": DEFAULT_SCALING, **body}
    before = tuple(eks_template.template(one) for one in templates if _names(body, one))
    more = _more(body)
    if before:
        more["eks.launchTemplate"] = None  # fracgpu makes one of its own, with the same in it
    notes = (*(note for one in templates for note in eks_template.notes(one)), *_notes(body))
    return Made(ProviderName.EKS, "eks.nodegroup", name, cluster, told, more, before, notes)


def _sorted(commands: Sequence[Given]) -> tuple[Given, list[Given]]:
    """The command that makes the group, and those that make templates."""
    groups = [one for one in commands if one.command == COMMAND]
    if not groups:
        message = "a launch template alone makes no nodes"
        raise Invalid.one("usage", message, hint="put aws eks create-nodegroup after it")
    return only(groups), [one for one in commands if one.command != COMMAND]


def _names(body: Json, template_command: Given) -> bool:
    """Whether a group has the template that a command makes. Raises Invalid where it has another or none."""
    name = template_command.text("--launch-template-name")
    if body.get("launchTemplate", {}).get("name") != name:
        message = f"the node group does not use the launch template {name}"
        raise Invalid.one("usage", message, field="--launch-template", hint=f"--launch-template name={name},version=1")
    return True


def create_nodegroup(given: Given) -> Json:
    """The members of CreateNodegroup: those of --cli-input-json, and over them those of the flags."""
    text = given.text("--cli-input-json")
    base = _input(text) if text is not None else {}
    members = {name: read(flag, given) for flag, (name, read) in MEMBERS.items() if given.has(flag)}
    return {**base, **members}


INPUT = "--cli-input-json"


def _input(text: str) -> Json:
    """The members of --cli-input-json, each of the kind that it has to be. Raises Invalid."""
    body = structure(INPUT, text)
    for name, value in body.items():
        if name not in KINDS:
            near = nearest_words(name, KINDS)
            raise Invalid.one("unknown-key", f"CreateNodegroup has no member {name}", field=INPUT, nearest=near)
        if not isinstance(value, KINDS[name]):
            raise wrong(f"{INPUT} {name}", json.dumps(value), WORDS[KINDS[name]])
    if "scalingConfig" in body:
        _sizes(f"{INPUT} scalingConfig", body["scalingConfig"])
    if "taints" in body:
        _rows(f"{INPUT} taints", body["taints"])
    return body


def _text(flag: str, given: Given) -> str | None:
    return given.text(flag)


def _number(flag: str, given: Given) -> int | None:
    return given.number(flag)


def _texts(flag: str, given: Given) -> list[str]:
    return texts(flag, given.words(flag))


def _mapping(flag: str, given: Given) -> Json:
    return structure(flag, given.text(flag) or "")


def _numbers(flag: str, given: Given) -> Json:
    """A mapping whose values are whole numbers where they look like it."""
    return {key: _whole(value) for key, value in _mapping(flag, given).items()}


LONGEST_NUMBER = 10


def _whole(value: Any) -> Any:
    if isinstance(value, str) and value in ("true", "false"):
        return value == "true"
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < LONGEST_NUMBER else value


def _scaling(flag: str, given: Given) -> Json:
    return _sizes(flag, _numbers(flag, given))


def _sizes(flag: str, sizes: Json) -> Json:
    wanted = ("minSize", "maxSize", "desiredSize")
    if sorted(sizes) != sorted(wanted) or not all(type(size) is int for size in sizes.values()):
        raise wrong(flag, json.dumps(sizes), "minSize=N,maxSize=N,desiredSize=N", wanted)
    return sizes


def _taints(flag: str, given: Given) -> list[Json]:
    return _rows(flag, structures(flag, given.words(flag)))


def _rows(flag: str, rows: list[Any]) -> list[Json]:
    effects = ("NO_SCHEDULE", "NO_EXECUTE", "PREFER_NO_SCHEDULE")
    for row in rows:
        if not isinstance(row, dict) or not row.get("key") or row.get("effect") not in effects:
            raise wrong(flag, json.dumps(row), "key=...,value=...,effect=NO_SCHEDULE", effects)
    return rows


def _template(flag: str, given: Given) -> Json:
    said = _mapping(flag, given)
    return {key: str(value) for key, value in said.items()}


MEMBERS = {
    "--cluster-name": ("clusterName", _text),
    "--nodegroup-name": ("nodegroupName", _text),
    "--scaling-config": ("scalingConfig", _scaling),
    "--disk-size": ("diskSize", _number),
    "--subnets": ("subnets", _texts),
    "--instance-types": ("instanceTypes", _texts),
    "--ami-type": ("amiType", _text),
    "--remote-access": ("remoteAccess", _mapping),
    "--node-role": ("nodeRole", _text),
    "--labels": ("labels", _mapping),
    "--taints": ("taints", _taints),
    "--tags": ("tags", _mapping),
    "--launch-template": ("launchTemplate", _template),
    "--update-config": ("updateConfig", _numbers),
    "--node-repair-config": ("nodeRepairConfig", _numbers),
    "--capacity-type": ("capacityType", _text),
    "--release-version": ("releaseVersion", _text),
    "--warm-pool-config": ("warmPoolConfig", _mapping),
    "--kubernetes-version": ("version", _text),
}


OF_READER: dict[Any, type] = {_text: str, _number: int, _texts: list, _taints: list}
KINDS: dict[str, type] = {"clientRequestToken": str}
KINDS |= {name: OF_READER.get(reader, dict) for name, reader in MEMBERS.values()}
"""What each member is in JSON."""
WORDS = {str: "a string", int: "a number", list: "an array", dict: "an object"}


def _more(body: Json) -> dict[str, Any]:
    """What an existing group does not show as it was asked for."""
    more: dict[str, Any] = {"eks.version": body.get("version"), "eks.releaseVersion": body.get("releaseVersion")}
    if body.get("capacityType") == "CAPACITY_BLOCK":
        more |= {"capacity": "reserved", "eks.capacityBlock": True}
    return {**{path: value for path, value in more.items() if value}, "eks.autoscalerTags": None}


def _notes(body: Json) -> Iterator[Finding]:
    if "scalingConfig" not in body:
        sizes = ", ".join(f"{key} {size}" for key, size in DEFAULT_SCALING.items())
        yield warning("tool-default", f"EKS's own sizes where none are said: {sizes}", field="spec.nodes")
    if not any(taint.get("key") == GPU_TAINT_KEY for taint in body.get("taints", ())):
        message = "the command puts no taint nvidia.com/gpu on the nodes, so pods without a GPU may land on them"
        hint = "take gpuTaint: false out of the file, and fracgpu taints them"
        yield warning("no-gpu-taint", message, field="spec.gpuTaint", hint=hint)
    if not body.get("amiType") and "launchTemplate" not in body:
        message = "no AMI type is said, and EKS's own choice may have no NVIDIA driver; fracgpu names one that has"
        yield info("ami-chosen", message, field="spec.eks.amiType")
    if body.get("capacityType") == "CAPACITY_BLOCK":
        message = "the id of the capacity block is in the launch template, where it cannot be seen from here"
        yield warning("reservation-unknown", message, field="spec.eks.reservation", hint="eks: {reservation: cr-...}")
