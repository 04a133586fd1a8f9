"""From a pool as AKS shows it to the file form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fracgpu.catalog.load import load
from fracgpu.plan import Action, Json
from fracgpu.providers import aks
from fracgpu.resolve import resolve
from tests.aks_pools import A100, A100_MIG, planned, pool, properties, seen

WIRE = Path(__file__).parents[3] / "golden" / "wire" / "aks"


def exported(shown: Json, of: Json | None = None) -> Json:
    """The spec of the file form, without the cluster."""
    written, _ = aks.read(seen(pool(**(of or A100_MIG)), shown))
    spec: Json = written.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_defaults=True)["spec"]
    return {name: value for name, value in spec.items() if name != "cluster"}


KEYS = [
    ("time-sliced-10", {"timeSlicing": {"replicas": 10}}),
    ("time-sliced-4-renamed-one", None),
    ("mps-4", {"mps": {"replicas": 4}}),
    ("mps-4-renamed", {"mps": {"replicas": 4}, "renameByDefault": True}),
    ("time-sliced-2-one", {"timeSlicing": {"replicas": 2, "failRequestsGreaterThanOne": True}}),
    ("a-key-of-mine", {"configKey": "a-key-of-mine"}),
    ("mig-mixed", {"configKey": "mig-mixed"}),
    ("time-sliced-1", {"configKey": "time-sliced-1"}),
]


@pytest.mark.parametrize(("key", "sharing"), KEYS)
def test_sharing_is_read_from_the_label_alone(key: str, sharing: Json | None) -> None:
    spec = {"machine": A100}
    found = exported({**properties(**spec), "nodeLabels": {"nvidia.com/device-plugin.config": key, "team": "ml"}}, spec)
    if sharing is not None:
        assert found["sharing"] == sharing
    assert found["labels"] == {"team": "ml"}
    assert properties(**found)["nodeLabels"]["nvidia.com/device-plugin.config"] == key


@pytest.mark.parametrize(
    ("key", "sharing"),
    [
        ("mig-mixed", {"mig": {"profile": "1g.10gb", "strategy": "mixed"}}),
        (
            "mig-mixed-time-sliced-2",
            {"mig": {"profile": "1g.10gb", "strategy": "mixed"}, "timeSlicing": {"replicas": 2}},
        ),
        ("time-sliced-2", {"mig": {"profile": "1g.10gb"}, "timeSlicing": {"replicas": 2}}),
        ("mps-2", {"mig": {"profile": "1g.10gb"}, "configKey": "mps-2"}),
    ],
)
def test_sharing_of_slices(key: str, sharing: Json) -> None:
    shown = {**properties(**A100_MIG), "nodeLabels": {"nvidia.com/device-plugin.config": key}}
    assert exported(shown)["sharing"] == sharing


def test_a_key_is_not_divided_again_on_a_part_of_a_gpu() -> None:
    spec = {"machine": "Standard_NV6ads_A10_v5"}
    shown = {**properties(**spec), "nodeLabels": {"nvidia.com/device-plugin.config": "time-sliced-2"}}
    assert exported(shown, spec)["sharing"] == {"configKey": "time-sliced-2"}


def test_defaults_are_not_exported() -> None:
    assert exported(properties(**A100_MIG)) == {**A100_MIG, "gpu": "a100-80gb", "nodes": {"count": 1}}


def test_tags_for_the_autoscaler_are_not_exported() -> None:
    spec: Json = {
        "machine": A100,
        "sharing": {"mig": {"profile": "1g.10gb", "strategy": "mixed"}},
        "nodes": {"min": 0, "max": 4},
        "tags": {"team": "ml"},
    }
    shown = properties(**spec)
    assert len(shown["tags"]) == 3
    assert exported(shown, spec)["tags"] == {"team": "ml"}


def test_a_pool_without_them_is_exported_as_one_that_wants_none() -> None:
    of: Json = {
        "machine": A100,
        "sharing": {"mig": {"profile": "1g.10gb", "strategy": "mixed"}},
        "nodes": {"min": 0, "max": 4},
    }
    shown = {**properties(**of), "tags": {"team": "ml"}}
    spec = exported(shown, of)
    assert (spec["tags"], spec["aks"]["autoscalerTags"]) == ({"team": "ml"}, False)
    again = pool(**spec)
    assert planned(again, seen(again, shown)).action is Action.NO_OP


def test_what_a_file_cannot_say_is_noted() -> None:
    shown = {
        **properties(**A100_MIG),
        "enableUltraSSD": True,
        "kubeletConfig": {"podMaxPids": 100},
        "securityProfile": {"enableVTPM": False, "enableSecureBoot": True, "sshAccess": "LocalUser"},
        "gpuProfile": {"driver": "Install", "nvidia": {"managementMode": "Managed"}},
    }
    _, notes = aks.read(seen(pool(**A100_MIG), shown))
    members = [note.detail["member"] for note in notes]
    assert members == [
        "enableUltraSSD",
        "kubeletConfig",
        "securityProfile.enableSecureBoot",
        "gpuProfile.nvidia.managementMode",
    ]


def test_one_pool_after_another() -> None:
    """A package's function is not lost to a module of its name that is imported when it is first called."""
    there = seen(pool(**A100_MIG), properties(**A100_MIG))
    assert aks.read(there) == aks.read(there)


def test_a_pool_of_ours_needs_no_note() -> None:
    assert aks.read(seen(pool(**A100_MIG), properties(**A100_MIG)))[1] == ()


def test_an_unknown_key_is_noted() -> None:
    shown = {**properties(machine=A100), "nodeLabels": {"nvidia.com/device-plugin.config": "mine"}}
    assert [note.code for note in aks.read(seen(pool(machine=A100), shown))[1]] == ["config-key-unknown"]


def test_a_pool_without_gpu_is_read_too() -> None:
    shown = {"vmSize": "Standard_D4s_v5", "count": 2, "mode": "System", "osType": "Linux", "osSKU": "Ubuntu"}
    written, notes = aks.read(seen(pool(**A100_MIG), shown))
    assert written.spec.machine == "Standard_D4s_v5"
    assert written.spec.gpu is None
    assert [note.code for note in notes] == ["no-gpu"]


def test_a_pool_of_several_machines_is_read_too() -> None:
    scale = {"manual": [{"size": A100, "count": 2}]}
    written, notes = aks.read(
        seen(pool(**A100_MIG), {"type": "VirtualMachines", "virtualMachinesProfile": {"scale": scale}, "count": 2})
    )
    assert written.spec.machine == A100
    assert {note.detail.get("member") for note in notes} == {"type", "virtualMachinesProfile"}


def arm(shown: Json) -> Json:
    """az's own flat words for what ARM calls otherwise."""
    words = {"osDiskSizeGb": "osDiskSizeGB", "osSku": "osSKU", "typePropertiesType": "type", "enableFips": "enableFIPS"}
    top = {"id", "name", "resourceGroup", "systemData", "type"}
    return {words.get(name, name): value for name, value in shown.items() if name not in top}


def test_a_pool_as_az_lists_it_plans_to_nothing() -> None:
    (row,) = json.loads((WIRE / "list.json").read_text())["stdout"]
    there = seen(pool(**A100_MIG), arm(row))
    written, _ = aks.read(there)
    again = resolve(written, load()).pool
    assert again is not None
    assert planned(again, there).action is Action.NO_OP
    spec: dict[str, Any] = written.model_dump(mode="json", by_alias=True, exclude_none=True)["spec"]
    assert spec["capacity"] == "spot"
    assert "labels" not in spec
    assert "taints" not in spec
    assert spec["nodes"] == {"min": 1, "max": 4}
