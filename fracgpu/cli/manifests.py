"""Manifests, printed: YAML documents that kubectl takes, or a List as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fracgpu.cli import output
from fracgpu.cli.output import Output


def write_manifests(manifests: Sequence[Mapping[str, Any]], out: Output) -> None:
    """The manifests on stdout; nothing at all where there are none, but an empty List as JSON."""
    if out is Output.JSON:
        output.write_json({"apiVersion": "v1", "kind": "List", "items": [dict(one) for one in manifests]})
    elif out is Output.NAME:
        output.write("\n".join(f"{one['kind'].lower()}/{one['metadata']['name']}" for one in manifests))
    elif manifests:
        output.write("---\n".join(output.to_yaml(one) for one in manifests))
