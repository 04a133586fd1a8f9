"""Notes on what a form leaves to whoever uses it."""

from __future__ import annotations

from collections.abc import Iterator

from fracgpu.errors import Finding, warning
from fracgpu.plan import Json

OPEN = {"subnets": "eks.subnets", "nodeRole": "eks.nodeRole"}


def open_members(body: Json, written: str) -> Iterator[Finding]:
    """What only the cluster knows stands as a placeholder in the text."""
    for member, field in OPEN.items():
        if member not in body:
            message = f"{member} is not known offline; {written} stands for it"
            yield gap(message, f"spec.{field}", hint=f"--set {field}=...")


def gap(message: str, field: str, hint: str | None = None) -> Finding:
    """Something that the form cannot say."""
    return warning("form-gap", message, field=field, hint=hint)
