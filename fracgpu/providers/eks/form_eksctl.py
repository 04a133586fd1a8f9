"""A node group as eksctl has it: https://schema.eksctl.io/

eksctl makes a launch template of its own for every group, out of what stands here; user data that is a script goes into
no field of it, so such a group names a template that must be there.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from fracgpu.errors import Finding, info
from fracgpu.plan import Json, Resource
from fracgpu.providers.eks import ami
from fracgpu.providers.eks.desired import EFFECTS, NEW
from fracgpu.providers.eks.form_gaps import gap, open_members
from fracgpu.providers.eks.template import USER_DATA
from fracgpu.providers.file_members import some
from fracgpu.resolve import ResolvedPool
from fracgpu.sharing import Backend

TEMPLATE_ID = "LAUNCH_TEMPLATE_ID"


def eksctl(resources: Sequence[Resource], pool: ResolvedPool) -> tuple[str, tuple[Finding, ...]]:
    """The configuration, for `eksctl create nodegroup --config-file`, and what it cannot say."""
    *templates, group = resources
    template = templates[0] if templates else None
    config = {
        "apiVersion": "eksctl.io/v1alpha5",
        "kind": "ClusterConfig",
        "metadata": some({"name": pool.cluster.name, "region": pool.cluster.region or "REGION"}),
        "managedNodeGroups": [some(_group(group.body, template, pool))],
    }
    text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    return text, tuple(_notes(group.body, template, pool))


def _group(body: Json, template: Resource | None, pool: ResolvedPool) -> Json:
    sizes = body["scalingConfig"]
    group: Json = {
        "name": body["nodegroupName"],
        "minSize": sizes["minSize"],
        "maxSize": sizes["maxSize"],
        "desiredCapacity": sizes["desiredSize"],
        **_image(body),
        "spot": body["capacityType"] == "SPOT" or None,
        "subnets": body.get("subnets"),
        "availabilityZones": list(pool.zones) if "subnets" not in body else None,
        "iam": {"instanceRoleARN": body.get("nodeRole", "NODE_ROLE")},
        "labels": body.get("labels"),
        "taints": [_taint(taint) for taint in body.get("taints", ())],
        "tags": body.get("tags"),
        "updateConfig": some(
            {key: value for key, value in body.get("updateConfig", {}).items() if key != "updateStrategy"}
        ),
        "nodeRepairConfig": body.get("nodeRepairConfig"),
        "releaseVersion": body.get("releaseVersion"),
    }
    return {**group, **_launch(body, template, pool)}


def _image(body: Json) -> Json:
    kind = body["amiType"]
    if kind == ami.CUSTOM:
        return {}
    return {"amiFamily": "Bottlerocket" if kind.startswith("BOTTLEROCKET") else "AmazonLinux2023"}


def _launch(body: Json, template: Resource | None, pool: ResolvedPool) -> Json:
    """What is in a launch template: eksctl's own, or one that is named."""
    types = body.get("instanceTypes") or [pool.machine.name]
    machine = {"instanceType": types[0]} if len(types) == 1 else {"instanceTypes": types}
    if _named(body, template, pool):
        said = body["launchTemplate"]
        version = "1" if said.get("version") == NEW else said.get("version")
        return {**machine, "launchTemplate": some({"id": said.get("id", TEMPLATE_ID), "version": version})}
    data = template.body["LaunchTemplateData"] if template else {}
    disk = (data.get("BlockDeviceMappings") or [{}])[0].get("Ebs", {})
    return {
        **machine,
        "volumeSize": disk.get("VolumeSize") or body.get("diskSize"),
        "volumeType": disk.get("VolumeType"),
        "bottlerocket": {"settings": _settings(template)} if _settings(template) else None,
        "placement": {"groupName": data["Placement"]["GroupName"]} if "Placement" in data else None,
        **_reservation(data),
    }


def _named(body: Json, template: Resource | None, pool: ResolvedPool) -> bool:
    """A template of the user's own, or one with a script."""
    return "launchTemplate" in body and (template is None or pool.backend is Backend.USER_DATA)


def _settings(template: Resource | None) -> Any:
    text = template.decoded.get(USER_DATA, "") if template else ""
    return tomllib.loads(text).get("settings") if text else None


def _reservation(data: Json) -> Json:
    target = data.get("CapacityReservationSpecification", {}).get("CapacityReservationTarget", {})
    if not target:
        return {}
    words = {
        "CapacityReservationId": "capacityReservationID",
        "CapacityReservationResourceGroupArn": "capacityReservationResourceGroupARN",
    }
    said = {words[key]: value for key, value in target.items()}
    market = data.get("InstanceMarketOptions", {}).get("MarketType")
    return {
        "capacityReservation": {"capacityReservationTarget": said},
        "instanceMarketOptions": {"marketType": market} if market else None,
    }


def _taint(taint: Json) -> Json:
    words = {native: effect.value for effect, native in EFFECTS.items()}
    return some({**taint, "effect": words[taint["effect"]]})


def _notes(body: Json, template: Resource | None, pool: ResolvedPool) -> Iterator[Finding]:
    yield from open_members({"subnets": (), **body}, "a word in capitals")
    if _named(body, template, pool):
        if template is not None:
            message = f"eksctl takes no script as user data: the group names a launch template, {TEMPLATE_ID}"
            hint = "the first command of --as aws makes it, and answers with its id"
            yield gap(message, "spec.eks.backend", hint=hint)
        elif "id" not in body["launchTemplate"]:
            yield gap("eksctl knows launch templates by their id", "spec.eks.launchTemplate", hint="name the id")
    if body["amiType"].endswith("_FIPS"):
        yield gap(f"eksctl chooses the image itself, and not {body['amiType']}", "spec.eks.amiType")
    if "updateStrategy" in body.get("updateConfig", {}):
        yield gap("eksctl has no update strategy", "spec.eks.updateConfig.updateStrategy")
    if "version" in body:
        yield gap("eksctl takes the cluster's version", "spec.eks.version")
    if pool.backend is not Backend.BOTTLEROCKET:
        message = "eksctl installs a device plugin of its own, which knows no sharing"
        link = "https://github.com/eksctl-io/eksctl/issues/8224"
        hint = "eksctl create nodegroup --install-nvidia-plugin=false"
        yield info("form-adds", message, field="spec.eks.backend", hint=hint, link=link)
