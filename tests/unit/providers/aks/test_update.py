"""What an update sends: the pool as it came, with what differs set as desired."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fracgpu.plan import Json
from fracgpu.providers import Observed
from fracgpu.providers.aks.status import observed
from fracgpu.providers.aks.update import changes, merged, unmarked
from tests.aks_pools import A100_MIG, pool, properties, resource, seen

WIRE = Path(__file__).parents[3] / "golden" / "wire" / "aks"
SPOT: Json = {**A100_MIG, "capacity": "spot", "nodes": {"min": 1, "max": 5}}
SPOT_LABEL = {"kubernetes.azure.com/scalesetpriority": "spot"}
SPOT_TAINT = "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"


def shown(**more: object) -> Json:
    """The Spot pool as AKS shows it, with labels and taints of its own and more than a file can say."""
    body = properties(**SPOT, labels={"team": "ml"})
    labels, taints = {**body["nodeLabels"], **SPOT_LABEL}, [*body["nodeTaints"], SPOT_TAINT]
    return {**body, "nodeLabels": labels, "nodeTaints": taints, "kubeletConfig": {"podMaxPids": 9}, "new": 1, **more}


def there(body: Json) -> Observed:
    return seen(pool(**SPOT), body)


def sent(body: Json, **wanted: object) -> Json:
    found: Json = merged(there(body).resources[-1], {"properties": body}, resource(pool(**{**SPOT, **wanted})).body)
    properties_sent: Json = found["properties"]
    return properties_sent


def test_what_a_file_cannot_say_goes_back_as_it_came() -> None:
    body = shown()
    after = sent(body, labels={"team": "ml"}, nodes={"min": 2, "max": 5})
    assert {name: value for name, value in after.items() if body[name] != value} == {"minCount": 2, "count": 2}


def test_labels_are_replaced_and_spots_own_stays() -> None:
    assert sent(shown(), labels={"owner": "cv"})["nodeLabels"] == {"owner": "cv", **SPOT_LABEL}


def test_no_labels_is_an_empty_map_and_not_silence() -> None:
    assert sent(shown())["nodeLabels"] == SPOT_LABEL
    assert sent(shown(nodeLabels={"team": "ml"}))["nodeLabels"] == {}


def test_labels_on_a_pool_that_has_only_spots_own() -> None:
    assert sent(shown(nodeLabels=SPOT_LABEL), labels={"a": "b"})["nodeLabels"] == {"a": "b", **SPOT_LABEL}


def test_taints_are_replaced_and_spots_own_stays() -> None:
    after = sent(shown(), labels={"team": "ml"}, gpuTaint=False, taints=["a=b:NoExecute"])
    assert after["nodeTaints"] == ["a=b:NoExecute", SPOT_TAINT]


@pytest.mark.parametrize(
    ("count", "limits", "sends"),
    [
        (4, {"min": 1, "max": 9}, 4),
        (4, {"min": 1, "max": 3}, 3),
        (4, {"min": 6, "max": 9}, 6),
        (0, {"min": 1, "max": 5}, 1),
    ],
)
def test_under_autoscaling_the_count_stays_as_near_as_the_limits_let_it(count: int, limits: Json, sends: int) -> None:
    assert sent(shown(count=count), labels={"team": "ml"}, nodes=limits)["count"] == sends


def test_a_fixed_size_has_no_limits() -> None:
    after = sent(shown(count=4), labels={"team": "ml"}, nodes={"count": 2})
    assert (after["enableAutoScaling"], after["count"]) == (False, 2)
    assert "minCount" not in after
    assert "maxCount" not in after


def test_marks_are_added_and_others_kept() -> None:
    body = shown(tags={"fracgpu-fleet": "blue", "team": "ml"})
    wanted = resource(pool(**SPOT, labels={"team": "ml"}, tags={"team": "ml"})).body
    assert changes(there(body).resources[-1], wanted) == ()
    assert unmarked(there(body).resources[-1], wanted) == {"fracgpu-managed": "true"}
    after = merged(there(body).resources[-1], {"properties": body}, wanted)["properties"]
    assert after["tags"] == {"fracgpu-fleet": "blue", "team": "ml", "fracgpu-managed": "true"}


def test_as_az_updates_an_autoscaler() -> None:
    """The same change by az sends the same body, but for the driver that it does not know of."""
    recorded = json.loads((WIRE / "update-autoscaler.json").read_text())
    before = {**recorded["put"]["properties"], "minCount": 1, "maxCount": 4, "tags": {"fracgpu-managed": "true"}}
    row = observed({"name": "existing", "properties": before}, pool(**SPOT).cluster)
    wanted = {"machine": before["vmSize"], "capacity": "spot", "disk": {"sizeGb": 200}, "nodes": {"min": 0, "max": 8}}
    body = merged(row.resources[-1], {"properties": before}, resource(pool("existing", **wanted)).body)
    assert body["properties"] == {**recorded["put"]["properties"], "tags": {"fracgpu-managed": "true"}}
