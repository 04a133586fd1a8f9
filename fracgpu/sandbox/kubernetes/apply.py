"""Server-side apply: who owns which field, what an apply changes, and when it conflicts.

https://kubernetes.io/docs/reference/using-api/server-side-apply/
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from fracgpu.sandbox.kubernetes import status
from fracgpu.sandbox.kubernetes.fields import (
    LIST_KEYS,
    SETS,
    Fields,
    Path,
    dotted,
    fields_of,
    from_tree,
    item_key,
    remove,
    to_tree,
    value_at,
)
from fracgpu.sandbox.kubernetes.store import timestamp
from fracgpu.sandbox.world import Json


@dataclass(frozen=True, slots=True)
class Owner:
    """One entry of managedFields."""

    manager: str
    operation: str
    api_version: str
    subresource: str
    time: str
    fields: Fields

    @property
    def identity(self) -> tuple[str, str, str]:
        return self.manager, self.operation, self.subresource

    def entry(self) -> Json:
        entry: Json = {
            "manager": self.manager,
            "operation": self.operation,
            "apiVersion": self.api_version,
            "time": self.time,
            "fieldsType": "FieldsV1",
            "fieldsV1": to_tree(self.fields),
        }
        return {**entry, "subresource": self.subresource} if self.subresource else entry


def owners_of(body: Json) -> list[Owner]:
    return [
        Owner(
            entry["manager"],
            entry["operation"],
            entry.get("apiVersion", ""),
            entry.get("subresource", ""),
            entry.get("time", ""),
            from_tree(entry.get("fieldsV1") or {}),
        )
        for entry in body["metadata"].get("managedFields") or ()
    ]


def with_owners(body: Json, owners: Iterable[Owner]) -> Json:
    """The object with its managedFields; owners of nothing are dropped."""
    entries = [owner.entry() for owner in owners if owner.fields]
    metadata = {name: value for name, value in body["metadata"].items() if name != "managedFields"}
    return {**body, "metadata": {**metadata, "managedFields": entries} if entries else metadata}


def track_update(before: Json | None, after: Json, manager: str, subresource: str = "") -> Json:
    """Note that `manager` wrote what differs between two versions, as create, update and the other patches do."""
    owners = owners_of(before) if before else []
    had, has = fields_of(before) if before else frozenset(), fields_of(after)
    changed = frozenset(path for path in has if path not in had or _differs(before, after, path))
    identity = (manager, "Update", subresource)
    kept = [
        replace(owner, fields=(owner.fields & has) - (changed if owner.identity != identity else frozenset()))
        for owner in owners
    ]
    return with_owners(after, _with_more(kept, identity, after["apiVersion"], changed))


def _with_more(owners: list[Owner], identity: tuple[str, str, str], api_version: str, fields: Fields) -> list[Owner]:
    if not fields:
        return owners
    mine = next((owner for owner in owners if owner.identity == identity), None)
    manager, operation, subresource = identity
    owner = Owner(
        manager, operation, api_version, subresource, timestamp(), (mine.fields if mine else frozenset()) | fields
    )
    return [*(other for other in owners if other.identity != identity), owner]


def _differs(before: Json | None, after: Json, path: Path) -> bool:
    try:
        return bool(value_at(before, path) != value_at(after, path))
    except KeyError:
        return True


def apply(live: Json | None, config: Json, manager: str, *, force: bool, subresource: str = "") -> Json:
    """The object after an apply of `config`; raises 409 where other managers own what it would change.

    What this manager applied before and leaves out now is removed, unless another manager owns it too.
    """
    wanted = fields_of(config)
    identity = (manager, "Apply", subresource)
    owners = owners_of(live) if live else []
    others = [owner for owner in owners if owner.identity != identity]
    if live is not None:
        contested = _conflicts(live, config, wanted, others)
        if contested and not force:
            raise _conflict(contested)
        lost = frozenset(path for _, path in contested)
        others = [replace(owner, fields=owner.fields - lost) for owner in others]
    mine = next((owner.fields for owner in owners if owner.identity == identity), frozenset())
    body = _without_dropped(live or {"metadata": {}}, mine - wanted, others)
    merged = merge_typed(body, config)
    owner = Owner(manager, "Apply", config["apiVersion"], subresource, timestamp(), wanted)
    return with_owners(merged, [*others, owner])


def _conflicts(live: Json, config: Json, wanted: Fields, others: list[Owner]) -> list[tuple[Owner, Path]]:
    merged = merge_typed(live, config)
    changed = [path for path in wanted if path[-1] != "." and _differs(live, merged, path)]
    return [(owner, path) for owner in others for path in sorted(changed) if _owns(owner, path)]


def _owns(owner: Owner, path: Path) -> bool:
    """Whether the owner has that path, a value above it, or values below it."""
    return any(path[: len(own)] == own or own[: len(path)] == path for own in owner.fields if own[-1] != ".")


def _conflict(contested: list[tuple[Owner, Path]]) -> status.ApiError:
    causes = [
        {"reason": "FieldManagerConflict", "message": f"conflict with {_named(owner)}", "field": dotted(path)}
        for owner, path in contested
    ]
    count = len(causes)
    if count == 1:
        owner, path = contested[0]
        return status.conflict(f"Apply failed with 1 conflict: conflict with {_named(owner)}: {dotted(path)}", causes)
    lines = []
    for owner in dict.fromkeys(owner for owner, _ in contested):
        lines.append(f"conflicts with {_named(owner)}:")
        lines += [f"- {dotted(path)}" for other, path in contested if other == owner]
    return status.conflict(f"Apply failed with {count} conflicts: " + "\n".join(lines), causes)


def _named(owner: Owner) -> str:
    name = f'"{owner.manager}"' + (f' with subresource "{owner.subresource}"' if owner.subresource else "")
    if owner.operation == "Apply":
        return name
    return f"{name} using {owner.api_version}" + (f" at {owner.time}" if owner.time else "")


def _without_dropped(body: Json, dropped: Fields, others: list[Owner]) -> Json:
    kept: Fields = frozenset().union(*(owner.fields for owner in others)) if others else frozenset()
    # Items first: an item that has lost the field that is its key could not be found any more.
    for path in sorted(dropped, key=lambda path: (path[-1] != ".", -len(path), path)):
        if path in kept or any(own[: len(path) - 1] == path[:-1] for own in kept if path[-1] == "."):
            continue
        body = remove(body, path[:-1] if path[-1] == "." else path) or {}
    return {"metadata": {}, **body}


def merge_typed(live: Any, config: Any, field: str = "") -> Any:
    """The live value with the applied one laid over it: objects and keyed lists merge, the rest is replaced."""
    if isinstance(config, dict) and isinstance(live, dict):
        return {**live, **{name: merge_typed(live.get(name), value, name) for name, value in config.items()}}
    if isinstance(config, list) and isinstance(live, list):
        if field in SETS:
            return live + [item for item in config if item not in live]
        if field in LIST_KEYS and all(item_key(field, item) for item in [*config, *live]):
            return _merge_keyed(live, config, field)
    return config


def _merge_keyed(live: list[Any], config: list[Any], field: str) -> list[Any]:
    by_key = {item_key(field, item): item for item in live}
    merged = {item_key(field, item): merge_typed(by_key.get(item_key(field, item)), item) for item in config}
    kept = [merged.pop(item_key(field, item), item) for item in live]
    return kept + list(merged.values())
