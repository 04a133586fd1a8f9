"""What would change: resources as a cloud wants them, held against resources as it reports them.

A body is compared by path. What the desired body leaves open is the cloud's to fill and never a difference, except for
the paths that a provider calls `owned` (labels, taints, what a GPU is cut into): there, absent means absent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from fracgpu.errors import Finding
from fracgpu.resolve import ClusterRef

Json = dict[str, Any]
Path = tuple[str, ...]


class Action(StrEnum):
    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"
    DELETE = "delete"
    NO_OP = "no-op"


class Effect(StrEnum):
    """What it takes to change a field of an existing resource."""

    IN_PLACE = "in place"
    ROLLING = "in place, nodes are recycled"
    REPLACE = "replace"
    IGNORED = "ignored"


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
class FieldChange:
    """One path that differs, and what changing it takes."""

    path: Path
    before: Any
    after: Any
    effect: Effect
    why: str | None = None

    def __str__(self) -> str:
        return f"{'.'.join(self.path)}: {_short(self.before)} -> {_short(self.after)}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a provider's resources of one kind are compared.

    `owned` are paths that are ours even where the desired body lacks them; `effects` says what changing a path takes
    (the longest prefix counts, in place where none matches), `why` the reason for those that are not in place. `items`
    are lists of which each item is compared by itself, its index a part of the path.

    `granted` makes of (observed, desired) the observed body that is compared: what is the cloud's to move as long as
    the desired body allows it (a node count under autoscaling, a taint that it adds unasked) is set as desired.
    """

    owned: frozenset[Path] = frozenset()
    effects: Mapping[Path, Effect] = field(default_factory=dict)
    why: Mapping[Path, str] = field(default_factory=dict)
    items: frozenset[Path] = frozenset()
    granted: Callable[[Json, Json], Json] | None = None
    follows: Mapping[Path, str] = field(default_factory=dict)
    """Path -> the kind of resource whose change changes it too: a version that is known only when it has been made."""

    def effect(self, path: Path) -> Effect:
        return self._longest(path, self.effects) or Effect.IN_PLACE

    def reason(self, path: Path) -> str | None:
        why: str | None = self._longest(path, self.why)
        return why

    @staticmethod
    def _longest(path: Path, table: Mapping[Path, Any]) -> Any:
        prefixes = (path[:length] for length in range(len(path), 0, -1))
        return next((table[prefix] for prefix in prefixes if prefix in table), None)


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


def differences(before: Json, after: Json, comparison: Comparison) -> Iterator[FieldChange]:
    """The paths in which a desired body differs from an observed one."""
    seen = comparison.granted(before, after) if comparison.granted else before
    for path, old, new in _walk(
        _indexed(seen, comparison.items), _indexed(after, comparison.items), (), comparison.owned
    ):
        yield FieldChange(path, old, new, comparison.effect(path), comparison.reason(path))


def _indexed(body: Json, lists: frozenset[Path]) -> Json:
    """The body with each of these lists as a mapping from index to item."""
    for path in lists:
        body = _index_at(body, path)
    return body


def _index_at(body: Any, path: Path) -> Any:
    if not path:
        return {str(index): item for index, item in enumerate(body)} if isinstance(body, list) else body
    if not isinstance(body, dict) or path[0] not in body:
        return body
    return {**body, path[0]: _index_at(body[path[0]], path[1:])}


def _walk(before: Any, after: Any, path: Path, owned: frozenset[Path]) -> Iterator[tuple[Path, Any, Any]]:
    if isinstance(before, dict) and isinstance(after, dict):
        whole = path in owned
        for key in dict.fromkeys((*after, *before)):
            inner = (*path, key)
            if key in after or whole or any(one[: len(inner)] == inner for one in owned):
                inner_owned = owned | {inner} if whole else owned
                yield from _walk(before.get(key), after.get(key), inner, inner_owned)
    elif isinstance(before, dict) and after is None and path not in owned:
        yield from _walk(before, {}, path, owned)
    elif not same(before, after):
        yield path, before, after


def same(before: Any, after: Any) -> bool:
    """Equal as a cloud sees it: nothing, an empty list and an empty mapping are one, int64 is text (proto JSON)."""
    if before == after:
        return True
    if before in (None, [], {}, "") and after in (None, [], {}, ""):
        return True
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(map(same, before, after))
    if isinstance(before, dict) and isinstance(after, dict):
        return all(same(before.get(key), after.get(key)) for key in {*before, *after})
    numbers = (int, float, str)
    if (
        isinstance(before, numbers)
        and isinstance(after, numbers)
        and not isinstance(before, bool)
        and not isinstance(after, bool)
    ):
        return str(before) == str(after)
    return False


def _short(value: Any) -> str:
    text = "nothing" if value is None else " ".join(str(value).split())
    return text if len(text) <= 60 else text[:57] + "..."
