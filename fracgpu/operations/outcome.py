"""What a verb says while it works, and what it has done in the end."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from fracgpu.errors import Finding, FracgpuError, PartlyApplied
from fracgpu.plan import Action
from fracgpu.resolve import ClusterRef


@dataclass(frozen=True, slots=True)
class Event:
    """One line of progress: what is being done or waited for, and for how long it has gone on (seconds)."""

    pool: str
    cluster: ClusterRef
    message: str
    elapsed: float = 0.0
    deadline: float | None = None
    """Seconds that are left before the wait is given up; None without a limit."""
    percent: int | None = None
    usual: float | None = None
    """Seconds that the operation usually takes, by the cloud's own record; None where nobody knows."""


class Outcome(StrEnum):
    DONE = "done"
    UNCHANGED = "unchanged"
    FAILED = "failed"
    SKIPPED = "skipped"
    PENDING = "pending"
    """Started, and not waited for to the end."""


@dataclass(frozen=True, slots=True)
class Item:
    """What became of one pool. `pool` is its file form with status, where it is known."""

    name: str
    cluster: ClusterRef
    action: Action
    outcome: Outcome
    pool: dict[str, Any] | None = None
    error: FracgpuError | None = None
    notes: tuple[Finding, ...] = ()
    word: str | None = None
    """What a person is told of a pool that is done, where the action's own word says less."""

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "cluster": self.cluster.to_json(),
            "action": self.action.value,
            "outcome": self.outcome.value,
            "pool": self.pool,
            "error": self.error.to_json() if self.error else None,
        }


@dataclass(frozen=True, slots=True)
class Result:
    """What became of all pools of a command."""

    items: Sequence[Item]
    notes: tuple[Finding, ...] = ()

    def to_json(self) -> dict[str, Any]:
        notes = (*self.notes, *(note for item in self.items for note in item.notes))
        return {"items": [item.to_json() for item in self.items], "notes": [note.to_json() for note in notes]}


Work = Generator[Event, None, Item]
"""A verb at work on one pool: yields events, returns what became of the pool, raises only on errors of its own start.
"""


def verdict(items: Sequence[Item], again: str) -> FracgpuError | None:
    """The error that a command on these pools ends in; None where none failed.

    The pool's own error where there is one pool, or where all failed alike: then its exit code says what is wrong.
    PartlyApplied where some went well, or they failed for different reasons. `again` is the command that goes on.
    """
    errors = [item.error for item in items if item.error]
    if not errors:
        return None
    first = errors[0]
    if len(items) == 1:
        return first
    failed = [f"{item.name} ({item.cluster.name}): {item.error.code}" for item in items if item.error]
    if len(errors) == len(items) and len({error.exit_code for error in errors}) == 1:
        first.message = f"all {len(items)} pools failed, the first with: {first.message}"
        return first
    message = f"{len(errors)} of {len(items)} pools failed: {'; '.join(failed[:5])}{'; ...' if failed[5:] else ''}"
    hint = f"the others are as wanted; set right what failed and run it again: {again}"
    partly = PartlyApplied(message, hint=hint, detail={"failed": failed})
    partly.causes = tuple(cause for item in items if item.error for cause in _causes(item, item.error))
    return partly


def _causes(item: Item, error: FracgpuError) -> Iterator[Finding]:
    """What went wrong with one pool of many, and the next step."""
    for finding in error.findings:
        said = finding.message.removeprefix(f"{item.name}: ")
        yield replace(finding, message=f"{item.name} ({item.cluster.name}): {said}")
