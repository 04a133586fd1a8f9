"""Faults, quotas and stock."""

from __future__ import annotations

from typing import Any

import pytest
from azure.core.exceptions import (
    HttpResponseError,
    ServiceRequestError,
    ServiceResponseError,
)

from fracgpu.sandbox.settings import change
from fracgpu.sandbox.world import Cloud
from tests.sandbox.aks.pools import SUBSCRIPTION, Client, Put, client_of, code_of, get, pool_of, skus_of
from tests.sandbox.conftest import Sandbox


def test_a_failed_operation_says_why(client: Client, put: Put, sandbox: Sandbox) -> None:
    sandbox.world.faults.add("aks", "AgentPools_CreateOrUpdate", outcome="failed")
    with pytest.raises(HttpResponseError) as failed:
        put()
    assert failed.value.status_code == 200
    assert code_of(failed.value) == "SkuNotAvailable"
    shown = client.agent_pools.get("sandbox", "sandbox", "gpu")
    assert shown.provisioning_state == "Failed"
    assert shown.properties.status.provisioning_error.code == "SkuNotAvailable"
    assert pool_of(sandbox).size == 0
    assert put().provisioning_state == "Succeeded"
    assert client.agent_pools.get("sandbox", "sandbox", "gpu").properties.status is None


def test_a_failed_operation_says_what_it_was_told(put: Put, sandbox: Sandbox) -> None:
    sandbox.world.faults.add(
        "aks", "AgentPools_CreateOrUpdate", outcome="failed", code="AllocationFailed", message="Allocation failed."
    )
    with pytest.raises(HttpResponseError) as failed:
        put()
    assert code_of(failed.value) == "AllocationFailed"


def test_a_partial_outcome_leaves_some_nodes(put: Put, sandbox: Sandbox) -> None:
    sandbox.world.faults.add("aks", "AgentPools_CreateOrUpdate", outcome="partial")
    with pytest.raises(HttpResponseError) as failed:
        put(count=4)
    assert code_of(failed.value) == "ZonalAllocationFailed"
    assert pool_of(sandbox).size == 2
    assert pool_of(sandbox).state == "Failed"


def test_a_delete_that_fails_leaves_the_pool(client: Client, put: Put, sandbox: Sandbox) -> None:
    put()
    sandbox.world.faults.add("aks", "AgentPools_Delete", outcome="failed")
    with pytest.raises(HttpResponseError) as failed:
        client.agent_pools.begin_delete("sandbox", "sandbox", "gpu").result()
    assert code_of(failed.value) == "PodDrainFailure"
    assert client.agent_pools.get("sandbox", "sandbox", "gpu").provisioning_state == "Failed"


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        ({"status": 403}, 403, "AuthorizationFailed"),
        ({"status": 500}, 500, "InternalServerError"),
        ({"retry_after": 7}, 429, "Throttled"),
        ({"status": 400, "code": "ErrCode_Odd", "message": "odd"}, 400, "ErrCode_Odd"),
    ],
)
def test_a_call_fails_as_it_was_told_to(
    client: Client, sandbox: Sandbox, fault: dict[str, Any], status: int, code: str
) -> None:
    sandbox.world.faults.add("aks", "AgentPools_List", **fault)
    with pytest.raises(HttpResponseError) as failed:
        list(client.agent_pools.list("sandbox", "sandbox"))
    assert failed.value.status_code == status
    assert code_of(failed.value) == code
    response: Any = failed.value.response
    assert response.headers.get("Retry-After") == (str(fault["retry_after"]) if "retry_after" in fault else None)
    assert len(list(client.agent_pools.list("sandbox", "sandbox"))) == 1


def test_an_answer_that_is_lost_was_a_call_that_was_done(put: Put, sandbox: Sandbox) -> None:
    sandbox.world.faults.add("aks", "AgentPools_CreateOrUpdate", drop=True)
    with pytest.raises((ServiceRequestError, ServiceResponseError)):
        put()
    assert pool_of(sandbox).state in ("Creating", "Succeeded")


def test_a_dropped_refusal_did_nothing(put: Put, sandbox: Sandbox) -> None:
    sandbox.world.faults.add("aks", "AgentPools_CreateOrUpdate", drop=True, status=500)
    with pytest.raises((ServiceRequestError, ServiceResponseError)):
        put()
    assert "gpu" not in sandbox.world.cluster(Cloud.AKS, SUBSCRIPTION, "sandbox", "sandbox").pools


