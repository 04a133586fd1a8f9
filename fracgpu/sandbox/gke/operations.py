"""GKE's operations: which may run side by side, how they end, how the API shows them."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from fracgpu.sandbox.gke.errors import busy, not_found, too_many
from fracgpu.sandbox.gke.names import API, Target, target_of
from fracgpu.sandbox.world import Cloud, Cluster, Json, Operation, World

AT_ONCE = 5
"""Operations that one cluster runs at the same time."""

CODES = {"CANCELLED": 1, "RESOURCE_EXHAUSTED": 8, "INTERNAL": 13}


def admit(cluster: Cluster, pool: str) -> None:
    """Refuse an operation on a pool that has one running already, or on a cluster that runs as many as it may."""
    running = list(cluster.running())
    for operation in running:
        if operation.pool in (pool, None):
            raise busy(operation.id)
    if len(running) >= AT_ONCE:
        raise too_many(cluster.name, AT_ONCE)


def begin(
    world: World, cluster: Cluster, kind: str, pool: str, finish: Callable[[Operation], None], outcome: str | None
) -> Operation:
    """Start an operation, once `admit` has let it in."""
    now = datetime.now(UTC)
    name = f"operation-{int(now.timestamp() * 1000)}-{uuid.uuid4()}"
    operation = world.begin(cluster, kind, pool, finish, id=name, outcome=outcome)
    operation.detail["start"] = now.isoformat().replace("+00:00", "Z")
    return operation


def fail(operation: Operation, code: str, message: str, condition: str | None = None) -> Json:
    """Give an operation the error it ends with; returns the condition that its pool shows from now on."""
    operation.error = {"code": CODES[code], "message": message}
    shown: Json = {"canonicalCode": code, "message": message}
    if condition:
        shown["code"] = condition
    operation.detail["conditions"] = [shown]
    return shown


def abort(world: World, operation: Operation) -> None:
    """Cancel: the operation ends soon, whenever it would have ended."""
    operation.outcome = "aborted"
    operation.ends = min(operation.ends, world.now() + world.operation_seconds)


def operation_view(operation: Operation) -> Json:
    """The operation as GetOperation and ListOperations show it."""
    about = target_of(operation.cluster, operation.pool or "")
    subject = about.pool_name if operation.kind in _ON_POOL else about.cluster_name
    shown: Json = {
        "name": operation.id,
        "zone": about.location,
        "location": about.location,
        "operationType": operation.kind,
        "status": _status(operation),
        "selfLink": f"{API}/{about.scope}/operations/{operation.id}",
        "targetLink": f"{API}/{subject}",
        "startTime": operation.detail["start"],
    }
    if operation.done:
        shown["endTime"] = _end(operation)
    if operation.error is not None:
        shown["error"] = operation.error
        shown["statusMessage"] = operation.error["message"]
        shown["nodepoolConditions"] = operation.detail["conditions"]
    return shown


_ON_POOL = {"CREATE_NODE_POOL", "DELETE_NODE_POOL", "SET_NODE_POOL_MANAGEMENT", "SET_NODE_POOL_SIZE", "UPGRADE_NODES"}


def _status(operation: Operation) -> str:
    if operation.done:
        return "DONE"
    return "ABORTING" if operation.outcome == "aborted" else "RUNNING"


def _end(operation: Operation) -> str:
    took = timedelta(seconds=operation.ends - operation.started)
    return (datetime.fromisoformat(operation.detail["start"]) + took).isoformat().replace("+00:00", "Z")


def find(world: World, about: Target) -> Operation:
    """The operation of that name. Raises NOT_FOUND."""
    for cluster in clusters(world, about):
        if about.operation in cluster.operations:
            return cluster.operations[about.operation]
    raise not_found(about.operation_name)


def listed(world: World, about: Target) -> list[Operation]:
    """All operations of a location, oldest first; `-` is every location."""
    found = [operation for cluster in clusters(world, about) for operation in cluster.operations.values()]
    return sorted(found, key=lambda operation: operation.started)


def clusters(world: World, about: Target) -> list[Cluster]:
    """All clusters of a project in a location; `-` is every location."""
    return [
        cluster
        for cluster in world.clusters.values()
        if cluster.cloud is Cloud.GKE and cluster.path[0] == about.project and about.location in ("-", cluster.path[1])
    ]
