"""What AKS adds is no difference; what differs says what it takes to change it."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from fracgpu.differences import Effect
from fracgpu.plan import Action, Json
from fracgpu.providers import aks
from fracgpu.providers.aks.compare import ADDED
from tests.aks_pools import A100, A100_MIG, planned, pool, properties, resource, seen

SPOT: Json = {**A100_MIG, "capacity": "spot", "nodes": {"min": 1, "max": 5}}
SPOT_TAINT = "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"


def without(shown: Json, *names: str) -> Json:
    return {name: value for name, value in shown.items() if name not in names}


def with_spot(shown: Json) -> Json:
    return {**shown, "nodeTaints": [*shown["nodeTaints"], SPOT_TAINT]}


# One row for each entry of ADDED: a spec, and how AKS shows the pool that was made from it.
SHOWN: dict[str, tuple[Json, Any]] = {
    "what only the service writes": (
        A100_MIG,
        lambda shown: {**shown, "eTag": "e", "currentOrchestratorVersion": "1.34.2", "nodeImageVersion": "AKSUbuntu"},
    ),
    "members without a value": (
        A100_MIG,
        lambda shown: {**shown, "nodeLabels": None, "virtualMachinesProfile": None, "minCount": None, "maxCount": None},
    ),
    "labels of kubernetes.azure.com, such as that of Spot nodes": (
        SPOT,
        lambda shown: {
            **shown,
            "nodeLabels": {"kubernetes.azure.com/scalesetpriority": "spot", "kubernetes.azure.com/priority": "spot"},
        },
    ),
    "the taint of Spot nodes": (SPOT, with_spot),
    "eviction policy and price, which only Spot pools have": (
        SPOT,
        lambda shown: without(shown, "scaleSetEvictionPolicy", "spotMaxPrice"),
    ),
    "the mark of ownership": (A100_MIG, lambda shown: {**shown, "tags": {"fracgpu-managed": "true"}}),
    "the driver": (A100_MIG, lambda shown: without(shown, "gpuProfile")),
    "what an upgrade does with nodes that cannot be drained": (
        A100_MIG,
        lambda shown: {**shown, "upgradeSettings": {"maxSurge": "10%"}},
    ),
    "defaults of members that were not said": (
        A100_MIG,
        lambda shown: without(shown, "osType", "scaleSetPriority", "enableFIPS", "scaleDownMode", "enableAutoScaling"),
    ),
    "limits of an autoscaler that is off": (A100_MIG, lambda shown: {**shown, "minCount": 0, "maxCount": 0}),
    "an order of its own, and lists that are empty by now": (
        {**A100_MIG, "zones": ["1", "2"], "taints": ["b=c:NoSchedule"]},
        lambda shown: {
            **shown,
            "availabilityZones": ["2", "1"],
            "nodeTaints": list(reversed(shown["nodeTaints"])),
        },
    ),
}


def test_every_entry_has_a_row() -> None:
    assert list(SHOWN) == [added.what for added in ADDED]


@pytest.mark.parametrize("what", SHOWN)
def test_what_aks_adds_is_no_difference(what: str) -> None:
    spec, shows = SHOWN[what]
    there = seen(pool(**spec), shows(properties(**spec)))
    change = planned(pool(**spec), there)
    assert change.action is Action.NO_OP, change.reason


@pytest.mark.parametrize("what", SHOWN)
def test_each_entry_does_something(what: str) -> None:
    """The row would be a difference, or look like one, without its entry."""
    spec, shows = SHOWN[what]
    shown = shows(properties(**spec))
    entry = next(added for added in ADDED if added.what == what)
    touched = copy.deepcopy(shown)
    entry.remove(touched)
    assert touched != shown


@pytest.mark.parametrize(
    ("spec", "shown", "reason"),
    [
        (SPOT, {"count": 4}, "the autoscaler moved the count"),
        (SPOT, {"spotMaxPrice": -1.0}, "a price as a number with a point"),
        (A100_MIG, {"vmSize": "standard_nc24ads_a100_v4"}, "a size in other letters"),
        (A100_MIG, {"tags": {"Fracgpu-Managed": "true"}}, "the mark in other letters"),
        ({**A100_MIG, "tags": {"Team": "ml"}}, {"tags": {"team": "ml"}}, "a tag in other letters"),
        ({**A100_MIG, "aks": {"version": "1.34"}}, {"orchestratorVersion": "1.34.2"}, "the rest of a version"),
        (A100_MIG, {"orchestratorVersion": "1.34.2"}, "a version that nobody asked for"),
        (A100_MIG, {"osDiskType": "Ephemeral", "osDiskSizeGB": 128, "maxPods": 110}, "the service's own choices"),
        (A100_MIG, {"enableEncryptionAtHost": True, "enableNodePublicIP": True}, "what a file cannot say"),
        (
            {**A100_MIG, "nodes": {"count": 3}},
            {"enableAutoScaling": True, "minCount": 3, "maxCount": 3, "count": 2},
            "an autoscaler that may move nothing",
        ),
        (
            A100_MIG,
            {"gpuProfile": {"driver": "Install", "nvidia": {"managementMode": "Unmanaged"}}},
            "more of a profile",
        ),
    ],
)
def test_no_difference(spec: Json, shown: Json, reason: str) -> None:
    change = planned(pool(**spec), seen(pool(**spec), {**properties(**spec), **shown}))
    assert change.action is Action.NO_OP, f"{reason}: {change.reason}"


CHANGES = [
    ({"nodes": {"count": 2}}, {"nodes": {"count": 4}}, "count", Effect.IN_PLACE),
    ({"nodes": {"min": 1, "max": 3}}, {"nodes": {"min": 1, "max": 5}}, "maxCount", Effect.IN_PLACE),
    ({}, {"labels": {"team": "ml"}}, "nodeLabels", Effect.IN_PLACE),
    ({"labels": {"team": "ml"}}, {}, "nodeLabels", Effect.IN_PLACE),
    ({}, {"gpuTaint": False}, "nodeTaints", Effect.IN_PLACE),
    ({"tags": {"team": "ml"}}, {"tags": {"team": "cv"}}, "tags.team", Effect.IN_PLACE),
    ({}, {"aks": {"mode": "System"}}, "mode", Effect.IN_PLACE),
    ({}, {"aks": {"upgradeSettings": {"maxSurge": "33%"}}}, "upgradeSettings.maxSurge", Effect.IN_PLACE),
    ({"aks": {"diskType": "Managed"}}, {"aks": {"scaleDownMode": "Deallocate"}}, "scaleDownMode", Effect.IN_PLACE),
    ({"aks": {"diskType": "Ephemeral"}}, {"aks": {"scaleDownMode": "Deallocate"}}, "osDiskType", Effect.REPLACE),
    ({"aks": {"version": "1.33"}}, {"aks": {"version": "1.34"}}, "orchestratorVersion", Effect.ROLLING),
    ({}, {"aks": {"osSku": "AzureLinux"}}, "osSKU", Effect.ROLLING),
    ({}, {"capacity": "spot"}, "scaleSetPriority", Effect.REPLACE),
    ({"zones": ["1"]}, {"zones": ["1", "2"]}, "availabilityZones", Effect.REPLACE),
    ({"disk": {"sizeGb": 100}}, {"disk": {"sizeGb": 200}}, "osDiskSizeGB", Effect.REPLACE),
    ({}, {"aks": {"driver": "None"}}, "gpuProfile.driver", Effect.REPLACE),
    ({}, {"aks": {"fips": True}}, "enableFIPS", Effect.REPLACE),
    ({"aks": {"maxPods": 30}}, {"aks": {"maxPods": 50}}, "maxPods", Effect.REPLACE),
]


@pytest.mark.parametrize(("before", "after", "path", "effect"), CHANGES, ids=[row[2] for row in CHANGES])
def test_what_a_change_takes(before: Json, after: Json, path: str, effect: Effect) -> None:
    there = seen(pool(machine=A100, **before), properties(machine=A100, **before))
    change = planned(pool(machine=A100, **after), there)
    effects = {".".join(one.path).removeprefix("properties."): one.effect for one in change.fields}
    assert effects[path] is effect
    assert change.action is (Action.REPLACE if effect is Effect.REPLACE else Action.UPDATE)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"timeSlicing": {"replicas": 4}}, {"mig": {"profile": "2g.20gb"}}),
        ({"mig": {"profile": "2g.20gb"}}, {}),
        ({"mig": {"profile": "2g.20gb"}}, {"mig": {"profile": "3g.40gb"}}),
    ],
)
def test_another_cut_is_another_pool(before: Json, after: Json) -> None:
    there = seen(pool(machine=A100, sharing=before), properties(machine=A100, sharing=before))
    change = planned(pool(machine=A100, sharing=after), there)
    assert change.action is Action.REPLACE
    assert change.reason is not None
    assert "gpuInstanceProfile" in change.reason


def test_another_share_is_another_label() -> None:
    before, after = {"timeSlicing": {"replicas": 4}}, {"timeSlicing": {"replicas": 8}}
    there = seen(pool(machine=A100, sharing=before), properties(machine=A100, sharing=before))
    change = planned(pool(machine=A100, sharing=after), there)
    assert change.action is Action.UPDATE
    assert [one.path[-1] for one in change.fields] == ["nvidia.com/device-plugin.config"]


def test_a_count_that_was_evicted_below_min_is_a_difference() -> None:
    there = seen(pool(**SPOT), {**properties(**SPOT), "count": 0})
    change = planned(pool(**SPOT), there)
    assert [(one.path, one.before, one.after) for one in change.fields] == [(("properties", "count"), 0, 1)]


def test_settling_leaves_what_was_observed_alone() -> None:
    shown = with_spot(properties(**SPOT))
    there = seen(pool(**SPOT), shown)
    aks.settled(there.resources[-1])
    assert there.body["properties"]["nodeTaints"] == shown["nodeTaints"]
    assert there.body["properties"]["tags"] == {"fracgpu-managed": "true"}


def test_the_desired_body_carries_the_mark() -> None:
    assert resource(pool(**A100_MIG)).body["properties"]["tags"]["fracgpu-managed"] == "true"
