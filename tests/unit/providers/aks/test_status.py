"""Where a pool is in its life, by what AKS says of it."""

from __future__ import annotations

import pytest

from fracgpu.errors import PoolFailed, Stock
from fracgpu.plan import Json
from fracgpu.providers import Phase
from tests.aks_pools import A100_MIG, pool, properties, seen

STATES = [
    ("Succeeded", Phase.READY),
    ("Creating", Phase.CREATING),
    ("Updating", Phase.UPDATING),
    ("Scaling", Phase.UPDATING),
    ("UpgradingNodeImageVersion", Phase.UPDATING),
    ("Deleting", Phase.DELETING),
    ("Failed", Phase.FAILED),
    ("Canceled", Phase.FAILED),
]


@pytest.mark.parametrize(("state", "phase"), STATES)
def test_phase(state: str, phase: Phase) -> None:
    there = seen(pool(**A100_MIG), {**properties(**A100_MIG), "provisioningState": state})
    assert there.status.phase is phase
    assert there.status.nodes == (1 if phase is Phase.READY else None)
    assert (there.status.problem is not None) is (phase is Phase.FAILED)


def test_a_failed_pool_tells_the_cause() -> None:
    error: Json = {
        "code": "ReconcileVMSSAgentPoolFailed",
        "message": "It failed.",
        "details": [{"code": "AllocationFailed", "message": "Allocation failed."}],
    }
    shown = {**properties(**A100_MIG), "provisioningState": "Failed", "status": {"provisioningError": error}}
    status = seen(pool(**A100_MIG), shown).status
    assert isinstance(status.problem, Stock)
    assert status.message == status.problem.message


def test_a_pool_that_is_stopped_is_not_ready() -> None:
    status = seen(pool(**A100_MIG), {**properties(**A100_MIG), "powerState": {"code": "Stopped"}}).status
    assert status.phase is Phase.DEGRADED
    assert isinstance(status.problem, PoolFailed)
    assert "az aks nodepool start" in str(status.problem.hint)


def test_ownership_is_read_whatever_the_case() -> None:
    tags = {"Fracgpu-Managed": "true", "fracgpu-fleet": "blue"}
    there = seen(pool(**A100_MIG), {**properties(**A100_MIG), "tags": tags})
    assert (there.ours, there.fleet) == (True, "blue")
    assert not seen(pool(**A100_MIG), {**properties(**A100_MIG), "tags": None}).ours
