"""A node group as `aws eks create-nodegroup`, after `aws ec2 create-launch-template` where it has one.

https://docs.aws.amazon.com/cli/latest/reference/eks/create-nodegroup.html
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from fracgpu.errors import Finding
from fracgpu.plan import Json, Resource
from fracgpu.providers.command_line import Flag, command, pairs
from fracgpu.providers.eks.desired import NEW
from fracgpu.providers.eks.form_gaps import open_members
from fracgpu.resolve import ResolvedPool


def aws(resources: Sequence[Resource], pool: ResolvedPool) -> tuple[str, tuple[Finding, ...]]:
    """The commands, and what stands open in them."""
    *templates, group = resources
    texts = [*(_template(one.body, pool) for one in templates), _group(group.body, pool)]
    return "\n".join(texts), tuple(open_members(group.body, "a word in capitals", pool.zones))


def _template(body: Json, pool: ResolvedPool) -> str:
    flags: list[Flag] = [
        ("--region", pool.cluster.region),
        ("--launch-template-name", body["LaunchTemplateName"]),
        ("--launch-template-data", _json(body["LaunchTemplateData"])),
        ("--tag-specifications", _json(body["TagSpecifications"])),
    ]
    return command(["aws", "ec2", "create-launch-template"], flags, join=" ")


def _group(body: Json, pool: ResolvedPool) -> str:
    flags = [("--region", pool.cluster.region), *_machine(body), *_kubernetes(body), *_upkeep(body)]
    return command(["aws", "eks", "create-nodegroup"], flags, join=" ")


def _machine(body: Json) -> Iterator[Flag]:
    yield "--cluster-name", body["clusterName"]
    yield "--nodegroup-name", body["nodegroupName"]
    yield "--scaling-config", _shorthand(body["scalingConfig"])
    yield "--disk-size", str(body["diskSize"]) if "diskSize" in body else None
    yield "--subnets", body.get("subnets", ["SUBNETS"])
    yield "--node-role", body.get("nodeRole", "NODE_ROLE")
    yield "--instance-types", body.get("instanceTypes")
    yield "--ami-type", body["amiType"]
    yield "--capacity-type", body["capacityType"]
    yield "--launch-template", _launch_template(body.get("launchTemplate"))


def _launch_template(said: Json | None) -> str | None:
    """A template made by the command before has one version."""
    return _shorthand({**said, "version": "1"} if said.get("version") == NEW else said) if said else None


def _kubernetes(body: Json) -> Iterator[Flag]:
    for flag, member in (("--labels", "labels"), ("--taints", "taints"), ("--tags", "tags")):
        yield flag, _json(body.get(member))


def _upkeep(body: Json) -> Iterator[Flag]:
    yield "--update-config", _shorthand(body.get("updateConfig"))
    yield "--node-repair-config", _json(body.get("nodeRepairConfig"))
    yield "--kubernetes-version", body.get("version")
    yield "--release-version", body.get("releaseVersion")


def _json(value: Any) -> str | None:
    return json.dumps(value) if value else None


def _shorthand(members: Json | None) -> str | None:
    """The CLI's `key=value,...`, for members whose values are plain words and numbers."""
    return ",".join(pairs((key, str(value)) for key, value in members.items())) if members else None
