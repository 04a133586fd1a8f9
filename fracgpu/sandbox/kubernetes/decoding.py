"""Reading an object as the API server does: wrong types are refused, unknown fields refused, told of or dropped.

https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fracgpu.sandbox.kubernetes import resources, status
from fracgpu.sandbox.kubernetes.resources import Resource
from fracgpu.sandbox.kubernetes.schema import Model, Type, fields, model_of
from fracgpu.sandbox.world import Json

STRICT, WARN, IGNORE = "Strict", "Warn", "Ignore"

_GO = {
    "string": "string",
    "integer": "int32",
    "number": "float64",
    "boolean": "bool",
    "time": "string",
}
_TEXT_MAPS = {"labels", "annotations", "nodeSelector", "matchLabels", "stringData"}


@dataclass(slots=True)
class Decoded:
    """The object without what nobody knows, where that stood (`spec.containers[0].imago`), and what its spec lacks."""

    body: Json
    unknown: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def decode(resource: Resource, body: Json) -> Decoded:
    """The object as its kind declares it. Raises 400 for a value of the wrong type."""
    found = Decoded(body)
    model = model_of(resource)
    if model is not None:
        found.body = _Reader(resource, found).object(body, model, "", "")
    return found


def refused(resource: Resource, why: str) -> status.ApiError:
    """400 for an object that cannot be read."""
    kind = resource.kind
    return status.bad_request(f'{kind} in version "{resource.version}" cannot be handled as a {kind}: {why}')


def strict_error(unknown: list[str]) -> str:
    """How the server words unknown fields that it was told to refuse."""
    return "strict decoding error: " + ", ".join(f'unknown field "{path}"' for path in unknown)


class _Reader:
    def __init__(self, resource: Resource, found: Decoded) -> None:
        self._resource = resource
        self._found = found
        self._struct = ""

    def object(self, body: Json, model: Model, path: str, plain: str) -> Json:
        """`path` is where the object stands, `plain` the same without the places in lists."""
        known = fields(model)
        read: Json = {}
        for name, value in body.items():
            at, bare = (f"{path}.{name}", f"{plain}.{name}") if path else (name, name)
            if name not in known:
                self._found.unknown.append(at)
            elif value is not None:
                self._struct = f"{model.__name__}.{bare}"
                read[name] = self._value(value, self._of(name, bare, known[name].type), at, bare)
        if path.startswith("spec"):
            lacking = [name for name, field in known.items() if field.required and name not in read]
            self._found.missing += [f"{path}.{name}" for name in lacking]
        return read

    def _of(self, name: str, bare: str, type: Type) -> Type:
        texts = name in _TEXT_MAPS or (self._resource is resources.CONFIG_MAPS and bare == "data")
        return Type("map", Type("string")) if texts and type.word == "map" else type

    def _value(self, value: Any, type: Type, path: str, plain: str) -> Any:
        match type.word:
            case "list":
                return self._list(self._is(value, list, "[]"), type, path, plain)
            case "map":
                assert type.of is not None
                inner, read = type.of, self._is(value, dict, "map")
                return {key: self._value(one, inner, f"{path}.{key}", plain) for key, one in read.items()}
            case "model":
                return self._model(value, type.model, path, plain)
            case "any" | "quantity" | "int-or-string":
                return value
            case word:
                return self._is(value, _PYTHON[word], _GO[word])

    def _list(self, value: Any, type: Type, path: str, plain: str) -> list[Any]:
        assert type.of is not None
        struct, read = self._struct, []
        for index, item in enumerate(value):
            self._struct = struct
            read.append(self._value(item, type.of, f"{path}[{index}]", plain))
        return read

    def _model(self, value: Any, model: Model, path: str, plain: str) -> Json:
        if path == "metadata.managedFields" or path.startswith("metadata.managedFields["):
            return value  # type: ignore[no-any-return]
        return self.object(self._is(value, dict, f"v1.{model.__name__}"), model, path, plain)

    def _is(self, value: Any, kind: type | tuple[type, ...], go: str) -> Any:
        if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
            return value
        where = f"json: cannot unmarshal {_json_word(value)} into Go struct field {self._struct} of type {go}"
        raise refused(self._resource, where)


_PYTHON: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "time": str,
}


def _json_word(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    words = {str: "string", int: "number", float: "number", list: "array", dict: "object"}
    return words.get(type(value), "null")
