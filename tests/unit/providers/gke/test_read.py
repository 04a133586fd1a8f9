"""Existing pools as files: ours or not, such that planning them changes nothing."""

from __future__ import annotations

from typing import Any

import pytest

from fracgpu.catalog.load import load
from fracgpu.plan import Action, Json, change_of
from fracgpu.providers import FLEET, MANAGED, Phase, gke
from fracgpu.resolve import resolve
from fracgpu.sandbox.gke.pool import filled
from fracgpu.sandbox.world import Cloud, Cluster
from tests.gke_pools import FACTS, body, pool, seen

ELSEWHERE = Cluster(Cloud.GKE, ("acme", "us-central1", "regional-prod"))


def shown(spec: Json) -> Json:
    """The body of a spec with all that a server adds."""
    return filled(ELSEWHERE, body(**spec))


def said(spec: Json, observed: Json) -> tuple[Json, list[str]]:
    found, notes = gke.read(seen(pool(**spec), observed))
    dumped: Json = found.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_unset=True)["spec"]
    return dumped, [note.code for note in notes]


GCLOUD: Json = {
    "name": "old",
    "initialNodeCount": 3,
    "config": {
        "machineType": "g2-standard-8",
        "accelerators": [
            {
                "acceleratorCount": "1",
                "acceleratorType": "nvidia-l4",
                "gpuSharingConfig": {"gpuSharingStrategy": "TIME_SHARING", "maxSharedClientsPerGpu": "4"},
            }
        ],
        "oauthScopes": ["https://www.googleapis.com/auth/cloud-platform"],
        "tags": ["b", "a"],
    },
    "autoscaling": {"enabled": True, "minNodeCount": 1, "maxNodeCount": 2},
    "upgradeSettings": {"strategy": "BLUE_GREEN"},
}
"""A pool that fracgpu would not have made: limits per zone, no driver said, no taint, no mark, nothing managed."""


def test_a_pool_of_somebody_else() -> None:
    spec, notes = said({"machine": "g2-standard-8"}, GCLOUD | {"locations": ["us-central1-c", "us-central1-a"]})
    assert spec["sharing"] == {"timeSlicing": {"replicas": 4}}
    assert spec["nodes"] == {"min": 2, "max": 4, "count": 4}
    assert spec["gpuTaint"] is False
    assert spec["zones"] == ["us-central1-a", "us-central1-c"]
    assert spec["gke"] == {
        "driver": "None",
        "networkTags": ["a", "b"],
        "oauthScopes": ["https://www.googleapis.com/auth/cloud-platform"],
        "autoUpgrade": False,
        "autoRepair": False,
        "maxSurge": 0,
    }
    assert notes == ["not-in-file-form", "limits-in-totals"]


SPECS: list[dict[str, Any]] = [
    {"machine": "a2-highgpu-1g", "sharing": {"mig": {"profile": "1g.5gb"}}, "nodes": {"min": 0, "max": 4}},
    {
        "machine": "a2-highgpu-1g",
        "sharing": {"mig": {"profile": "3g.20gb"}, "mps": {"replicas": 3}},
        "nodes": {"count": 6},
    },
    {
        "machine": "g2-standard-24",
        "sharing": {"timeSlicing": {"replicas": 48}},
        "capacity": "spot",
        "nodes": {"min": 3, "max": 6},
    },
    {"machine": "g4-standard-48", "sharing": {"mig": {"profile": "1g.24gb+me"}}, "nodes": {"count": 3}},
    {"machine": "a4x-highgpu-4g", "sharing": {"mig": {"profile": "1g.23gb"}}, "nodes": {"count": 3}},
    {"machine": "n1-standard-16", "gpu": "t4", "gke": {"acceleratorCount": 4}, "nodes": {"count": 3}},
    {"machine": "g2-standard-4", "capacity": "reserved", "gke": {"reservation": "mine"}, "nodes": {"count": 3}},
    {
        "machine": "g2-standard-4",
        "gpuTaint": False,
        "taints": ["a=b:PreferNoSchedule", "c=:NoExecute"],
        "nodes": {"count": 3},
    },
    {"machine": "g2-standard-4", "taints": ["nvidia.com/gpu=mine:NoExecute"], "nodes": {"count": 3}},
    {
        "machine": "g2-standard-4",
        "zones": ["us-central1-f"],
        "nodes": {"min": 1, "max": 9, "count": 5},
        "labels": {"team": "vision"},
        "tags": {"cost": "42"},
        "disk": {"sizeGb": 300},
        "gke": {
            "diskType": "pd-ssd",
            "imageType": "UBUNTU_CONTAINERD",
            "locationPolicy": "ANY",
            "driverVersion": "LATEST",
            "networkTags": ["web"],
            "serviceAccount": "nodes@acme.iam.gserviceaccount.com",
            "autoUpgrade": False,
            "maxSurge": 0,
            "maxUnavailable": 2,
            "maxPods": 64,
            "gvnic": True,
        },
    },
]


