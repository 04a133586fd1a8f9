"""The four patches, over HTTP where a server decides and on plain data where laws hold."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fracgpu.sandbox.kubernetes.apply import apply, owners_of
from fracgpu.sandbox.kubernetes.fields import fields_of, from_tree, to_tree
from fracgpu.sandbox.kubernetes.patch import json_patch, merge, strategic
from fracgpu.sandbox.kubernetes.status import ApiError
from tests.sandbox.kubernetes.conftest import Answer, Api

MAPS = "api/v1/namespaces/default/configmaps"
Json = dict[str, Any]


def server_apply(api: Api, manager: str, data: Json, *, force: bool = False, **query: str) -> Answer:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": data}
    if force:
        query["force"] = "true"
    return api.call("PATCH", f"{MAPS}/x", body, kind="application/apply-patch+yaml", fieldManager=manager, **query)


def test_apply_creates_then_updates_then_removes_what_it_no_longer_says(api: Api) -> None:
    assert server_apply(api, "me", {"a": "1", "b": "1"}).status == 201
    assert server_apply(api, "me", {"a": "2", "b": "1"}).body["data"] == {"a": "2", "b": "1"}
    assert server_apply(api, "me", {"a": "2"}).body["data"] == {"a": "2"}


def test_apply_again_changes_nothing(api: Api) -> None:
    first = server_apply(api, "me", {"a": "1"}).body["metadata"]
    again = server_apply(api, "me", {"a": "1"}).body["metadata"]
    assert (again["resourceVersion"], again["managedFields"]) == (first["resourceVersion"], first["managedFields"])


def test_two_managers_share_an_object(api: Api) -> None:
    server_apply(api, "me", {"a": "1"})
    assert server_apply(api, "you", {"b": "1"}).body["data"] == {"a": "1", "b": "1"}
    assert server_apply(api, "me", {"c": "1"}).body["data"] == {"b": "1", "c": "1"}
    entries = api.get(f"{MAPS}/x")["metadata"]["managedFields"]
    owned = {entry["manager"]: list(entry["fieldsV1"]["f:data"]) for entry in entries}
    assert owned == {"me": ["f:c"], "you": ["f:b"]}


def test_one_conflict_reads_as_the_real_one(api: Api) -> None:
    server_apply(api, "me", {"a": "1"})
    answer = server_apply(api, "you", {"a": "2"})
    assert (answer.status, answer.body["reason"]) == (409, "Conflict")
    assert answer.body["message"] == 'Apply failed with 1 conflict: conflict with "me": .data.a'
    assert answer.body["details"]["causes"] == [
        {"reason": "FieldManagerConflict", "message": 'conflict with "me"', "field": ".data.a"}
    ]
    assert api.get(f"{MAPS}/x")["data"] == {"a": "1"}


def test_several_conflicts_are_listed_by_manager(api: Api) -> None:
    api.call("POST", MAPS, {"metadata": {"name": "x"}, "data": {"c": "0"}}, fieldManager="hand")
    server_apply(api, "me", {"a": "1", "b": "1"})
    answer = server_apply(api, "you", {"a": "2", "b": "2", "c": "2"})
    time = next(e["time"] for e in api.get(f"{MAPS}/x")["metadata"]["managedFields"] if e["manager"] == "hand")
    assert answer.body["message"] == (
        f'Apply failed with 3 conflicts: conflicts with "hand" using v1 at {time}:\n- .data.c\n'
        'conflicts with "me":\n- .data.a\n- .data.b'
    )


def test_force_takes_the_fields(api: Api) -> None:
    server_apply(api, "me", {"a": "1"})
    taken = server_apply(api, "you", {"a": "2"}, force=True)
    assert taken.body["data"] == {"a": "2"}
    assert [entry["manager"] for entry in taken.body["metadata"]["managedFields"]] == ["you"]
    assert server_apply(api, "me", {"a": "2"}).status == 200


def test_the_same_value_is_no_conflict_and_then_shared(api: Api) -> None:
    server_apply(api, "me", {"a": "1"})
    assert server_apply(api, "you", {"a": "1"}).status == 200
    assert server_apply(api, "me", {}).body["data"] == {"a": "1"}, "the other still wants it"


def test_apply_needs_a_manager(api: Api) -> None:
    answer = api.call("PATCH", f"{MAPS}/x", {"metadata": {"name": "x"}}, kind="application/apply-patch+yaml")
    assert answer.status == 422
    assert "fieldManager" in answer.body["message"]


def test_a_dry_run_of_apply_finds_the_conflict_and_keeps_nothing(api: Api) -> None:
    assert server_apply(api, "me", {"a": "1"}, dryRun="All").status == 201
    assert api.names(MAPS) == []
    server_apply(api, "me", {"a": "1"})
    assert server_apply(api, "you", {"a": "2"}, dryRun="All").status == 409


def test_list_items_are_owned_by_key() -> None:
    def body(**images: str) -> Json:
        containers = [{"name": name, "image": image} for name, image in images.items()]
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {"containers": containers}}

    first = apply(None, body(a="1"), "me", force=False)
    both = apply(first, body(b="1"), "you", force=False)
    assert [row["name"] for row in both["spec"]["containers"]] == ["a", "b"]
    with pytest.raises(ApiError, match=r'conflict with "me": \.spec\.containers\[name="a"\]\.image'):
        apply(both, body(a="2"), "you", force=False)
    gone = apply(both, body(), "me", force=False)
    assert [row["name"] for row in gone["spec"]["containers"]] == ["b"]


_KEYS = st.sampled_from(["a", "b", "c"])
_CONFIG = st.dictionaries(
    _KEYS, st.one_of(st.text("xy", max_size=1), st.dictionaries(_KEYS, st.text("xy", max_size=1)))
)


def config_of(data: Json) -> Json:
    return {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "x"}, "data": data}


@given(_CONFIG, _CONFIG)
def test_what_a_manager_applies_last_is_what_stands(first: Json, second: Json) -> None:
    live = apply(apply(None, config_of(first), "me", force=False), config_of(second), "me", force=False)
    assert fields_of(live) == fields_of(config_of(second))


@given(_CONFIG, _CONFIG)
def test_apply_is_idempotent_and_force_always_wins(first: Json, second: Json) -> None:
    live = apply(apply(None, config_of(first), "me", force=False), config_of(second), "you", force=True)
    again = apply(live, config_of(second), "you", force=False)
    assert again.get("data") == live.get("data")
    mine = {owner.manager: owner.fields for owner in owners_of(again)}
    assert mine.get("you", frozenset()) == fields_of(config_of(second))


@given(_CONFIG)
def test_fields_survive_their_json_form(data: Json) -> None:
    fields = fields_of(config_of(data))
    assert from_tree(to_tree(fields)) == fields


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        ({"a": 1, "b": 2}, {"b": None}, {"a": 1}),
        ({"a": {"b": 1}}, {"a": {"c": 2}}, {"a": {"b": 1, "c": 2}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": {"b": 1}}, {"a": "c"}, {"a": "c"}),
        ({}, {"a": {"b": None}}, {"a": {}}),
    ],
)
def test_merge_patch(target: Json, patch: Json, result: Json) -> None:
    assert merge(target, patch) == result


A, B = {"name": "a", "image": "1"}, {"name": "b", "image": "1"}


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        ({"containers": [A]}, {"containers": [{"name": "b", "image": "1"}]}, {"containers": [A, B]}),
        ({"containers": [A, B]}, {"containers": [{"name": "a", "$patch": "delete"}]}, {"containers": [B]}),
        (
            {"containers": [A]},
            {"containers": [{"name": "a", "image": "2"}], "$setElementOrder/containers": [{"name": "a"}]},
            {"containers": [{"name": "a", "image": "2"}]},
        ),
        ({"containers": [A]}, {"containers": [{"$patch": "replace"}, B]}, {"containers": [B]}),
        ({"taints": [{"key": "a"}]}, {"taints": [{"key": "b"}]}, {"taints": [{"key": "b"}]}),
        ({"finalizers": ["a"]}, {"finalizers": ["b"]}, {"finalizers": ["a", "b"]}),
        ({"finalizers": ["a", "b"]}, {"$deleteFromPrimitiveList/finalizers": ["a"]}, {"finalizers": ["b"]}),
        ({"x": {"a": 1, "b": 2}}, {"x": {"$retainKeys": ["b"], "b": 3}}, {"x": {"b": 3}}),
        ({"x": {"a": 1}}, {"x": {"$patch": "replace", "b": 2}}, {"x": {"b": 2}}),
    ],
)
def test_strategic_patch(target: Json, patch: Json, result: Json) -> None:
    assert strategic(target, patch) == result


@pytest.mark.parametrize(
    ("operations", "result"),
    [
        ([{"op": "add", "path": "/b", "value": 2}], {"a": [1, 2], "b": 2}),
        ([{"op": "add", "path": "/a/-", "value": 3}], {"a": [1, 2, 3]}),
        ([{"op": "add", "path": "/a/0", "value": 0}], {"a": [0, 1, 2]}),
        ([{"op": "remove", "path": "/a/0"}], {"a": [2]}),
        ([{"op": "replace", "path": "/a/1", "value": 9}], {"a": [1, 9]}),
        ([{"op": "move", "from": "/a", "path": "/c~1d"}], {"c/d": [1, 2]}),
        ([{"op": "copy", "from": "/a/0", "path": "/b"}], {"a": [1, 2], "b": 1}),
        ([{"op": "test", "path": "/a/0", "value": 1}], {"a": [1, 2]}),
    ],
)
def test_json_patch(operations: list[Json], result: Json) -> None:
    target = {"a": [1, 2]}
    before = copy.deepcopy(target)
    assert json_patch(target, operations) == result
    assert target == before


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/none"},
        {"op": "replace", "path": "/none", "value": 1},
        {"op": "test", "path": "/a/0", "value": 2},
        {"op": "dance", "path": "/a"},
        {"op": "add", "path": "a", "value": 1},
    ],
)
def test_a_json_patch_that_does_not_fit_is_422(api: Api, operation: Json) -> None:
    api.create(MAPS, {"metadata": {"name": "x"}})
    answer = api.call("PATCH", f"{MAPS}/x", [operation], kind="application/json-patch+json")
    assert (answer.status, answer.body["reason"]) == (422, "Invalid")


def test_patches_do_not_rename(api: Api) -> None:
    api.create(MAPS, {"metadata": {"name": "x"}})
    answer = api.call("PATCH", f"{MAPS}/x", {"metadata": {"name": "y"}}, kind="application/merge-patch+json")
    assert answer.status == 422
