"""What GKE's error texts mean. Codes alone do not tell: quota comes as PERMISSION_DENIED, a busy cluster as 400.

Pure text in, our errors out; `session` knows the SDK's classes and calls this with their code, message and details.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fracgpu.errors import (
    Busy,
    CloudError,
    ExistsDifferently,
    Forbidden,
    FracgpuError,
    NotFound,
    NotSignedIn,
    PoolFailed,
    Quota,
    StalePlan,
    Stock,
    Throttled,
    Unreachable,
)

SIGN_IN = "gcloud auth application-default login"


@dataclass(frozen=True, slots=True)
class Said:
    """What the cloud said: a canonical code (google.rpc.Code), its text, and from the error's details the reason."""

    code: str
    message: str
    reason: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    request_id: str | None = None
    retry_after: float | None = None
    call: str | None = None

    @property
    def detail(self) -> dict[str, Any]:
        said = {
            "code": self.code,
            "message": self.message,
            "reason": self.reason,
            "requestId": self.request_id,
            "call": self.call,
        }
        return {key: value for key, value in said.items() if value is not None}


_QUOTA = re.compile(
    r"insufficient (regional )?quota|quota_exceeded|exceeded.{0,40}quota|quota '\w+' exceeded", re.IGNORECASE
)
_QUOTA_FIGURES = re.compile(
    r"resource \"(?P<metric>\w+)\": request requires '(?P<required>[\d.]+)' and is short '(?P<short>[\d.]+)'"
    r"(.*?quota of '(?P<limit>[\d.]+)' with '(?P<available>[\d.]+)' available)?",
    re.DOTALL,
)
"""https://github.com/vanvalenlab/kiosk-console/issues/367"""
_STOCK = re.compile(
    r"GCE_STOCKOUT|ZONE_RESOURCE_POOL_EXHAUSTED|does not have enough resources available", re.IGNORECASE
)
_BUSY = re.compile(r"incompatible operation|is currently \w+ing|CLUSTER_ALREADY_HAS_OPERATION", re.IGNORECASE)
"""https://github.com/kubernetes-sigs/cluster-api-provider-gcp/issues/1363,
https://github.com/hashicorp/terraform-provider-google/issues/10366"""
_TOO_MANY = re.compile(r"too many operations|concurrent operations", re.IGNORECASE)
"""https://github.com/hashicorp/terraform-provider-google/issues/15205"""
_RATE = re.compile(r"quota exceeded for quota metric .* per minute", re.IGNORECASE | re.DOTALL)
"""Calls, not machines: https://github.com/skypilot-org/skypilot/issues/586"""
_OPERATION = re.compile(r"operation-[-\w]+")
_ZONE = re.compile(r"zone '(?:projects/[^/]+/zones/)?([-\w]+)'", re.IGNORECASE)
_PERMISSION = re.compile(r"[Rr]equired \"(?P<name>[\w.]+)\" permission")
_REAUTHENTICATE = re.compile(
    r"reauth|invalid_grant|refresh the access token|RefreshError|could not refresh", re.IGNORECASE
)


def translated(said: Said) -> FracgpuError:
    """The error that an answer of the API stands for."""
    if said.reason == "RATE_LIMIT_EXCEEDED" or _RATE.search(said.message):
        return _throttled(said)
    if _QUOTA.search(said.message) and not _TOO_MANY.search(said.message) and said.code != "UNAVAILABLE":
        return quota(said)
    if _STOCK.search(said.message):
        return stock(said)
    by_code = {
        "UNAUTHENTICATED": _not_signed_in,
        "PERMISSION_DENIED": _forbidden,
        "RESOURCE_EXHAUSTED": _exhausted,
        "FAILED_PRECONDITION": _precondition,
        "ABORTED": _aborted,
        "NOT_FOUND": _not_found,
        "ALREADY_EXISTS": _exists,
        "UNAVAILABLE": _unavailable,
        "INTERNAL": _internal,
        "UNKNOWN": _internal,
        "DEADLINE_EXCEEDED": _unreachable,
        "CANCELLED": _unreachable,  # nobody here cancels: a connection that went away, its calls with it
    }
    return by_code.get(said.code, _other)(said)


def quota(said: Said) -> Quota:
    """How much of which quota is missing."""
    figures = _QUOTA_FIGURES.search(said.message)
    hint = "ask for more at https://console.cloud.google.com/iam-admin/quotas; the count is nodes x GPUs over all zones"
    if not figures:
        return Quota(f"the project's quota does not allow it: {said.message}", hint=hint, detail=said.detail)
    numbers = {key: float(text) for key, text in figures.groupdict().items() if key != "metric" and text}
    metric = figures["metric"]
    message = f"quota {metric}: {numbers['required']:g} are needed and {numbers['short']:g} are missing"
    if "limit" in numbers:
        message += f" (limit {numbers['limit']:g}, {numbers['available']:g} free)"
    return Quota(message, hint=hint, detail={**said.detail, "quota": {"metric": metric, **numbers}})


