"""`fracgpu schema`: the JSON Schema of the file form."""

from __future__ import annotations

from fracgpu.cli import output
from fracgpu.spec import NodePool


def schema() -> None:
    """Print the JSON Schema of the file form."""
    body = NodePool.model_json_schema(by_alias=True)
    output.write_json({"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "fracgpu/v1/NodePool", **body})
