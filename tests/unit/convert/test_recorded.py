"""Commands of az, gcloud and aws as they were recorded: what is read of them is what they sent."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from fracgpu.catalog.load import load
from fracgpu.convert import _made, convert
from fracgpu.errors import Level
from fracgpu.operations.prepare import prepare

DATA = Path(__file__).parent / "data"
CALLS = [
    pytest.param(call["commands"], call["body"], id=f"{file.stem}-{number}")
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
        "launchTemplate.name": "a template of fracgpu's own, with the same in it",
        "launchTemplate.version": "its version is known when it has been made",
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


def text(commands: list[list[str]]) -> list[str]:
    """The commands as they would be pasted."""
    return ["\n".join(map(shlex.join, commands))]


@pytest.mark.parametrize(("commands", "body"), CALLS)
def test_a_command_is_understood_as_the_tool_understood_it(commands: list[list[str]], body: dict[str, Any]) -> None:
    made, _ = _made(commands)
    assert made.body == body


@pytest.mark.parametrize(("commands", "body"), CALLS)
def test_the_pool_would_be_made_as_the_command_makes_it_but_for_what_is_better(
    commands: list[list[str]], body: dict[str, Any]
) -> None:
    assert different(commands, body) <= BETTER[commands[0][0]].keys()


@pytest.mark.parametrize("tool", BETTER)
def test_every_improvement_that_is_written_down_is_made(tool: str) -> None:
    calls = json.loads((DATA / f"{tool}.json").read_text(encoding="utf-8"))["calls"]
    assert set().union(*(different(call["commands"], call["body"]) for call in calls)) == BETTER[tool].keys()


def different(commands: list[list[str]], body: dict[str, Any]) -> set[str]:
    """The paths in which the body of the converted pool is not what the tool sent."""
    made = flat(prepare(convert(text(commands)).pool, load(), placeholder=True).resources[-1].body)
    recorded = flat(body)
    return {path for path in made.keys() | recorded.keys() if made.get(path) != recorded.get(path)}


@pytest.mark.parametrize(("commands", "body"), CALLS)
def test_every_flag_of_a_command_has_its_note(commands: list[list[str]], body: dict[str, Any]) -> None:
    said = " ".join(note.message for note in convert(text(commands)).notes)
    flags = [word.partition("=")[0] for words in commands for word in words if word.startswith("--")]
    assert flags
    assert all(flag in said for flag in flags)


@pytest.mark.parametrize(("commands", "body"), CALLS)
def test_nothing_of_these_commands_is_lost(commands: list[list[str]], body: dict[str, Any]) -> None:
    notes = convert(text(commands)).notes
    assert [note for note in notes if note.code == "not-in-file-form" and note.level is Level.WARNING] == []


def test_a_launch_template_tells_how_its_groups_gpus_are_cut_and_shared() -> None:
    calls = json.loads((DATA / "aws.json").read_text(encoding="utf-8"))["calls"]
    pairs = [convert(text(call["commands"])).pool.spec for call in calls if len(call["commands"]) == 2]
    cut, shared = pairs
    assert cut.sharing.mig is not None
    assert (cut.sharing.mig.profile, cut.disk.size_gb, cut.eks and cut.eks.launch_template) == ("1g.5gb", 200, None)
    assert shared.sharing.time_slicing is not None
    assert (shared.sharing.time_slicing.replicas, shared.sharing.time_slicing.fail_requests_greater_than_one) == (
        10,
        True,
    )
