"""Which fields an object has, as sets of paths, and their `FieldsV1` form in managedFields.

https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management: `f:name` is a field, `k:{...}` a
list item by its key, `v:...` an item of a set, and `.` the item itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from fracgpu.sandbox.world import Json

Path = tuple[str, ...]
Fields = frozenset[Path]

LIST_KEYS: dict[str, tuple[str, ...]] = {
    "addresses": ("type",),
    "conditions": ("type",),
    "containers": ("name",),
    "env": ("name",),
    "ephemeralContainers": ("name",),
    "hostAliases": ("ip",),
    "imagePullSecrets": ("name",),
    "initContainers": ("name",),
    "ownerReferences": ("uid",),
    "ports": ("containerPort", "protocol"),
    "requests": ("name",),
    "resourceClaims": ("name",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "volumeMounts": ("mountPath",),
    "volumes": ("name",),
}
"""Lists of objects that merge by key, as the API's `x-kubernetes-list-map-keys` have it; all other lists are atomic."""

KEY_DEFAULTS = {"protocol": "TCP"}
SETS = frozenset({"finalizers"})
_SERVERS = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp", "generation", "managedFields")
NEVER_OWNED: tuple[Path, ...] = (("f:apiVersion",), ("f:kind",), *(("f:metadata", f"f:{name}") for name in _SERVERS))


def item_key(field: str, item: Json) -> str | None:
    """The item's `k:{...}` element; None where the list does not merge by key."""
    keys = LIST_KEYS.get(field)
    if keys is None or not isinstance(item, dict):
        return None
    if field == "ports" and "containerPort" not in item:
        keys = ("port", "protocol")
    values = {key: item.get(key, KEY_DEFAULTS.get(key)) for key in keys}
    if any(value is None for value in values.values()):
        return None
    return "k:" + json.dumps(values, separators=(",", ":"), sort_keys=True)


def fields_of(body: Json) -> Fields:
    """Every field that may be owned, leaves and keyed list items alike."""
    found: set[Path] = set()
    _collect(body, (), "", found)
    return frozenset(path for path in found if not any(path[: len(no)] == no for no in NEVER_OWNED))


def _collect(value: Any, path: Path, field: str, found: set[Path]) -> None:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            _collect(inner, (*path, f"f:{name}"), name, found)
    elif isinstance(value, list) and field in SETS:
        found.update((*path, "v:" + json.dumps(item)) for item in value)
    elif isinstance(value, list) and value and all(item_key(field, item) for item in value):
        for item in value:
            key = item_key(field, item)
            assert key is not None
            found.add((*path, key, "."))
            _collect(item, (*path, key), "", found)
    elif path:
        found.add(path)


def value_at(body: Any, path: Path) -> Any:
    """What stands at a path; a KeyError where nothing does."""
    field = ""
    for element in path:
        if element == ".":
            return True
        body = _step(body, field, element)
        field = element[2:]
    return body


def _step(body: Any, field: str, element: str) -> Any:
    if element.startswith("f:") and isinstance(body, dict):
        return body[element[2:]]
    if element.startswith("v:") and isinstance(body, list) and json.loads(element[2:]) in body:
        return json.loads(element[2:])
    if element.startswith("k:") and isinstance(body, list):
        for item in body:
            if item_key(field, item) == element:
                return item
    raise KeyError(element)


def remove(body: Any, path: Path, field: str = "") -> Any:
    """The value without what stands at that path; objects and lists left empty by it go as well."""
    if not path or path == (".",):
        return None
    try:
        inner = _step(body, field, path[0])
    except KeyError:
        return body
    if path[0].startswith("v:"):
        return [item for item in body if item != inner] or None
    rest = remove(inner, path[1:], path[0][2:])
    if path[0].startswith("k:"):
        items = [rest if item is inner else item for item in body]
        return [item for item in items if item is not None] or None
    result = {**body, path[0][2:]: rest}
    if rest is None:
        del result[path[0][2:]]
    return result or None


def to_tree(fields: Iterable[Path]) -> Json:
    """`FieldsV1`."""
    tree: Json = {}
    for path in sorted(fields):
        inner = tree
        for element in path:
            inner = inner.setdefault(element, {})
    return tree


def from_tree(tree: Json) -> Fields:
    found: set[Path] = set()

    def walk(inner: Json, path: Path) -> None:
        if not inner and path:
            found.add(path)
        for element, below in inner.items():
            walk(below, (*path, element))

    walk(tree, ())
    return frozenset(found)


def dotted(path: Path) -> str:
    """The path as conflict messages write it: `.spec.containers[name="x"].image`."""
    text = ""
    for element in path:
        if element == ".":
            continue
        if element.startswith("k:"):
            keys = json.loads(element[2:])
            text += "[" + ",".join(f"{key}={json.dumps(value)}" for key, value in keys.items()) + "]"
        elif element.startswith("v:"):
            text += f"[={element[2:]}]"
        else:
            text += f".{element[2:]}"
    return text
