"""Where a pool is in its life, from what AKS says of it."""

from __future__ import annotations

from typing import Any

from fracgpu.errors import FracgpuError, PoolFailed
from fracgpu.plan import Json, Resource
from fracgpu.providers import FLEET, MANAGED, Observed, OperationKind, Phase, PoolStatus
from fracgpu.providers.aks.compare import properties
from fracgpu.providers.aks.desired import KIND
from fracgpu.providers.aks.failures import Said, ended
from fracgpu.resolve import ClusterRef

PHASES = {
    "Succeeded": Phase.READY,
    "Creating": Phase.CREATING,
    "Deleting": Phase.DELETING,
    "Failed": Phase.FAILED,
    "Canceled": Phase.FAILED,
}
"""By provisioningState; whatever else it is (Updating, Scaling, UpgradingNodeImageVersion ...) is an update."""

KINDS = {
    Phase.CREATING: OperationKind.CREATE,
    Phase.UPDATING: OperationKind.UPDATE,
    Phase.DELETING: OperationKind.DELETE,
}
"""The operation in flight that a phase means."""


def observed(body: Json, cluster: ClusterRef) -> Observed:
    """A pool as the API shows it."""
    name, pool = body["name"], properties(body)
    tags = {key.lower(): value for key, value in (pool.get("tags") or {}).items()}
    return Observed(
        name=name,
        cluster=cluster,
        resources=(Resource(KIND, name, name, cluster, {"properties": pool}),),
        status=pool_status(name, pool),
        ours=tags.get(MANAGED) == "true",
        fleet=tags.get(FLEET),
        tag=pool.get("eTag"),
    )


def phase_of(pool: Json) -> Phase:
    phase = PHASES.get(pool.get("provisioningState", ""), Phase.UPDATING)
    return Phase.DEGRADED if phase is Phase.READY and _stopped(pool) else phase


def _stopped(pool: Json) -> bool:
    return bool((pool.get("powerState") or {}).get("code") == "Stopped")


def pool_status(name: str, pool: Json) -> PoolStatus:
    """Phase, and for a failed or stopped pool the cause."""
    phase = phase_of(pool)
    problem = _problem(name, pool, phase)
    message = problem.message if problem else None
    nodes = pool.get("count") if phase is Phase.READY else None
    return PoolStatus(phase, nodes, message, problem=problem)


def _problem(name: str, pool: Json, phase: Phase) -> FracgpuError | None:
    if phase is Phase.DEGRADED:
        hint = f"az aks nodepool start --name {name}"
        return PoolFailed(f"{name} is stopped", hint=hint, detail={"powerState": pool.get("powerState")})
    if phase is not Phase.FAILED:
        return None
    error = (pool.get("status") or {}).get("provisioningError")
    state = pool.get("provisioningState")
    return ended(said_of(error or {}, f"the pool is {state} and AKS does not say why"), name)


def said_of(error: Any, otherwise: str, **rest: Any) -> Said:
    """An error object of the API, with those inside it, as Said."""
    inner = tuple((str(one.get("code") or ""), str(one.get("message") or "")) for one in error.get("details") or ())
    return Said(None, str(error.get("code") or "Failed"), str(error.get("message") or otherwise), inner, **rest)