def test_the_sdk_retries_what_it_may(sandbox: Sandbox) -> None:
    fault = sandbox.world.faults.add("aks", "AgentPools_Get", status=503, times=2)
    with client_of(sandbox, retry_total=3, retry_backoff_factor=0.001) as client:
        assert client.agent_pools.get("sandbox", "sandbox", "system").name == "system"
    assert fault.seen == 2


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        ("cores", "left regional vcpu quota 26, requested quota 48"),
        ("StandardNCADSA100v4Family", "requested 48, remaining 30 for family StandardNCADSA100v4Family"),
    ],
)
def test_a_regular_pool_over_quota_is_refused_at_once(put: Put, sandbox: Sandbox, metric: str, text: str) -> None:
    change(sandbox.world, "quota", {"cloud": "aks", "metric": metric, "limit": 30, "region": "eastus"})
    with pytest.raises(HttpResponseError) as refused:
        put()
    assert refused.value.status_code == 400
    assert code_of(refused.value) == "ErrCode_InsufficientVCPUQuota"
    assert text in str(refused.value)
    assert put(count=1).count == 1


def test_a_spot_pool_over_quota_ends_in_an_error(put: Put, sandbox: Sandbox) -> None:
    change(sandbox.world, "quota", {"cloud": "aks", "metric": "lowPriorityCores", "limit": 3})
    with pytest.raises(HttpResponseError) as failed:
        put(scaleSetPriority="Spot", count=1)
    assert failed.value.status_code == 200
    assert code_of(failed.value) == "QuotaExceeded"
    assert failed.value.error is not None
    assert [inner.code for inner in failed.value.error.details] == ["OperationNotAllowed"]
    assert "(Minimum) New Limit Required: 24" in (failed.value.error.message or "")


def test_usages_say_what_is_used_and_allowed(put: Put, sandbox: Sandbox) -> None:
    change(sandbox.world, "quota", {"cloud": "aks", "metric": "lowPriorityCores", "limit": 100})
    put("regular")
    put("spot", scaleSetPriority="Spot", count=1)
    rows = get(sandbox, "/providers/Microsoft.Compute/locations/eastus/usages?api-version=2024-07-01")["value"]
    used = {row["name"]["value"]: (row["currentValue"], row["limit"]) for row in rows}
    assert used["lowPriorityCores"] == (24, 100)
    assert used["StandardNCADSA100v4Family"][0] == 48
    assert used["cores"][0] == 52


def test_skus_have_zones_gpus_and_restrictions(sandbox: Sandbox) -> None:
    change(
        sandbox.world,
        "offering",
        {"cloud": "aks", "machine": "Standard_NC24ads_A100_v4", "zone": "2", "on": False},
    )
    sku = skus_of(sandbox)["Standard_NC24ads_A100_v4"]
    capabilities = {pair["name"]: pair["value"] for pair in sku["capabilities"]}
    assert capabilities["GPUs"] == "1"
    assert capabilities["vCPUs"] == "24"
    assert sku["locationInfo"][0]["zones"] == ["1", "2", "3"]
    assert [row["restrictionInfo"]["zones"] for row in sku["restrictions"]] == [["2"]]
    assert skus_of(sandbox)["Standard_NV6ads_A10_v5"]["restrictions"] == []


def test_a_zone_that_is_off_is_refused(put: Put, sandbox: Sandbox) -> None:
    off = {"cloud": "aks", "machine": "Standard_NC24ads_A100_v4", "on": False}
    change(sandbox.world, "offering", {**off, "zone": "1"})
    with pytest.raises(HttpResponseError) as refused:
        put(availabilityZones=["1"])
    assert code_of(refused.value) == "AvailabilityZoneNotSupported"
    assert "are '2', '3'" in str(refused.value)
    assert put(availabilityZones=["2"]).availability_zones == ["2"]


def test_a_region_that_is_out_of_stock_ends_in_an_error(put: Put, sandbox: Sandbox) -> None:
    off = {"cloud": "aks", "machine": "Standard_NC24ads_A100_v4", "zone": "eastus", "on": False}
    change(sandbox.world, "offering", off)
    with pytest.raises(HttpResponseError) as failed:
        put()
    assert code_of(failed.value) == "SkuNotAvailable"
    assert put("zero", count=0).provisioning_state == "Succeeded"
