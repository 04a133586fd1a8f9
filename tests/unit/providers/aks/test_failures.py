"""What Azure's error texts mean: each row is an answer, as public threads show it, and the error that it is."""

from __future__ import annotations

from typing import Any

import pytest

from fracgpu.errors import FracgpuError, Throttled
from fracgpu.providers.aks.failures import Said, ended, translated

REGIONAL = (
    "Insufficient regional vcpu quota left for location westus2. left regional vcpu quota 4, requested quota 6. If you "
    "want to increase the quota, please follow this instruction: https://learn.microsoft.com/azure/quotas/view-quotas."
)
FAMILY = "Insufficient vcpu quota requested 2, remaining 0 for family StandardDasv7Family for region eastus."
APPROVED = (
    "Operation could not be completed as it results in exceeding approved {} quota. Additional details - Deployment "
    "Model: Resource Manager, Location: eastus, Current Limit: 3, Current Usage: 1, Additional Required: 6, (Minimum) "
    "New Limit Required: 7."
)
BUSY = (
    "Operation is not allowed: Another agentpool operation (user - Creating) is in progress, please wait for it to "
    "finish before starting a new operation. See https://aka.ms/aks-pending-operation for more details"
)
SKU = (
    "The requested VM size for resource 'Following SKUs have failed for Capacity Restrictions: S' is currently not "
    "available in location 'L'. Please try another size or deploy to a different location or different zone."
)
ZONES = (
    "Preflight validation check failed. Message: The zone(s) '1' for resource 'pool' is not supported. The supported "
    "zones for location 'L' are '2', '3'"
)
NOT_OFFERED = (
    "The VM size of AgentPoolProfile:P is not allowed in your subscription in location 'L'. The available VM sizes are "
    "Standard_D4s_v5,Standard_NC8as_T4_v3,Standard_NV36ads_A10_v5"
)
FORBIDDEN = (
    "The client 'x' with object id 'y' does not have authorization to perform action "
    "'Microsoft.ContainerService/managedClusters/agentPools/write' over scope '/subscriptions/s' or it is invalid."
)

ANSWERS: list[tuple[Said, str, int]] = [
    (Said(400, "ErrCode_InsufficientVCPUQuota", REGIONAL), "quota", 5),
    (Said(400, "ErrCode_InsufficientVCPUQuota", FAMILY), "quota", 5),
    (Said(409, "OperationNotAllowed", APPROVED.format("standardNCADSA100v4Family Cores")), "quota", 5),
    (Said(409, "OperationNotAllowed", BUSY), "busy", 8),
    (Said(409, "OperationNotAllowed", "Another operation (Updating) is in progress"), "busy", 8),
    (Said(409, "Conflict", "something else is in the way"), "busy", 8),
    (Said(400, "SkuNotAvailable", SKU), "stock", 5),
    (Said(400, "AvailabilityZoneNotSupported", ZONES), "stock", 5),
    (Said(400, "BadRequest", NOT_OFFERED), "stock", 5),
    (Said(400, "BadRequest", "The body is wrong."), "cloud-error", 9),
    (Said(400, "InvalidParameter", "The value of parameter agentPoolProfile.name is invalid."), "cloud-error", 9),
    (
        Said(400, "PropertyChangeNotAllowed", "Changing property 'properties.vmSize' is not allowed."),
        "immutable-field",
        8,
    ),
    (Said(401, "InvalidAuthenticationToken", "The access token is invalid."), "not-signed-in", 4),
    (Said(403, "AuthorizationFailed", FORBIDDEN), "forbidden", 4),
    (Said(403, "RequestDisallowedByPolicy", "Resource was disallowed by policy."), "forbidden", 4),
    (Said(409, "MissingSubscriptionRegistration", "The subscription is not registered."), "forbidden", 4),
    (Said(404, "ResourceNotFound", "The Resource was not found."), "not-found", 3),
    (Said(412, "PreconditionFailed", "The precondition is not met."), "stale-plan", 8),
    (Said(429, "Throttled", "Too many requests.", retry_after=37), "throttled", 9),
    (Said(500, "InternalServerError", "It broke."), "unreachable", 9),
    (Said(503, "ServiceUnavailable", "Come back later."), "unreachable", 9),
]


@pytest.mark.parametrize(("said", "code", "exit_code"), ANSWERS, ids=[f"{one[0].code}-{one[1]}" for one in ANSWERS])
def test_answers(said: Said, code: str, exit_code: int) -> None:
    error = translated(said)
    assert (error.code, error.exit_code) == (code, exit_code)
    assert error.hint or isinstance(error, Throttled)
    assert error.detail["code"] == said.code
    assert error.detail["message"] == said.text


ENDINGS: list[tuple[Said, str]] = [
    (
        Said(None, "QuotaExceeded", "Quota.", (("OperationNotAllowed", APPROVED.format("LowPriorityCores")),)),
        "quota",
    ),
    (Said(None, "SkuNotAvailable", SKU), "stock"),
    (Said(None, "ZonalAllocationFailed", "We do not have sufficient capacity for the size S in zone 2."), "stock"),
    (Said(None, "ReconcileVMSSAgentPoolFailed", "It failed.", (("AllocationFailed", "Allocation failed."),)), "stock"),
    (Said(None, "AKSOperationPreempted", "A later operation."), "busy"),
    (Said(None, "PodDrainFailure", "Drain of the nodes failed."), "drain-blocked"),
    (Said(None, "InternalOperationError", "Internal server error"), "pool-failed"),
    (Said(None, "VMExtensionProvisioningError", "The GPU driver did not come up."), "pool-failed"),
]


@pytest.mark.parametrize(("said", "code"), ENDINGS, ids=[one[0].code for one in ENDINGS])
def test_ends_of_operations(said: Said, code: str) -> None:
    error = ended(said, "gpu")
    assert error.code == code
    assert code != "pool-failed" or "gpu" in str(error.hint)


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        (REGIONAL, {"metric": "cores", "needed": 6, "left": 4, "missing": 2}),
        (FAMILY, {"metric": "StandardDasv7Family", "needed": 2, "left": 0, "missing": 2}),
        (APPROVED.format("LowPriorityCores"), {"metric": "LowPriorityCores", "needed": 6, "left": 2, "missing": 4}),
    ],
)
def test_how_much_quota_is_missing(text: str, figures: dict[str, Any]) -> None:
    error = translated(Said(400, "QuotaExceeded", text))
    assert error.detail["quota"] == figures
    assert str(figures["missing"]) in error.message


def test_spot_has_a_quota_of_its_own() -> None:
    error = translated(Said(400, "QuotaExceeded", APPROVED.format("LowPriorityCores")))
    assert "Spot" in str(error.hint)


def test_where_the_machine_is_to_be_had() -> None:
    assert translated(Said(400, "AvailabilityZoneNotSupported", ZONES)).nearest == ("2", "3")
    assert translated(Said(400, "BadRequest", NOT_OFFERED)).nearest == (
        "Standard_NC8as_T4_v3",
        "Standard_NV36ads_A10_v5",
    )


def test_the_permission_and_a_role_that_has_it() -> None:
    error = translated(Said(403, "AuthorizationFailed", FORBIDDEN))
    assert error.detail["permission"] == "Microsoft.ContainerService/managedClusters/agentPools/write"
    assert "Contributor" in str(error.hint)


def test_the_clouds_wish_to_be_left_alone_for_a_while() -> None:
    error: FracgpuError = translated(Said(429, "Throttled", "Too many requests.", retry_after=37))
    assert isinstance(error, Throttled)
    assert error.retry_after == 37