def stock(said: Said) -> Stock:
    """Google has no such machine to give right now."""
    zone = _ZONE.search(said.message)
    where = f" in {zone[1]}" if zone else ""
    hint = (
        "try other zones (--zone), another machine, --spot or a reservation; --min 0 lets the pool wait for a machine"
    )
    detail = {**said.detail, "zone": zone[1]} if zone else said.detail
    return Stock(f"Google has no machine of this type to give{where}", hint=hint, detail=detail)


def _not_signed_in(said: Said) -> FracgpuError:
    return NotSignedIn("Google does not accept the credentials", hint=SIGN_IN, detail=said.detail)


def _forbidden(said: Said) -> FracgpuError:
    if said.reason == "SERVICE_DISABLED" or "has not been used in project" in said.message:
        hint = "gcloud services enable container.googleapis.com"
        return Forbidden("the Kubernetes Engine API is not enabled in this project", hint=hint, detail=said.detail)
    found = _PERMISSION.search(said.message)
    permission = found["name"] if found else "container.clusters.update"
    role = "roles/container.clusterViewer" if permission.endswith((".get", ".list")) else "roles/container.clusterAdmin"
    message = f"the permission {permission} is missing" if found else f"not permitted: {said.message}"
    return Forbidden(message, hint=f"{role} has it", detail={**said.detail, "permission": permission})


def _exhausted(said: Said) -> FracgpuError:
    if _TOO_MANY.search(said.message):
        return busy(said, "the cluster runs as many operations as it may")
    return _throttled(said)


def _throttled(said: Said) -> FracgpuError:
    hint = f"try again in {said.retry_after:g} s" if said.retry_after else "try again in a minute"
    return Throttled("Google was asked too often", retry_after=said.retry_after, hint=hint, detail=said.detail)


def _precondition(said: Said) -> FracgpuError:
    if said.reason == "CLUSTER_ALREADY_HAS_OPERATION" or _BUSY.search(said.message):
        return busy(said, "another operation holds the cluster")
    return _other(said)


def busy(said: Said, message: str) -> Busy:
    """Waiting and trying again is right. `detail.operation` is the one that is in the way, where it is named."""
    found = _OPERATION.search(said.metadata.get("operation", "") or said.message)
    detail = {**said.detail, "operation": found[0]} if found else said.detail
    return Busy(f"{message}: {said.message}", hint="wait for it and try again", detail=detail)


def _aborted(said: Said) -> FracgpuError:
    if "etag" in said.message.lower():
        hint = "plan again"
        return StalePlan("the pool has changed since it was looked at", hint=hint, detail=said.detail)
    return busy(said, "another change came first")


def _not_found(said: Said) -> FracgpuError:
    return NotFound(said.message, hint="fracgpu pool list --all", detail=said.detail)


def _exists(said: Said) -> FracgpuError:
    return ExistsDifferently(said.message, hint="fracgpu pool show NAME", detail=said.detail)


def _unavailable(said: Said) -> FracgpuError:
    """A token that cannot be had is reported as the server's being away."""
    if _REAUTHENTICATE.search(said.message):
        return _not_signed_in(said)
    return _unreachable(said)


def _internal(said: Said) -> FracgpuError:
    """Google's own trouble, which passes."""
    hint = "try again; https://status.cloud.google.com"
    return Unreachable(f"GKE could not answer: {said.message}", hint=hint, detail=said.detail)


def _unreachable(said: Said) -> FracgpuError:
    hint = "look at the network, the proxy and https://status.cloud.google.com"
    return Unreachable(f"no answer from the GKE API: {said.message}", hint=hint, detail=said.detail)


def _other(said: Said) -> FracgpuError:
    return CloudError(f"GKE refused: {said.message}", hint="the cloud's own words are in detail", detail=said.detail)


def ended(said: Said, pool: str | None, condition: str | None = None) -> FracgpuError:
    """The error that an operation ended in, or that a pool's condition stands for.

    `condition` is the code of a StatusCondition (GCE_STOCKOUT, GCE_QUOTA_EXCEEDED). A pool is left behind in either
    case (https://github.com/GoogleCloudPlatform/magic-modules/pull/5225).
    """
    if condition == "GCE_STOCKOUT" or _STOCK.search(said.message):
        return stock(said)
    if condition == "GCE_QUOTA_EXCEEDED" or _QUOTA.search(said.message):
        return quota(said)
    name = pool or "NAME"
    hint = f"fracgpu pool show {name}; fracgpu pool create {name} --recreate or fracgpu pool delete {name}"
    if "PERMISSIONS_ERROR" in said.message or condition == "NODE_SERVICE_ACCOUNT_MISSING_PERMISSIONS":
        hint = "give the nodes' service account roles/container.defaultNodeServiceAccount"
    return PoolFailed(f"GKE: {said.message}", hint=hint, detail=said.detail)
