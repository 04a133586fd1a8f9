"""Takes from a Helm chart what the tests of our values hold on to: every path of its values and the type there.

    python tests/unit/kube/chart_facts.py CHART_FOLDER "owner/name@commit" > tests/unit/kube/data/chart-NAME.json

Nothing of the chart itself is kept. That Helm renders our values as meant is seen with

    fracgpu plugin values --chart NAME ... | helm template x CHART_FOLDER -n gpu-operator -f -
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml


def kind_of(value: Any) -> str:
    """`open` is a map that the chart leaves to its user, `any` what it leaves unsaid."""
    if isinstance(value, dict):
        return "map" if value else "open"
    names = {bool: "boolean", int: "number", str: "text", list: "list", type(None): "any"}
    return names[type(value)]


def paths(tree: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Every path with its value; keys with dots in them stay as they are."""
    for key, value in tree.items():
        yield before + key, value
        if isinstance(value, dict):
            yield from paths(value, f"{before}{key}.")


def facts(folder: Path, source: str) -> dict[str, Any]:
    chart = yaml.safe_load((folder / "Chart.yaml").read_text(encoding="utf-8"))
    tree = yaml.safe_load((folder / "values.yaml").read_text(encoding="utf-8"))
    about = f"{source}, chart {chart['name']} {chart['version']}: paths of values.yaml and the type of each"
    return {"about": about, "paths": {path: kind_of(value) for path, value in paths(tree)}}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(facts(Path(sys.argv[1]), sys.argv[2]), indent=1) + "\n")
