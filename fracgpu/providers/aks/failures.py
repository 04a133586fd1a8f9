"""What AKS's error texts mean. Codes alone do not tell: OperationNotAllowed is a busy cluster or a quota.

Pure text in, our errors out; `session` knows the SDK's classes and calls this with their status, code and message.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fracgpu.errors import (
    Busy,
    CloudError,
    DrainBlocked,
    Forbidden,
    FracgpuError,
    ImmutableField,
    NotFound,
    NotSignedIn,
    PoolFailed,
    StalePlan,
    Throttled,
    Unreachable,
)
from fracgpu.providers.aks import shortages

SIGN_IN = "az login"


@dataclass(frozen=True, slots=True)
class Said:
    """What Azure said: HTTP status (None for the end of an operation), code, text, and the errors inside it."""

    status: int | None
    code: str
    message: str
    inner: tuple[tuple[str, str], ...] = ()
    request_id: str | None = None
    retry_after: float | None = None
    call: str | None = None

    @property
    def codes(self) -> frozenset[str]:
        return frozenset({self.code, *(code for code, _ in self.inner)})

    @property
    def text(self) -> str:
        """All that was said, each sentence once."""
        return " ".join(dict.fromkeys((self.message, *(message for _, message in self.inner))))

    @property
    def detail(self) -> dict[str, Any]:
        said = {"code": self.code, "message": self.text, "requestId": self.request_id, "call": self.call}
        return {key: value for key, value in said.items() if value}


_BUSY = re.compile(
    r"(operation \(?[\w -]*\)? ?is in progress)|in progress on agent pool|aks-pending-operation", re.IGNORECASE
)
"""https://github.com/Azure/AKS/issues/1913"""
_ACTION = re.compile(r"perform action '(?P<action>[^']+)'")
_PROPERTY = re.compile(r"property '(?:properties\.)?(?P<name>[\w.]+)'", re.IGNORECASE)
_UNREGISTERED = ("MissingSubscriptionRegistration", "SubscriptionNotRegistered")
_TOKENS = ("InvalidAuthenticationToken", "ExpiredAuthenticationToken", "AuthenticationFailed")
_THROTTLED = frozenset({"Throttled", "TooManyRequests", "SubscriptionRequestsThrottled", "OperationThrottled"})
_PREEMPTED = frozenset({"AKSOperationPreempted", "OperationPreempted"})


def translated(said: Said) -> FracgpuError:
    """The error that an answer of the API stands for."""
    return _known(said) or _by_status(said)


def ended(said: Said, pool: str | None) -> FracgpuError:
    """The error that an operation ended in, or that a failed pool stands for."""
    name = pool or "NAME"
    hint = f"fracgpu pool create {name} --recreate, or fracgpu pool delete {name}"
    return _known(said) or PoolFailed(f"AKS: {said.text}", hint=hint, detail=said.detail)


def _known(said: Said) -> FracgpuError | None:
    """What the text or a code tells, whatever the status."""
    shortage = shortages.shortage(said.codes, said.text, said.detail)
    if shortage:
        return shortage
    if said.codes & _PREEMPTED:
        return Busy("a later operation took this one's place", hint="try again", detail=said.detail)
    if "PodDrainFailure" in said.codes:
        hint = "look at PodDisruptionBudgets: kubectl get pdb -A"
        return DrainBlocked(f"a node could not be drained: {said.text}", hint=hint, detail=said.detail)
    if "PropertyChangeNotAllowed" in said.codes:
        return _immutable(said)
    if _BUSY.search(said.text):
        return _busy(said)
    return None


def _busy(said: Said) -> FracgpuError:
    return Busy(f"another operation holds it: {said.text}", hint="wait for it and try again", detail=said.detail)


def _immutable(said: Said) -> FracgpuError:
    found = _PROPERTY.search(said.text)
    name = found["name"] if found else None
    message = f"{name or 'a field'} is fixed when a pool is made"
    return ImmutableField(
        message, field=name, hint="fracgpu pool apply --replace makes the pool anew", detail=said.detail
    )


def _by_status(said: Said) -> FracgpuError:
    if said.status == 429 or said.codes & _THROTTLED:
        hint = f"try again in {said.retry_after:g} s" if said.retry_after else "try again in a minute"
        return Throttled("Azure was asked too often", retry_after=said.retry_after, hint=hint, detail=said.detail)
    if said.code in _TOKENS:
        return _not_signed_in(said)
    if said.code in _UNREGISTERED:
        hint = "az provider register --namespace Microsoft.ContainerService"
        return Forbidden("the subscription is not registered for AKS", hint=hint, detail=said.detail)
    return _STATUSES.get(said.status or 0, _other)(said)


def _not_signed_in(said: Said) -> FracgpuError:
    return NotSignedIn("Azure does not accept the credentials", hint=SIGN_IN, detail=said.detail)


def _forbidden(said: Said) -> FracgpuError:
    found = _ACTION.search(said.text)
    if not found:
        return Forbidden(f"not permitted: {said.text}", hint="ask who owns the subscription", detail=said.detail)
    action = found["action"]
    role = "Reader" if action.endswith("/read") else "Azure Kubernetes Service Contributor Role"
    hint = f"the role '{role}' on the cluster has it"
    return Forbidden(f"the permission {action} is missing", hint=hint, detail={**said.detail, "permission": action})


def _not_found(said: Said) -> FracgpuError:
    return NotFound(said.text, hint="fracgpu pool list --all", detail=said.detail)


def _stale(said: Said) -> FracgpuError:
    return StalePlan("the pool has changed since it was looked at", hint="plan again", detail=said.detail)


def _unreachable(said: Said) -> FracgpuError:
    hint = "look at the network, the proxy and https://azure.status.microsoft"
    return Unreachable(f"no answer from Azure: {said.text}", hint=hint, detail=said.detail)


def _internal(said: Said) -> FracgpuError:
    """Azure's own trouble, which passes."""
    hint = "try again; https://azure.status.microsoft"
    return Unreachable(f"Azure could not answer: {said.text}", hint=hint, detail=said.detail)


def _other(said: Said) -> FracgpuError:
    return CloudError(f"AKS refused: {said.text}", hint="the cloud's own words are in detail", detail=said.detail)


_STATUSES: dict[int, Callable[[Said], FracgpuError]] = {
    401: _not_signed_in,
    403: _forbidden,
    404: _not_found,
    408: _unreachable,
    409: _busy,
    412: _stale,
    500: _internal,
    502: _unreachable,
    503: _unreachable,
    504: _unreachable,
}
