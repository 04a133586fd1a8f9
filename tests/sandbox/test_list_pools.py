"""The list of a cluster's pools with what only its Kubernetes API knows: used, free, drift."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fracgpu.catalog.load import load
from fracgpu.operations.list_pools import Listed, listed
from fracgpu.plan import Json
from tests.kube_pools import Cloud

if TYPE_CHECKING:
    from tests.sandbox.conftest import Sandbox

SPECS: dict[str, dict[str, Any]] = {
    "gke": {"gpu": "a100-40gb", "mig": {"profile": "1g.5gb"}, "nodes": {"count": 2}},
    "aks": {"gpu": "a100-80gb", "mig": {"profile": "2g.20gb"}, "nodes": {"count": 2}},
    "eks": {"machine": "p4d.24xlarge", "mig": {"profile": "1g.5gb"}, "nodes": {"count": 2}},
}


def look(cloud: Cloud, **how: Any) -> Listed:
    return listed(cloud.session(), cloud.cluster, load(), **how)


def status_of(found: Listed, name: str) -> Json:
    status: Json = next(one["status"] for one in found.items if one["metadata"]["name"] == name)
    return status


@pytest.mark.parametrize("name", SPECS)
def test_a_pool_and_what_is_left_of_it(sandbox: Sandbox, name: str) -> None:
    cloud = Cloud(sandbox, name)
    promise, _ = cloud.make("slices", **SPECS[name])
    ((resource, each),) = promise.resources.items()
    status = status_of(look(cloud), "slices")
    assert status["advertises"] == {resource: each}
    assert status["nodes"] == 2
    if name != "aks":  # nobody has installed the plugin there yet
        assert status["slices"] == {resource: {"total": 2 * each, "used": 0, "free": 2 * each}}
        assert status["drift"] == []

    cloud.set_node(cloud.nodes(promise)[0], allocatable={resource: 1})
    found = look(cloud)
    assert f"{resource}: 1 allocatable, {each} promised" in status_of(found, "slices")["drift"][0]
    assert "nodes-drifted" in {note.code for note in found.notes}


def test_a_cluster_that_does_not_answer_is_a_note(sandbox: Sandbox) -> None:
    cloud = Cloud(sandbox, "gke")
    cloud.make("slices", **SPECS["gke"])
    sandbox.world.faults.add("k8s", "list nodes", status=403, message="no role", times=9)
    found = look(cloud)
    status = status_of(found, "slices")
    assert (status["slices"], status["drift"], status["advertises"]) == (None, None, {"nvidia.com/gpu": 7})
    assert [note.code for note in found.notes] == ["slices-unknown"]
    assert "no role" in found.notes[0].message
    assert look(cloud, slices=False).notes == ()


def test_pools_without_a_gpu_are_left_out_unless_asked_for(sandbox: Sandbox) -> None:
    cloud = Cloud(sandbox, "gke")
    assert look(cloud).items == ()
    (other,) = look(cloud, without_gpu=True).items
    assert (other["status"]["advertises"], other["status"]["slices"]) == (None, None)
