"""The control API from the outside, by the standard library alone."""

from __future__ import annotations

import json
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

from fracgpu.errors import CloudError, Invalid, Unreachable
from fracgpu.sandbox.folder import Endpoints

_direct = build_opener(ProxyHandler({}))
"""Loopback is never behind a proxy, whatever the environment says."""


class Control:
    """Looks at a running sandbox and changes it. Every method raises Unreachable when nobody answers."""

    def __init__(self, endpoints: Endpoints, timeout: float = 10.0) -> None:
        self._endpoints = endpoints
        self._timeout = timeout

    def status(self) -> dict[str, Any]:
        """Endpoints, clusters with their pools, faults and settings."""
        found: dict[str, Any] = self._ask("GET", "status")
        return found

    def reset(self) -> None:
        """Forget all pools and faults; the clusters that are there from the start come back empty."""
        self._ask("POST", "reset", {})

    def stop(self) -> None:
        """Ask the process to end; it answers first."""
        self._ask("POST", "stop", {})

    def add_fault(self, cloud: str, call: str, **how: Any) -> dict[str, Any]:
        """Make calls fail; `how` are the members of `faults.Fault`. Raises Invalid for what the sandbox refuses."""
        fault: dict[str, Any] = self._ask("POST", "faults", {"cloud": cloud, "call": call, **how})
        return fault

    def faults(self) -> list[dict[str, Any]]:
        """The faults in the order in which they were set, with how often each may still strike."""
        found: list[dict[str, Any]] = self._ask("GET", "faults")
        return found

    def clear_faults(self) -> None:
        self._ask("DELETE", "faults")

    def set(self, kind: str, **fields: Any) -> list[str]:
        """`sandbox set KIND`; the fields of each kind are in `sandbox/settings.py`. Raises Invalid for a wrong one.

        The answer is what is odd about it, in words: a name that the sandbox does not know.
        """
        doubts: list[str] = self._ask("POST", "set", {"kind": kind, **fields})["doubts"]
        return doubts

    def _ask(self, method: str, what: str, body: Any = None) -> Any:
        request = Request(f"{self._endpoints.http}/sandbox/{what}", method=method)  # noqa: S310
        request.add_header("Authorization", f"Bearer {self._endpoints.token}")
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        try:
            with _direct.open(request, timeout=self._timeout) as answer:
                return json.load(answer)
        except HTTPError as error:
            raise _refusal(error) from error
        except (OSError, HTTPException, ValueError) as error:
            raise Unreachable(
                f"The sandbox does not answer at {self._endpoints.http}.", hint="fracgpu sandbox start"
            ) from error


def identity(http: str, timeout: float = 2.0) -> str | None:
    """The id of the sandbox at that address; None when nobody is there or it is something else."""
    try:
        with _direct.open(f"{http}/healthz", timeout=timeout) as answer:
            found = json.loads(answer.read(4096))
            return str(found["id"])
    except (OSError, HTTPException, ValueError, KeyError, TypeError):
        return None


def _refusal(error: HTTPError) -> Exception:
    with error:
        try:
            body = json.load(error)
            message, nearest = str(body["error"]), tuple(body.get("nearest", ()))
        except (ValueError, KeyError, TypeError):
            message, nearest = f"HTTP {error.code}", ()
    if error.code == 400:
        return Invalid.one("invalid-value", f"The sandbox refused that: {message}", nearest=nearest)
    return CloudError(f"The sandbox answered: {message}", detail={"status": error.code})