@pytest.mark.parametrize("spec", SPECS, ids=[f"{index}-{spec['machine']}" for index, spec in enumerate(SPECS)])
def test_exported_then_planned_nothing_changes(spec: dict[str, Any]) -> None:
    """The observed pool, read and planned again, with all that the server has added in between."""
    there = seen(pool(**spec), shown(spec))
    again = resolve(gke.read(there)[0], load())
    assert again.errors == ()
    assert again.pool is not None
    (wanted,) = gke.desired(again.pool, FACTS)
    found = change_of(wanted, gke.settled(there.resources[-1]), gke.comparison(wanted.kind))
    assert found.action is Action.NO_OP, found.reason


@pytest.mark.parametrize("spec", SPECS, ids=[f"{index}-{spec['machine']}" for index, spec in enumerate(SPECS)])
def test_what_was_said_is_read_back(spec: dict[str, Any]) -> None:
    """Each field of the spec, among those that the server has filled besides."""
    found, notes = said(spec, shown(spec))
    assert notes == []
    wanted = dict(spec)
    wanted.pop("gpu", None)  # read by its key in the catalog, not as it was spelled
    assert wanted.pop("gke", {}).items() <= found.get("gke", {}).items()
    assert {key: found[key] for key in wanted} == wanted


def test_the_mark_is_not_read_and_makes_it_ours() -> None:
    there = seen(pool(machine="g2-standard-4"), body(machine="g2-standard-4", nodes={"count": 3}))
    assert there.ours
    assert gke.read(there)[0].spec.tags is None
    stranger = {
        **GCLOUD,
        "config": {**GCLOUD["config"], "resourceLabels": {MANAGED: "false", FLEET: "night"}},
    }
    other = seen(pool(machine="g2-standard-8"), stranger)
    assert not other.ours
    assert other.fleet == "night"


def test_a_pool_without_gpus_says_so() -> None:
    spec, notes = said({"machine": "g2-standard-4"}, {"name": "cpu", "config": {"machineType": "e2-standard-2"}})
    assert "no-gpu" in notes
    assert spec["machine"] == "e2-standard-2"
    assert "gpu" not in spec


def test_an_accelerator_that_the_catalog_lacks_is_named() -> None:
    accelerators = [{"acceleratorCount": "1", "acceleratorType": "nvidia-next"}]
    spec, _ = said(
        {"machine": "g2-standard-4"}, {"name": "n", "config": {"machineType": "z9", "accelerators": accelerators}}
    )
    assert spec["gpu"] == "nvidia-next"


@pytest.mark.parametrize(
    ("status", "phase", "nodes"),
    [
        ("PROVISIONING", Phase.CREATING, None),
        ("RUNNING", Phase.READY, 6),
        ("RUNNING_WITH_ERROR", Phase.DEGRADED, None),
        ("RECONCILING", Phase.UPDATING, None),
        ("STOPPING", Phase.DELETING, None),
        ("ERROR", Phase.FAILED, None),
    ],
)
def test_status(status: str, phase: Phase, nodes: int | None) -> None:
    spec: Json = {"machine": "g2-standard-4", "nodes": {"count": 6}}
    found = seen(pool(**spec), shown(spec) | {"status": status}).status
    assert (found.phase, found.nodes) == (phase, nodes)
    assert (found.problem is not None) == (phase in (Phase.DEGRADED, Phase.FAILED))


def test_a_stockout_is_told_as_such() -> None:
    text = "[GCE_STOCKOUT]: The zone 'projects/p/zones/us-central1-a' does not have enough resources available"
    spec: Json = {"machine": "g2-standard-4", "nodes": {"count": 3}}
    failed = {"status": "ERROR", "conditions": [{"code": "GCE_STOCKOUT", "message": text}]}
    found = seen(pool(**spec), shown(spec) | failed).status
    assert found.problem is not None
    assert (found.problem.code, found.problem.exit_code) == ("stock", 5)
    assert "us-central1-a" in found.problem.message
    assert found.message == text
