"""What would change: resources as a cloud wants them, held against resources as it reports them.

In what two bodies differ is `differences`; what follows from that for the resource, and for others, is here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from fracgpu.differences import Comparison, Effect, FieldChange, Path, differences
from fracgpu.differences import Json as Json  # noqa: PLC0414 - whoever has a plan has bodies
from fracgpu.errors import Finding
from fracgpu.resolve import ClusterRef


class Action(StrEnum):
    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"
    DELETE = "delete"
    NO_OP = "no-op"


@dataclass(frozen=True, slots=True)
class Resource:
    """One object of a cloud. `body` is exactly what its API is sent, `decoded` encoded text in it made readable, by
    path.

    `filled` are paths whose values the user left open and the cluster gave (subnets, a role): needed to make the
    object, and never a reason to change one that has others.
    """

    kind: str
    name: str
    pool: str
    cluster: ClusterRef
    body: Json
    decoded: Mapping[str, str] = field(default_factory=dict)
    filled: frozenset[Path] = frozenset()


@dataclass(frozen=True, slots=True)
class Change:
    """One step of a plan. `before` is None for a create, `after` for a delete."""

    action: Action
    resource: str
    name: str
    pool: str
    cluster: ClusterRef
    before: Json | None = None
    after: Json | None = None
    decoded: Mapping[str, str] = field(default_factory=dict)
    reason: str | None = None
    fields: tuple[FieldChange, ...] = ()
    tag: str | None = None
    """The version of what was observed (an ETag), so that nothing is changed that has changed since."""
    force: bool = False
    """Of a delete: pods that may not be moved do not hold it up, where the cloud asks. How, not what: no plan says it.
    """

    def to_json(self) -> Json:
        return {
            "action": self.action.value,
            "resource": self.resource,
            "name": self.name,
            "pool": self.pool,
            "cluster": self.cluster.to_json(),
            "before": self.before,
            "after": self.after,
            "decoded": dict(self.decoded),
            "reason": self.reason,
            "fields": [
                {
                    "path": ".".join(one.path),
                    "before": one.before,
                    "after": one.after,
                    "effect": one.effect.value,
                    "why": one.why,
                }
                for one in self.fields
            ],
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """Changes in the order in which they are made, and what is worth knowing about them."""

    changes: tuple[Change, ...]
    notes: tuple[Finding, ...] = ()

    @property
    def pending(self) -> bool:
        return any(change.action is not Action.NO_OP for change in self.changes)

    def to_json(self) -> Json:
        return {
            "changes": [change.to_json() for change in self.changes],
            "notes": [note.to_json() for note in self.notes],
        }


def creation(resource: Resource) -> Change:
    """The change that makes a resource of which nothing is known to exist."""
    return Change(
        Action.CREATE,
        resource.kind,
        resource.name,
        resource.pool,
        resource.cluster,
        after=resource.body,
        decoded=resource.decoded,
        reason="does not exist",
    )


def deletion(resource: Resource, reason: str, tag: str | None = None, *, force: bool = False) -> Change:
    return Change(
        Action.DELETE,
        resource.kind,
        resource.name,
        resource.pool,
        resource.cluster,
        before=resource.body,
        reason=reason,
        tag=tag,
        force=force,
    )


def change_of(desired: Resource, observed: Resource | None, comparison: Comparison, tag: str | None = None) -> Change:
    """What it takes to make `observed` (settled: without what the cloud adds itself) into `desired`."""
    if observed is None:
        return creation(desired)
    return change_in(desired, observed, counted_differences(desired, observed, comparison), tag)


def counted_differences(desired: Resource, observed: Resource, comparison: Comparison) -> list[FieldChange]:
    """The differences that are reasons to change something."""
    found = differences(observed.body, desired.body, comparison)
    return [one for one in found if one.effect is not Effect.IGNORED and not _under(one.path, desired.filled)]


def change_in(desired: Resource, observed: Resource, fields: Sequence[FieldChange], tag: str | None = None) -> Change:
    """The change that these fields make together."""
    action, reason = _verdict(fields)
    return Change(
        action,
        desired.kind,
        desired.name,
        desired.pool,
        desired.cluster,
        before=observed.body,
        after=desired.body,
        decoded=desired.decoded,
        reason=reason,
        fields=tuple(fields),
        tag=tag,
    )


def _under(path: Path, roots: frozenset[Path]) -> bool:
    return any(path[: len(root)] == root for root in roots)


def linked(changes: Sequence[Change], comparison: Callable[[str], Comparison]) -> list[Change]:
    """The changes of one pool, those that follow from others among them (`Comparison.follows`) made changes too."""
    changed = {change.resource for change in changes if change.action in (Action.UPDATE, Action.REPLACE)}
    return [_following(change, comparison(change.resource), changed) for change in changes]


def _following(change: Change, comparison: Comparison, changed: set[str]) -> Change:
    paths = [path for path, kind in comparison.follows.items() if kind in changed]
    if not paths or change.action not in (Action.NO_OP, Action.UPDATE):
        return change
    known = {one.path for one in change.fields}
    new = [
        FieldChange(path, _at(change.before, path), _at(change.after, path), comparison.effect(path))
        for path in paths
        if path not in known
    ]
    fields = (*change.fields, *new)
    action, reason = _verdict(fields)
    return replace(change, action=action, reason=reason, fields=fields)


def _at(body: Any, path: Path) -> Any:
    for step in path:
        body = body.get(step) if isinstance(body, dict) else None
    return body


def _verdict(fields: Sequence[FieldChange]) -> tuple[Action, str]:
    if not fields:
        return Action.NO_OP, "unchanged"
    fixed = [one for one in fields if one.effect is Effect.REPLACE]
    if fixed:
        why = fixed[0].why or "cannot be changed in place"
        return Action.REPLACE, f"{', '.join('.'.join(one.path) for one in fixed)}: {why}"
    rolling = any(one.effect is Effect.ROLLING for one in fields)
    names = ", ".join(".".join(one.path) for one in fields)
    return Action.UPDATE, f"{names}: {(Effect.ROLLING if rolling else Effect.IN_PLACE).value}"
