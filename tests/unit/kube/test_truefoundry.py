"""TrueFoundry's words: only values that its SDK has, and a refusal for the rest."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from fracgpu.advertise import Explanation, explain
from fracgpu.catalog.load import load
from fracgpu.errors import Invalid
from fracgpu.kube.truefoundry import GPU_TYPES, PROFILES, Shape, deployment, manifest, python
from fracgpu.kube.workload import Ask


def truefoundry(explanation: Explanation, ask: Ask, shape: Shape = Shape.JOB) -> tuple[dict[str, Any], Any]:
    model, notes = deployment(explanation, ask, shape)
    return manifest(model), notes


SDK = json.loads((Path(__file__).parent / "data" / "truefoundry.json").read_text(encoding="utf-8"))


def test_the_words_are_the_sdks() -> None:
    assert set(SDK["Profile"]) == PROFILES
    assert set(GPU_TYPES.values()) <= set(SDK["GPUType"])
    assert set(GPU_TYPES) <= set(load().gpu_keys)


@pytest.mark.parametrize("profile", ["1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"])
def test_mig(promised: Any, profile: str) -> None:
    promise = promised("aks", "slices", gpu="a100-80gb", mig={"profile": profile})
    body, _ = truefoundry(explain(promise.pool, promise.facts), Ask())
    assert body["resources"] == {
        "node": {"type": "nodepool_selector", "nodepools": ["slices"]},
        "devices": [{"type": "nvidia_mig_gpu", "profile": profile}],
    }


@pytest.mark.parametrize(("gpus", "memory"), [(1, 1600), (3, 4800)])
def test_shares_are_memory_in_megabytes(promised: Any, gpus: int, memory: int) -> None:
    promise = promised("aks", "shared", gpu="t4", timeSlicing={"replicas": 10})
    body, notes = truefoundry(explain(promise.pool, promise.facts), Ask(gpus=gpus))
    assert body["resources"]["devices"] == [{"type": "nvidia_timeslicing_gpu", "gpu_memory": memory}]
    note = next(note for note in notes if note.code == "truefoundry-memory")
    assert f"{gpus} of 10 shares" in note.message
    assert "nothing enforces it" in note.message


def test_whole_gpus_and_parts_of_one(promised: Any) -> None:
    whole = promised("aks", "whole", gpu="t4")
    part = promised("aks", "part", machine="Standard_NV6ads_A10_v5")
    devices = [truefoundry(explain(one.pool, one.facts), Ask())[0]["resources"]["devices"][0] for one in (whole, part)]
    assert [one["name"] for one in devices] == ["T4", "A10_4GB"]


@pytest.mark.parametrize(
    ("spec", "ask", "said"),
    [
        ({"gpu": "h200", "mig": {"profile": "7g.141gb"}}, Ask(), "7g.141gb"),
        ({"gpu": "a100-80gb", "mig": {"profile": "1g.10gb+me"}}, Ask(), "1g.10gb+me"),
        ({"gpu": "a100-80gb", "mig": {"profile": "1g.10gb"}}, Ask(gpus=2), "several"),
        ({"gpu": "t4", "mps": {"replicas": 4}}, Ask(), "MPS"),
        ({"gpu": "a100-80gb", "mig": {"profile": "1g.10gb"}, "timeSlicing": {"replicas": 2}}, Ask(), "slices"),
    ],
    ids=["missing-profile", "attribute", "two-slices", "mps", "shared-slices"],
)
def test_what_the_sdk_has_no_word_for_is_refused(promised: Any, spec: dict[str, Any], ask: Ask, said: str) -> None:
    promise = promised("eks", "pool", **spec)
    with pytest.raises(Invalid) as caught:
        truefoundry(explain(promise.pool, promise.facts), ask)
    assert caught.value.code == "not-expressible"
    assert said in caught.value.message


@pytest.mark.parametrize("shape", Shape)
def test_python_says_the_same(promised: Any, shape: Shape) -> None:
    promise = promised("aks", "slices", gpu="a100-80gb", mig={"profile": "1g.10gb"})
    model, _ = deployment(explain(promise.pool, promise.facts), Ask(image="jupyter/x:1"), shape)
    tree = ast.parse(python(model))
    imported = {alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    assert {call.func.id for call in calls if isinstance(call.func, ast.Name)} == imported
    assert imported <= set(SDK["fields"])
    device = next(call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "NvidiaMIGGPU")
    assert {word.arg: ast.literal_eval(word.value) for word in device.keywords} == {"profile": "1g.10gb"}
    for call in calls:
        assert isinstance(call.func, ast.Name)
        given = {str(word.arg) for word in call.keywords}
        needed = set(SDK["required"][call.func.id])
        assert needed <= given <= set(SDK["fields"][call.func.id])


@pytest.mark.parametrize("shape", Shape)
def test_yaml_says_its_type_and_where_it_runs(promised: Any, shape: Shape) -> None:
    promise = promised("aks", "slices", gpu="a100-80gb", mig={"profile": "1g.10gb"})
    body, _ = truefoundry(explain(promise.pool, promise.facts), Ask(image="jupyter/x:1"), shape)
    assert (body["type"], body["name"]) == (shape.value, f"slices-{shape.value}")
    assert body["resources"]["node"]["nodepools"] == ["slices"]
    assert body["image"]["image_uri"] == "jupyter/x:1"


def test_a_notebook_needs_an_image(promised: Any) -> None:
    promise = promised("aks", gpu="t4")
    with pytest.raises(Invalid) as caught:
        truefoundry(explain(promise.pool, promise.facts), Ask(), Shape.NOTEBOOK)
    assert (caught.value.code, caught.value.field) == ("missing-field", "--image")


def test_a_service_has_a_port_that_is_one(promised: Any) -> None:
    promise = promised("aks", gpu="t4")
    explanation = explain(promise.pool, promise.facts)
    body = manifest(deployment(explanation, Ask(), Shape.SERVICE, 9000)[0])
    assert [one["port"] for one in body["ports"]] == [9000]
    with pytest.raises(Invalid):
        deployment(explanation, Ask(), Shape.SERVICE, 0)


@pytest.mark.parametrize("pool", ["My_Group", "9lives", "a--b", "x" * 60])
def test_a_name_is_made_of_any_pools(promised: Any, pool: str) -> None:
    promise = promised("eks", pool, gpu="t4")
    for shape in Shape:
        body, _ = truefoundry(explain(promise.pool, promise.facts), Ask(image="x:1"), shape)
        assert re.fullmatch(SDK["name"], body["name"])


@pytest.mark.parametrize("name", ["Gpu", "x", "two--dashes", "a" * 40])
def test_names_that_truefoundry_refuses(promised: Any, name: str) -> None:
    promise = promised("aks", gpu="t4")
    assert not re.fullmatch(SDK["name"], name)
    with pytest.raises(Invalid) as caught:
        truefoundry(explain(promise.pool, promise.facts), Ask(name=name))
    assert caught.value.code == "invalid-name"
