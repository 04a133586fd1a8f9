"""Law 4: what GKE adds is no difference. One test an entry of its list, and what each kind of change takes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from fracgpu.differences import Effect
from fracgpu.plan import Action, Json, Resource, change_of
from fracgpu.providers import FLEET, MANAGED, gke
from fracgpu.providers.gke.compare import ADDED, GPU_TAINT
from tests.gke_pools import pool, resource, seen

BASE: Json = {
    "machine": "a2-highgpu-1g",
    "sharing": {"mig": {"profile": "1g.5gb"}, "timeSlicing": {"replicas": 2}},
    "nodes": {"min": 0, "max": 6, "count": 3},
    "labels": {"team": "vision"},
    "tags": {"cost": "42"},
    "zones": ["us-central1-b", "us-central1-a"],
    "gke": {"networkTags": ["b", "a"], "maxUnavailable": 0},
}
"""Counts are over two zones; three nodes become two."""


def change(spec: Json, observed: Json) -> Any:
    """What it takes to make the observed body into that of the spec."""
    wanted = resource(pool(**spec))
    there = seen(pool(**spec), observed).resources[-1]
    return change_of(wanted, gke.settled(there), gke.comparison(wanted.kind))


def edited(edit: Callable[[Json], None], **spec: Any) -> Json:
    """The body of BASE as GKE would show it after an edit of its own."""
    body = copy.deepcopy(resource(pool(**{**BASE, **spec})).body)
    edit(body)
    return body


def outputs(body: Json) -> None:
    body |= {
        "selfLink": "https://container.googleapis.com/v1/x",
        "instanceGroupUrls": ["https://x"],
        "status": "RUNNING",
        "statusMessage": "x",
        "conditions": [{"code": "GCE_STOCKOUT"}],
        "podIpv4CidrSize": 24,
        "updateInfo": {"blueGreenInfo": {}},
        "etag": "abc",
        "networkConfig": {"podRange": "x"},
        "kubeletCertInfo": {},
    }


def labels(body: Json) -> None:
    body["config"]["labels"] |= {
        "cloud.google.com/gke-accelerator": "nvidia-tesla-a100",
        "cloud.google.com/gke-spot": "true",
    }


def resource_labels(body: Json) -> None:
    body["config"]["resourceLabels"]["goog-gke-node-pool-provisioning-model"] = "on-demand"


def mark(body: Json) -> None:
    body["config"]["resourceLabels"][FLEET] = "night"


def affinity(body: Json) -> None:
    body["config"]["reservationAffinity"] = {"consumeReservationType": "NO_RESERVATION"}


def zeros(body: Json) -> None:
    for owner, names in ((body, ("initialNodeCount",)), (body["upgradeSettings"], ("maxUnavailable",))):
        for name in names:
            assert owner[name] == 0
            del owner[name]
    del body["autoscaling"]["totalMinNodeCount"]


def per_zone(body: Json) -> None:
    body["autoscaling"] = {"enabled": True, "minNodeCount": 0, "maxNodeCount": 3, "locationPolicy": "BALANCED"}


def order(body: Json) -> None:
    config = body["config"]
    for owner, name in ((body, "locations"), (config, "tags"), (config, "taints"), (config, "oauthScopes")):
        owner[name].reverse()


def no_driver(body: Json) -> None:
    del body["config"]["accelerators"][0]["gpuDriverInstallationConfig"]


ENTRIES: dict[str, tuple[Callable[[Json], None], Json]] = {
    "what only the server writes": (outputs, {}),
    "labels cloud.google.com/gke-*": (labels, {}),
    "resource labels goog-*": (resource_labels, {}),
    "the mark of ownership": (mark, {}),
    "a reservation affinity that names no reservation": (affinity, {}),
    "a driver of no version": (no_driver, {"sharing": {}, "gke": {"driver": "None"}}),
    "zeros, which proto JSON leaves out": (zeros, {"nodes": {"min": 0, "max": 6}}),
    "autoscaling that is off, and limits per zone": (per_zone, {}),
    "an order of its own": (order, {"taints": ["a=b:NoExecute"]}),
}


def test_every_entry_has_its_test() -> None:
    assert list(ENTRIES) == [added.what for added in ADDED]


@pytest.mark.parametrize("what", ENTRIES)
def test_what_gke_adds_is_no_difference(what: str) -> None:
    edit, spec = ENTRIES[what]
    observed = edited(edit, **spec)
    assert observed != resource(pool(**{**BASE, **spec})).body
    found = change({**BASE, **spec}, observed)
    assert (found.action, found.fields) == (Action.NO_OP, ())


@pytest.mark.parametrize("what", ENTRIES)
def test_without_its_entry_it_would_be_one(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The entry does something: taking it out changes what is compared."""
    edit, spec = ENTRIES[what]
    there = seen(pool(**{**BASE, **spec}), edited(edit, **spec)).resources[-1]
    whole = gke.settled(there)
    monkeypatch.setattr("fracgpu.providers.gke.compare.ADDED", tuple(added for added in ADDED if added.what != what))
    assert _settled_or_error(there) != whole


