"""Nodes held against the promise: whatever has been seen to go wrong is told, on the right node, with a reason."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from fracgpu.advertise import PluginOwner
from fracgpu.kube.promise import Promise
from fracgpu.kube.verify import Verification, failures, verify
from fracgpu.plan import Json

SHARED = {"gpu": "t4", "timeSlicing": {"replicas": 10}}
SLICED = {"gpu": "a100-40gb", "mig": {"profile": "1g.5gb"}}
MIXED = {"gpu": "a100-40gb", "mig": {"profile": "1g.5gb", "strategy": "mixed"}}

Change = Callable[[Json], None]


def node(promise: Promise, name: str = "node-1") -> Json:
    """A node that keeps the promise, as its cluster would show it."""
    return {
        "metadata": {"name": name, "labels": dict(promise.facts.labels)},
        "spec": {"taints": [taint(str(one)) for one in promise.facts.taints]},
        "status": {
            "allocatable": {"cpu": "3920m", "memory": "1Gi", **{key: str(n) for key, n in promise.resources.items()}},
            "conditions": [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": "True"}],
        },
    }


def taint(text: str) -> Json:
    pair, _, effect = text.rpartition(":")
    key, _, value = pair.partition("=")
    return {"key": key, "value": value, "effect": effect}


def plugin_pod(
    name: str = "nvidia-device-plugin-daemonset-x1", *, ready: bool = True, waiting: Json | None = None
) -> Json:
    return {
        "metadata": {"name": name, "namespace": "gpu-operator"},
        "spec": {"containers": [{"name": "plugin", "image": "nvcr.io/nvidia/k8s-device-plugin:v0.20.0"}]},
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": str(ready)}],
            "containerStatuses": [{"name": "plugin", "state": {"waiting": waiting} if waiting else {"running": {}}}],
        },
    }


def look(
    promise: Promise, nodes: list[Json], pods: list[Json] | None = None, wanted: int | None = None
) -> Verification:
    return verify(promise, nodes, lambda _: [plugin_pod()] if pods is None else pods, wanted)


def codes(verification: Verification) -> set[str]:
    return {one.code for one in failures(verification)}


def resources(counts: Mapping[str, int]) -> Change:
    def change(body: Json) -> None:
        body["status"]["allocatable"] = {name: str(count) for name, count in counts.items()}

    return change


def labels(**pairs: str | None) -> Change:
    def change(body: Json) -> None:
        for key, value in pairs.items():
            if value is None:
                del body["metadata"]["labels"][key]
            else:
                body["metadata"]["labels"][key] = value

    return change


def not_ready(body: Json) -> None:
    body["status"]["conditions"] = [{"type": "Ready", "status": "False", "message": "container runtime is down"}]


def never_ready(body: Json) -> None:
    body["status"] = {"allocatable": body["status"]["allocatable"]}


def untainted(body: Json) -> None:
    body["spec"] = {}


def add_taint(text: str) -> Change:
    def change(body: Json) -> None:
        body["spec"]["taints"].append(taint(text))

    return change


@pytest.mark.parametrize("spec", [SHARED, SLICED, MIXED], ids=["shared", "sliced", "mixed"])
@pytest.mark.parametrize("provider", ["aks", "gke", "eks"])
def test_nodes_that_keep_the_promise(promised: Any, provider: str, spec: dict[str, Any]) -> None:
    if provider == "gke" and spec is MIXED:
        spec = SLICED
    promise = promised(provider, **spec)
    result = look(promise, [node(promise, name) for name in ("b", "a")], wanted=2)
    assert result.ok
    assert result.proven
    assert [one.name for one in result.nodes] == ["a", "b"]
    assert result.nodes[0].allocatable == promise.resources


WRONG: list[tuple[str, dict[str, Any], Change, str, str]] = [
    (
        "the manager says success and nothing is there",
        SLICED,
        lambda body: (resources({"cpu": 4})(body), labels(**{"nvidia.com/mig.config.state": "success"})(body))[0],
        "slices-missing",
        "nvidia.com/gpu: 0 allocatable",
    ),
    (
        "the manager says success and is not believed",
        SLICED,
        lambda body: (resources({"cpu": 4})(body), labels(**{"nvidia.com/mig.config.state": "success"})(body))[0],
        "mig-untrue",
        "says success",
    ),
    (
        "the manager is still at it",
        SLICED,
        lambda body: (resources({"cpu": 4})(body), labels(**{"nvidia.com/mig.config.state": "rebooting"})(body))[0],
        "mig-pending",
        "still at it (rebooting)",
    ),
    ("replicas ignored", SHARED, resources({"nvidia.com/gpu": 1}), "slices-missing", "1 allocatable, 10 promised"),
    ("nothing is shared", SHARED, resources({"nvidia.com/gpu": 1}), "not-shared", "the config time-sliced-10"),
    ("whole GPUs in a pool of slices", SLICED, resources({"nvidia.com/gpu": 8}), "whole-gpus", "migStrategy none"),
    (
        "whole GPUs where slices should be",
        MIXED,
        resources({"nvidia.com/gpu": 1}),
        "unexpected-resource",
        "nvidia.com/gpu: 1 allocatable",
    ),
    (
        "whole GPUs beside slices",
        MIXED,
        resources({"nvidia.com/gpu": 1, "nvidia.com/mig-1g.5gb": 7}),
        "unexpected-resource",
        "does not promise",
    ),
    (
        "renamed though not asked for",
        SHARED,
        resources({"nvidia.com/gpu": 0, "nvidia.com/gpu.shared": 10}),
        "unexpected-resource",
        "nvidia.com/gpu.shared: 10",
    ),
    (
        "another key",
        SHARED,
        labels(**{"nvidia.com/device-plugin.config": "time-sliced-4"}),
        "label-missing",
        "is time-sliced-4; time-sliced-10 was promised",
    ),
    (
        "no key",
        SHARED,
        labels(**{"nvidia.com/device-plugin.config": None}),
        "label-missing",
        "device-plugin.config is missing",
    ),
    ("not ready", SHARED, not_ready, "node-not-ready", "container runtime is down"),
    ("no word from the kubelet", SHARED, never_ready, "node-not-ready", "has not said"),
    ("no taint", SHARED, untainted, "taint-missing", "nvidia.com/gpu=present:NoSchedule"),
    (
        "GPUs cut unalike",
        SLICED,
        labels(**{"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-INVALID"}),
        "mig-invalid",
        "-MIG-INVALID",
    ),
    (
        "the manager failed",
        SLICED,
        labels(**{"nvidia.com/mig.config.state": "failed"}),
        "mig-failed",
        "failed to apply",
    ),
    (
        "the cut failed at boot",
        SLICED,
        add_taint("fracgpu.dev/mig-failed=true:NoSchedule"),
        "mig-failed",
        "could not cut its GPUs",
    ),
]


@pytest.mark.parametrize(
    ("spec", "change", "code", "said"), [case[1:] for case in WRONG], ids=[one[0] for one in WRONG]
)
def test_what_goes_wrong_is_told(promised: Any, spec: dict[str, Any], change: Change, code: str, said: str) -> None:
    promise = promised("aks", **spec)
    body = node(promise)
    change(body)
    result = look(promise, [body])
    assert not result.ok
    assert code in codes(result)
    assert any(said in problem for problem in result.to_json()["nodes"][0]["problems"])


def test_one_wrong_node_of_five_is_the_one_that_is_named(promised: Any) -> None:
    promise = promised("aks", **SHARED)
    nodes = [node(promise, f"node-{index}") for index in range(5)]
    resources({"nvidia.com/gpu": 9})(nodes[3])
    result = look(promise, nodes, wanted=5)
    assert [one.name for one in result.nodes if not one.ok] == ["node-3"]
    assert not result.ok
    assert failures(result)[0].message.startswith("node-3: ")


def test_nodes_that_have_not_joined(promised: Any) -> None:
    promise = promised("aks", **SHARED)
    result = look(promise, [node(promise)], wanted=3)
    assert not result.ok
    assert result.to_json()["problems"] == ["1 of 3 nodes have joined the cluster"]


def test_a_pool_at_zero_proves_nothing_and_is_no_failure(promised: Any) -> None:
    result = look(promised("aks", **SHARED), [], wanted=0)
    assert result.ok
    assert not result.proven
    assert [note.code for note in result.notes] == ["capacity-unproven-at-zero"]
    assert "--prove" in (result.notes[0].hint or "")


@pytest.mark.parametrize(
    ("pods", "code", "said"),
    [
        ([], "no-plugin", "no pod of a device plugin"),
        ([plugin_pod("nvidia-device-plugin-mps-control-daemon-x")], "no-plugin", "no pod of a device plugin"),
        ([plugin_pod("gpu-operator-dcgm-exporter-x")], "no-plugin", "no pod of a device plugin"),
        (
            [plugin_pod(waiting={"reason": "CrashLoopBackOff", "message": "back-off 40s"})],
            "plugin-failing",
            "gpu-operator/nvidia-device-plugin-daemonset-x1 is in CrashLoopBackOff: back-off 40s",
        ),
        ([plugin_pod("nvidia-device-plugin-x", ready=False)], "plugin-failing", "is not ready"),
        ([plugin_pod()], "slices-missing", "0 allocatable"),
    ],
    ids=["none", "another daemon", "another pod", "crashing", "not ready", "healthy"],
)
def test_why_slices_are_missing(promised: Any, pods: list[Json], code: str, said: str) -> None:
    promise = promised("aks", **SHARED)
    body = node(promise)
    resources({"cpu": 4})(body)
    result = look(promise, [body], pods)
    assert code in codes(result)
    assert any(said in problem.message for problem in failures(result))


def test_an_init_container_that_cannot_find_its_key_is_named(promised: Any) -> None:
    promise = promised("aks", **SHARED)
    body, pod = node(promise), plugin_pod(ready=False)
    resources({"cpu": 4})(body)
    waiting = {"reason": "CrashLoopBackOff"}
    ended = {"exitCode": 1, "message": "specified config time-sliced-10 does not exist"}
    pod["status"]["initContainerStatuses"] = [
        {"name": "config-manager-init", "state": {"waiting": waiting}, "lastState": {"terminated": ended}}
    ]
    problem = next(one for one in failures(look(promise, [body], [pod])) if one.code == "plugin-failing")
    assert "specified config time-sliced-10 does not exist" in problem.message
    assert "plugin apply" in (problem.hint or "")


def test_a_taint_that_keeps_the_plugin_off_is_named_where_slices_are_missing(promised: Any) -> None:
    promise = promised("aks", **SHARED)
    healthy, lacking = node(promise, "healthy"), node(promise, "lacking")
    for body in (healthy, lacking):
        add_taint("team=vision:NoExecute")(body)
    resources({"cpu": 4})(lacking)
    result = look(promise, [healthy, lacking], [])
    assert [one.ok for one in result.nodes] == [True, False]
    assert any("team=vision:NoExecute" in one.message for one in failures(result) if one.code == "foreign-taint")


def test_a_startup_taint_that_nobody_lifts_is_named(promised: Any) -> None:
    promise = promised(
        "eks", gpu="a100-40gb", mig={"profile": "1g.5gb", "backend": "gpu-operator"}, eks={"startupTaint": True}
    )
    lifted, pending = node(promise, "lifted"), node(promise, "pending")
    add_taint("fracgpu.dev/mig-pending=true:NoSchedule")(pending)
    result = look(promise, [lifted, pending], [])
    assert [one.ok for one in result.nodes] == [True, False]
    (problem,) = failures(result)
    assert problem.code == "startup-taint"
    assert "plugin mig-taint" in (problem.hint or "")


def test_pods_are_asked_for_only_where_something_is_wrong(promised: Any) -> None:
    promise = promised("aks", **SHARED)
    asked: list[str] = []
    wrong = node(promise, "wrong")
    resources({})(wrong)

    def pods_on(name: str) -> list[Json]:
        asked.append(name)
        return []

    verify(promise, [node(promise, "right"), wrong], pods_on)
    assert asked == ["wrong"]


def test_a_plugin_of_the_node_image_is_no_pod(promised: Any) -> None:
    promise = promised("eks", **SLICED)
    assert promise.facts.plugin is PluginOwner.IMAGE
    body = node(promise)
    resources({})(body)
    assert codes(look(promise, [body], [])) == {"slices-missing"}


def test_what_is_looked_at_is_left_alone(promised: Any) -> None:
    promise = promised("aks", **SHARED)
    body = node(promise)
    before = copy.deepcopy(body)
    look(promise, [body])
    assert body == before
