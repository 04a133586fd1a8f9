"""From a pool to what AWS is sent: the members of CreateNodegroup, and before it a launch template where one is needed.

Taints and subnets are in one order, so that the order in which they were written is never a difference.
https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html
"""

from __future__ import annotations

from collections.abc import Iterable

from fracgpu.differences import Path
from fracgpu.options import TemplateSays
from fracgpu.plan import Json, Resource
from fracgpu.providers import MANAGED, ClusterFacts
from fracgpu.providers.eks import ami
from fracgpu.providers.eks.autoscaler import resource_tags
from fracgpu.providers.eks.facts import capacity_block, capacity_type, instance_types, labels, taints
from fracgpu.providers.eks.names import NODEGROUP
from fracgpu.providers.eks.subnets import subnets_of
from fracgpu.providers.eks.template import launch_template, says
from fracgpu.resolve import Nodes, ResolvedPool
from fracgpu.spec import Capacity
from fracgpu.taints import Taint, TaintEffect

KIND = NODEGROUP

NEW = "<new>"
"""The version of a launch template that is not made yet."""

EFFECTS = {
    TaintEffect.NO_SCHEDULE: "NO_SCHEDULE",
    TaintEffect.PREFER_NO_SCHEDULE: "PREFER_NO_SCHEDULE",
    TaintEffect.NO_EXECUTE: "NO_EXECUTE",
}


def desired(pool: ResolvedPool, facts: ClusterFacts | None) -> tuple[Resource, ...]:
    """The template, where there is one, and the group. Offline, subnets and role are there only as far as said."""
    template = launch_template(pool)
    body: Json = {
        "clusterName": pool.cluster.name,
        "nodegroupName": pool.name,
        "scalingConfig": scaling(pool.nodes),
        **_said(diskSize=None if template else pool.disk_gb),
        **_said(subnets=subnets_of(pool, facts), nodeRole=_role(pool, facts)),
        **_said(instanceTypes=_types(pool)),
        **_said(amiType=ami.ami_type(pool), capacityType=capacity_type(pool)),
        **_said(labels=labels(pool), taints=taint_bodies(taints(pool))),
        "tags": {**resource_tags(pool), **pool.tags, MANAGED: "true"},
        **_said(launchTemplate=_template(pool, template)),
        **_said(updateConfig=_update_config(pool), nodeRepairConfig=usual_repair(pool.eks.node_repair_config)),
        **_said(version=pool.eks.version, releaseVersion=pool.eks.release_version),
    }
    group = Resource(KIND, pool.name, pool.name, pool.cluster, body, filled=_filled(pool))
    return (template, group) if template else (group,)


def _said(**members: object) -> Json:
    return {name: value for name, value in members.items() if value not in (None, [], {})}


def scaling(nodes: Nodes) -> Json:
    """EKS wants a maximum of at least 1, also of a group of no nodes."""
    return {"minSize": nodes.min, "maxSize": max(nodes.max, 1), "desiredSize": nodes.count}


def _types(pool: ResolvedPool) -> list[str]:
    """A type in the template is said there alone."""
    return [] if capacity_block(pool) or says(pool, TemplateSays.MACHINE) else list(instance_types(pool))


def _role(pool: ResolvedPool, facts: ClusterFacts | None) -> str | None:
    return pool.eks.node_role or (facts.node_role if facts else None)


def _filled(pool: ResolvedPool) -> frozenset[Path]:
    """What the user left to the cluster; a group that exists keeps its own."""
    left = {"nodeRole": pool.eks.node_role, "subnets": pool.eks.subnets or pool.zones}
    return frozenset((name,) for name, said in left.items() if not said)


def _template(pool: ResolvedPool, template: Resource | None) -> Json | None:
    if template is not None:
        return {"name": template.name, "version": NEW}
    said = pool.eks.launch_template
    return said.model_dump(by_alias=True, exclude_none=True, exclude={"says"}) if said else None


def _update_config(pool: ResolvedPool) -> Json | None:
    """As said; else, with reserved machines, old nodes go before new ones come: there is no machine for both
    (https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html)."""
    if pool.eks.update_config:
        return usual_update(pool.eks.update_config.model_dump(by_alias=True, exclude_none=True))
    if pool.capacity is Capacity.RESERVED:
        return {"maxUnavailable": 1, "updateStrategy": "MINIMAL"}
    return None


def usual_update(said: Json) -> Json | None:
    """An update config as EKS tells it: its usual strategy left out, its one node at a time put in; None for nothing
    else."""
    kept = {key: value for key, value in said.items() if (key, value) != ("updateStrategy", "DEFAULT")}
    if not kept.keys() & {"maxUnavailable", "maxUnavailablePercentage"}:
        kept = {"maxUnavailable": 1, **kept}
    return None if kept in ({}, {"maxUnavailable": 1}) else kept


def usual_repair(said: Json | None) -> Json | None:
    """Node repair; None where it is off, which it is unless said."""
    return None if said in (None, {}, {"enabled": False}) else said


def taint_bodies(rows: Iterable[Taint]) -> list[Json]:
    return sorted((_taint(taint) for taint in rows), key=taint_order)


def _taint(taint: Taint) -> Json:
    body = {"key": taint.key, "value": taint.value, "effect": EFFECTS[taint.effect]}
    return {name: text for name, text in body.items() if text}


def taint_order(taint: Json) -> tuple[str, str, str]:
    return taint.get("key", ""), taint.get("value", ""), taint.get("effect", "")
