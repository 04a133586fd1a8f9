"""The one seam between fracgpu and wherever the clouds are: public, sovereign, behind a private endpoint, or the
sandbox.

An `Access` comes from the command line, the environment or the user's own configuration, never from a file of the
folder that one happens to stand in: who chooses the endpoint receives the token.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Access:
    """Where to call and as whom. None is the SDK's own endpoint and identity.

    With `sandbox` the credentials are fixed dummies, no identity chain is loaded, and proxies are passed by; without it
    an endpoint must be https, so that a token never travels in the clear.
    """

    sandbox: bool = False
    azure_endpoint: str | None = None
    """ARM's base URL, such as https://management.chinacloudapi.cn."""
    azure_scope: str | None = None
    """The OAuth scope of that endpoint, `<endpoint>/.default` where it is not said."""
    gke_endpoint: str | None = None
    """host[:port] of the GKE API (gRPC)."""
    aws_endpoint: str | None = None
    """One URL for EKS, EC2, IAM and STS; the sandbox has one."""
    _shared: dict[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)
    _answers: dict[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)
    _locks: dict[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)
    _lock: Any = field(default_factory=threading.RLock, compare=False, repr=False)

    def shared(self, key: Hashable, make: Callable[[], T]) -> T:
        """What all sessions opened by this value have in common (an identity, a client), made by the first; one thing
        is made at a time, since making one imports much and is not for several threads.

        A run over hundreds of clusters signs in once and keeps one client a cloud and region, not one a cluster.
        """
        with self._lock:
            if key not in self._shared:
                self._shared[key] = make()
            found: T = self._shared[key]
            return found

    def answered(self, key: Hashable, ask: Callable[[], T]) -> T:
        """What a cloud answers alike to all sessions (a region's offerings), asked by the first. Who wants the same
        waits for it, others do not; what `ask` raises is kept by nobody."""
        with self._lock:
            asking = self._locks.setdefault(key, threading.Lock())
        with asking:
            if key not in self._answers:
                self._answers[key] = ask()
            answer: T = self._answers[key]
            return answer
