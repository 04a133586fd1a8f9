"""Groups with a launch template of the user's own: what it brings is read, and held against a pool that names it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fracgpu.catalog.load import load
from fracgpu.errors import Level
from fracgpu.plan import Action, Json, Resource, change_of
from fracgpu.providers import Observed, eks
from fracgpu.providers.eks.foreign_template import check
from fracgpu.providers.eks.names import LAUNCH_TEMPLATE
from fracgpu.providers.eks.template import encode
from fracgpu.resolve import resolve
from tests.eks_pools import FACTS, findings, pool, resources, shown

MACHINE: dict[str, Any] = {"machine": "p4d.24xlarge"}
NAMED = {"name": "mine", "version": "7"}
MIG = {"mig": {"profile": "1g.5gb"}}


def text_for(**spec: Any) -> str:
    """User data that makes a pool of this spec."""
    text: str = resources(**MACHINE, **spec)[0].body["LaunchTemplateData"]["UserData"]
    return text


BOTTLEROCKET = text_for(sharing=MIG)
BY_HAND = encode(
    """[settings.kernel]
lockdown = "integrity"
[settings.kubelet-device-plugins.nvidia]
device-partitioning-strategy = "mig"
device-sharing-strategy = "time-slicing"
[settings.kubelet-device-plugins.nvidia.time-slicing]
replicas = 4
[settings.kubelet-device-plugins.nvidia.mig.profile]
"a100.40gb" = "7"
"h100.80gb" = "1g.10gb"
"""
)
LAYOUT = {"mig": {"layout": {"3g.20gb": 1, "1g.5gb": 2}, "strategy": "mixed"}}


def made_with(data: Json, **members: Any) -> Observed:
    """A group that somebody made with a template of this data."""
    group = resources(**MACHINE)[-1]
    body = {key: value for key, value in group.body.items() if key != "tags"}
    body |= {"launchTemplate": {"id": "lt-1", **NAMED}, **members}
    template = Resource(LAUNCH_TEMPLATE, "mine", "pool", group.cluster, {"LaunchTemplateData": data})
    return replace(shown((replace(group, body=body),)), uses=(template,))


IMAGE = {"amiType": "BOTTLEROCKET_x86_64_NVIDIA"}
TYPELESS: Json = {"instanceTypes": []}
GROUPS: list[tuple[Observed, Json, list[str]]] = [
    (made_with({"UserData": BOTTLEROCKET}, **IMAGE), {"mig": {"profile": "1g.5gb"}}, ["sharing"]),
    (
        made_with({"UserData": BY_HAND, "InstanceType": "p4d.24xlarge"}, **IMAGE, **TYPELESS),
        {
            "mig": {"profile": "1g.5gb"},
            "timeSlicing": {"replicas": 4, "failRequestsGreaterThanOne": True},
            "renameByDefault": True,
        },
        ["machine", "sharing"],
    ),
    (
        made_with({"UserData": text_for(sharing=LAYOUT)}, labels={"nvidia.com/device-plugin.config": "mig-mixed"}),
        LAYOUT,
        ["sharing"],
    ),
    (made_with({"InstanceType": "p4d.24xlarge"}, **TYPELESS), {}, ["machine"]),
    (
        made_with({"UserData": encode("#!/bin/bash\necho\n")}, labels={"nvidia.com/mig.config": "all-2g.10gb"}),
        {"mig": {"profile": "2g.10gb", "strategy": "single"}},
        [],
    ),
]


@pytest.mark.parametrize(("seen", "sharing", "says"), GROUPS)
def test_it_is_read_back_and_planning_it_changes_nothing(seen: Observed, sharing: Json, says: list[str]) -> None:
    written, notes = eks.read(seen)
    spec = written.model_dump(mode="json", by_alias=True, exclude_none=True)["spec"]
    assert spec["machine"] == "p4d.24xlarge"
    assert spec.get("sharing", {}) == sharing
    assert spec["eks"]["launchTemplate"].get("says", []) == says
    assert [note for note in notes if note.level is not Level.INFO] == []
    again = resolve(written, load())
    assert again.pool is not None
    assert [one for one in (*again.findings, *eks.rules(again.pool, FACTS)) if one.level is Level.ERROR] == []
    wanted = eks.desired(again.pool, FACTS)
    assert [one.kind for one in wanted] == ["eks.nodegroup"]
    found = change_of(wanted[-1], eks.settled(seen.resources[-1]), eks.comparison(wanted[-1].kind))
    assert found.action is Action.NO_OP, found.reason
    assert list(check(again.pool, "mine", seen.uses[0].body["LaunchTemplateData"])) == []


def test_a_template_that_may_not_be_read_is_named_alone() -> None:
    seen = replace(made_with({"UserData": BOTTLEROCKET}, **IMAGE), uses=())
    written, notes = eks.read(seen)
    assert "foreign-launch-template" in [note.code for note in notes]
    assert written.spec.sharing.mig is None
    options = written.spec.model_dump(mode="json", by_alias=True, exclude_none=True)["eks"]
    assert options["launchTemplate"] == {"name": "mine", "version": "7"}


CONTRADICTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "a cut that nobody says the template makes": ({"sharing": MIG}, "spec.eks.launchTemplate"),
    "sharing by labels": ({"sharing": {"timeSlicing": {"replicas": 2}}, "says": ["sharing"]}, "says"),
    "whole GPUs": ({"says": ["sharing"]}, "says"),
    "types beside the template's": ({"says": ["machine"], "types": ["p4d.24xlarge"]}, "says"),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_contradictions_are_refused_before_the_template_is_known(name: str) -> None:
    spec, field = CONTRADICTIONS[name]
    sharing = {"sharing": spec["sharing"]} if "sharing" in spec else {}
    options = {"launchTemplate": {**NAMED, "says": spec.get("says")}, "instanceTypes": spec.get("types")}
    found = findings(**MACHINE, **sharing, eks=options)
    assert [(one.code, str(one.field).endswith(field)) for one in found if one.level is Level.ERROR] == [
        ("conflicting-fields", True)
    ]


OTHERWISE: list[tuple[dict[str, Any], list[str], Json, list[str]]] = [
    ({"sharing": MIG}, ["sharing"], {"UserData": BOTTLEROCKET}, []),
    ({"sharing": MIG}, ["sharing"], {"UserData": BY_HAND}, ["spec.sharing"]),
    ({"sharing": MIG}, ["sharing"], {}, ["spec.sharing"]),
    ({"sharing": MIG}, ["sharing"], {"UserData": encode("]")}, ["spec.sharing"]),
    ({}, [], {"InstanceType": "p4d.24xlarge"}, ["spec.eks.launchTemplate"]),
    ({}, ["machine"], {"InstanceType": "p4d.24xlarge"}, []),
    ({}, ["machine"], {"InstanceType": "g5.xlarge"}, ["spec.machine"]),
    ({}, ["machine"], {}, ["spec.eks.launchTemplate.says"]),
    ({}, [], {"ImageId": "ami-0123456789abcdef0"}, ["spec.eks.amiType"]),
    ({}, [], {"IamInstanceProfile": {"Name": "nodes"}}, ["spec.eks.launchTemplate"]),
    ({}, [], {"NetworkInterfaces": [{"DeviceIndex": 0, "InterfaceType": "efa"}]}, []),
    ({}, [], {"NetworkInterfaces": [{"DeviceIndex": 0, "SubnetId": "subnet-1"}]}, ["spec.eks.launchTemplate"]),
    ({}, [], {"InstanceMarketOptions": {"MarketType": "spot"}}, ["spec.eks.launchTemplate"]),
]


@pytest.mark.parametrize(("spec", "says", "data", "fields"), OTHERWISE)
def test_the_template_is_held_against_the_pool(
    spec: dict[str, Any], says: list[str], data: Json, fields: list[str]
) -> None:
    of = pool(**MACHINE, **spec, eks={"launchTemplate": {**NAMED, "says": says or None}})
    assert [(one.code, one.field) for one in check(of, "mine", data)] == [("conflicting-fields", at) for at in fields]


@pytest.mark.parametrize(("data", "refused"), [({"ImageId": "ami-0123456789abcdef0"}, False), ({}, True)])
def test_an_image_of_ones_own_is_named_there(data: Json, refused: bool) -> None:
    of = pool(**MACHINE, eks={"launchTemplate": NAMED, "amiType": "CUSTOM"})
    assert [one.field for one in check(of, "mine", data)] == ["spec.eks.amiType"] * refused
