"""What a command of another tool would have made, as the cloud's API would have been told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fracgpu.catalog.models import ProviderName
from fracgpu.errors import Finding
from fracgpu.plan import Json


@dataclass(frozen=True, slots=True)
class Made:
    """One pool: its cluster's coordinates as far as the command says them, and the body that the tool would send.

    `more` are fields of the file form, by path, that the cloud does not report back as they were asked for; None takes
    a field out.
    """

    provider: ProviderName
    kind: str
    name: str
    cluster: dict[str, str | None]
    body: Json
    more: dict[str, Any] = field(default_factory=dict)
    before: tuple[tuple[str, str, Json], ...] = ()
    """Kind, name and body of what is made before the pool."""
    notes: tuple[Finding, ...] = ()
