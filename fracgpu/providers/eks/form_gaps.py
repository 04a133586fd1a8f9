"""Notes on what a form leaves to whoever uses it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fracgpu.errors import Finding, warning
from fracgpu.plan import Json

OPEN = {"subnets": "eks.subnets", "nodeRole": "eks.nodeRole"}


def open_members(body: Json, written: str, zones: Sequence[str] = ()) -> Iterator[Finding]:
    """What only the cluster knows stands as a placeholder in the text; `zones` are where its subnets are to be."""
    for member in OPEN:
        if member not in body:
            yield open_member(member, written, zones if member == "subnets" else ())


def open_member(member: str, written: str, zones: Sequence[str] = ()) -> Finding:
    where = f" in {', '.join(zones)}" if zones else ""
    message = f"{member}{where} is not known offline; {written} stands for it"
    return gap(message, f"spec.{OPEN[member]}", hint=f"--set {OPEN[member]}=...")


def gap(message: str, field: str, hint: str | None = None) -> Finding:
    """Something that the form cannot say."""
    return warning("form-gap", message, field=field, hint=hint)
