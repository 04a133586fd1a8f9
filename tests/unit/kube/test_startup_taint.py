"""What lifts a startup taint: manifests that Kubernetes takes, and no right that the script does not need."""

from __future__ import annotations

from typing import Any

import kubernetes_validate
import pytest

from fracgpu.errors import Invalid
from fracgpu.kube.plugin import gather
from fracgpu.kube.startup_taint import manifests, script, startup_keys
from fracgpu.kube.values import Chart, values
from tests.unit.kube.conftest import Promised

KEY = "fracgpu.dev/mig-pending"
CUT: dict[str, Any] = {"machine": "p4d.24xlarge", "mig": {"profile": "1g.5gb", "backend": "gpu-operator"}}
TAINTED: dict[str, Any] = {**CUT, "eks": {"startupTaint": True}}


@pytest.mark.parametrize("version", ["1.32", kubernetes_validate.latest_version()])
def test_kubernetes_takes_them(version: str) -> None:
    made = manifests(KEY, "gpus")
    for one in made:
        kubernetes_validate.validate(one, version, strict=True)
    assert [one["kind"] for one in made] == ["ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Deployment"]
    assert {one["metadata"].get("namespace", "gpus") for one in made} == {"gpus"}
    assert {one["metadata"]["labels"]["app.kubernetes.io/managed-by"] for one in made} == {"fracgpu"}


def test_the_right_is_to_nodes_alone() -> None:
    _, role, binding, deployment = manifests(KEY, "gpus")
    assert role["rules"] == [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "watch", "patch"]}]
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    pod = deployment["spec"]["template"]["spec"]
    assert (binding["subjects"][0]["name"], binding["subjects"][0]["namespace"]) == (pod["serviceAccountName"], "gpus")
    assert pod["containers"][0]["securityContext"]["runAsNonRoot"]
    assert pod["containers"][0]["command"][-1] == script(KEY)


def test_an_image_of_ones_own() -> None:
    assert manifests(KEY, "gpus", "mine:1")[-1]["spec"]["template"]["spec"]["containers"][0]["image"] == "mine:1"


def test_a_namespace_that_kubernetes_refuses() -> None:
    with pytest.raises(Invalid, match="no name for --namespace"):
        manifests(KEY, "GPUs")


def test_only_pools_that_have_one_need_it(promised: Promised) -> None:
    assert startup_keys([promised("eks", "a", **CUT), promised("gke", gpu="l4")]) == ()
    assert startup_keys([promised("eks", "a", **TAINTED), promised("eks", "b", **TAINTED)]) == (KEY,)


def test_the_operators_pods_come_onto_such_nodes(promised: Promised) -> None:
    """Else nobody would cut them, and the taint would stay."""
    promises = [promised("eks", "a", **TAINTED)]
    made, _ = values(Chart.GPU_OPERATOR, promises, gather(promises))
    wanted = {"key": KEY, "operator": "Equal", "value": "true", "effect": "NoSchedule"}
    assert wanted in made["daemonsets"]["tolerations"]
    assert wanted in made["node-feature-discovery"]["worker"]["tolerations"]
