"""The fields of every kind with their types and descriptions, as Kubernetes itself declares them.

They are read from the models that lightkube ships, which are made from Kubernetes' own OpenAPI document
(https://github.com/gtsystem/lightkube-models). Imported on first use: they take some time and memory.
"""

from __future__ import annotations

import re
import sys
import textwrap
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from fracgpu.sandbox.kubernetes.resources import Resource

Model = Any
"""A class of lightkube's models."""

_SCALARS = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "resource.Quantity": "quantity",
    "util_intstr.IntOrString": "int-or-string",
    "meta_v1.Time": "time",
    "meta_v1.MicroTime": "time",
}
_ANNOTATION = re.compile(r"([\w.]+)(?:\[(.*)\])?")
_PARAMETER = re.compile(r"^ *\* \*\*(?P<name>[^*]+)\*\* ``[^`]*`` - ?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Type:
    """What may stand in a field: a scalar by OpenAPI's word for it, `list` or `map` of `of`, a `model`, or `any`."""

    word: str
    of: Type | None = None
    model: Model = None


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    type: Type
    required: bool


@cache
def model_of(resource: Resource) -> Model | None:
    """The model of a kind; None for one that Kubernetes itself does not declare."""
    if resource.custom:  # its group may begin as one of Kubernetes' own does: batch.volcano.sh
        return None
    prefix = resource.group.split(".")[0] or "core"
    try:
        module = import_module(f"lightkube.models.{prefix}_{resource.version}")
    except ModuleNotFoundError:
        return None
    return getattr(module, resource.kind, None)


@cache
def fields(model: Model) -> dict[str, Field]:
    """The fields of a model by the names that they have in JSON."""
    optional = len(model.__struct_fields__) - len(model.__struct_defaults__)
    named = zip(model.__struct_fields__, model.__struct_encode_fields__, strict=True)
    return {
        name: Field(name, _type(model, model.__annotations__[attribute]), at < optional)
        for at, (attribute, name) in enumerate(named)
    }


def descriptions(model: Model) -> tuple[str, dict[str, str]]:
    """What a model is, and what each of its fields is."""
    text, _, parameters = textwrap.dedent(model.__doc__ or "").partition("**parameters**")
    found = list(_PARAMETER.finditer(parameters))
    ends = [match.start() for match in found[1:]] + [len(parameters)]
    texts = {m["name"]: _flat(parameters[m.end() : end]) for m, end in zip(found, ends, strict=True)}
    return _flat(text), texts


def _flat(text: str) -> str:
    return " ".join(text.split())


def _type(model: Model, annotation: str) -> Type:
    match = _ANNOTATION.fullmatch(annotation)
    assert match is not None, annotation
    name, inner = match[1], match[2]
    if name == "Optional":
        return _type(model, inner)
    if name == "List":
        return Type("list", _type(model, inner))
    if name in ("Dict", "dict"):
        return Type("map", _type(model, inner.split(",", 1)[1].strip()) if inner else Type("any"))
    if name in _SCALARS:
        return Type(_SCALARS[name])
    return _named(model, name)


def _named(model: Model, name: str) -> Type:
    found: Any = sys.modules[model.__module__]
    for part in name.split("."):
        found = getattr(found, part)
    return Type("model", model=found) if hasattr(found, "__struct_fields__") else Type("any")
