"""The names that faults and settings may speak of, each front's own: a misspelt one would wait for ever in silence."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from functools import cache

from fracgpu.sandbox import hardware
from fracgpu.sandbox.world import Cloud, World

KUBERNETES = "k8s"
CLOUDS = (*(str(cloud) for cloud in Cloud), KUBERNETES)
"""What has calls that may fail."""


@cache
def calls(cloud: str) -> frozenset[str]:
    """The API's own names of the calls that a front answers."""
    match cloud:
        case Cloud.AKS:
            from fracgpu.sandbox.aks import calls as aks

            return frozenset(aks.CALLS)
        case Cloud.GKE:
            from fracgpu.sandbox.gke import calls as gke

            return frozenset(gke.CALLS)
        case Cloud.EKS:
            from fracgpu.sandbox.aws import front as aws
            from fracgpu.sandbox.eks import front as eks

            return frozenset(eks.CALLS) | aws.calls()
        case _:
            from fracgpu.sandbox.kubernetes import call_names

            return call_names.every_call()


OPERATIONS: dict[str, frozenset[str]] = {
    Cloud.AKS: frozenset(
        {"AgentPools_CreateOrUpdate", "AgentPools_Delete", "AgentPools_UpgradeNodeImageVersion"},
    ),
    Cloud.GKE: frozenset(
        {
            "CreateNodePool",
            "DeleteNodePool",
            "SetNodePoolAutoscaling",
            "SetNodePoolManagement",
            "SetNodePoolSize",
            "UpdateCluster",
            "UpdateNodePool",
        }
    ),
    Cloud.EKS: frozenset({"CreateNodegroup", "DeleteNodegroup", "UpdateNodegroupConfig", "UpdateNodegroupVersion"}),
}
"""The calls that start an operation, which a fault's outcome is about."""


def metrics(cloud: str) -> frozenset[str]:
    """The names of the quotas that a cloud counts."""
    match cloud:
        case Cloud.AKS:
            from fracgpu.sandbox.aks import quota

            return quota.METRICS
        case Cloud.GKE:
            from fracgpu.sandbox.gke import tables

            return tables.METRICS
        case _:
            from fracgpu.sandbox.eks import capacity

            return capacity.METRICS


def nearest(name: str, known: Collection[str], most: int = 3) -> tuple[str, ...]:
    """The known names that are most like this one, whatever their case."""
    by_folded = {one.lower(): one for one in sorted(known)}
    found = difflib.get_close_matches(name.lower(), by_folded, most, cutoff=0.5)
    return tuple(by_folded[one] for one in found)


def doubts(world: World, kind: str, fields: dict[str, object]) -> list[str]:
    """What is odd about a setting that was made all the same: it names something that is not here (yet)."""
    cloud, name = str(fields.get("cloud")), str(fields.get("name") or fields.get("node"))
    match kind:
        case "quota":
            return _odd(f"{cloud} counts no", str(fields["metric"]), metrics(cloud))
        case "offering":
            known = [machine.name for machine in hardware.machines(cloud)]
            return _odd(f"{cloud} has no GPU machine", str(fields["machine"]), known)
        case "node" | "pod":
            return _odd("no cluster has a node", name, _nodes(world))
        case _:
            return []


def _odd(what: str, name: str, known: Collection[str]) -> list[str]:
    if name.lower() in {one.lower() for one in known}:
        return []
    near = nearest(name, known)
    return [f"{what} {name}" + (f"; near: {', '.join(near)}" if near else "")]


def _nodes(world: World) -> list[str]:
    lives: Iterable[object] = (cluster.kubernetes for cluster in world.clusters.values())
    return [node for life in lives for node in getattr(life, "machines", ())]
