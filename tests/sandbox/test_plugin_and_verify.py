"""From a pool to its slices in the sandbox: config applied, nodes verified, and every way in which that goes wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fracgpu.catalog.load import load
from fracgpu.errors import Invalid, NotFound, NotOurs, SlicesMissing, TimedOut
from fracgpu.kube.plugin import NAME, config_map, gather
from fracgpu.kube.promise import Promise
from fracgpu.kube.session import api
from fracgpu.kube.verify import Verification, failures
from fracgpu.operations.afterwards import verified
from fracgpu.operations.apply import How
from fracgpu.operations.create import create
from fracgpu.operations.outcome import Item, Outcome
from fracgpu.operations.planning import Choices
from fracgpu.operations.plugin import apply_config, plan_config
from fracgpu.operations.prepare import prepare
from fracgpu.operations.promises import existing, of_pool
from fracgpu.operations.prove import prove
from fracgpu.operations.verify import verify
from fracgpu.operations.waiting import Goal, wait_for
from fracgpu.plan import Action
from fracgpu.providers import Observed, provider
from tests.kube_pools import Cloud, finish

if TYPE_CHECKING:
    from tests.sandbox.conftest import Sandbox

SHARED: dict[str, Any] = {"gpu": "t4", "timeSlicing": {"replicas": 10}}
SLICED: dict[str, Any] = {"gpu": "a100-80gb", "mig": {"profile": "1g.10gb"}}
MIXED: dict[str, Any] = {"gpu": "a100-80gb", "mig": {"profile": "1g.10gb", "strategy": "mixed"}}


@pytest.fixture
def aks(sandbox: Sandbox) -> Cloud:
    return Cloud(sandbox, "aks")


@pytest.fixture
def gke(sandbox: Sandbox) -> Cloud:
    return Cloud(sandbox, "gke")


def apply_for(cloud: Cloud, *promises: Promise) -> Action | None:
    session = cloud.session()
    planned = plan_config(session, cloud.cluster, promises)
    apply_config(session, planned)
    cloud.sandbox.advance(600)
    return planned.plan.changes[0].action if planned.manifest else None


def look(cloud: Cloud, seen: Observed) -> Verification:
    session = cloud.session()
    return verify(session, session.observe(seen.name) or seen, load())


def codes(result: Verification) -> set[str]:
    return {one.code for one in failures(result)}


@pytest.mark.parametrize("spec", [SHARED, SLICED, MIXED], ids=["shared", "sliced", "mixed"])
@pytest.mark.parametrize("name", ["aks", "eks"])
def test_the_config_that_plugin_apply_writes_makes_the_promise_true(
    sandbox: Sandbox, name: str, spec: dict[str, Any]
) -> None:
    cloud = Cloud(sandbox, name)
    promise, seen = cloud.make("gpus", **spec)
    apply_for(cloud, promise)
    result = look(cloud, seen)
    assert result.ok, [one.message for one in failures(result)]
    assert result.nodes[0].allocatable == promise.resources


EACH: dict[str, Any] = {
    "machine": "p4d.24xlarge",
    "mig": {"devices": [{"3g.20gb": 2}, {"3g.20gb": 2}, {"2g.10gb": 3}, None, *[{"1g.5gb": 7}] * 4]},
}


def test_gpus_that_are_cut_each_in_its_own_way_are_verified(sandbox: Sandbox) -> None:
    cloud = Cloud(sandbox, "eks")
    promise, seen = cloud.make("gpus", **EACH)
    apply_for(cloud, promise)
    result = look(cloud, seen)
    assert result.ok, [one.message for one in failures(result)]
    assert result.nodes[0].allocatable == {
        "nvidia.com/gpu": 1,
        "nvidia.com/mig-3g.20gb": 4,
        "nvidia.com/mig-2g.10gb": 3,
        "nvidia.com/mig-1g.5gb": 28,
    }


@pytest.mark.parametrize(
    "spec",
    [SHARED, SLICED, {**SLICED, "timeSlicing": {"replicas": 2}}, {"machine": "g2-standard-4", "mps": {"replicas": 3}}],
    ids=["shared", "sliced", "both", "mps"],
)
def test_gke_keeps_its_promise_without_us(gke: Cloud, spec: dict[str, Any]) -> None:
    _, seen = gke.make("gpus", **spec)
    assert look(gke, seen).ok


def test_applying_again_changes_nothing_and_another_pool_adds_its_key(aks: Cloud) -> None:
    one, _ = aks.make("one", **SHARED)
    two, _ = aks.make("two", gpu="t4", timeSlicing={"replicas": 4})
    assert apply_for(aks, one) is Action.CREATE
    assert apply_for(aks, one) is Action.NO_OP
    assert apply_for(aks, two) is Action.UPDATE
    with aks.kube() as kube:
        there = kube.config_map("gpu-operator", NAME)
    assert there is not None
    assert set(there["data"]) == {"default", "time-sliced-10", "time-sliced-4"}


def test_existing_pools_say_what_they_need(aks: Cloud) -> None:
    aks.make("one", **SHARED)
    aks.make("two", **MIXED)
    promises = existing(aks.session(), load())
    assert {one.key for one in promises.items} == {"time-sliced-10", "mig-mixed"}


def test_a_key_under_nodes_is_not_changed_unasked(aks: Cloud) -> None:
    promise, _ = aks.make("one", gpu="t4", timeSlicing={"replicas": 3}, configKey="ours")
    apply_for(aks, promise)
    other = of_pool(prepare(aks.written("two", gpu="t4", timeSlicing={"replicas": 5}, configKey="ours"), load()).pool)
    planned = plan_config(aks.session(), aks.cluster, [other])
    assert planned.in_use == ("ours",)
    (note,) = planned.plan.notes
    assert note.code == "plugin-restart-needed"
    assert note.hint == "kubectl rollout restart -n gpu-operator daemonset/nvidia-device-plugin-daemonset"


def test_a_key_that_another_tool_changed_is_named_beside_the_difference(
    aks: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    promise, _ = aks.make("one", **SHARED)
    config = config_map(gather([promise]))
    theirs = {**config, "data": {**config["data"], "time-sliced-10": "version: v1\n", "other": "version: v1\n"}}
    with aks.kube() as kube, monkeypatch.context() as patch:
        patch.setattr(api, "MANAGER", "argocd")
        kube.apply_config_map(theirs)
    planned = plan_config(aks.session(), aks.cluster, [promise])
    assert planned.plan.changes[0].action is Action.UPDATE
    assert isinstance(planned.problem, NotOurs)
    assert all(word in planned.problem.message for word in ("argocd", "time-sliced-10"))
    with pytest.raises(NotOurs):
        apply_config(aks.session(), planned)
    with aks.kube() as kube:
        there = kube.config_map("gpu-operator", NAME)
    assert there is not None
    assert there["data"] == theirs["data"]


def test_a_key_of_others_that_the_cluster_has_stops_nobody(aks: Cloud) -> None:
    aks.make("theirs", gpu="t4", timeSlicing={"replicas": 3}, configKey="mystery")
    ours, _ = aks.make("ours", **SHARED)
    promises = existing(aks.session(), load()).items
    assert {one.key for one in promises} == {"mystery", "time-sliced-10"}
    with pytest.raises(Invalid) as caught:
        plan_config(aks.session(), aks.cluster, promises)
    assert caught.value.code == "plugin-key-missing"
    metadata = {"name": "theirs", "namespace": "gpu-operator", "labels": {"app.kubernetes.io/managed-by": "Helm"}}
    with aks.kube() as kube:
        kube.apply_config_map(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"mystery": "version: v1\n"}}
        )
    planned = plan_config(aks.session(), aks.cluster, promises)
    assert planned.manifest is not None
    assert set(planned.manifest["data"]) == {"default", str(ours.key)}


def test_a_config_map_of_others_is_left_alone(aks: Cloud) -> None:
    promise, _ = aks.make("one", **SHARED)
    with aks.kube() as kube:
        kube.apply_config_map(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {
                    "name": NAME,
                    "namespace": "gpu-operator",
                    "labels": {"app.kubernetes.io/managed-by": "Helm"},
                },
                "data": {"default": "version: v1\n"},
            }
        )
    with pytest.raises(NotOurs) as caught:
        plan_config(aks.session(), aks.cluster, [promise])
    assert "Helm" in caught.value.message


def test_a_namespace_that_is_missing_is_said(aks: Cloud) -> None:
    promise, _ = aks.make("one", **SHARED)
    session = aks.session()
    planned = plan_config(session, aks.cluster, [promise], "elsewhere")
    assert [note.code for note in planned.plan.notes] == ["plugin-elsewhere"]
    assert "--namespace gpu-operator" in str(planned.plan.notes[0].hint)
    with pytest.raises(NotFound) as caught:
        apply_config(session, planned)
    assert "elsewhere" in caught.value.message
    assert "kubectl create namespace elsewhere" in (caught.value.hint or "")


def test_a_label_without_its_config_crashes_the_plugin_and_that_is_told(aks: Cloud) -> None:
    other, _ = aks.make("other", gpu="t4", timeSlicing={"replicas": 4})
    apply_for(aks, other)
    _, seen = aks.make("gpus", **SHARED)
    result = look(aks, seen)
    assert codes(result) == {"slices-missing", "plugin-failing"}
    problem = next(one for one in failures(result) if one.code == "plugin-failing")
    assert "time-sliced-10" in problem.message
    assert "plugin apply" in (problem.hint or "")


def test_a_taint_that_keeps_the_plugin_off(aks: Cloud) -> None:
    promise, seen = aks.make("gpus", **SHARED, taints=["team=vision:NoSchedule"])
    apply_for(aks, promise)
    result = look(aks, seen)
    assert {"slices-missing", "no-plugin"} <= codes(result)


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ({"allocatable": {"nvidia.com/gpu": 1}}, "slices-missing"),
        ({"allocatable": {"nvidia.com/gpu": 7, "nvidia.com/mig-1g.10gb": 7}}, "unexpected-resource"),
        ({"allocatable": {"nvidia.com/gpu": 0}}, "slices-missing"),
        ({"ready": False}, "node-not-ready"),
        ({"labels": {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB-MIG-INVALID"}}, "mig-invalid"),
        ({"labels": {"nvidia.com/mig.config.state": "failed"}}, "mig-failed"),
        ({"labels": {"cloud.google.com/gke-gpu-partition-size": "2g.20gb"}}, "label-missing"),
    ],
    ids=["one", "mixed beside single", "none", "not ready", "invalid", "failed", "label"],
)
def test_one_node_of_three_that_falls_short(gke: Cloud, how: dict[str, Any], code: str) -> None:
    promise, seen = gke.make("gpus", **SLICED, nodes={"count": 3})
    wrong = gke.nodes(promise)[1]
    gke.set_node(wrong, **how)
    result = look(gke, seen)
    assert [node.name for node in result.nodes if not node.ok] == [wrong]
    assert code in codes(result)


def test_waiting_until_it_is_verified(gke: Cloud) -> None:
    promise, _ = gke.make("gpus", **SLICED)
    item = finish(wait_for(gke.session(), gke.wait("gpus"), Goal.VERIFIED))
    assert item.outcome is Outcome.DONE
    gke.set_node(gke.nodes(promise)[0], allocatable={"nvidia.com/gpu": 1})
    with pytest.raises(TimedOut) as caught:
        finish(wait_for(gke.session(), gke.wait("gpus", 60), Goal.VERIFIED))
    assert "1 allocatable, 7 promised" in caught.value.message


@pytest.mark.parametrize(
    ("name", "nodes"),
    [("gke", {"min": 0, "max": 3, "count": 0}), ("aks", {"count": 0}), ("eks", {"min": 0, "max": 3, "count": 0})],
    ids=["gke", "aks", "eks"],
)
def test_a_node_that_is_started_to_prove_its_slices_goes_again(
    sandbox: Sandbox, name: str, nodes: dict[str, int]
) -> None:
    cloud = Cloud(sandbox, name)
    promise, seen = cloud.make("gpus", **SLICED, nodes=nodes)
    unproven = look(cloud, seen)
    assert (unproven.ok, unproven.proven) == (True, False)
    session = cloud.session()
    result = finish(prove(session, seen, load(), cloud.wait("gpus")))
    assert (result.ok, len(result.nodes), result.notes) == (True, 1, ())
    cloud.sandbox.advance(600)
    assert cloud.nodes(promise) == []
    after = session.observe("gpus")
    assert after is not None
    assert provider(name).read(after)[0].spec.nodes == provider(name).read(seen)[0].spec.nodes


def test_aks_is_back_at_zero_with_its_limits(aks: Cloud) -> None:
    _, seen = aks.make("gpus", **SLICED, nodes={"min": 0, "max": 3, "count": 0})
    session = aks.session()
    result = finish(prove(session, seen, load(), aks.wait("gpus")))
    assert (result.ok, len(result.nodes)) == (True, 1)
    after = session.observe("gpus")
    assert after is not None
    assert (after.status.nodes, after.body["properties"]["minCount"]) == (0, 0)


def made(cloud: Cloud, name: str, **spec: Any) -> Item:
    """A pool created and verified, as `pool create` does it."""
    session = cloud.session()
    prepared = prepare(cloud.written(name, **spec), load(), facts=session.cluster_facts())
    wait = cloud.wait(name)
    work = create(prepared, session, wait, Choices(), How())
    return finish(verified(work, of_pool(prepared.pool), session, wait, load()))


def test_what_is_made_is_verified(gke: Cloud) -> None:
    item = made(gke, "gpus", **SLICED)
    assert item.outcome is Outcome.DONE
    assert "not-verified" not in {note.code for note in item.notes}


def test_a_missing_config_is_said_and_not_waited_for(aks: Cloud) -> None:
    item = made(aks, "gpus", **SHARED)
    assert item.outcome is Outcome.DONE
    note = next(note for note in item.notes if note.code == "not-verified")
    assert "time-sliced-10" in note.message


def test_slices_that_do_not_come_fail_the_pool(aks: Cloud) -> None:
    session = aks.session()
    prepared = prepare(aks.written("gpus", **SHARED, taints=["team=vision:NoSchedule"]), load())
    apply_config(session, plan_config(session, aks.cluster, [of_pool(prepared.pool)]))
    item = made(aks, "gpus", **SHARED, taints=["team=vision:NoSchedule"])
    assert item.outcome is Outcome.FAILED
    assert isinstance(item.error, SlicesMissing)


def test_a_cluster_that_cannot_be_asked_is_a_note(gke: Cloud) -> None:
    gke.sandbox.world.faults.add("k8s", "list nodes", status=403, message="no", times=99)
    item = made(gke, "gpus", **SLICED)
    assert item.outcome is Outcome.DONE
    assert "not-verified" in {note.code for note in item.notes}
