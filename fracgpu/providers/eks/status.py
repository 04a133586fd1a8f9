"""From what DescribeNodegroup and DescribeUpdate answer to our own values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fracgpu.plan import Json, Resource
from fracgpu.providers import FLEET, MANAGED, Observed, Phase, PoolStatus, Progress
from fracgpu.providers.eks.failures import Issue, problem
from fracgpu.providers.eks.names import NODEGROUP
from fracgpu.resolve import ClusterRef

PHASES: Mapping[str, Phase] = {
    "CREATING": Phase.CREATING,
    "ACTIVE": Phase.READY,
    "UPDATING": Phase.UPDATING,
    "DELETING": Phase.DELETING,
    "CREATE_FAILED": Phase.FAILED,
    "DELETE_FAILED": Phase.FAILED,
    "DEGRADED": Phase.DEGRADED,
}
"""https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html"""

_FAILED_AT = {
    "CREATE_FAILED": "could not be made",
    "DELETE_FAILED": "could not be deleted",
    "DEGRADED": "is degraded",
}


def group_resource(group: Json, cluster: ClusterRef) -> Resource:
    """A body of a node group as a resource."""
    name = group["nodegroupName"]
    return Resource(NODEGROUP, name, name, cluster, group)


def observed(group: Json, cluster: ClusterRef, template: Resource | None, foreign: Resource | None = None) -> Observed:
    """A node group as EKS tells it, its own launch template where it has one, and else that of the user's which it
    uses."""
    own, tags = group_resource(group, cluster), group.get("tags") or {}
    return Observed(
        name=own.name,
        cluster=cluster,
        resources=(template, own) if template else (own,),
        status=status(group),
        ours=tags.get(MANAGED) == "true",
        fleet=tags.get(FLEET),
        uses=(foreign,) if foreign else (),
    )


def status(group: Json) -> PoolStatus:
    """EKS tells how many nodes are wanted, not how many there are."""
    word = group.get("status", "ACTIVE")
    phase = PHASES.get(word, Phase.UPDATING)
    issues = issues_of(group)
    failed = phase in (Phase.FAILED, Phase.DEGRADED)
    return PoolStatus(
        phase=phase,
        nodes=group.get("scalingConfig", {}).get("desiredSize"),
        message="; ".join(f"{issue.code}: {issue.message}" for issue in issues) or None,
        conditions=tuple({"type": issue.code, "status": "True", "message": issue.message} for issue in issues),
        problem=problem(group["nodegroupName"], issues, _FAILED_AT[word]) if failed else None,
    )


def issues_of(group: Json) -> list[Issue]:
    rows = (group.get("health") or {}).get("issues") or ()
    return [Issue(row.get("code", ""), row.get("message", "")) for row in rows]


def progress(group: Json) -> Progress:
    """One look at a group that is being made or deleted. Raises what it failed with."""
    seen = status(group)
    if seen.problem is not None:
        raise seen.problem
    word = group.get("status", "ACTIVE")
    return Progress(seen.phase is Phase.READY, f"EKS: {word.replace('_', ' ').lower()}")


_UPDATES = {
    "ConfigUpdate": "changing labels, taints and sizes",
    "VersionUpdate": "replacing the nodes",
}


def update_progress(update: Json, pool: str) -> Progress:
    """One look at an update. Raises what it failed with."""
    what = _UPDATES.get(update.get("type", ""), "updating")
    match update.get("status"):
        case "Successful":
            return Progress(True, f"EKS: {what}: done")
        case "Failed" | "Cancelled" as end:
            rows: list[dict[str, Any]] = update.get("errors") or []
            issues = [Issue(row.get("errorCode", ""), row.get("errorMessage", "")) for row in rows]
            raise problem(pool, issues, f"was not updated ({end.lower()} while {what})")
        case _:
            return Progress(False, f"EKS: {what}")
