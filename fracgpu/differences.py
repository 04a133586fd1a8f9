"""In what two bodies differ, path by path, and what changing each path takes.

What the desired body leaves open is the cloud's to fill and never a difference, except for the paths that a provider
calls `owned` (labels, taints, what a GPU is cut into): there, absent means absent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Json = dict[str, Any]
Path = tuple[str, ...]


class Effect(StrEnum):
    """What it takes to change a field of an existing resource."""

    IN_PLACE = "in place"
    ROLLING = "in place, nodes are recycled"
    REPLACE = "replace"
    IGNORED = "ignored"


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
