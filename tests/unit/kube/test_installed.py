"""Pairs that do not work together, told with their fix."""

from __future__ import annotations

from typing import Any

import pytest

from fracgpu.kube.installed import mismatches, plugins
from fracgpu.plan import Json

MIXED = {"profile": "1g.5gb", "strategy": "mixed"}


def daemon_set(name: str, image: str, namespace: str = "gpu-operator", **settings: str) -> Json:
    env = [{"name": key, "value": value} for key, value in settings.items()]
    container = {"name": "main", "image": image, "env": env}
    return {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"template": {"spec": {"containers": [container]}}},
    }


PLUGIN = daemon_set("nvidia-device-plugin-daemonset", "nvcr.io/nvidia/k8s-device-plugin:v0.20.0")
GKES = daemon_set("nvidia-gpu-device-plugin-small-cos", "gke.gcr.io/nvidia-gpu-device-plugin@sha256:1", "kube-system")
GFD = daemon_set("gpu-feature-discovery", "nvcr.io/nvidia/k8s-device-plugin:v0.20.0")


def codes(promises: list[Any], daemon_sets: list[Json], *config_maps: Json) -> list[str]:
    return [one.code for one in mismatches(promises, daemon_sets, config_maps)]


def test_plugins_are_told_from_their_neighbours() -> None:
    found = plugins([PLUGIN, GKES, GFD, daemon_set("nvidia-dcgm-exporter", "x:1"), daemon_set("fluentd", "y")])
    assert [str(part) for part in found] == [
        "gpu-operator/nvidia-device-plugin-daemonset v0.20.0",
        "kube-system/nvidia-gpu-device-plugin-small-cos",
    ]


def test_a_sound_cluster(promised: Any) -> None:
    promise = promised("aks", gpu="t4", timeSlicing={"replicas": 2})
    assert codes([promise], [PLUGIN, GFD], {"data": {"time-sliced-2": ""}}) == []
    assert codes([promised("gke", gpu="t4", timeSlicing={"replicas": 2})], [GKES]) == []
    assert codes([], []) == []


def test_no_plugin(promised: Any) -> None:
    assert codes([promised("aks", gpu="t4")], [GFD]) == ["no-plugin"]


def test_nvidias_plugin_beside_gkes(promised: Any) -> None:
    assert codes([promised("gke", gpu="t4")], [GKES, PLUGIN]) == ["second-plugin"]


def test_two_plugins(promised: Any) -> None:
    other = daemon_set("nvdp-nvidia-device-plugin", "nvcr.io/nvidia/k8s-device-plugin:v0.19.0", "nvidia")
    assert codes([promised("aks", gpu="t4")], [PLUGIN, other]) == ["second-plugin"]


@pytest.mark.parametrize(("forced", "said"), [("single", True), ("mixed", False)])
def test_a_strategy_that_overrides_the_config(promised: Any, forced: str, said: bool) -> None:
    plugin = daemon_set("nvidia-device-plugin-daemonset", "k8s-device-plugin:v0.20.0", MIG_STRATEGY=forced)
    found = codes([promised("aks", gpu="a100-40gb", mig=MIXED)], [plugin], {"data": {"mig-mixed": ""}})
    assert ("strategy-overridden" in found) is said


def test_a_key_that_no_config_has(promised: Any) -> None:
    promise = promised("aks", gpu="t4", timeSlicing={"replicas": 2})
    assert codes([promise], [PLUGIN], {"data": {"time-sliced-4": ""}}) == ["plugin-key-missing"]


def test_no_driver(promised: Any) -> None:
    promise = promised("aks", gpu="t4", aks={"driver": "None"})
    driver = daemon_set("nvidia-driver-daemonset", "nvcr.io/nvidia/driver:595")
    assert codes([promise], [PLUGIN]) == ["no-driver"]
    assert codes([promise], [PLUGIN, driver]) == []


@pytest.mark.parametrize(("version", "said"), [("v1.18.1", True), ("v1.19.0-ubi8", True), ("v1.20.0", False)])
def test_a_toolkit_that_fails_under_mixed(promised: Any, version: str, said: bool) -> None:
    toolkit = daemon_set("nvidia-container-toolkit-daemonset", f"nvcr.io/nvidia/k8s/container-toolkit:{version}")
    data = {"data": {"mig-mixed": ""}}
    found = codes([promised("aks", gpu="a100-40gb", mig=MIXED)], [PLUGIN, toolkit], data)
    assert ("toolkit-version" in found) is said
    single = promised("aks", gpu="a100-40gb", mig={"profile": "1g.5gb"})
    assert "toolkit-version" not in codes([single], [PLUGIN, toolkit], data)
