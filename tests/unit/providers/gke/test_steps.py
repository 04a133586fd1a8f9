"""Updates call by call: the right calls, whole sets sent whole, and an end to them."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from fracgpu.plan import Action, Json, Resource, change_of
from fracgpu.providers import FLEET, MANAGED, gke
from fracgpu.providers.gke.compare import GPU_TAINT
from fracgpu.providers.gke.steps import SIZE, Step, next_step
from fracgpu.sandbox.gke import update
from fracgpu.sandbox.gke.pool import filled
from fracgpu.sandbox.world import Cloud, Cluster
from tests.gke_pools import body, pool, resource

ELSEWHERE = Cluster(Cloud.GKE, ("acme", "us-central1", "regional-prod"))
WIRE = Path(__file__).parents[3] / "golden" / "wire" / "gke"
BASE: Json = {"machine": "g2-standard-8", "sharing": {"timeSlicing": {"replicas": 10}}, "nodes": {"count": 3}}


def current(shown: Json) -> Resource:
    return Resource("gke.nodePool", shown["name"], shown["name"], pool(**BASE).cluster, shown)


def server(shown: Json, step: Step) -> Json:
    """The pool after a step, as the sandbox's server has it."""
    request = copy.deepcopy(step.request)
    if step.call == "UpdateNodePool":
        return update.updated(ELSEWHERE, shown, request)
    if step.call == "SetNodePoolSize":
        return {**shown, "initialNodeCount": request["nodeCount"]}
    scaling = request.get("autoscaling", {})
    off = scaling and not scaling.get("enabled")
    return {**shown, **({"autoscaling": {}} if off else request)}


def all_steps(shown: Json, after: Json, *, size: bool = False) -> tuple[list[Step], Json]:
    """Every step from one body to another, and where they lead."""
    taken: list[Step] = []
    while step := next_step(current(shown), after, [one.what for one in taken], size=size):
        taken.append(step)
        shown = server(shown, step)
    return taken, shown


CHANGES: list[tuple[Json, list[tuple[str, set[str]]]]] = [
    ({}, []),
    ({"labels": {"a": "b"}}, [("UpdateNodePool", {"labels"})]),
    ({"labels": {"a": "b"}, "taints": ["k=v:NoSchedule"]}, [("UpdateNodePool", {"labels", "taints"})]),
    ({"tags": {"x": "y"}}, [("UpdateNodePool", {"resourceLabels"})]),
    ({"gke": {"networkTags": ["x"]}}, [("UpdateNodePool", {"tags"})]),
    ({"sharing": {"mps": {"replicas": 4}}}, [("UpdateNodePool", {"accelerators"})]),
    ({"sharing": {}}, [("UpdateNodePool", {"accelerators"})]),
    ({"gke": {"driverVersion": "LATEST"}}, [("UpdateNodePool", {"accelerators"})]),
    (
        {"gke": {"imageType": "UBUNTU_CONTAINERD"}, "disk": {"sizeGb": 50}},
        [("UpdateNodePool", {"imageType", "diskSizeGb"})],
    ),
    ({"gke": {"version": "1.34"}}, [("UpdateNodePool", {"nodeVersion"})]),
    ({"gke": {"gvnic": True}}, [("UpdateNodePool", {"gvnic"})]),
    ({"gke": {"maxSurge": 3}}, [("UpdateNodePool", {"upgradeSettings"})]),
    ({"gke": {"autoUpgrade": False}}, [("SetNodePoolManagement", {"management"})]),
    ({"nodes": {"min": 0, "max": 6}}, [("SetNodePoolAutoscaling", {"autoscaling"})]),
    ({"nodes": {"count": 9}}, [("SetNodePoolSize", {"nodeCount"})]),
    ({"nodes": {"count": 0}}, [("SetNodePoolSize", {"nodeCount"})]),
    (
        {"zones": ["us-central1-a"], "nodes": {"count": 2}, "labels": {"a": "b"}},
        [("UpdateNodePool", {"labels"}), ("UpdateNodePool", {"locations"}), ("SetNodePoolSize", {"nodeCount"})],
    ),
]


@pytest.mark.parametrize(("after", "calls"), CHANGES, ids=map(str, range(len(CHANGES))))
def test_steps(after: Json, calls: list[tuple[str, set[str]]]) -> None:
    """The calls that are made, what they carry, and that nothing is left to change."""
    wanted = body(**{**BASE, **after})
    taken, shown = all_steps(filled(ELSEWHERE, body(**BASE)), wanted)
    assert [(step.call, set(step.request)) for step in taken] == calls
    desired = resource(pool(**{**BASE, **after}))
    left = change_of(desired, gke.settled(current(shown)), gke.comparison(desired.kind))
    assert left.action is Action.NO_OP, left.reason


def request(before: Json, after: Json) -> Json:
    """The only step's request."""
    ((step,), _) = all_steps(before, after)
    return step.request


def test_sets_are_sent_whole_and_empty() -> None:
    before = filled(ELSEWHERE, body(**BASE, labels={"a": "b", "c": "d"}, taints=["k=v:NoSchedule"], tags={"t": "u"}))
    sent = request(before, body(**BASE, labels={"a": "x"}))
    assert sent["labels"] == {"labels": {"a": "x"}}
    assert sent["taints"] == {"taints": [GPU_TAINT]}
    assert sent["resourceLabels"] == {"labels": {MANAGED: "true"}}
    bare = body(**BASE, taints=["k=v:NoSchedule"], tags={"t": "u"})
    assert request(before, bare) == {"labels": {"labels": {}}}


