"""The three patches that are not server-side apply: JSON merge (RFC 7386), JSON patch (RFC 6902), strategic merge.

Strategic merge: https://github.com/kubernetes/community/blob/master/contributors/devel/sig-api-machinery/strategic-merge-patch.md
"""

from __future__ import annotations

import copy
from typing import Any

from fracgpu.sandbox.kubernetes import status
from fracgpu.sandbox.kubernetes.fields import LIST_KEYS, SETS
from fracgpu.sandbox.world import Json


def merge(target: Any, patch: Any) -> Any:
    """RFC 7386: null removes, objects merge, everything else replaces."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merge(result.get(name), value)
    return result


def strategic(target: Any, patch: Any, field: str = "") -> Any:
    """Merge as the API types' patch strategies say: lists of objects by their merge key, other lists replaced."""
    if isinstance(patch, dict):
        return _strategic_object(target if isinstance(target, dict) else {}, patch)
    if isinstance(patch, list) and isinstance(target, list):
        if field in SETS:
            return target + [item for item in patch if item not in target]
        key = _merge_key(field, patch + target)
        return _strategic_list(target, patch, key) if key else patch
    return patch


def _strategic_object(target: Json, patch: Json) -> Json:
    if patch.get("$patch") == "replace":
        return {name: value for name, value in patch.items() if name != "$patch"}
    result = dict(target)
    if "$retainKeys" in patch:
        result = {name: value for name, value in result.items() if name in patch["$retainKeys"]}
    for name, value in patch.items():
        if name.startswith("$deleteFromPrimitiveList/"):
            field = name.split("/", 1)[1]
            result[field] = [item for item in result.get(field) or [] if item not in value]
        elif name.startswith("$"):
            continue
        elif value is None:
            result.pop(name, None)
        else:
            result[name] = strategic(result.get(name), value, name)
    return result


def _merge_key(field: str, items: list[Any]) -> str | None:
    """The first of the field's keys that every item has; directives count too."""
    if not all(isinstance(item, dict) for item in items):
        return None
    plain = [item for item in items if item.get("$patch") != "replace"]
    keys = ("containerPort", "port") if field == "ports" else LIST_KEYS.get(field, ())[:1]
    return next((key for key in keys if all(key in item for item in plain)), None)


def _strategic_list(target: list[Json], patch: list[Json], key: str) -> list[Json]:
    if any(item.get("$patch") == "replace" for item in patch):
        return [item for item in patch if "$patch" not in item]
    result = list(target)
    for item in patch:
        at = next((index for index, old in enumerate(result) if old.get(key) == item[key]), None)
        if item.get("$patch") == "delete":
            result = [old for old in result if old.get(key) != item[key]]
        elif at is None:
            result.append(_strategic_object({}, item))
        else:
            result[at] = _strategic_object(result[at], item)
    return result


def json_patch(target: Json, operations: Any) -> Json:
    """RFC 6902; raises 422 as the API server does where a path is not there or a test fails."""
    if not isinstance(operations, list):
        raise status.bad_request(
            "error decoding patch: json: cannot unmarshal object into Go value of type jsonpatch.Patch"
        )
    document: Any = copy.deepcopy(target)
    for operation in operations:
        try:
            document = _operate(document, operation)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            message = f"the server rejected our request due to an error in our request: {error}"
            raise status.ApiError(422, "Invalid", message) from error
    result: Json = document
    return result


def _operate(document: Any, operation: Json) -> Any:
    path, value = _pointer(operation["path"]), operation.get("value")
    match operation["op"]:
        case "add":
            return _add(document, path, value)
        case "remove":
            return _take(document, path)[0]
        case "replace":
            _take(copy.deepcopy(document), path)
            return _add(_take(document, path)[0], path, value) if path else value
        case "move":
            document, moved = _take(document, _pointer(operation["from"]))
            return _add(document, path, moved)
        case "copy":
            return _add(document, path, copy.deepcopy(_at(document, _pointer(operation["from"]))))
        case "test":
            if _at(document, path) != value:
                raise ValueError(f"testing value {operation['path']} failed")
            return document
        case other:
            raise ValueError(f"Unexpected kind: {other}")


def _pointer(text: str) -> list[str]:
    if text and not text.startswith("/"):
        raise ValueError(f"path {text} is no JSON pointer")
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


def _at(document: Any, path: list[str]) -> Any:
    for part in path:
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document


def _add(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent = _at(document, path[:-1])
    if isinstance(parent, list):
        parent.insert(len(parent) if path[-1] == "-" else int(path[-1]), value)
    else:
        parent[path[-1]] = value
    return document


def _take(document: Any, path: list[str]) -> tuple[Any, Any]:
    parent = _at(document, path[:-1])
    return document, parent.pop(int(path[-1]) if isinstance(parent, list) else path[-1])
