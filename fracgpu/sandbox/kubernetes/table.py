"""Objects as kubectl shows them: the server's `Table`.

https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables
"""

from __future__ import annotations

from collections.abc import Iterable

from fracgpu.sandbox.kubernetes.columns import Column, of
from fracgpu.sandbox.kubernetes.resources import Resource
from fracgpu.sandbox.world import Json


def wanted(accept: str) -> bool:
    """Whether the client asks for a Table before anything else."""
    return "as=Table" in accept.split(",", 1)[0]


def table(resource: Resource, bodies: Iterable[Json], metadata: Json, include: str = "Metadata") -> Json:
    """A `Table`; `include` is Metadata, Object or None, as the query's `includeObject`."""
    columns = of(resource)
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": [_definition(column) for column in columns],
        "rows": [_row(columns, body, include) for body in bodies],
    }


def _definition(column: Column) -> Json:
    form = "name" if column.name == "Name" else ""
    priority = 1 if column.wide else 0
    return {"name": column.name, "type": column.type, "format": form, "description": "", "priority": priority}


def _row(columns: tuple[Column, ...], body: Json, include: str) -> Json:
    row: Json = {"cells": [column.cell(body) for column in columns]}
    if include == "Object":
        row["object"] = body
    elif include == "Metadata":
        row["object"] = {
            "kind": "PartialObjectMetadata",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": body["metadata"],
        }
    return row
