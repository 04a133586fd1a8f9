"""In which namespace the plugin's ConfigMap belongs, and whether anybody reads it there."""

from __future__ import annotations

import pytest

from fracgpu.kube.installed import Part
from fracgpu.kube.plugin import NAME
from fracgpu.operations.plugin import config_namespace, unread


def part(namespace: str, *mounts: str) -> Part:
    return Part(namespace, "nvidia-device-plugin", "nvcr.io/nvidia/k8s-device-plugin:v0.20.0", {}, frozenset(mounts))


@pytest.mark.parametrize(
    ("running", "namespace"),
    [
        ([], "gpu-operator"),
        ([part("kube-system")], "kube-system"),
        ([part("kube-system"), part("gpu-operator")], "gpu-operator"),
        ([part("gpu-operator"), part("nvidia", NAME)], "nvidia"),
        ([part("gpu-operator", NAME), part("nvidia", NAME)], "gpu-operator"),
        ([part("nvidia", "theirs")], "nvidia"),
    ],
)
def test_where_the_plugin_is(running: list[Part], namespace: str) -> None:
    assert config_namespace(running) == namespace


@pytest.mark.parametrize(
    ("running", "said"),
    [
        ([], None),
        ([part("gpu-operator")], None),
        ([part("gpu-operator", NAME)], None),
        ([part("gpu-operator", "entrypoint", NAME), part("nvidia", "theirs")], None),
        ([part("nvidia", NAME)], "cannot read a ConfigMap of the namespace gpu-operator"),
        ([part("gpu-operator", "theirs")], f"reads theirs, and not {NAME}"),
    ],
)
def test_whether_anybody_reads_it(running: list[Part], said: str | None) -> None:
    found = unread("gpu-operator", running)
    assert [one.code for one in found] == (["plugin-elsewhere"] if said else [])
    assert said is None or said in found[0].message
