"""`fracgpu schema`: the JSON Schema of the file form."""

from __future__ import annotations

from typing import Any

from fracgpu.cli import output
from fracgpu.spec import NodePool

HEAD = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "fracgpu/v1/NodePool"}


def schema() -> None:
    """Print the JSON Schema of the file form."""
    output.write_json(json_schema())


def json_schema() -> dict[str, Any]:
    """The schema, each field with what it means."""
    from fracgpu.cli.field_texts import FIELD_TEXTS

    body = NodePool.model_json_schema(by_alias=True)
    for name, model in (("NodePool", body), *body["$defs"].items()):
        for field, text in FIELD_TEXTS.get(name, {}).items():
            if field in model.get("properties", {}):
                model["properties"][field]["description"] = text
    return {**HEAD, **body}
