"""What AWS's error codes and texts mean. Capacity never comes as a code: it is text in the health of a node group.

Pure text in, our errors out; `session` knows the SDK's classes and calls this with what they say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from fracgpu.errors import (
    Busy,
    CloudError,
    DrainBlocked,
    Forbidden,
    FracgpuError,
    NotFound,
    NotSignedIn,
    PoolFailed,
    Quota,
    Stock,
    Throttled,
    Unreachable,
)

SIGN_IN = "aws sso login, or aws configure"
_QUOTAS = "https://console.aws.amazon.com/servicequotas/home/services/ec2/quotas"


@dataclass(frozen=True, slots=True)
class Said:
    """What AWS said: a code, its text, the HTTP status, and what it adds (a request id, a pause, the call)."""

    code: str
    message: str
    status: int = 0
    request_id: str | None = None
    retry_after: float | None = None
    call: str | None = None
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def detail(self) -> dict[str, Any]:
        said = {"code": self.code, "message": self.message, "requestId": self.request_id, "call": self.call}
        return {key: value for key, value in {**said, **self.more}.items() if value is not None}


_QUOTA_TEXT = re.compile(
    r"VcpuLimitExceeded|MaxSpotInstanceCountExceeded|InstanceLimitExceeded|vCPU limit|exceeded? your quota",
    re.IGNORECASE,
)
_STOCK_TEXT = re.compile(
    r"InsufficientInstanceCapacity|UnfulfillableCapacity|InsufficientCapacity|InsufficientHostCapacity"
    r"|ReservationCapacityExceeded|SpotMaxPriceTooLow|Unsupported - Your requested instance type",
    re.IGNORECASE,
)
_LIMIT = re.compile(r"vCPU limit of (?P<limit>\d+)")
_ZONES = re.compile(r"Availability Zone(?: you requested)? \((?P<zones>[-\w, ]+)\)|choosing (?P<others>[-\w, ]+?)\.")
_MACHINE = re.compile(r"(?:sufficient|instance type \()\s*(?P<name>[a-z0-9-]+\.[a-z0-9-]+)")
_ACTION = re.compile(r"perform: (?P<action>[a-zA-Z0-9-]+:\w+)")
_NOT_AUTHORIZED = re.compile(r"not authorized to launch instances", re.IGNORECASE)
_NOT_ACTIVE = re.compile(
    r"not in (?:an? )?active state|is currently|currently not in|not ready|being (?:created|updated)", re.IGNORECASE
)


def translated(said: Said) -> FracgpuError:
    """The error that an answer of the API stands for."""
    capacity = capacity_error(said)
    if capacity is not None:
        return capacity
    make = _BY_CODE.get(said.code)
    if make is not None:
        return make(said)
    if "Throttl" in said.code or said.status == 429:
        return _throttled(said)
    if said.status >= 500:
        return _unavailable(said)
    if said.status == 403:
        return _forbidden(said)
    return _other(said)


def capacity_error(said: Said) -> Quota | Stock | None:
    """Quota or stock, where the text speaks of them."""
    if _QUOTA_TEXT.search(said.message) or said.code == "VcpuLimitExceeded":
        return quota(said)
    if _STOCK_TEXT.search(said.message) or said.code in ("InsufficientInstanceCapacity", "UnfulfillableCapacity"):
        return stock(said)
    return None


def quota(said: Said) -> Quota:
    """EC2 counts vCPUs by family, Spot apart; a new account has none for GPUs
    (https://github.com/klothoplatform/klotho/issues/311)."""
    limit = _LIMIT.search(said.message)
    spot = "spot" in said.message.lower()
    which = "the quota of Spot instances" if spot else "the quota of vCPUs for this family of instances"
    message = f"{which} does not allow it" + (f": it is {limit['limit']}" if limit else "")
    detail = {**said.detail, "quota": {"limit": int(limit["limit"])}} if limit else said.detail
    return Quota(message, hint=f"ask for more (in vCPUs) at {_QUOTAS}", detail=detail)


def stock(said: Said) -> Stock:
    """AWS has no such machine to give, or not in these zones."""
    machine, zones = _MACHINE.search(said.message), _ZONES.search(said.message)
    which = machine["name"] if machine else "machine of this type"
    where = f" in {zones['zones']}" if zones and zones["zones"] else ""
    others = next((found["others"] for found in _ZONES.finditer(said.message) if found["others"]), None)
    hint = f"AWS names {others}; " if others else ""
    hint += "try other zones (--zone), another machine, --spot or a capacity block; --min 0 lets the group wait"
    return Stock(f"AWS has no {which} to give{where}", hint=hint, detail=said.detail)


def _not_signed_in(said: Said) -> FracgpuError:
    return NotSignedIn("AWS does not accept the credentials", hint=SIGN_IN, detail=said.detail)


def _clock(said: Said) -> FracgpuError:
    return NotSignedIn("AWS does not accept the signature", hint=f"is the clock right? {SIGN_IN}", detail=said.detail)


def _forbidden(said: Said) -> FracgpuError:
    found = _ACTION.search(said.message)
    if found is None:
        return Forbidden(f"not permitted: {said.message}", hint="the IAM policy needs this action", detail=said.detail)
    action = found["action"]
    detail = {**said.detail, "permission": action}
    return Forbidden(f"the permission {action} is missing", hint=f"allow {action} in an IAM policy", detail=detail)


def _throttled(said: Said) -> FracgpuError:
    hint = f"try again in {said.retry_after:g} s" if said.retry_after else "try again in a minute"
    return Throttled("AWS was asked too often", retry_after=said.retry_after, hint=hint, detail=said.detail)


def _unavailable(said: Said) -> FracgpuError:
    """AWS's own trouble, which passes."""
    hint = "try again; https://health.aws.amazon.com"
    return Unreachable(f"AWS could not answer ({said.status}): {said.message}", hint=hint, detail=said.detail)


def _in_use(said: Said) -> FracgpuError:
    return Busy(f"AWS is at work on it: {said.message}", hint="wait for it and try again", detail=said.detail)


def _request(said: Said) -> FracgpuError:
    if _NOT_AUTHORIZED.search(said.message):
        return _may_not_launch(said)
    return _in_use(said) if _NOT_ACTIVE.search(said.message) else _other(said)


def _may_not_launch(said: Said) -> FracgpuError:
    """EKS tries whether the caller may launch from the template, and says no in a request error of its own
    (https://github.com/aws-samples/terraform-eks-code/issues/13)."""
    message = said.message.partition(" Encoded authorization failure message:")[0].rstrip(".")
    hint = "allow ec2:RunInstances with the template; aws sts decode-authorization-message reads detail.message in full"
    detail = {**said.detail, "permission": "ec2:RunInstances"}
    return Forbidden(f"not permitted: {message}", hint=hint, detail=detail)


def _limit(said: Said) -> FracgpuError:
    hint = "ask for more at https://console.aws.amazon.com/servicequotas/home/services/eks/quotas"
    return Quota(f"EKS allows no more: {said.message}", hint=hint, detail=said.detail)


def _not_found(said: Said) -> FracgpuError:
    return NotFound(said.message.rstrip("."), hint="fracgpu pool list --all", detail=said.detail)


def _zones(said: Said) -> FracgpuError:
    zones = tuple(said.more.get("validZones") or ())
    return Stock(f"EKS has no place in this zone: {said.message}", hint="--zone", nearest=zones, detail=said.detail)


def _other(said: Said) -> FracgpuError:
    return CloudError(f"AWS refused: {said.message}", hint="the cloud's own words are in detail", detail=said.detail)


_BY_CODE: dict[str, Callable[[Said], FracgpuError]] = {
    **dict.fromkeys(
        (
            "UnrecognizedClientException",
            "InvalidClientTokenId",
            "ExpiredToken",
            "ExpiredTokenException",
            "AuthFailure",
            "MissingAuthenticationToken",
            "MissingAuthenticationTokenException",
            "InvalidAccessKeyId",
        ),
        _not_signed_in,
    ),
    **dict.fromkeys(
        ("InvalidSignatureException", "SignatureDoesNotMatch", "RequestExpired", "IncompleteSignature"), _clock
    ),
    **dict.fromkeys(("AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "OptInRequired"), _forbidden),
    **dict.fromkeys(("RequestLimitExceeded", "TooManyRequestsException"), _throttled),
    **dict.fromkeys(("ResourceNotFoundException", "NotFoundException"), _not_found),
    "InvalidLaunchTemplateName.NotFoundException": _not_found,
    "InvalidLaunchTemplateId.NotFound": _not_found,
    "ResourceInUseException": _in_use,
    "InvalidRequestException": _request,
    "ResourceLimitExceededException": _limit,
    "UnsupportedAvailabilityZoneException": _zones,
}


@dataclass(frozen=True, slots=True)
class Issue:
    """One entry of a node group's health or of a failed update: its code, its text."""

    code: str
    message: str


_ADVICE = {
    "NodeCreationFailure": "the nodes did not join: look at user data, role and network; an unknown setting stops "
    "Bottlerocket's first boot",
    "Ec2LaunchTemplateInvalidConfiguration": "the launch template is not one that EKS takes",
    "Ec2LaunchTemplateNotFound": "the launch template is gone: make the pool anew",
    "Ec2LaunchTemplateVersionMismatch": "somebody changed EKS's own copy of the launch template: make the pool anew",
    "IamNodeRoleNotFound": "the node role is gone: name another by eks.nodeRole",
    "AccessDenied": "the node role or the cluster's access entries lack a permission",
    "KubernetesLabelInvalid": "a label is not one that EKS takes",
    "InsufficientFreeAddresses": "the subnets have no free addresses: name others by eks.subnets",
    "AutoScalingGroupInvalidConfiguration": "somebody changed the auto scaling group: make the pool anew",
}
"""https://docs.aws.amazon.com/eks/latest/APIReference/API_Issue.html"""


def problem(name: str, issues: Sequence[Issue], what: str) -> FracgpuError:
    """Why a group or an update failed: capacity where one issue speaks of it, else the first issue."""
    for issue in issues:
        error = capacity_error(Said(issue.code, issue.message, more={"issues": _listed(issues)}))
        if error is not None:
            return error
    hint = f"fracgpu pool create {name} --recreate, or fracgpu pool delete {name}"
    if not issues:
        return PoolFailed(f"{name} {what}, and AWS does not say why", hint=hint)
    first = issues[0]
    if first.code == "PodEvictionFailure":
        return _drain(name, what, issues)
    advice = _ADVICE.get(first.code)
    detail = {"code": first.code, "message": first.message, "issues": _listed(issues)}
    return PoolFailed(f"{name} {what}: {first.code}: {first.message}", hint=advice or hint, detail=detail)


def _drain(name: str, what: str, issues: Sequence[Issue]) -> DrainBlocked:
    """Pods that may not be evicted keep the old nodes
    (https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html)."""
    message = f"{name} {what}: a node could not be drained: {issues[0].message}"
    hint = "look at PodDisruptionBudgets: kubectl get pdb -A"
    return DrainBlocked(message, hint=hint, detail={"code": issues[0].code, "issues": _listed(issues)})


def _listed(issues: Sequence[Issue]) -> list[dict[str, str]]:
    return [{"code": issue.code, "message": issue.message} for issue in issues]
