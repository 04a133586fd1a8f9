"""Pairs that do not work together, told with their fix."""

from __future__ import annotations

from typing import Any

import pytest

from fracgpu.kube.installed import charts, mismatches, plugins
from fracgpu.plan import Json

MIXED = {"profile": "1g.5gb", "strategy": "mixed"}


def daemon_set(name: str, image: str, namespace: str = "gpu-operator", **settings: str) -> Json:
    env = [{"name": key, "value": value} for key, value in settings.items()]
    container = {"name": "main", "image": image, "env": env}
    return {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"template": {"spec": {"containers": [container]}}},
    }


def with_pod(made: Json, *, privileged: bool = False, mounts: str | None = None) -> Json:
    """A DaemonSet whose pods have privileges, or mount a ConfigMap."""
    pod = made["spec"]["template"]["spec"]
    containers = [{**one, "securityContext": {"privileged": privileged}} for one in pod["containers"]]
    volumes = [{"name": "configs", "configMap": {"name": mounts}}] if mounts else []
    return {**made, "spec": {"template": {"spec": {"containers": containers, "volumes": volumes}}}}


def config_map(name: str, *keys: str, namespace: str = "gpu-operator") -> Json:
    return {"metadata": {"name": name, "namespace": namespace}, "data": dict.fromkeys(keys, "")}


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


@pytest.mark.parametrize(
    ("name", "container", "image", "is_one"),
    [
        ("nvdp", "nvidia-device-plugin-ctr", "nvcr.io/nvidia/k8s-device-plugin:v0.20.0", True),
        ("nvdp-gpu-feature-discovery", "gpu-feature-discovery-ctr", "nvcr.io/nvidia/k8s-device-plugin:v0.20.0", False),
        ("nvdp", "gpu-feature-discovery-ctr", "nvcr.io/nvidia/k8s-device-plugin:v0.20.0", False),
        ("nvdp-mps-control-daemon", "mps-control-daemon-ctr", "nvcr.io/nvidia/k8s-device-plugin:v0.20.0", False),
        ("other", "device-plugin", "intel/gpu:1", False),
    ],
)
def test_a_plugin_under_a_name_of_ones_own(name: str, container: str, image: str, is_one: bool) -> None:
    made = daemon_set(name, image)
    made["spec"]["template"]["spec"]["containers"][0]["name"] = container
    assert bool(plugins([made])) is is_one


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


@pytest.mark.parametrize(
    ("maps", "missing"),
    [
        ([config_map("theirs", "time-sliced-2")], False),
        ([config_map("fracgpu-device-plugin", "time-sliced-2")], True),
        ([config_map("theirs", "time-sliced-2", namespace="other")], True),
        ([], True),
    ],
)
def test_a_key_counts_where_the_plugin_mounts_it(promised: Any, maps: list[Json], missing: bool) -> None:
    promise = promised("aks", gpu="t4", timeSlicing={"replicas": 2})
    found = list(mismatches([promise], [with_pod(PLUGIN, mounts="theirs")], maps))
    assert [one.code for one in found] == (["plugin-key-missing"] if missing else [])
    assert all("gpu-operator/theirs" in one.message for one in found)


def test_the_charts_that_brought_the_parts() -> None:
    def of(label: str) -> Json:
        return {**PLUGIN, "metadata": {**PLUGIN["metadata"], "labels": {"helm.sh/chart": label}}}

    labels = (
        "gpu-operator-v26.7.0",
        "azure-aks-gpu-operator-v25.10.1",
        "nvidia-device-plugin-0.20.0",
        "fluent-bit-1.0",
    )
    assert charts([*map(of, labels), GFD]) == sorted(labels[:3])


@pytest.mark.parametrize(
    ("version", "spec", "said"),
    [
        ("v0.14.5", {"gpu": "t4", "mps": {"replicas": 2}}, True),
        ("v0.15.0", {"gpu": "t4", "mps": {"replicas": 2}}, False),
        ("v0.19.3", {"gpu": "a100-40gb", "mig": {"profile": "1g.5gb+me", "strategy": "mixed"}}, True),
        ("v0.20.0", {"gpu": "a100-40gb", "mig": {"profile": "1g.5gb+me", "strategy": "mixed"}}, False),
        ("v0.19.3", {"gpu": "a100-40gb", "mig": MIXED}, False),
        ("devel", {"gpu": "t4", "mps": {"replicas": 2}}, False),
    ],
)
def test_a_plugin_that_is_too_old(promised: Any, version: str, spec: dict[str, Any], said: bool) -> None:
    plugin = daemon_set("nvidia-device-plugin-daemonset", f"nvcr.io/nvidia/k8s-device-plugin:{version}")
    promise = promised("eks", **spec)
    found = codes([promise], [plugin], config_map("x", str(promise.key)))
    assert ("plugin-version" in found) is said


def test_no_driver(promised: Any) -> None:
    promise = promised("aks", gpu="t4", aks={"driver": "None"})
    assert codes([promise], [PLUGIN]) == ["no-driver"]
    for name in ("nvidia-driver-daemonset", "nvidia-gpu-driver-ubuntu22.04-6f5d8", "x-nvidia-latest-driver-installer"):
        assert codes([promise], [PLUGIN, daemon_set(name, "nvcr.io/nvidia/driver:595")]) == []
    other = daemon_set("nvidia-dra-driver-gpu-kubelet-plugin", "nvcr.io/nvidia/k8s-dra-driver-gpu:v25")
    assert codes([promise], [PLUGIN, other]) == ["no-driver"]
    google = promised("gke", gpu="t4", gke={"driver": "None"})
    assert codes([google], [GKES]) == ["no-driver"]
    assert codes([google], [GKES, daemon_set("nvidia-driver-installer", "gke.gcr.io/x", "kube-system")]) == []


@pytest.mark.parametrize(("version", "said"), [("v1.18.1", True), ("v1.19.0-ubi8", True), ("v1.20.0", False)])
def test_a_toolkit_that_fails_under_mixed(promised: Any, version: str, said: bool) -> None:
    toolkit = daemon_set("nvidia-container-toolkit-daemonset", f"nvcr.io/nvidia/k8s/container-toolkit:{version}")
    data = {"data": {"mig-mixed": ""}}
    found = codes([promised("aks", gpu="a100-40gb", mig=MIXED)], [PLUGIN, toolkit], data)
    assert ("toolkit-version" in found) is said
    privileged = with_pod(PLUGIN, privileged=True)
    mixed = promised("aks", gpu="a100-40gb", mig=MIXED)
    assert "toolkit-version" not in codes([mixed], [privileged, toolkit], data)
    single = promised("aks", gpu="a100-40gb", mig={"profile": "1g.5gb"})
    assert "toolkit-version" not in codes([single], [PLUGIN, toolkit], data)