def test_what_google_put_there_is_sent_again() -> None:
    before = filled(ELSEWHERE, body(**BASE, gpuTaint=False))
    config = before["config"]
    config["taints"] = [dict(GPU_TAINT)]
    config["labels"] = {"cloud.google.com/gke-accelerator": "nvidia-l4"}
    config["resourceLabels"] |= {"goog-gke-x": "1", FLEET: "night"}
    sent = request(before, body(**BASE, gpuTaint=False, labels={"a": "b"}, taints=["k=v:NoExecute"], tags={"t": "u"}))
    assert sent["taints"]["taints"] == [{"key": "k", "value": "v", "effect": "NO_EXECUTE"}, GPU_TAINT]
    assert sent["labels"]["labels"] == {"a": "b", "cloud.google.com/gke-accelerator": "nvidia-l4"}
    assert sent["resourceLabels"]["labels"] == {"t": "u", MANAGED: "true", "goog-gke-x": "1", FLEET: "night"}


def test_adopting_writes_the_mark_and_nothing_else() -> None:
    before = filled(ELSEWHERE, body(**BASE, tags={"t": "u"}))
    del before["config"]["resourceLabels"][MANAGED]
    sent = request(before, body(**BASE, tags={"t": "u"}))
    assert sent == {"resourceLabels": {"labels": {"t": "u", MANAGED: "true"}}}


def test_autoscaling_is_turned_off() -> None:
    before = filled(ELSEWHERE, body(**{**BASE, "nodes": {"min": 0, "max": 6, "count": 6}}))
    taken, shown = all_steps(before, body(**BASE))
    assert [step.call for step in taken] == ["SetNodePoolAutoscaling", "SetNodePoolSize"]
    assert taken[0].request == {"autoscaling": {"enabled": False}}
    assert shown["initialNodeCount"] == 1


def test_a_location_policy_that_is_not_asked_for_stays() -> None:
    before = filled(ELSEWHERE, body(**{**BASE, "nodes": {"min": 0, "max": 6}}))
    sent = request(before, body(**{**BASE, "nodes": {"min": 0, "max": 9}}))
    assert sent["autoscaling"] == {
        "enabled": True,
        "totalMinNodeCount": 0,
        "totalMaxNodeCount": 9,
        "locationPolicy": "BALANCED",
    }


def test_an_autoscaled_pool_is_resized_only_when_told() -> None:
    spec = {**BASE, "nodes": {"min": 0, "max": 9, "count": 6}}
    before = filled(ELSEWHERE, body(**BASE)) | {"autoscaling": body(**spec)["autoscaling"]}
    assert all_steps(before, body(**spec))[0] == []
    (step,), _ = all_steps(before, body(**spec), size=True)
    assert (step.what, step.call, step.request) == (SIZE, "SetNodePoolSize", {"nodeCount": 2})


def test_a_step_without_effect_is_taken_once() -> None:
    """A server that keeps what it has: no call is repeated for ever."""
    before = filled(ELSEWHERE, body(**BASE))
    after = body(**BASE, labels={"a": "b"}, gke={"maxSurge": 2})
    done: list[str] = []
    while step := next_step(current(before), after, done):
        assert step.what not in done
        done.append(step.what)
    assert len(done) == 2


@pytest.mark.parametrize(
    ("recorded", "before", "after"),
    [
        ("update-node-labels", {}, {"labels": {"a": "b"}}),
        ("update-node-taints", {"gpuTaint": False}, {"gpuTaint": False, "taints": ["k=v:NoSchedule"]}),
        ("resize-to-2", {"zones": ["us-central1-a"]}, {"zones": ["us-central1-a"], "nodes": {"count": 2}}),
    ],
)
def test_as_gcloud_sends_it(recorded: str, before: Json, after: Json) -> None:
    """The same fields as a recording of gcloud has, apart from the name of the pool."""
    sent: dict[str, Any] = json.loads((WIRE / f"{recorded}.json").read_text(encoding="utf-8"))
    del sent["name"]
    shown = filled(ELSEWHERE, body(**{**BASE, **before}))
    shown["config"].setdefault("taints", [])
    shown["config"]["taints"] = [one for one in shown["config"]["taints"] if before.get("gpuTaint") is not False]
    assert request(shown, body(**{**BASE, **after})) == sent


def test_autoscaling_has_the_fields_of_gclouds() -> None:
    """gcloud goes by UpdateCluster; the message inside is the same."""
    recorded = json.loads((WIRE / "update-autoscaling.json").read_text(encoding="utf-8"))
    before = filled(ELSEWHERE, body(**{**BASE, "nodes": {"min": 0, "max": 4, "count": 0}}))
    del before["autoscaling"]["locationPolicy"]
    sent = request(before, body(**{**BASE, "nodes": {"min": 0, "max": 6, "count": 0}}))
    assert sent["autoscaling"] == recorded["update"]["desiredNodePoolAutoscaling"]
