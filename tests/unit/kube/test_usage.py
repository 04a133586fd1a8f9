"""What is used and free on a pool's nodes, counted as the scheduler counts it."""

from __future__ import annotations

from typing import Any

import pytest

from fracgpu.kube.occupants import requested
from fracgpu.kube.quantity import whole
from fracgpu.kube.usage import usage
from fracgpu.plan import Json

GPU = "nvidia.com/gpu"


def container(count: int | str, *, where: str = "limits", resource: str = GPU, **more: Any) -> Json:
    return {"name": "c", "resources": {where: {resource: count}}, **more}


def pod(node: str | None, *containers: Json, phase: str = "Running", inits: tuple[Json, ...] = ()) -> Json:
    spec = {"nodeName": node, "containers": list(containers), "initContainers": list(inits)}
    return {"metadata": {"name": "p"}, "spec": spec, "status": {"phase": phase}}


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (pod("n", container("1")), {GPU: 1}),
        (pod("n", container("1", where="requests"), container(2)), {GPU: 3}),
        (pod("n", container("1"), inits=(container("4"),)), {GPU: 4}),
        (pod("n", container("2"), inits=(container("1"), container("1"))), {GPU: 2}),
        (pod("n", container("1"), inits=(container("1", restartPolicy="Always"),)), {GPU: 2}),
        (pod("n", {"name": "c"}), {}),
        (pod("n", container("1", resource="cpu")), {}),
        (
            pod("n", container("1", resource="nvidia.com/mig-1g.5gb"), container("1")),
            {GPU: 1, "nvidia.com/mig-1g.5gb": 1},
        ),
    ],
)
def test_what_a_pod_holds(made: Json, wanted: dict[str, int]) -> None:
    assert requested(made) == wanted


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("7", 7),
        (7, 7),
        ("2k", 2000),
        ("1M", 1_000_000),
        ("1Ki", 1024),
        ("2Mi", 2097152),
        ("3e3", 3000),
        ("1500m", 1),
        ("x", 0),
    ],
)
def test_counts_as_the_api_writes_them(text: Any, count: int) -> None:
    assert whole(text) == count


def node(name: str, promise: Any, count: str | None) -> Json:
    labels = {**promise.facts.labels, promise.pool_label[0]: promise.pool_label[1]}
    taints = [{"key": one.key, "value": one.value, "effect": one.effect.value} for one in promise.facts.taints]
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": taints},
        "status": {
            "allocatable": {} if count is None else {GPU: count},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def test_over_all_nodes_of_the_pool(promised: Any) -> None:
    promise = promised("aks", gpu="t4", timeSlicing={"replicas": 4})
    pods = [
        pod("one", container("3")),
        pod("two", container("1"), phase="Succeeded"),
        pod("two", container("1"), phase="Failed"),
        pod("elsewhere", container("9")),
        pod(None, container("9"), phase="Pending"),
    ]
    found = usage(promise, [node("one", promise, "4"), node("two", promise, "4")], pods)
    assert found.to_json() == {GPU: {"total": 8, "used": 3, "free": 5}}
    assert (found.nodes, found.drift) == (2, ())


def test_a_node_that_lost_its_slices_has_none_to_give(promised: Any) -> None:
    promise = promised("aks", gpu="t4", timeSlicing={"replicas": 4})
    found = usage(promise, [node("one", promise, None)], [pod("one", container("3"))])
    assert found.to_json() == {GPU: {"total": 0, "used": 3, "free": 0}}
    assert found.drift[0].startswith("one: nvidia.com/gpu: 0 allocatable, 4 promised")


def test_no_node_is_no_drift(promised: Any) -> None:
    found = usage(promised("aks", gpu="t4"), [], [])
    assert (found.to_json(), found.drift, found.nodes) == ({}, (), 0)


def test_what_is_free_is_counted_node_by_node(promised: Any) -> None:
    promise = promised("aks", gpu="t4", timeSlicing={"replicas": 4})
    lost, sound, cordoned, unready = (node(name, promise, "4") for name in ("lost", "sound", "cordoned", "unready"))
    lost["status"]["allocatable"] = {}
    cordoned["spec"]["unschedulable"] = True
    unready["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
    pods = [pod("lost", container("3")), pod("sound", container("1")), pod("cordoned", container("1"))]
    found = usage(promise, [lost, sound, cordoned, unready], pods)
    assert found.to_json() == {GPU: {"total": 12, "used": 5, "free": 3}}
