"""file-form.md: the fields of a NodePool file, from the JSON Schema that `fracgpu schema` prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docs.generator.markdown import code, codes, page, table
from fracgpu.cli.schema import json_schema

PLAIN = {"integer": "whole number", "number": "number", "boolean": "`true`, `false`", "string": "text"}

EXAMPLE = """\
```yaml
apiVersion: fracgpu/v1
kind: NodePool
metadata: {name: a100-mig}
spec:
  cluster: {provider: gke, project: my-project, location: us-central1, name: prod}
  machine: a2-highgpu-1g
  sharing: {mig: {profile: 1g.5gb}, timeSlicing: {replicas: 2}}
  nodes: {min: 0, max: 4}
  capacity: spot
  labels: {team: vision}
```"""


def file_form() -> str:
    """Every field: its path, what it takes, what it means."""
    schema = json_schema()
    lead = (
        "A file holds one or more NodePool documents. An unknown key is an error that names the key that was meant, "
        "with line and column. A number or boolean where a text belongs must be quoted. `fracgpu schema` prints the "
        "JSON Schema, for editors."
    )
    rows = list(_fields(schema, schema["$defs"]["NodePoolSpec"], ()))
    clouds = ("aks", "gke", "eks")
    common = [row for row in rows if row[0].partition(".")[0] not in clouds]
    parts = ["## spec", _table(common)]
    for cloud in clouds:
        own = [row for row in rows if row[0].startswith(f"{cloud}.")]
        parts += [f"## spec.{cloud}", _table(own)]
    return page(
        "File form", "fracgpu/spec.py, fracgpu/options.py and fracgpu/cli/field_texts.py", lead, EXAMPLE, *parts
    )


def _table(rows: list[tuple[str, str, str]]) -> str:
    return table(("field", "takes", "means"), [[code(path), takes, means] for path, takes, means in rows])


def _fields(schema: dict[str, Any], model: dict[str, Any], path: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """The fields below a model: (path, what it takes, what it means). A model's own fields stand for it."""
    for name, form in model["properties"].items():
        inner = _model(schema, form)
        if inner is not None:
            yield from _fields(schema, inner, (*path, name))
        else:
            yield ".".join((*path, name)), _takes(schema, form), form.get("description", "")


def _model(schema: dict[str, Any], form: dict[str, Any]) -> dict[str, Any] | None:
    """The model that a field holds; None for a plain value."""
    for one in _choices(form):
        target = _target(schema, one)
        if "properties" in target and "properties" not in form:
            return target
    return None


def _choices(form: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in form.get("anyOf", [form]) if one.get("type") != "null"]


def _target(schema: dict[str, Any], form: dict[str, Any]) -> dict[str, Any]:
    reference = form.get("$ref")
    found: dict[str, Any] = schema["$defs"][reference.rpartition("/")[2]] if reference else form
    return found


def _takes(schema: dict[str, Any], form: dict[str, Any]) -> str:
    return " or ".join(dict.fromkeys(_word(schema, _target(schema, one)) for one in _choices(form)))


def _word(schema: dict[str, Any], form: dict[str, Any]) -> str:
    if "enum" in form:
        return codes(form["enum"])
    if "const" in form:
        return f"`{form['const']}`"
    kind = form.get("type")
    if kind == "array":
        return f"list of {_takes(schema, form['items'])}"
    if kind == "object":
        inner = form.get("additionalProperties")
        return f"mapping to {_takes(schema, inner)}" if isinstance(inner, dict) else "mapping"
    return PLAIN.get(kind or "", "any value")
