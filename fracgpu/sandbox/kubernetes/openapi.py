"""The OpenAPI documents, for `kubectl explain` and for clients that ask what the server can do.

https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-v3
"""

from __future__ import annotations

from functools import cache
from typing import Any

from fracgpu.sandbox.kubernetes.resources import Resource
from fracgpu.sandbox.kubernetes.schema import Model, Type, descriptions, fields, model_of
from fracgpu.sandbox.world import Json

Groups = dict[str, dict[str, list[Resource]]]
_WRITE_PARAMETERS = ("dryRun", "fieldManager", "fieldValidation", "force")
_WORDS: dict[str, Json] = {
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "time": {"type": "string", "format": "date-time"},
    "any": {"type": "object"},
    "quantity": {"oneOf": [{"type": "string"}, {"type": "number"}]},
    "int-or-string": {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
}


def answer(path: list[str], groups: Groups) -> Json | None:
    """The list of documents at `openapi/v3`, or the one of a group's version below it."""
    where = {_where(group, version): rows for group, found in groups.items() for version, rows in found.items()}
    if not path:
        return {"paths": {name: {"serverRelativeURL": f"/openapi/v3/{name}?hash=1"} for name in where}}
    rows = where.get("/".join(path))
    return None if rows is None else _document("/".join(path), rows)


def _where(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def _document(where: str, rows: list[Resource]) -> Json:
    paths: Json = {}
    schemas: Json = {}
    for row in rows:
        paths |= _paths(where, row)
        schemas |= _schemas(row)
    info = {"title": "Kubernetes", "version": "unversioned"}
    return {"openapi": "3.0.0", "info": info, "paths": paths, "components": {"schemas": schemas}}


def _paths(where: str, row: Resource) -> Json:
    """kubectl looks here for `fieldValidation`, to know that the server validates."""
    scope = "namespaces/{namespace}/" if row.namespaced else ""
    operation = {
        "parameters": [{"name": name, "in": "query", "schema": {"type": "string"}} for name in _WRITE_PARAMETERS],
        "responses": {"200": {"description": "OK"}},
        "x-kubernetes-group-version-kind": _named(row),
    }
    path = f"/{where}/{scope}{row.plural}"
    actions = {name: {**operation, "x-kubernetes-action": name} for name in ("post", "patch", "put")}
    one = {name: actions[name] for name in ("patch", "put")}
    return {path: {"post": actions["post"]}, path + "/{name}": one}


def _named(row: Resource) -> Json:
    return {"group": row.group, "version": row.version, "kind": row.kind}


def _schemas(row: Resource) -> Json:
    model = model_of(row)
    if model is None:
        name = ".".join([*reversed(row.group.split(".")), row.version, row.kind])
        return {name: {**(row.schema or {"type": "object"}), "x-kubernetes-group-version-kind": [_named(row)]}}
    found = {_name(one): _schema(one) for one in _reached(model)}
    root = found[_name(model)]
    return {**found, _name(model): {**root, "x-kubernetes-group-version-kind": [_named(row)]}}


@cache
def _reached(model: Model) -> tuple[Model, ...]:
    """The model and all that it is made of."""
    found: dict[Any, None] = {}
    waiting = [model]
    while waiting:
        one = waiting.pop()
        if one in found:
            continue
        found[one] = None
        waiting += [inner for field in fields(one).values() if (inner := _innermost(field.type).model)]
    return tuple(found)


def _innermost(type: Type) -> Type:
    return _innermost(type.of) if type.of else type


def _name(model: Model) -> str:
    """The name of its schema as Kubernetes has it: `io.k8s.api.core.v1.Pod`."""
    group, _, version = model.__module__.rpartition(".")[2].rpartition("_")
    prefix = "io.k8s.apimachinery.pkg.apis" if group == "meta" else "io.k8s.api"
    return f"{prefix}.{group}.{version}.{model.__name__}"


@cache
def _schema(model: Model) -> Json:
    text, described = descriptions(model)
    known = fields(model)
    properties = {name: _property(field.type, described.get(name, "")) for name, field in known.items()}
    required = [name for name, field in known.items() if field.required]
    schema: Json = {"description": text, "type": "object", "properties": properties}
    return {**schema, "required": required} if required else schema


def _property(type: Type, text: str) -> Json:
    if type.word == "model":
        return {"description": text, "allOf": [_reference(type)]}
    return {"description": text, **_form(type)}


def _form(type: Type) -> Json:
    match type.word:
        case "list":
            assert type.of is not None
            return {"type": "array", "items": _form(type.of)}
        case "map":
            assert type.of is not None
            return {"type": "object", "additionalProperties": _form(type.of)}
        case "model":
            return _reference(type)
        case word:
            return _WORDS[word]


def _reference(type: Type) -> Json:
    return {"$ref": f"#/components/schemas/{_name(type.model)}"}
