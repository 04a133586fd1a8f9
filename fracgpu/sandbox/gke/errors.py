"""Errors as GKE gives them: a canonical code, the words that users meet, and details where the server sends some."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fracgpu.sandbox.faults import Fault

DOMAIN = "container.googleapis.com"

HTTP_STATUS: Mapping[str, int] = {
    "CANCELLED": 499,
    "UNKNOWN": 500,
    "INVALID_ARGUMENT": 400,
    "DEADLINE_EXCEEDED": 504,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
    "PERMISSION_DENIED": 403,
    "RESOURCE_EXHAUSTED": 429,
    "FAILED_PRECONDITION": 400,
    "ABORTED": 409,
    "OUT_OF_RANGE": 400,
    "UNIMPLEMENTED": 501,
    "INTERNAL": 500,
    "UNAVAILABLE": 503,
    "DATA_LOSS": 500,
    "UNAUTHENTICATED": 401,
}
"""https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto"""

_REASON = {
    "INVALID_ARGUMENT": "badRequest",
    "FAILED_PRECONDITION": "failedPrecondition",
    "NOT_FOUND": "notFound",
    "ALREADY_EXISTS": "alreadyExists",
    "PERMISSION_DENIED": "forbidden",
    "RESOURCE_EXHAUSTED": "rateLimitExceeded",
    "UNAUTHENTICATED": "required",
    "ABORTED": "aborted",
}

_BUSY = "CLUSTER_ALREADY_HAS_OPERATION"

_OF_HTTP = {400: "INVALID_ARGUMENT", 409: "ALREADY_EXISTS", 500: "INTERNAL", 502: "UNAVAILABLE"}

_STOCK = {
    "FAILED_PRECONDITION": "Cluster is running incompatible operation operation-0000000000000-sandbox.",
    "RESOURCE_EXHAUSTED": 'Too many operations: cluster "sandbox" hits the concurrent operations quota 5, please '
    "try again later.",
    "PERMISSION_DENIED": 'Required "container.clusters.update" permission(s) for the cluster.',
    "UNAUTHENTICATED": "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or "
    "other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.",
    "UNAVAILABLE": "The service is currently unavailable.",
    "INTERNAL": "Internal error encountered.",
    "DEADLINE_EXCEEDED": "Deadline exceeded.",
}

_READS = ("Get", "List")
_TOO_OFTEN = (
    "Quota exceeded for quota metric 'Cluster read requests' and limit 'Cluster read requests per minute' of service "
    "'container.googleapis.com' for consumer 'project_number:1'."
)
"""The form is that of all of Google's APIs: https://github.com/skypilot-org/skypilot/issues/586"""


@dataclass(slots=True, eq=False)
class GkeError(Exception):
    """One refusal: a canonical code. `reason` and `metadata` become an ErrorInfo, `retry_after` a RetryInfo."""

    code: str
    message: str
    reason: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)
    http: int | None = None
    retry_after: int | None = None

    @property
    def http_status(self) -> int:
        return self.http or HTTP_STATUS[self.code]

    def body(self) -> dict[str, Any]:
        """The error of the JSON API (https://cloud.google.com/apis/design/errors)."""
        reason = _REASON.get(self.code, "backendError")
        error: dict[str, Any] = {
            "code": self.http_status,
            "message": self.message,
            "errors": [{"message": self.message, "domain": "global", "reason": reason}],
            "status": self.code,
        }
        if details := self.details():
            error["details"] = details
        return {"error": error}

    def details(self) -> list[dict[str, Any]]:
        """google.rpc details in JSON form, each with its `@type`."""
        found: list[dict[str, Any]] = []
        if self.reason is not None:
            info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": self.reason, "domain": DOMAIN}
            found.append({**info, "metadata": self.metadata} if self.metadata else info)
        if self.retry_after is not None:
            delay = f"{self.retry_after}s"
            found.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})
        return found


def invalid(message: str) -> GkeError:
    return GkeError("INVALID_ARGUMENT", message)


def invalid_field(path: str, value: object, why: str) -> GkeError:
    """The form in which the server reports a bad value (https://github.com/pulumi/pulumi-gcp/issues/1510)."""
    return invalid(f'Invalid value for field "{path}": "{value}". {why}')


def not_found(resource: str) -> GkeError:
    """https://github.com/hashicorp/terraform-provider-google/issues/7851"""
    return GkeError("NOT_FOUND", f"Not found: {resource}.")


def exists(resource: str) -> GkeError:
    """https://github.com/terraform-google-modules/terraform-google-kubernetes-engine/issues/367"""
    return GkeError("ALREADY_EXISTS", f"Already exists: {resource}.")


def busy(operation: str) -> GkeError:
    """https://github.com/kubernetes-sigs/cluster-api-provider-gcp/issues/1363"""
    message = f"Cluster is running incompatible operation {operation}."
    return GkeError("FAILED_PRECONDITION", message, _BUSY, {"operation": operation})


def too_many(cluster: str, quota: int) -> GkeError:
    """https://github.com/hashicorp/terraform-provider-google/issues/15205"""
    limit = f'cluster "{cluster}" hits the concurrent operations quota {quota}, please try again later.'
    return GkeError("RESOURCE_EXHAUSTED", f"Too many operations: {limit}")


def over_quota(metric: str, asked: float, limit: float, used: float, project: str) -> GkeError:
    """https://github.com/GoogleCloudPlatform/k8s-config-connector/issues/321"""
    left = max(limit - used, 0.0)
    text = (
        f"Insufficient regional quota to satisfy request: resource \"{metric}\": request requires '{asked:.1f}' and is "
        f"short '{asked - left:.1f}'. project has a quota of '{limit:.1f}' with '{left:.1f}' available. View and "
        f"manage quotas at https://console.cloud.google.com/iam-admin/quotas?usage=USED&project={project}."
    )
    return GkeError("PERMISSION_DENIED", text)


def from_fault(fault: Fault) -> GkeError | None:
    """The error that a fault asks for; None when it asks for none (a delay, a drop, an outcome)."""
    if fault.outcome is not None:
        return None
    if fault.status is None and fault.code is None and fault.message is None and fault.retry_after is None:
        return None
    code, reason = _code_of(fault)
    if code == "FAILED_PRECONDITION" and reason is None and fault.message is None:
        reason = _BUSY
    if code == "RESOURCE_EXHAUSTED" and reason is None and fault.message is None and fault.call.startswith(_READS):
        return GkeError(code, _TOO_OFTEN, "RATE_LIMIT_EXCEEDED", http=fault.status, retry_after=fault.retry_after)
    message = fault.message or _STOCK.get(code, "The sandbox was told to fail this call.")
    return GkeError(code, message, reason, http=fault.status, retry_after=fault.retry_after)


def _code_of(fault: Fault) -> tuple[str, str | None]:
    """The canonical code of a fault, and the ErrorInfo reason when its code is not a canonical one."""
    if fault.code is not None and fault.code in HTTP_STATUS:
        return fault.code, None
    if fault.code == _BUSY:
        return "FAILED_PRECONDITION", _BUSY
    status = fault.status or (429 if fault.retry_after is not None else 500)
    by_status = {http: code for code, http in HTTP_STATUS.items()} | _OF_HTTP
    return by_status.get(status, "UNKNOWN"), fault.code
