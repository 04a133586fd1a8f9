"""One look at what is in flight: what Azure says of an operation, or what the pool itself shows."""

from __future__ import annotations

from collections.abc import Mapping

from fracgpu.errors import NotFound, PoolFailed
from fracgpu.plan import Json
from fracgpu.providers import Observed, Operation, OperationKind, Phase, Progress
from fracgpu.providers.aks.failures import ended
from fracgpu.providers.aks.session.arm import seconds
from fracgpu.providers.aks.status import KINDS, said_of

_DOING = {
    OperationKind.CREATE: "creating the pool",
    OperationKind.UPDATE: "updating the pool",
    OperationKind.DELETE: "deleting the pool",
    OperationKind.OTHER: "working",
}
_PREEMPTED = ("AKSOperationPreempted", "OperationPreempted")


def looked_at(body: Json, headers: Mapping[str, str], operation: Operation) -> Progress | None:
    """What an operation's status says; None where the pool has to be asked, since a later operation took over.

    Raises what it ended in.
    """
    status = str(body.get("status", "InProgress"))
    error = body.get("error") or {}
    if status == "Succeeded":
        return Progress(True, f"AKS: {_DOING[operation.kind]}: done")
    if status not in ("Failed", "Canceled"):
        percent = body.get("percentComplete")
        again = seconds(headers.get("retry-after"))
        return Progress(False, f"AKS: {_DOING[operation.kind]}", int(percent) if percent is not None else None, again)
    if error.get("code") in _PREEMPTED:
        return None
    otherwise = f"the operation was {status.lower()}"
    raise ended(said_of(error, otherwise, request_id=body.get("name")), operation.pool)


def progress_of(seen: Observed | None, operation: Operation) -> Progress:
    """What the pool shows of an operation on it. Raises the cause where the pool has failed."""
    if operation.kind is OperationKind.DELETE:
        return _deletion(seen, operation)
    if seen is None:
        raise NotFound(f"the pool {operation.pool} is gone", hint="fracgpu pool list --all")
    if seen.status.phase is Phase.FAILED:
        hint = f"fracgpu pool create {seen.name} --recreate, or fracgpu pool delete {seen.name}"
        raise seen.status.problem or PoolFailed(f"{seen.name} has failed", hint=hint)
    kind = KINDS.get(seen.status.phase)
    return Progress(False, f"AKS: {_DOING[kind]}") if kind else Progress(True, "AKS: the pool is at rest")


def _deletion(seen: Observed | None, operation: Operation) -> Progress:
    if seen is None:
        return Progress(True, "AKS: the pool is gone")
    if seen.status.phase is Phase.DELETING:
        return Progress(False, f"AKS: {_DOING[OperationKind.DELETE]}")
    message = f"{operation.pool} is still there, and no longer being deleted"
    raise seen.status.problem or PoolFailed(message, hint=f"fracgpu pool delete {operation.pool} begins anew")
