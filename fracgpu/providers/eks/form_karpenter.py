"""A pool for Karpenter: an EC2NodeClass that cuts and shares, a NodePool, and a NodeOverlay that says what comes of it.

Karpenter makes nodes for pods that wait, out of what EC2 tells of a machine, which knows neither slices nor shares: the
overlay adds them, and takes away the whole GPUs that are not there (https://karpenter.sh/docs/concepts/nodeoverlays/).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from fracgpu.errors import Finding, info
from fracgpu.plan import Json, Resource
from fracgpu.providers.eks import ami
from fracgpu.providers.eks.autoscaler import PREFIX, offered
from fracgpu.providers.eks.facts import instance_types, startup_taints
from fracgpu.providers.eks.form_gaps import gap, open_member
from fracgpu.providers.eks.template import USER_DATA
from fracgpu.providers.file_members import some
from fracgpu.providers.kubernetes_syntax import in_domain
from fracgpu.resolve import ResolvedPool
from fracgpu.spec import Capacity
from fracgpu.taints import Taint

NODEPOOL_LABEL = "karpenter.sh/nodepool"
_OVERLAY = "https://karpenter.sh/docs/concepts/nodeoverlays/"
_GROUP = "karpenter.k8s.aws"
_OWN_DOMAINS = ("karpenter.sh", _GROUP)
_CAPACITY = {Capacity.ON_DEMAND: "on-demand", Capacity.SPOT: "spot", Capacity.RESERVED: "reserved"}


def karpenter(resources: Sequence[Resource], pool: ResolvedPool) -> tuple[str, tuple[Finding, ...]]:
    """The manifests, for `kubectl apply`, and what Karpenter cannot be told."""
    *templates, group = resources
    template = templates[0] if templates else None
    name, overlay = _name(pool), offered(pool)
    manifests = [
        _manifest(f"{_GROUP}/v1", "EC2NodeClass", name, _node_class(group.body, template, pool)),
        _manifest("karpenter.sh/v1", "NodePool", name, _node_pool(group.body, name, pool)),
    ]
    if overlay:
        manifests.append(_manifest("karpenter.sh/v1alpha1", "NodeOverlay", name, _overlay(overlay, name, pool)))
    return "---\n".join(map(_yaml, manifests)), tuple(_notes(group.body, template, name, pool))


class _Dumper(yaml.SafeDumper):
    """A text of several lines, which is a script or settings, stands as it is."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def _yaml(manifest: Json) -> str:
    return yaml.dump(manifest, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


def _name(pool: ResolvedPool) -> str:
    """A name that Kubernetes takes."""
    return re.sub(r"[^a-z0-9]+", "-", pool.name.lower()).strip("-")


def _manifest(version: str, kind: str, name: str, spec: Json) -> Json:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": some(spec)}


def _node_class(body: Json, template: Resource | None, pool: ResolvedPool) -> Json:
    """https://karpenter.sh/docs/concepts/nodeclasses/"""
    data: Json = template.body["LaunchTemplateData"] if template else {}
    reservation = pool.eks.reservation or ""
    subnets = [{"id": one} for one in body.get("subnets", ())]
    return {
        **_image(body),
        "role": str(body.get("nodeRole", "NODE_ROLE")).rpartition("/")[2],
        "subnetSelectorTerms": subnets or [{"tags": {"karpenter.sh/discovery": pool.cluster.name}}],
        "securityGroupSelectorTerms": [{"tags": {"aws:eks:cluster-name": pool.cluster.name}}],
        "capacityReservationSelectorTerms": [{"id": reservation}] if reservation.startswith("cr-") else None,
        "placementGroupSelector": {"name": pool.eks.placement_group} if pool.eks.placement_group else None,
        "userData": template.decoded.get(USER_DATA) if template else None,
        "blockDeviceMappings": _volumes(body, data),
        "metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 2},
        "tags": {key: value for key, value in pool.tags.items() if not key.startswith(PREFIX)},
    }


def _image(body: Json) -> Json:
    """The family; its image for the machine is chosen by Karpenter, with the driver."""
    if body["amiType"] == ami.CUSTOM:
        return {"amiFamily": "Custom", "amiSelectorTerms": [{"id": "AMI_ID"}]}
    family = "bottlerocket" if body["amiType"].startswith("BOTTLEROCKET") else "al2023"
    return {"amiSelectorTerms": [{"alias": f"{family}@{_release(body, family)}"}]}


def _release(body: Json, family: str) -> str:
    """EKS's word for a release has both: Kubernetes' version and a date, or Bottlerocket's version and a commit."""
    first, _, last = str(body.get("releaseVersion", "")).partition("-")
    if not last:
        return "latest"
    return f"v{first if family == 'bottlerocket' else last}"


def _volumes(body: Json, data: Json) -> list[Json] | None:
    if "diskSize" in body:
        disk = {"volumeSize": f"{body['diskSize']}Gi", "volumeType": "gp3", "deleteOnTermination": True}
        return [{"deviceName": "/dev/xvda", "ebs": disk}]
    return [_volume(one) for one in data.get("BlockDeviceMappings", ())] or None


def _volume(mapping: Json) -> Json:
    disk = mapping["Ebs"]
    size = f"{disk['VolumeSize']}Gi" if "VolumeSize" in disk else None
    said = {"volumeSize": size, "volumeType": disk["VolumeType"], "deleteOnTermination": disk["DeleteOnTermination"]}
    return {"deviceName": mapping["DeviceName"], "ebs": some(said)}


def _node_pool(body: Json, name: str, pool: ResolvedPool) -> Json:
    """https://karpenter.sh/docs/concepts/nodepools/"""
    spec = {
        "nodeClassRef": {"group": _GROUP, "kind": "EC2NodeClass", "name": name},
        "requirements": list(_requirements(pool)),
        "taints": [_taint(taint) for taint in pool.taints],
        "startupTaints": [_taint(taint) for taint in startup_taints(pool)],
    }
    metadata = some({"labels": body.get("labels")})
    limit = pool.nodes.max if pool.nodes.autoscaling else pool.nodes.count
    return {"template": some({"metadata": metadata, "spec": some(spec)}), "limits": {"nodes": max(limit, 1)}}


def _requirements(pool: ResolvedPool) -> Iterator[Json]:
    yield _in("node.kubernetes.io/instance-type", instance_types(pool))
    yield _in("karpenter.sh/capacity-type", (_CAPACITY[pool.capacity],))
    if pool.zones:
        yield _in("topology.kubernetes.io/zone", pool.zones)


def _in(key: str, values: Sequence[str]) -> Json:
    return {"key": key, "operator": "In", "values": list(values)}


def _taint(taint: Taint) -> Json:
    return some({"key": taint.key, "value": taint.value or None, "effect": taint.effect.value})


def _overlay(capacity: dict[str, int], name: str, pool: ResolvedPool) -> Json:
    """Of this NodePool's nodes alone: those of others may have the same machines whole."""
    requirements: list[Any] = [
        _in(NODEPOOL_LABEL, (name,)),
        _in("node.kubernetes.io/instance-type", instance_types(pool)),
    ]
    return {"requirements": requirements, "capacity": {key: str(count) for key, count in capacity.items()}}


def _notes(body: Json, template: Resource | None, name: str, pool: ResolvedPool) -> Iterator[Finding]:
    message = f"on Karpenter's nodes a pod selects {NODEPOOL_LABEL}: {name}; nothing else that fracgpu does knows them"
    yield info("form-adds", message, field="metadata.name", hint="put it in place of eks.amazonaws.com/nodegroup")
    if offered(pool):
        message = "without its feature gate Karpenter passes the NodeOverlay over, and counts whole GPUs"
        yield info("form-adds", message, field="spec.sharing", hint="--feature-gates NodeOverlay=true", link=_OVERLAY)
    if "subnets" not in body:
        message = f"the subnets are those with the tag karpenter.sh/discovery={pool.cluster.name}"
        yield gap(message, "spec.eks.subnets", hint="tag them so, or --set eks.subnets=...")
    if "nodeRole" not in body:
        yield open_member("nodeRole", "a word in capitals")
    yield from _left_out(body, template, pool)


def _left_out(body: Json, template: Resource | None, pool: ResolvedPool) -> Iterator[Finding]:
    nodes = pool.nodes
    if nodes.min > 0 or not nodes.autoscaling:
        message = f"Karpenter makes nodes for pods that wait, up to {nodes.max}, and keeps no fixed number of them"
        yield gap(message, "spec.nodes", hint="--min 0 --max N says so")
    if template is None and pool.eks.launch_template is not None:
        message = "Karpenter takes no launch template: what stands in yours is left out"
        yield gap(message, "spec.eks.launchTemplate", hint="say it in the EC2NodeClass")
    if body["amiType"] == ami.CUSTOM:
        yield gap("the image is not known here; AMI_ID stands for it", "spec.eks.amiType")
    elif body["amiType"].endswith("_FIPS"):
        yield gap(f"Karpenter chooses the image itself, and not {body['amiType']}", "spec.eks.amiType")
    if pool.capacity is Capacity.RESERVED and not (pool.eks.reservation or "").startswith("cr-"):
        message = "Karpenter selects reservations by their ids or tags, not by a resource group"
        yield gap(message, "spec.eks.reservation", hint="capacityReservationSelectorTerms of the EC2NodeClass")
    for key in (one for one in body.get("labels", {}) if in_domain(one, *_OWN_DOMAINS)):
        yield gap(f"Karpenter refuses labels of its own domains in a NodePool: {key}", f"spec.labels.{key}")
    for member in ("updateConfig", "nodeRepairConfig", "version"):
        if member in body:
            yield gap(f"Karpenter has another word for {member}, or none", f"spec.eks.{member}")