def _settled_or_error(there: Resource) -> Resource | None:
    try:
        return gke.settled(there)
    except KeyError:
        return None


def test_fixed_size_without_autoscaling_says_nothing() -> None:
    spec = {**BASE, "nodes": {"count": 4}}
    observed = resource(pool(**spec)).body | {"autoscaling": {}}
    assert change(spec, observed).action is Action.NO_OP


def test_whose_a_pool_is_is_no_difference() -> None:
    observed = edited(lambda body: body["config"]["resourceLabels"].pop(MANAGED))
    assert change(BASE, observed).action is Action.NO_OP
    bare = edited(lambda body: body["config"].pop("resourceLabels"), tags={})
    assert change({**BASE, "tags": {}}, bare).action is Action.NO_OP


@pytest.mark.parametrize("count", [0, 1, 5])
def test_the_count_under_autoscaling_is_gkes(count: int) -> None:
    observed = edited(lambda body: body.update(initialNodeCount=count))
    assert change(BASE, observed).action is Action.NO_OP


def test_its_own_gpu_taint_is_no_difference() -> None:
    spec = {**BASE, "gpuTaint": False, "taints": ["a=b:NoExecute"]}
    observed = edited(
        lambda body: body["config"]["taints"].append(dict(GPU_TAINT)), gpuTaint=False, taints=["a=b:NoExecute"]
    )
    assert change(spec, observed).action is Action.NO_OP


def test_a_version_said_in_part_matches() -> None:
    spec = {**BASE, "gke": {"version": "1.35"}}
    observed = edited(lambda body: body.update(version="1.35.3-gke.1389000"), gke={"version": "1.35"})
    assert change(spec, observed).action is Action.NO_OP


def test_an_image_type_matches_in_any_case() -> None:
    spec = {**BASE, "gke": {"imageType": "cos_containerd"}}
    observed = edited(
        lambda body: body["config"].update(imageType="COS_CONTAINERD"), gke={"imageType": "cos_containerd"}
    )
    assert change(spec, observed).action is Action.NO_OP


