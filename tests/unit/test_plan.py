"""What would change: what differs counts, what the cloud may fill in or move does not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fracgpu.catalog.models import ProviderName
from fracgpu.differences import Comparison, Effect, Path, differences, same
from fracgpu.errors import info
from fracgpu.plan import Action, Plan, Resource, change_of, creation, deletion, linked
from fracgpu.resolve import ClusterRef

CLUSTER = ClusterRef(ProviderName.GKE, "c", project="p", location="l")
SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab", max_size=2)
BODIES = st.dictionaries(
    st.sampled_from("abcd"),
    st.recursive(
        SCALARS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)
PATHS = st.lists(st.sampled_from("abcdxyz"), min_size=1, max_size=2).map(tuple)
COMPARISONS = st.builds(
    Comparison,
    owned=st.frozensets(PATHS, max_size=2),
    effects=st.dictionaries(PATHS, st.sampled_from(Effect), max_size=2),
    items=st.frozensets(PATHS, max_size=2),
)


def resource(body: dict[str, Any], kind: str = "gke.nodePool", **more: Any) -> Resource:
    return Resource(kind, "a", "a", CLUSTER, body, **more)


def paths(before: dict[str, Any], after: dict[str, Any], comparison: Comparison | None = None) -> list[Path]:
    return [one.path for one in differences(before, after, comparison or Comparison())]


@given(BODIES, COMPARISONS)
def test_equal_bodies_never_differ(body: dict[str, Any], comparison: Comparison) -> None:
    assert paths(body, body, comparison) == []
    change = change_of(resource(body), resource(body), comparison)
    assert (change.action, change.fields) == (Action.NO_OP, ())


@given(BODIES, BODIES, COMPARISONS)
def test_a_path_that_differs_really_differs(
    before: dict[str, Any], after: dict[str, Any], comparison: Comparison
) -> None:
    for one in differences(before, after, comparison):
        assert not same(one.before, one.after)


@given(BODIES, BODIES)
def test_what_the_desired_body_leaves_open_is_the_clouds_to_fill(before: dict[str, Any], extra: dict[str, Any]) -> None:
    """A cloud that answers with more than it was sent has changed nothing."""
    assert paths({**extra, **before}, before) == []


@given(st.one_of(SCALARS, BODIES), st.one_of(SCALARS, BODIES))
def test_sameness_has_no_direction(one: Any, other: Any) -> None:
    assert same(one, other) is same(other, one)


class TestSame:
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("4", 4),
            (None, []),
            (None, {}),
            ("", None),
            ([], {}),
            (["1"], [1]),
            ({"a": None}, {}),
            ({"n": "1"}, {"n": 1}),
        ],
    )
    def test_as_a_cloud_sees_it(self, one: Any, other: Any) -> None:
        assert same(one, other)

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            (1, 2),
            (False, None),
            (0, None),
            ("true", True),
            ([1, 2], [2, 1]),
            ([1], [1, 1]),
            ({"a": 1}, {}),
            ("a", ["a"]),
        ],
    )
    def test_what_is_another_thing(self, one: Any, other: Any) -> None:
        assert not same(one, other)


class TestOwned:
    """Labels and taints are ours whole: what the desired body lacks is to go."""

    OWNED = Comparison(owned=frozenset({("config", "labels"), ("config", "taints")}))

    def test_a_label_too_many_is_a_difference(self) -> None:
        before = {"config": {"labels": {"a": "1", "b": "2"}}}
        assert paths(before, {"config": {"labels": {"a": "1"}}}, self.OWNED) == [("config", "labels", "b")]

    @pytest.mark.parametrize("after", [{"config": {"labels": {}}}, {"config": {}}, {}])
    def test_labels_of_which_nothing_is_said_are_to_go(self, after: dict[str, Any]) -> None:
        assert paths({"config": {"labels": {"b": "2"}}}, after, self.OWNED)

    def test_a_list_is_compared_whole(self) -> None:
        assert paths({"config": {"taints": [1, 2]}}, {"config": {"taints": [1]}}, self.OWNED) == [("config", "taints")]

    def test_beside_them_what_is_open_stays_open(self) -> None:
        assert paths({"config": {"labels": {}, "diskType": "pd"}}, {"config": {}}, self.OWNED) == []


class TestItems:
    BY_ITEM = Comparison(
        items=frozenset({("accelerators",)}),
        effects={("accelerators", "0", "driver"): Effect.ROLLING, ("accelerators",): Effect.REPLACE},
        why={("accelerators",): "GPUs are part of the machine"},
    )

    def test_each_item_of_a_list_is_compared_by_itself(self) -> None:
        before = {"accelerators": [{"count": "1", "driver": "OLD", "filled": "by the cloud"}]}
        after = {"accelerators": [{"count": "1", "driver": "NEW"}]}
        (found,) = differences(before, after, self.BY_ITEM)
        assert (found.path, found.effect) == (("accelerators", "0", "driver"), Effect.ROLLING)
        assert str(found) == "accelerators.0.driver: OLD -> NEW"

    def test_the_longest_prefix_says_what_it_takes(self) -> None:
        (found,) = differences({"accelerators": [{"count": 1}]}, {"accelerators": [{"count": 2}]}, self.BY_ITEM)
        assert (found.effect, found.why) == (Effect.REPLACE, "GPUs are part of the machine")


class TestChange:
    EFFECTS = Comparison(
        effects={("machine",): Effect.REPLACE, ("driver",): Effect.ROLLING, ("noise",): Effect.IGNORED},
        why={("machine",): "a machine is for life"},
    )

    @pytest.mark.parametrize(
        ("after", "action", "reason"),
        [
            ({}, Action.NO_OP, "unchanged"),
            ({"labels": 2}, Action.UPDATE, "labels: in place"),
            ({"labels": 2, "driver": 2}, Action.UPDATE, "labels, driver: in place, nodes are recycled"),
            ({"labels": 2, "machine": 2}, Action.REPLACE, "machine: a machine is for life"),
            ({"noise": 2}, Action.NO_OP, "unchanged"),
        ],
    )
    def test_the_heaviest_field_decides(self, after: dict[str, Any], action: Action, reason: str) -> None:
        before = dict.fromkeys(("labels", "driver", "machine", "noise"), 1)
        change = change_of(resource({**before, **after}), resource(before), self.EFFECTS, tag="etag")
        assert (change.action, change.reason, change.tag) == (action, reason, "etag")
        assert change.before == before

    def test_what_does_not_exist_is_made(self) -> None:
        wanted = resource({"a": 1}, decoded={"a": "one"})
        change = change_of(wanted, None, Comparison())
        assert change == creation(wanted)
        assert (change.before, change.after, change.decoded) == (None, {"a": 1}, {"a": "one"})

    def test_what_is_deleted_has_no_after(self) -> None:
        change = deletion(resource({"a": 1}), "not in any file", tag="etag")
        assert (change.action, change.before, change.after, change.tag) == (Action.DELETE, {"a": 1}, None, "etag")

    def test_what_the_cluster_filled_in_is_no_reason_to_change(self) -> None:
        wanted = resource({"subnets": ["a"], "labels": 1}, filled=frozenset({("subnets",)}))
        assert change_of(wanted, resource({"subnets": ["b"], "labels": 1}), Comparison()).action is Action.NO_OP
        assert change_of(wanted, resource({"subnets": ["b"], "labels": 2}), Comparison()).action is Action.UPDATE

    def test_what_is_granted_to_the_cloud_is_no_difference(self) -> None:
        def granted(seen: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
            return {**seen, "count": wanted["count"]}

        comparison = Comparison(granted=granted)
        assert paths({"count": 7}, {"count": 1}, comparison) == []
        assert paths({"count": 7}, {"count": 1}) == [("count",)]


class TestLinked:
    """A node group follows the version of its launch template, which is known only when it has been made."""

    FOLLOWS = Comparison(follows={("launchTemplate", "version"): "ec2.launchTemplate"})

    def changes(self, data: int, labels: int) -> list[Action]:
        group = {"launchTemplate": {"version": "1"}, "labels": 1}
        made = [
            change_of(resource({"data": data}, "ec2.launchTemplate"), resource({"data": 1}), Comparison()),
            change_of(resource({**group, "labels": labels}, "eks.nodegroup"), resource(group), self.FOLLOWS),
        ]
        return [
            one.action for one in linked(made, lambda kind: self.FOLLOWS if kind == "eks.nodegroup" else Comparison())
        ]

    def test_a_change_of_the_one_is_a_change_of_the_other(self) -> None:
        assert self.changes(data=2, labels=1) == [Action.UPDATE, Action.UPDATE]
        assert self.changes(data=2, labels=2) == [Action.UPDATE, Action.UPDATE]

    def test_without_one_nothing_follows(self) -> None:
        assert self.changes(data=1, labels=1) == [Action.NO_OP, Action.NO_OP]
        assert self.changes(data=1, labels=2) == [Action.NO_OP, Action.UPDATE]


def test_a_plan_is_pending_if_anything_would_change() -> None:
    unchanged = change_of(resource({}), resource({}), Comparison())
    assert not Plan((unchanged,)).pending
    assert Plan((unchanged, creation(resource({})))).pending
    assert not Plan(()).pending


def test_the_document_is_what_interface_promises() -> None:
    change = change_of(resource({"a": {"b": 2}}), resource({"a": {"b": 1}}), Comparison())
    said = Plan((change,), (info("machine-chosen", "m"),)).to_json()
    (written,) = said["changes"]
    assert {"action", "resource", "name", "pool", "cluster", "before", "after", "decoded", "reason"} <= written.keys()
    assert (written["action"], written["resource"], written["cluster"]["provider"]) == ("update", "gke.nodePool", "gke")
    assert written["fields"][0] | {"path": "a.b", "before": 1, "after": 2} == written["fields"][0]
    assert {"level", "code", "message", "hint", "link"} <= said["notes"][0].keys()


def test_a_long_value_is_shortened_for_a_person_only() -> None:
    (found,) = differences({"a": "x" * 100}, {"a": None}, Comparison(owned=frozenset({("a",)})))
    assert str(found).endswith("... -> nothing")
    assert found.before == "x" * 100
