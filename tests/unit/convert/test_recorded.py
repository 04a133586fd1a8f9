"""Commands of az, gcloud and aws as they were recorded: what is read of them is what they sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fracgpu.catalog.load import load
from fracgpu.convert import TOOLS, convert
from fracgpu.convert.flags import read
from fracgpu.errors import Level
from fracgpu.operations.prepare import prepare

DATA = Path(__file__).parent / "data"
CALLS = [
    pytest.param(call["argv"], call["body"], id=f"{file.stem}-{number}")
    for file in sorted(DATA.glob("*.json"))
    for number, call in enumerate(json.loads(file.read_text(encoding="utf-8"))["calls"])
]
BETTER: dict[str, dict[str, Any]] = {
    "az": {
        "properties.gpuProfile.driver": "the driver is said, since what is not said has meant different things",
        "properties.tags.fracgpu-managed": "the mark of ownership",
    },
    "gcloud": {
        "autoscaling.totalMaxNodeCount": "limits in totals, since limits per zone multiply by the zones",
        "autoscaling.totalMinNodeCount": "limits in totals",
        "autoscaling.maxNodeCount": "limits in totals",
        "autoscaling.minNodeCount": "limits in totals",
        "config.accelerators.0.gpuDriverInstallationConfig.gpuDriverVersion": "the driver is said",
        "config.metadata.disable-legacy-endpoints": "what the server makes of nothing, said",
        "config.resourceLabels.fracgpu-managed": "the mark of ownership",
        "config.taints.0.key": "the taint that GKE adds itself, said",
        "config.taints.0.value": "the taint that GKE adds itself, said",
        "config.taints.0.effect": "the taint that GKE adds itself, said",
    },
    "aws": {
        "capacityType": "on demand is said",
        "amiType": "an AMI with the NVIDIA driver",
        "tags.fracgpu-managed": "the mark of ownership",
        "tags.k8s.io/cluster-autoscaler/node-template/resources/nvidia.com/gpu": "the autoscaler is told of the shares",
    },
}
"""What the body of a converted command has that the command's own had not, by tool, and why."""


def flat(value: Any, path: str = "") -> dict[str, Any]:
    """Every leaf of a body by its path."""
    if isinstance(value, dict) and value:
        return {name: one for key, inner in value.items() for name, one in flat(inner, f"{path}.{key}").items()}
    if isinstance(value, list) and value:
        return {name: one for key, inner in enumerate(value) for name, one in flat(inner, f"{path}.{key}").items()}
    return {path.lstrip("."): value}


@pytest.mark.parametrize(("argv", "body"), CALLS)
def test_a_command_is_understood_as_the_tool_understood_it(argv: list[str], body: dict[str, Any]) -> None:
    tool = TOOLS[argv[0]]
    given = read(argv[0], argv[1:], tool.rows, tool.short)
    given.positionals = given.positionals[len(tool.command) :]
    assert tool.made(given).body == body


@pytest.mark.parametrize(("argv", "body"), CALLS)
def test_the_pool_would_be_made_as_the_command_makes_it_but_for_what_is_better(
    argv: list[str], body: dict[str, Any]
) -> None:
    pool = convert(argv).pool
    made = flat(prepare(pool, load(), placeholder=True).resources[-1].body)
    recorded = flat(body)
    different = {path for path in made.keys() | recorded.keys() if made.get(path) != recorded.get(path)}
    assert different <= BETTER[argv[0]].keys()


@pytest.mark.parametrize("tool", BETTER)
def test_every_improvement_that_is_written_down_is_made(tool: str) -> None:
    calls = json.loads((DATA / f"{tool}.json").read_text(encoding="utf-8"))["calls"]
    better: set[str] = set()
    for call in calls:
        made = flat(prepare(convert(call["argv"]).pool, load(), placeholder=True).resources[-1].body)
        recorded = flat(call["body"])
        better |= {path for path in made.keys() | recorded.keys() if made.get(path) != recorded.get(path)}
    assert better == BETTER[tool].keys()


@pytest.mark.parametrize(("argv", "body"), CALLS)
def test_every_flag_of_a_command_has_its_note(argv: list[str], body: dict[str, Any]) -> None:
    said = " ".join(note.message for note in convert(argv).notes)
    flags = [word.partition("=")[0] for word in argv if word.startswith("--")]
    assert flags
    assert all(flag in said for flag in flags)


@pytest.mark.parametrize(("argv", "body"), CALLS)
def test_nothing_of_these_commands_is_lost(argv: list[str], body: dict[str, Any]) -> None:
    lost = [note for note in convert(argv).notes if note.code == "not-in-file-form" and note.level is Level.WARNING]
    assert lost == []
