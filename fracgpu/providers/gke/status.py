"""Where a pool is in its life, from what GKE says of it, and what an operation is doing, in words."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from statistics import median

from fracgpu.errors import FracgpuError
from fracgpu.plan import Json, Resource
from fracgpu.providers import FLEET, MANAGED, Observed, OperationKind, Phase, PoolStatus, Progress
from fracgpu.providers.gke.desired import KIND
from fracgpu.providers.gke.failures import Said, ended
from fracgpu.resolve import ClusterRef

PHASES = {
    "PROVISIONING": Phase.CREATING,
    "RUNNING": Phase.READY,
    "RUNNING_WITH_ERROR": Phase.DEGRADED,
    "RECONCILING": Phase.UPDATING,
    "STOPPING": Phase.DELETING,
    "ERROR": Phase.FAILED,
}
"""https://cloud.google.com/kubernetes-engine/docs/reference/rest/v1/projects.locations.clusters.nodePools#status"""

KINDS = {
    "CREATE_NODE_POOL": OperationKind.CREATE,
    "DELETE_NODE_POOL": OperationKind.DELETE,
    "UPDATE_CLUSTER": OperationKind.UPDATE,
    "UPGRADE_NODES": OperationKind.UPDATE,
    "SET_NODE_POOL_SIZE": OperationKind.UPDATE,
    "SET_NODE_POOL_MANAGEMENT": OperationKind.UPDATE,
}


def observed(body: Json, cluster: ClusterRef) -> Observed:
    """A pool as GetNodePool shows it."""
    name = body["name"]
    labels = body.get("config", {}).get("resourceLabels", {})
    return Observed(
        name=name,
        cluster=cluster,
        resources=(Resource(KIND, name, name, cluster, body),),
        status=pool_status(body),
        ours=labels.get(MANAGED) == "true",
        fleet=labels.get(FLEET),
        tag=body.get("etag"),
    )


def pool_status(body: Json) -> PoolStatus:
    """Phase, and for a failed or degraded pool the cause."""
    phase = PHASES.get(body.get("status", ""), Phase.UPDATING)
    conditions = tuple(body.get("conditions", ()))
    message = body.get("statusMessage") or next((one["message"] for one in conditions if one.get("message")), None)
    failed = phase in (Phase.FAILED, Phase.DEGRADED)
    problem = _problem(body, message, conditions) if failed else None
    return PoolStatus(phase, _nodes(body, phase), message, conditions, problem)


def _nodes(body: Json, phase: Phase) -> int | None:
    """The count of a pool at rest with a fixed size; GKE itself does not say how many nodes a pool has."""
    if phase is not Phase.READY or body.get("autoscaling", {}).get("enabled"):
        return None
    return int(body.get("initialNodeCount", 0)) * (len(body.get("locations", ())) or 1)


def _problem(body: Json, message: str | None, conditions: tuple[Json, ...]) -> FracgpuError:
    first: Json = conditions[0] if conditions else {}
    code = first.get("code") or first.get("canonicalCode") or body["status"]
    said = Said(str(code), message or f"the pool is {body['status']} and GKE does not say why")
    return ended(said, body["name"], first.get("code"))


def operation_problem(operation: Json, pool: str | None) -> FracgpuError | None:
    """What an operation ended in; None where it ended well. DONE alone does not mean that."""
    error = operation.get("error")
    conditions = operation.get("nodepoolConditions") or operation.get("clusterConditions") or []
    if not error and not conditions:
        return None
    first: Json = conditions[0] if conditions else {}
    message = (error or {}).get("message") or first.get("message") or operation.get("statusMessage", "it failed")
    code = first.get("code") or first.get("canonicalCode") or str((error or {}).get("code", "UNKNOWN"))
    return ended(Said(str(code), message, request_id=operation.get("name")), pool, first.get("code"))


RECENT = 20
"""Operations of which the usual time is told."""


def usual_seconds(operations: Iterable[Json], kind: OperationKind) -> float | None:
    """How long the latest operations of a kind took in the median, those that ended well; None where there are none."""
    ended = [
        one
        for one in operations
        if one.get("status") == "DONE"
        and KINDS.get(one.get("operationType", "")) is kind
        and operation_problem(one, None) is None
        and one.get("startTime")
        and one.get("endTime")
    ]
    ended.sort(key=lambda one: str(one["endTime"]))
    return median(map(_took, ended[-RECENT:])) if ended else None


def _took(operation: Json) -> float:
    began, end = (datetime.fromisoformat(operation[name]) for name in ("startTime", "endTime"))
    return (end - began).total_seconds()


def looked_at(operation: Json) -> Progress:
    """What an operation is doing, in GKE's words."""
    kind = operation.get("operationType", "operation").lower().replace("_", " ")
    status = operation.get("status", "RUNNING").lower()
    stages = [
        stage["name"].lower() for stage in _stages(operation) if stage.get("status") == "RUNNING" and "name" in stage
    ]
    words = [f"GKE: {kind} {status}", *stages, operation.get("detail", "")]
    return Progress(status == "done", ", ".join(word for word in words if word), _percent(operation))


def _stages(operation: Json) -> list[Json]:
    stages: list[Json] = operation.get("progress", {}).get("stages", [])
    return stages


def _percent(operation: Json) -> int | None:
    """Of nodes done and nodes in all, where GKE counts them."""
    metrics = {one.get("name"): int(one.get("intValue", 0)) for one in operation.get("progress", {}).get("metrics", [])}
    total = metrics.get("NODES_TOTAL", 0)
    return min(100, 100 * metrics.get("NODES_DONE", 0) // total) if total else None
