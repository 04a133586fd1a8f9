"""How Azure says no: two shapes of error body and the texts that users meet.

Azure Resource Manager wraps its errors in `error`; the AKS resource provider does not, and adds `subcode`. Texts are
those that public threads show, such as https://github.com/Azure/AKS/issues/1913 (operation in progress); where none is
known the words are the sandbox's own.
"""

from __future__ import annotations

from typing import Any

from werkzeug.wrappers import Response

from fracgpu.sandbox.http import json_response

ARM_CODES = frozenset(
    {
        "AuthenticationFailed",
        "AuthorizationFailed",
        "InternalServerError",
        "InvalidAuthenticationToken",
        "MissingApiVersionParameter",
        "ParentResourceNotFound",
        "ResourceGroupNotFound",
        "ResourceNotFound",
        "SubscriptionNotFound",
        "SubscriptionRequestsThrottled",
    }
)
"""Codes that come from Resource Manager, before AKS sees the call."""

USUAL_CODES = {
    400: "BadRequest",
    401: "InvalidAuthenticationToken",
    403: "AuthorizationFailed",
    404: "ResourceNotFound",
    409: "OperationNotAllowed",
    412: "PreconditionFailed",
    429: "Throttled",
}


class ArmError(Exception):
    """A call that Azure refuses."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message

    def response(self) -> Response:
        return error_body(self.status, self.code, self.message)


def error_body(status: int, code: str | None, message: str) -> Response:
    """An error in the shape of whoever in Azure gives that code."""
    code = code or USUAL_CODES.get(status, "InternalServerError")
    if code in ARM_CODES:
        return json_response({"error": {"code": code, "message": message}}, status)
    return json_response({"code": code, "details": None, "message": message, "subcode": ""}, status)


def bad_request(message: str) -> ArmError:
    return ArmError(400, "BadRequest", message)


def invalid_parameter(parameter: str, why: str) -> ArmError:
    return ArmError(
        400,
        "InvalidParameter",
        f"The value of parameter agentPoolProfile.{parameter} is invalid. Error details: {why} "
        "Please see https://aka.ms/aks-naming-rules for more details.",
    )


def change_not_allowed(name: str) -> ArmError:
    return ArmError(400, "PropertyChangeNotAllowed", f"Changing property 'properties.{name}' is not allowed.")


def busy(pool: str, doing: str) -> ArmError:
    return ArmError(
        409,
        "OperationNotAllowed",
        f"Operation is not allowed: Another agentpool operation ({pool} - {doing}) is in progress, please wait for it "
        "to finish before starting a new operation. See https://aka.ms/aks-pending-operation for more details",
    )


def precondition_failed(pool: str) -> ArmError:
    return ArmError(
        412, "PreconditionFailed", f"The request's precondition on agent pool '{pool}' is not met by its current etag."
    )


def size_not_allowed(pool: str, location: str, sizes: list[str]) -> ArmError:
    return bad_request(
        f"The VM size of AgentPoolProfile:{pool} is not allowed in your subscription in location '{location}'. "
        f"The available VM sizes are {','.join(sizes)}"
    )


def zone_not_supported(pool: str, wanted: list[str], supported: list[str], location: str) -> ArmError:
    zones, have = (", ".join(f"'{zone}'" for zone in group) for group in (wanted, supported))
    return ArmError(
        400,
        "AvailabilityZoneNotSupported",
        "Preflight validation check for resource(s) failed. "
        f"Message: The zone(s) {zones} for resource '{pool}' is not supported. "
        f"The supported zones for location '{location}' are {have}",
    )


def vcpu_quota(location: str, left: int, needed: int, family: str | None) -> ArmError:
    """The refusal before anything is made, of the region's cores or (family given) of one family's."""
    if family is None:
        message = (
            f"Insufficient regional vcpu quota left for location {location}. left regional vcpu quota {left}, "
            f"requested quota {needed}. If you want to increase the quota, please follow this instruction: "
            "https://learn.microsoft.com/en-us/azure/quotas/view-quotas. Surge nodes would also consume vcpu quota, "
            "please consider use smaller maxSurge or use maxUnavailable"
        )
    else:
        message = (
            f"Insufficient vcpu quota requested {needed}, remaining {left} for family {family} for region {location}."
        )
    return ArmError(400, "ErrCode_InsufficientVCPUQuota", message)


def low_priority_quota(location: str, limit: int, used: int, needed: int) -> dict[str, Any]:
    """The error in which an operation ends when Spot has no cores left: one quota a region, whatever the family."""
    inner = {
        "code": "OperationNotAllowed",
        "message": "Operation could not be completed as it results in exceeding approved LowPriorityCores quota. "
        f"Additional details - Deployment Model: Resource Manager, Location: {location}, Current Limit: {limit}, "
        f"Current Usage: {used}, Additional Required: {needed}, (Minimum) New Limit Required: {used + needed}.",
    }
    return {"code": "QuotaExceeded", "message": inner["message"], "details": [inner]}


def sku_not_available(size: str, location: str) -> dict[str, Any]:
    """The error in which an operation ends when the region has no such machine left."""
    return {
        "code": "SkuNotAvailable",
        "message": f"The requested VM size for resource 'Following SKUs have failed for Capacity Restrictions: {size}' "
        f"is currently not available in location '{location}'. Please try another size or deploy to a different "
        "location or different zone. See https://aka.ms/azureskunotavailable for details.",
    }


def zonal_allocation_failed(size: str, zone: str) -> dict[str, Any]:
    """The error in which an operation ends when a zone could give only some of the machines."""
    return {
        "code": "ZonalAllocationFailed",
        "message": f"Allocation failed. We do not have sufficient capacity for the requested VM size {size} in zone "
        f"{zone}. Read more about improving likelihood of allocation success at http://aka.ms/allocation-guidance",
    }


def resource_not_found(kind: str, name: str, group: str) -> ArmError:
    return ArmError(
        404,
        "ResourceNotFound",
        f"The Resource 'Microsoft.ContainerService/{kind}/{name}' under resource group '{group}' was not found. "
        "For more details please go to https://aka.ms/ARMResourceNotFoundFix",
    )


def parent_not_found(parent: str) -> ArmError:
    return ArmError(
        404,
        "ParentResourceNotFound",
        "Failed to perform 'read' on resource(s) of type 'managedClusters/agentPools', because the parent resource "
        f"'{parent}' could not be found.",
    )


def group_not_found(group: str) -> ArmError:
    return ArmError(404, "ResourceGroupNotFound", f"Resource group '{group}' could not be found.")


def subscription_not_found(subscription: str) -> ArmError:
    return ArmError(404, "SubscriptionNotFound", f"The subscription '{subscription}' could not be found.")
