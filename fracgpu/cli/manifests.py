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
        output.write("---\n".join(block_yaml(one) for one in manifests))


def block_yaml(value: Mapping[str, Any]) -> str:
    """YAML in which a text of several lines stays readable as a block."""
    import yaml

    class Dumper(yaml.SafeDumper):
        """Of its own, so that no other YAML of the run changes."""

        def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
            super().increase_indent(flow, indentless=False)

        def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002
            return True

    Dumper.add_representer(str, _text)
    return str(yaml.dump(dict(value), Dumper=Dumper, sort_keys=False, allow_unicode=True, width=400))


def _text(dumper: Any, text: str) -> Any:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)
