"""The device plugin's ConfigMap: every key that labels name, each with one meaning, in the plugin's own schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from fracgpu import pluginkey
from fracgpu.errors import Invalid
from fracgpu.kube.plugin import Configs, config_map, gather

SCHEMA = json.loads((Path(__file__).parent / "data" / "plugin-config.schema.json").read_text(encoding="utf-8"))
A100_LAYOUT = {"3g.20gb": 1, "1g.5gb": 2}


def parsed(configs: Configs) -> dict[str, Any]:
    return {key: yaml.safe_load(text) for key, text in configs.data().items()}


@pytest.mark.parametrize(
    "spec",
    [
        {"gpu": "t4", "timeSlicing": {"replicas": 10}},
        {"gpu": "t4", "timeSlicing": {"replicas": 10, "failRequestsGreaterThanOne": True}, "renameByDefault": True},
        {"gpu": "t4", "mps": {"replicas": 4}},
        {"gpu": "a100-40gb", "mig": {"profile": "1g.5gb", "strategy": "mixed"}},
        {"gpu": "a100-40gb", "mig": {"profile": "1g.5gb"}, "timeSlicing": {"replicas": 2}},
        {"gpu": "a100-40gb", "mig": {"layout": A100_LAYOUT}, "timeSlicing": {"replicas": 2}},
        {"gpu": "t4", "timeSlicing": {"replicas": 3}, "configKey": "team-vision"},
    ],
    ids=["time-slicing", "one-renamed", "mps", "mig-mixed", "mig-shared", "layout-shared", "own-key"],
)
def test_the_key_that_a_label_names_is_there_and_the_plugin_can_read_it(promised: Any, spec: dict[str, Any]) -> None:
    promise = promised("aks", **spec)
    configs = parsed(gather([promise]))
    assert promise.key is not None
    assert promise.facts.labels[pluginkey.LABEL] == promise.key
    assert set(configs) == {"default", promise.key}
    for config in configs.values():
        jsonschema.validate(config, SCHEMA)


def test_unlabelled_nodes_get_whole_gpus_and_single_slices(promised: Any) -> None:
    configs = parsed(gather([promised("aks", gpu="a100-40gb", mig={"profile": "1g.5gb"})]))
    assert configs == {"default": {"version": "v1", "flags": {"migStrategy": "single"}}}


def test_sharing_slices_of_strategy_single_says_so(promised: Any) -> None:
    spec = {"mig": {"profile": "1g.5gb"}, "timeSlicing": {"replicas": 2}}
    config = parsed(gather([promised("aks", gpu="a100-40gb", **spec)]))["time-sliced-2"]
    assert config["flags"] == {"migStrategy": "single"}
    assert config["sharing"]["timeSlicing"]["resources"] == [{"name": "nvidia.com/gpu", "replicas": 2}]


def test_under_strategy_mixed_every_slice_in_use_is_shared(promised: Any) -> None:
    shared = {"timeSlicing": {"replicas": 2}}
    pools = [
        promised("aks", "one", gpu="a100-40gb", mig={"layout": A100_LAYOUT}, **shared),
        promised("aks", "two", gpu="a100-80gb", mig={"profile": "2g.20gb", "strategy": "mixed"}, **shared),
    ]
    config = parsed(gather(pools))["mig-mixed-time-sliced-2"]
    names = [one["name"] for one in config["sharing"]["timeSlicing"]["resources"]]
    assert names == ["nvidia.com/gpu", "nvidia.com/mig-1g.5gb", "nvidia.com/mig-2g.20gb", "nvidia.com/mig-3g.20gb"]


def test_a_key_that_nothing_explains_is_refused(promised: Any) -> None:
    with pytest.raises(Invalid) as caught:
        gather([promised("aks", gpu="t4", configKey="team-vision")])
    assert caught.value.code == "plugin-key-missing"
    assert "team-vision" in caught.value.message


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"timeSlicing": {"replicas": 2}, "configKey": "ours"}, {"timeSlicing": {"replicas": 3}, "configKey": "ours"}),
        ({"timeSlicing": {"replicas": 2}, "configKey": "time-sliced-3"}, {"timeSlicing": {"replicas": 2}}),
        ({"timeSlicing": {"replicas": 2}, "configKey": "default"}, {}),
    ],
    ids=["twice", "a name of ours", "the default"],
)
def test_one_key_never_means_two_things(promised: Any, first: dict[str, Any], second: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as caught:
        gather([promised("aks", "one", gpu="t4", **first), promised("aks", "two", gpu="t4", **second)])
    assert caught.value.code == "sharing-conflict"


def test_pools_whose_cloud_or_image_runs_the_plugin_need_nothing(promised: Any) -> None:
    configs = gather(
        [
            promised("gke", gpu="t4", timeSlicing={"replicas": 2}),
            promised("eks", gpu="a100-40gb", mig={"profile": "1g.5gb"}),
        ]
    )
    assert not configs.documents
    assert [note.code for note in configs.notes] == ["plugin-not-needed"] * 2


def test_the_config_map_is_marked_as_ours(promised: Any) -> None:
    made = config_map(gather([promised("aks", gpu="t4", timeSlicing={"replicas": 2})]), "gpu")
    assert made["metadata"] == {
        "name": "fracgpu-device-plugin",
        "namespace": "gpu",
        "labels": {"app.kubernetes.io/managed-by": "fracgpu"},
    }
