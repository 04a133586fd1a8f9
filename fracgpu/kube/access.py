"""How to reach a cluster's Kubernetes API: what a cloud gives and `session` takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class KubeAccess:
    """The API's address and the caller's own credentials, as plain data; they never leave memory.

    A kubeconfig says of the cluster what is in it; a token stands above the user that it names.
    """

    server: str
    ca_pem: str | None = None
    token: str | None = field(default=None, repr=False)
    expires: float | None = None
    """Seconds since the epoch at which the token ends."""
    kubeconfig: Mapping[str, Any] | None = field(default=None, repr=False)
    context: str | None = None