@pytest.mark.parametrize(
    ("after", "path", "effect"),
    [
        (
            {"sharing": {"mig": {"profile": "2g.10gb"}, "timeSlicing": {"replicas": 2}}},
            "config.accelerators.0.gpuPartitionSize",
            Effect.REPLACE,
        ),
        ({"sharing": {"timeSlicing": {"replicas": 2}}}, "config.accelerators.0.gpuPartitionSize", Effect.REPLACE),
        (
            {"sharing": {"mig": {"profile": "1g.5gb"}, "timeSlicing": {"replicas": 3}}},
            "config.accelerators.0.gpuSharingConfig.maxSharedClientsPerGpu",
            Effect.ROLLING,
        ),
        (
            {"sharing": {"mig": {"profile": "1g.5gb"}, "mps": {"replicas": 2}}},
            "config.accelerators.0.gpuSharingConfig.gpuSharingStrategy",
            Effect.ROLLING,
        ),
        ({"sharing": {"mig": {"profile": "1g.5gb"}}}, "config.accelerators.0.gpuSharingConfig", Effect.ROLLING),
        (
            {"gke": {"driverVersion": "LATEST", "networkTags": ["a", "b"]}},
            "config.accelerators.0.gpuDriverInstallationConfig.gpuDriverVersion",
            Effect.ROLLING,
        ),
        ({"machine": "a2-highgpu-2g"}, "config.accelerators.0.acceleratorCount", Effect.REPLACE),
        ({"machine": "a2-highgpu-2g"}, "config.machineType", Effect.ROLLING),
        ({"capacity": "spot"}, "config.spot", Effect.REPLACE),
        ({"capacity": "reserved", "gke": {"reservation": "r"}}, "config.reservationAffinity", Effect.REPLACE),
        ({"labels": {"team": "nlp"}}, "config.labels.team", Effect.IN_PLACE),
        ({"labels": {}}, "config.labels", Effect.IN_PLACE),
        ({"labels": {"team": "vision", "x": "y"}}, "config.labels.x", Effect.IN_PLACE),
        ({"taints": ["a=b:NoExecute"]}, "config.taints", Effect.IN_PLACE),
        ({"tags": {}}, "config.resourceLabels.cost", Effect.IN_PLACE),
        ({"gke": {"networkTags": ["c"]}}, "config.tags", Effect.IN_PLACE),
        ({"gke": {}}, "config.tags", Effect.IN_PLACE),
        ({"nodes": {"min": 0, "max": 8}}, "autoscaling.totalMaxNodeCount", Effect.IN_PLACE),
        ({"nodes": {"count": 2}}, "autoscaling.enabled", Effect.IN_PLACE),
        ({"disk": {"sizeGb": 300}}, "config.diskSizeGb", Effect.ROLLING),
        ({"gke": {"imageType": "UBUNTU_CONTAINERD", "networkTags": ["a", "b"]}}, "config.imageType", Effect.ROLLING),
        ({"gke": {"maxPods": 32}}, "maxPodsConstraint", Effect.REPLACE),
        (
            {"gke": {"oauthScopes": ["https://www.googleapis.com/auth/cloud-platform"]}},
            "config.oauthScopes",
            Effect.REPLACE,
        ),
        ({"gke": {"serviceAccount": "x@y"}}, "config.serviceAccount", Effect.REPLACE),
        ({"gke": {"autoUpgrade": False}}, "management.autoUpgrade", Effect.IN_PLACE),
        ({"gke": {"maxSurge": 2}}, "upgradeSettings.maxSurge", Effect.IN_PLACE),
        ({"zones": ["us-central1-a"]}, "locations", Effect.IN_PLACE),
    ],
)
def test_what_a_change_takes(after: Json, path: str, effect: Effect) -> None:
    found = change({**BASE, **after}, resource(pool(**BASE)).body)
    effects = {".".join(one.path): one.effect for one in found.fields}
    assert effects.get(path) is effect
    replaced = Effect.REPLACE in effects.values()
    assert found.action is (Action.REPLACE if replaced else Action.UPDATE)
    assert all(one.why for one in found.fields if one.effect is Effect.REPLACE)


def test_a_spot_pool_is_not_an_on_demand_pool() -> None:
    observed = edited(lambda body: body["config"].update(spot=True))
    assert change(BASE, observed).action is Action.REPLACE


def test_the_count_of_a_fixed_pool_is_ours() -> None:
    spec = {**BASE, "nodes": {"count": 4}}
    observed = resource(pool(**spec)).body | {"initialNodeCount": 1}
    found = change(spec, observed)
    assert [".".join(one.path) for one in found.fields] == ["initialNodeCount"]
    assert found.action is Action.UPDATE


def test_settling_does_not_touch_what_was_observed() -> None:
    there = seen(pool(**BASE), edited(outputs)).resources[-1]
    before = copy.deepcopy(there.body)
    gke.settled(there)
    assert there.body == before
