"""Groups that others made, read back: what is told, what is noted, and planning it changes nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fracgpu.catalog.load import load
from fracgpu.errors import Level
from fracgpu.plan import Action, Json, Resource, change_of
from fracgpu.providers import Observed, eks
from fracgpu.providers.eks.autoscaler import PREFIX
from fracgpu.providers.eks.names import LAUNCH_TEMPLATE
from fracgpu.providers.eks.template import encode
from fracgpu.resolve import resolve
from tests.eks_pools import FACTS, resources, shown

BASE: dict[str, Any] = {"machine": "p4d.24xlarge", "nodes": {"min": 0, "max": 4}}


def foreign(**members: Any) -> Observed:
    """A group that somebody made without fracgpu: no mark, and these members."""
    body = {key: value for key, value in resources(**BASE)[-1].body.items() if key != "tags"} | members
    seen = shown((replace(resources(**BASE)[-1], body=body),))
    return replace(seen, resources=tuple(seen.resources))


def spec(seen: Observed) -> Json:
    written, _ = eks.read(seen)
    form: Json = written.model_dump(mode="json", by_alias=True, exclude_none=True)["spec"]
    return form


def noted(seen: Observed) -> set[tuple[str, str | None]]:
    return {(note.code, note.field) for note in eks.read(seen)[1]}


TAG = f"{PREFIX}nvidia.com/gpu"
KEY, MIG = "nvidia.com/device-plugin.config", "nvidia.com/mig.config"
GROUPS: dict[str, dict[str, Any]] = {
    "bare": {},
    "time-sliced without the autoscaler's tag": {"labels": {KEY: "time-sliced-10"}},
    "time-sliced with another count in its tag": {"labels": {KEY: "time-sliced-10"}, "tags": {TAG: "5"}},
    "time-sliced with the right tag": {"labels": {KEY: "time-sliced-10"}, "tags": {TAG: "80"}},
    "a key of somebody's own": {"labels": {KEY: "gold"}},
    "a mixed key without a cut": {"labels": {KEY: "mig-mixed-time-sliced-2"}},
    "the operator's config": {"labels": {MIG: "all-1g.5gb"}, "tags": {TAG: "56"}},
    "the operator's config, untagged": {"labels": {MIG: "all-1g.5gb"}},
    "a config of somebody's own": {"labels": {MIG: "my-layout"}},
    "balanced without a key": {"labels": {MIG: "all-balanced"}},
    "a startup taint on whole GPUs": {
        "labels": {MIG: "my-layout"},
        "taints": [{"key": "fracgpu.dev/mig-pending", "value": "true", "effect": "NO_SCHEDULE"}],
    },
    "MPS on slices": {"labels": {MIG: "all-1g.5gb", "nvidia.com/device-plugin.config": "mps-4"}},
    "one share": {"labels": {"nvidia.com/device-plugin.config": "time-sliced-1"}},
    "shares without end": {"labels": {"nvidia.com/device-plugin.config": f"time-sliced-{10**20}"}},
    "a plain image": {"amiType": "AL2023_x86_64_NVIDIA", "diskSize": 500},
    "bottlerocket without settings": {"amiType": "BOTTLEROCKET_x86_64_NVIDIA"},
    "a template of its own": {"launchTemplate": {"id": "lt-1", "name": "mine", "version": "7"}},
    "an image of its own": {"amiType": "CUSTOM", "launchTemplate": {"id": "lt-1", "name": "mine", "version": "7"}},
    "taints": {
        "taints": [
            {"key": "a", "effect": "NO_SCHEDULE"},
            {"key": "nvidia.com/gpu", "value": "true", "effect": "NO_EXECUTE"},
        ]
    },
    "no nodes": {"scalingConfig": {"minSize": 0, "maxSize": 1, "desiredSize": 0}},
    "spot of several types": {"capacityType": "SPOT", "instanceTypes": ["p4d.24xlarge", "p4d.24xlarge"]},
    "remote access": {"remoteAccess": {"ec2SshKey": "k"}},
}


@pytest.mark.parametrize("name", GROUPS)
def test_exported_and_planned_nothing_changes(name: str) -> None:
    seen = foreign(**GROUPS[name])
    again = resolve(eks.read(seen)[0], load())
    assert again.pool is not None
    assert again.errors == ()
    assert [one for one in eks.rules(again.pool, FACTS) if one.level is Level.ERROR] == []
    wanted = eks.desired(again.pool, FACTS)[-1]
    found = change_of(wanted, eks.settled(seen.resources[-1]), eks.comparison(wanted.kind))
    assert found.action is Action.NO_OP, found.reason


def test_sharing_is_told() -> None:
    assert spec(foreign(**GROUPS["time-sliced with the right tag"]))["sharing"] == {"timeSlicing": {"replicas": 10}}
    mig = spec(foreign(**GROUPS["the operator's config"]))
    assert mig["sharing"] == {"mig": {"profile": "1g.5gb", "strategy": "single"}}
    assert mig["eks"]["backend"] == "gpu-operator"


def test_tags_are_told_only_where_they_are_not_fracgpus() -> None:
    assert "tags" not in spec(foreign(**GROUPS["time-sliced with the right tag"]))
    other = spec(foreign(**GROUPS["time-sliced with another count in its tag"]))
    assert (other["tags"], other["eks"]["autoscalerTags"]) == ({TAG: "5"}, False)


LAYOUTS: list[tuple[str, dict[str, Any]]] = [
    ("p4d.24xlarge", {"layout": {"1g.5gb": 3}}),
    ("p4d.24xlarge", {"layout": {"3g.20gb": 1, "1g.5gb": 2}, "strategy": "mixed"}),
    ("g7e.12xlarge", {"devices": [{"1g.24gb": 4}, None], "strategy": "mixed"}),
    ("p4d.24xlarge", {"devices": [None, {"3g.20gb": 1, "1g.5gb": 2}] * 4, "strategy": "mixed"}),
    ("p4d.24xlarge", {"devices": [{"2g.10gb": 3}, None, *[{"1g.5gb": 7}] * 2, *[None] * 4], "strategy": "mixed"}),
]


@pytest.mark.parametrize(("machine", "mig"), LAYOUTS)
def test_a_config_of_fracgpus_own_is_read_from_its_name(machine: str, mig: dict[str, Any]) -> None:
    made = shown(resources(machine=machine, sharing={"mig": mig}, eks={"backend": "gpu-operator"}))
    assert spec(made)["sharing"]["mig"] == {"strategy": "single", **mig}


def test_a_name_too_long_for_its_layouts_is_noted() -> None:
    devices = [{"3g.20gb": 1, "2g.10gb": 1, "1g.5gb": 2}, {"1g.5gb": 7}] * 4
    made = shown(resources(**BASE, sharing={"mig": {"devices": devices}}, eks={"backend": "gpu-operator"}))
    assert ("sharing-unknown", "spec.sharing") in noted(made)


NOTES = {
    "a key of somebody's own": ("config-key-unknown", "spec.sharing.configKey"),
    "MPS on slices": ("config-key-unknown", "spec.sharing.configKey"),
    "a config of somebody's own": ("sharing-unknown", "spec.sharing"),
    "a template of its own": ("foreign-launch-template", "spec.eks.launchTemplate"),
    "remote access": ("not-in-file-form", None),
}


@pytest.mark.parametrize("name", NOTES)
def test_what_cannot_be_told_is_noted(name: str) -> None:
    assert NOTES[name] in noted(foreign(**GROUPS[name]))


def test_a_group_without_a_gpu_is_noted() -> None:
    seen = foreign(instanceTypes=["m5.large"], amiType="AL2023_x86_64_STANDARD")
    assert ("no-gpu", "spec.machine") in noted(seen)
    assert spec(seen)["machine"] == "m5.large"


SCRIPTS = {"a script that is not ours": "#!/bin/bash\nnvidia-smi -mig 1\n", "no toml": "]"}


@pytest.mark.parametrize("text", SCRIPTS.values(), ids=SCRIPTS)
def test_user_data_of_an_own_template_that_somebody_changed(text: str) -> None:
    """A version with other content: told as not readable, and planning it takes the content back."""
    made = resources(machine="p4d.24xlarge", sharing={"mig": {"profile": "1g.5gb"}})
    template = made[0]
    data = {**template.body["LaunchTemplateData"], "UserData": encode(text), "SecurityGroupIds": ["sg-1"]}
    changed: Resource = replace(template, body={**template.body, "LaunchTemplateData": data})
    seen = shown((changed, made[1]))
    assert {"sharing-unknown", "not-in-file-form"} <= {code for code, _ in noted(seen)}
    found = change_of(template, eks.settled(changed), eks.comparison(LAUNCH_TEMPLATE))
    assert found.action is Action.UPDATE
