"""What AWS adds is no difference, one test an entry; what differs is in place, rolling, or a new group."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fracgpu.differences import Effect
from fracgpu.plan import Action, Change, Json, Resource, change_of, linked
from fracgpu.providers import eks
from fracgpu.providers.eks.compare import ADDED
from fracgpu.providers.eks.names import LAUNCH_TEMPLATE, NODEGROUP
from tests.eks_pools import FACTS, ROLE, pool, resources, shown

MIG: dict[str, Any] = {
    "machine": "p4d.24xlarge",
    "sharing": {"mig": {"profile": "1g.5gb"}},
    "nodes": {"min": 0, "max": 4},
    "disk": {"sizeGb": 200},
}
SHARED: dict[str, Any] = {
    "machine": "g5.xlarge",
    "sharing": {"timeSlicing": {"replicas": 4}},
    "nodes": {"min": 0, "max": 4},
}


def plan(before: dict[str, Any], after: dict[str, Any]) -> list[Change]:
    """The changes from a pool that was made with one spec to another spec."""
    there = {(one.kind, one.name): eks.settled(one) for one in shown(resources(**before)).resources}
    wanted = resources(**after)
    changes = [change_of(one, there.get((one.kind, one.name)), eks.comparison(one.kind)) for one in wanted]
    return linked(changes, eks.comparison)


@pytest.mark.parametrize("spec", [MIG, SHARED], ids=["template", "plain"])
def test_made_and_planned_again_nothing_changes(spec: dict[str, Any]) -> None:
    assert {change.action for change in plan(spec, spec)} == {Action.NO_OP}


def put(name: str, value: Any) -> Callable[[Json], None]:
    return lambda body: body.update({name: value})


def tag(key: str, value: str) -> Callable[[Json], None]:
    return lambda body: body["tags"].update({key: value})


def data(name: str, value: Any) -> Callable[[Json], None]:
    return lambda body: body["LaunchTemplateData"].update({name: value})


def wrap(body: Json) -> None:
    text = body["LaunchTemplateData"]["UserData"]
    body["LaunchTemplateData"]["UserData"] = "\n".join(text[at : at + 76] for at in range(0, len(text), 76)) + "\n"


def turn(body: Json) -> None:
    body["subnets"].reverse()
    body["taints"].reverse()


ADDITIONS: dict[str, list[Callable[[Json], None]]] = {
    "what only the server writes": [put("status", "ACTIVE"), put("health", {"issues": [{"code": "x"}]})],
    "the mark of ownership": [tag("fracgpu-fleet", "f"), lambda body: body["tags"].pop("fracgpu-managed")],
    "tags that begin with aws:": [tag("aws:cloudformation:stack-name", "x")],
    "an update config of one node at a time": [
        put("updateConfig", {"maxUnavailable": 1}),
        put("updateConfig", {"maxUnavailable": 1, "updateStrategy": "DEFAULT"}),
    ],
    "node repair that is off": [put("nodeRepairConfig", {"enabled": False})],
    "an order of its own": [turn],
    "empty members": [put("labels", {}), put("remoteAccess", None)],
    "user data wrapped otherwise": [wrap],
    "empty members of a template": [data("SecurityGroupIds", []), data("Placement", {"Tenancy": None})],
}


def test_every_entry_has_a_case() -> None:
    titles = [
        f"{one.what} of a template" if one.kind == LAUNCH_TEMPLATE and "empty" in one.what else one.what
        for one in ADDED
    ]
    assert titles == list(ADDITIONS)
    assert all(one.source for one in ADDED)


NUMBERED = [(what, number) for what, several in ADDITIONS.items() for number in range(len(several))]


@pytest.mark.parametrize(("what", "number"), NUMBERED)
def test_what_aws_adds_is_no_difference(what: str, number: int) -> None:
    """The body as it was sent, and this one thing besides."""
    on_template = what.startswith("user data") or what.endswith("of a template")
    template, group = resources(**{**MIG, "taints": ["b=x:NoSchedule", "a=x:NoSchedule"]})
    sent = template if on_template else group
    body = copy.deepcopy(sent.body)
    ADDITIONS[what][number](body)
    assert body != sent.body
    found = change_of(sent, eks.settled(replace(sent, body=body)), eks.comparison(sent.kind))
    assert found.action is Action.NO_OP, found.reason


def test_without_the_entry_it_would_be_a_difference() -> None:
    """The list does something: what it does not name stands out."""
    wanted, there = resources(**SHARED)[-1], shown(resources(**SHARED)).resources[-1]
    body = copy.deepcopy(there.body)
    body["tags"]["cost"] = "other"
    found = change_of(wanted, eks.settled(replace(there, body=body)), eks.comparison(NODEGROUP))
    assert [str(one) for one in found.fields] == ["tags.cost: other -> nothing"]


CHANGES: list[tuple[dict[str, Any], Action, Effect | None, str]] = [
    ({"labels": {"team": "vision"}}, Action.UPDATE, Effect.IN_PLACE, "labels"),
    ({"taints": ["a=b:NoSchedule"]}, Action.UPDATE, Effect.IN_PLACE, "taints"),
    ({"gpuTaint": False}, Action.UPDATE, Effect.IN_PLACE, "taints"),
    ({"tags": {"cost": "vision"}}, Action.UPDATE, Effect.IN_PLACE, "tags"),
    ({"nodes": {"min": 1, "max": 9}}, Action.UPDATE, Effect.IN_PLACE, "scalingConfig"),
    ({"sharing": {"timeSlicing": {"replicas": 8}}}, Action.UPDATE, Effect.IN_PLACE, "labels"),
    ({"eks": {"updateConfig": {"maxUnavailable": 2}}}, Action.UPDATE, Effect.IN_PLACE, "updateConfig"),
    ({"eks": {"nodeRepairConfig": {"enabled": True}}}, Action.UPDATE, Effect.IN_PLACE, "nodeRepairConfig"),
    ({"eks": {"releaseVersion": "1.34.9-20261001"}}, Action.UPDATE, Effect.ROLLING, "releaseVersion"),
    ({"eks": {"version": "1.35"}}, Action.UPDATE, Effect.ROLLING, "version"),
    ({"capacity": "spot"}, Action.REPLACE, Effect.REPLACE, "capacityType"),
    ({"machine": "g5.2xlarge"}, Action.REPLACE, Effect.REPLACE, "instanceTypes"),
    ({"disk": {"sizeGb": 99}}, Action.REPLACE, Effect.REPLACE, "diskSize"),
    ({"eks": {"subnets": ["subnet-0ccccccccccccccc3"]}}, Action.REPLACE, Effect.REPLACE, "subnets"),
    ({"eks": {"nodeRole": f"{ROLE}2"}}, Action.REPLACE, Effect.REPLACE, "nodeRole"),
    ({"zones": ["us-east-1b"]}, Action.REPLACE, Effect.REPLACE, "subnets"),
    ({"eks": {"backend": "bottlerocket"}}, Action.REPLACE, Effect.REPLACE, "amiType"),
    ({"eks": {"launchTemplate": {"name": "mine"}}}, Action.REPLACE, Effect.REPLACE, "launchTemplate"),
]


@pytest.mark.parametrize(("changed", "action", "effect", "member"), CHANGES)
def test_what_a_change_takes(changed: dict[str, Any], action: Action, effect: Effect, member: str) -> None:
    found = plan(SHARED, {**SHARED, **changed})[-1]
    assert found.action is action
    assert {one.effect for one in found.fields if one.path[0] == member} == {effect}
    assert effect is Effect.IN_PLACE or all(one.why for one in found.fields if one.effect is effect)


def test_a_strategy_alone_goes_with_one_node_at_a_time() -> None:
    """EKS adds the number, which is no difference then."""
    (wanted,) = resources(machine="g5.xlarge", eks={"updateConfig": {"updateStrategy": "MINIMAL"}})
    there = shown((wanted,)).resources[-1]
    body = {**there.body, "updateConfig": {"maxUnavailable": 1, "updateStrategy": "MINIMAL"}}
    found = change_of(wanted, eks.settled(replace(there, body=body)), eks.comparison(NODEGROUP))
    assert found.action is Action.NO_OP, found.reason


@pytest.mark.parametrize(
    ("said", "member", "effect"),
    [
        ({"name": "mine"}, None, None),
        ({"id": "lt-1"}, None, None),
        ({"name": "mine", "version": "7"}, None, None),
        ({"name": "mine", "version": "$Latest"}, None, None),
        ({"id": "lt-1", "version": "8"}, "version", Effect.ROLLING),
        ({"name": "other"}, "name", Effect.REPLACE),
        ({"id": "lt-2"}, "id", Effect.REPLACE),
    ],
)
def test_a_template_of_ones_own_is_known_by_what_was_said_of_it(
    said: dict[str, str], member: str | None, effect: Effect | None
) -> None:
    """EKS tells its name, its id, and the version that was the default then."""
    (wanted,) = resources(machine="g5.xlarge", eks={"launchTemplate": said})
    there = shown((wanted,)).resources[-1]
    body = {**there.body, "launchTemplate": {"name": "mine", "id": "lt-1", "version": "7"}}
    found = change_of(wanted, eks.settled(replace(there, body=body)), eks.comparison(NODEGROUP))
    expected = [(("launchTemplate", member), effect)] if member else []
    assert [(one.path, one.effect) for one in found.fields] == expected


TEMPLATES: list[dict[str, Any]] = [
    {"sharing": {"mig": {"profile": "2g.10gb"}}},
    {"sharing": {"mig": {"profile": "1g.5gb"}, "timeSlicing": {"replicas": 2}}},
    {"disk": {"sizeGb": 300}},
]


@pytest.mark.parametrize("changed", TEMPLATES)
def test_another_template_is_a_new_version_and_new_nodes(changed: dict[str, Any]) -> None:
    template, group = plan(MIG, {**MIG, **changed})
    assert (template.resource, template.action, group.action) == (LAUNCH_TEMPLATE, Action.UPDATE, Action.UPDATE)
    version = next(one for one in group.fields if one.path == ("launchTemplate", "version"))
    assert (version.before, version.after, version.effect) == ("3", "<new>", Effect.ROLLING)
    assert "nodes are recycled" in (group.reason or "")


def test_labels_alone_leave_the_template_alone() -> None:
    template, group = plan(MIG, {**MIG, "labels": {"team": "vision"}})
    assert (template.action, group.action) == (Action.NO_OP, Action.UPDATE)
    assert [one.path[0] for one in group.fields] == ["labels"]


def test_the_autoscaler_may_move_the_count_between_the_limits() -> None:
    wanted, there = resources(**SHARED)[-1], shown(resources(**SHARED)).resources[-1]
    for size, action in ((0, Action.NO_OP), (3, Action.NO_OP), (4, Action.NO_OP), (5, Action.UPDATE)):
        sizes = {**there.body["scalingConfig"], "desiredSize": size}
        found = change_of(
            wanted, eks.settled(replace(there, body={**there.body, "scalingConfig": sizes})), eks.comparison(NODEGROUP)
        )
        assert found.action is action


def test_a_fixed_count_is_what_was_said() -> None:
    fixed = {**SHARED, "nodes": {"count": 2}}
    assert plan(fixed, {**SHARED, "nodes": {"count": 3}})[-1].action is Action.UPDATE


def test_what_the_cluster_filled_in_changes_no_group() -> None:
    """Another subnet in the cluster, or another first group, is no reason to make pools anew."""
    made = pool(**SHARED)
    there = shown(eks.desired(made, FACTS)).resources[-1]
    facts = replace(FACTS, subnets=("subnet-0ddddddddddddddd4",), node_role=f"{ROLE}9")
    (wanted,) = eks.desired(made, facts)
    assert change_of(wanted, eks.settled(there), eks.comparison(NODEGROUP)).action is Action.NO_OP


def test_settling_leaves_the_observed_body_alone() -> None:
    there = shown(resources(**MIG))
    before = copy.deepcopy([one.body for one in there.resources])
    for one in there.resources:
        eks.settled(one)
    assert [one.body for one in there.resources] == before


def test_the_mark_is_no_difference_on_either_side() -> None:
    wanted, there = resources(**SHARED)[-1], shown(resources(**SHARED)).resources[-1]
    foreign = {key: value for key, value in there.body["tags"].items() if not key.startswith("fracgpu-")}
    unmarked: Resource = replace(there, body={**there.body, "tags": foreign})
    assert change_of(wanted, eks.settled(unmarked), eks.comparison(NODEGROUP)).action is Action.NO_OP
