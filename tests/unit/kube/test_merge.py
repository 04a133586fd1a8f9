"""What is in the cluster and what should be there: nothing is lost, and nothing of others is taken."""

from __future__ import annotations

import itertools
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from fracgpu.kube.merge import changed, merged, owner, settled
from fracgpu.kube.plugin import Configs
from fracgpu.pluginkey import PluginConfig, document
from fracgpu.sharing import TimeSlicing

PROFILES = ("1g.5gb", "2g.10gb", "3g.20gb")
NAMES = tuple(f"nvidia.com/mig-{profile}" for profile in PROFILES)


def text(replicas: int, *names: str) -> str:
    config = PluginConfig(mixed=True, share=TimeSlicing(replicas))
    return Configs({"key": document(config, ("nvidia.com/gpu", *names))}).data()["key"]


def there(ours: tuple[str, ...] = (), **data: str) -> Any:
    fields: dict[str, Any] = {f"f:{key}": {} for key in ours}
    managed = [{"manager": "fracgpu", "operation": "Apply", "fieldsV1": {"f:data": fields}}]
    labels = {"app.kubernetes.io/managed-by": "fracgpu"}
    return {"metadata": {"name": "x", "namespace": "y", "labels": labels, "managedFields": managed}, "data": data}


def shared(config: str) -> list[str]:
    return [one["name"] for one in yaml.safe_load(config)["sharing"]["timeSlicing"]["resources"]]


def test_keys_of_other_pools_that_we_wrote_stay() -> None:
    now = there(("old",), old=text(2), theirs="version: v1\n")
    data = merged(now, {"new": text(3)})
    assert set(data) == {"old", "new"}


@given(st.sets(st.sampled_from(NAMES)), st.sets(st.sampled_from(NAMES)))
def test_a_key_shares_what_any_pool_needs(before: set[str], wanted: set[str]) -> None:
    now = there(("key",), key=text(2, *sorted(before)))
    data = merged(now, {"key": text(2, *sorted(wanted))})
    assert set(shared(data["key"])) == {"nvidia.com/gpu", *before, *wanted}
    again = merged(there(("key",), key=data["key"]), {"key": text(2, *sorted(wanted))})
    assert not changed(there(("key",), key=data["key"]), again)


def test_another_number_of_shares_is_another_meaning() -> None:
    now = there(("key",), key=text(2, NAMES[0]))
    data = merged(now, {"key": text(3)})
    assert data["key"] == text(3)
    assert changed(now, data) == ["key"]


def test_spelling_is_no_change() -> None:
    loose = yaml.safe_dump(yaml.safe_load(text(2)), sort_keys=True, indent=4)
    assert loose != text(2)
    assert not changed(there(("key",), key=loose), {"key": text(2)})


def test_what_is_no_yaml_is_replaced_and_said() -> None:
    now = there(("key",), key="{ not yaml")
    data = merged(now, {"key": text(2)})
    assert data["key"] == text(2)
    assert changed(now, data) == ["key"]


def test_a_first_time() -> None:
    assert merged(None, {"key": text(2)}) == {"key": text(2)}
    assert changed(None, {"key": text(2)}) == []


def test_whose_it_is() -> None:
    assert owner(there()) is None
    helm = {"metadata": {"labels": {"app.kubernetes.io/managed-by": "Helm"}}}
    hand = {"metadata": {"managedFields": [{"manager": "kubectl-create"}]}}
    assert owner(helm) == "Helm"
    assert owner(hand) == "kubectl-create"
    assert owner({"metadata": {}}) == "somebody else"


def test_only_what_we_apply_is_compared() -> None:
    body = settled(there(key="text"))
    assert set(body["metadata"]) == {"name", "namespace", "labels"}
    assert body["data"] == {"key": "text"}


def test_profiles_are_in_one_order_whoever_came_first() -> None:
    texts = {
        merged(there(("key",), key=text(2, *first)), {"key": text(2, *second)})["key"]
        for first, second in itertools.permutations([(NAMES[0],), (NAMES[2],)])
    }
    assert len(texts) == 1
