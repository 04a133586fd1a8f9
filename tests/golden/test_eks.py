"""The bodies that AWS is sent, whole: as files, against AWS's own schemas, and against what the AWS CLI sends.

A file of `eks/` has a spec and the bodies that it becomes. After a change that is meant, `python -m
tests.golden.test_eks` writes bodies and forms anew; review the difference.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import botocore.session
import pytest
import yaml
from botocore.model import OperationModel, Shape
from botocore.validate import ParamValidator

from fracgpu.errors import Invalid
from fracgpu.plan import Json, Resource
from fracgpu.providers import Form, eks
from fracgpu.providers.eks.desired import NEW
from fracgpu.providers.eks.template import USER_DATA
from tests.eks_pools import pool

FOLDER = Path(__file__).parent / "eks"
WIRE = Path(__file__).parent / "wire" / "eks"
CASES = sorted(FOLDER.glob("*.json"))
names = [path.stem for path in CASES]

CALLS = {"ec2.launchTemplate": ("ec2", "CreateLaunchTemplate"), "eks.nodegroup": ("eks", "CreateNodegroup")}

_AUTOSCALER = "k8s.io/cluster-autoscaler/node-template/resources/"
_TAGS = "tags.k8s.io/cluster-autoscaler/node-template/resources/nvidia.com"
DIFFERENCES = {
    "amiType": "without it EKS takes an image that has no driver: https://github.com/awslabs/amazon-eks-ami/issues/1817",
    "capacityType": "said, so that the plan shows it",
    "labels.nvidia.com/device-plugin.config": "has the plugin name slices by their profile",
    "tags.fracgpu-managed": "the mark of ownership",
    f"{_TAGS}/gpu": "the autoscaler is told of shares or slices while the group is empty",
    "launchTemplate.name": "named after cluster and pool",
    "launchTemplate.version": "known only when the template is made",
    "LaunchTemplateName": "named after cluster and pool",
    "TagSpecifications": "says whose the template is",
}
"""Where our bodies differ from the CLI's, and why that is better."""

RECORDED: dict[str, dict[str, set[str]]] = {
    "time-sliced-spot": {"createNodegroup": {"amiType", "tags.fracgpu-managed", f"{_TAGS}/gpu"}},
    "mig-mixed-operator": {
        "createNodegroup": {"capacityType", "labels.nvidia.com/device-plugin.config", "tags.fracgpu-managed"}
    },
    "bottlerocket-mig": {
        "createLaunchTemplate": {"LaunchTemplateName", "TagSpecifications"},
        "createNodegroup": {
            "capacityType",
            "launchTemplate.name",
            "launchTemplate.version",
            "tags.fracgpu-managed",
            f"{_TAGS}/gpu",
        },
    },
    "bottlerocket-time-sliced": {
        "createLaunchTemplate": {"LaunchTemplateName", "TagSpecifications"},
        "createNodegroup": {"launchTemplate.name", "launchTemplate.version", "tags.fracgpu-managed", f"{_TAGS}/gpu"},
    },
}
"""Recording (and golden case of the same name) -> call -> the paths in which they differ."""


def read(path: Path) -> Json:
    found: Json = json.loads(path.read_text(encoding="utf-8"))
    return found


def made(case: Json) -> tuple[Resource, ...]:
    return eks.desired(pool(case["name"], **case["spec"]), None)


def as_file(resources: tuple[Resource, ...]) -> Json:
    return {one.kind: {"body": one.body, "decoded": dict(one.decoded)} for one in resources}


@pytest.mark.parametrize("path", CASES, ids=names)
def test_body(path: Path) -> None:
    case = read(path)
    assert as_file(made(case)) == case["resources"]


def operation(kind: str) -> OperationModel:
    service, call = CALLS[kind]
    return botocore.session.Session().get_service_model(service).operation_model(call)


@pytest.mark.parametrize("kind", CALLS)
def test_aws_takes_them(kind: str) -> None:
    """botocore's own validator, which knows members and types, and its enumerations, which it does not check itself."""
    shape = operation(kind).input_shape
    assert shape is not None
    for path in CASES:
        found = read(path)["resources"].get(kind)
        if found is None or path.stem == "offline":
            continue
        report = ParamValidator().validate(found["body"], shape)
        assert not report.has_errors(), f"{path.stem}: {report.generate_report()}"
        assert unknown_words(found["body"], shape) == [], path.stem


def unknown_words(value: Any, shape: Any) -> list[str]:
    """Texts that are none of their enumeration."""
    if isinstance(value, dict) and shape.type_name == "structure":
        return [word for key, one in value.items() for word in unknown_words(one, shape.members[key])]
    if isinstance(value, list):
        return [word for one in value for word in unknown_words(one, shape.member)]
    words = getattr(shape, "enum", [])
    return [str(value)] if isinstance(shape, Shape) and words and value not in words else []


@pytest.mark.parametrize("name", RECORDED)
def test_as_the_aws_cli_but_for(name: str) -> None:
    """A recorded body differs in the paths that are written down, and in no other."""
    recorded = read(WIRE / f"{name}.json")
    ours = read(FOLDER / f"{name}.json")["resources"]
    bodies = {"createNodegroup": "eks.nodegroup", "createLaunchTemplate": "ec2.launchTemplate"}
    found = {call: set(unlike(recorded[call], ours[kind]["body"])) for call, kind in bodies.items() if call in recorded}
    assert found == RECORDED[name]


def test_every_recording_is_compared_and_every_difference_explained() -> None:
    assert {path.stem for path in WIRE.glob("*.json")} == set(RECORDED)
    said = {path for calls in RECORDED.values() for paths in calls.values() for path in paths}
    assert said == set(DIFFERENCES)
    assert all(DIFFERENCES.values())


def unlike(one: Any, other: Any, path: str = "") -> list[str]:
    """The paths in which two bodies differ; `<token>` of a recording is the CLI's own."""
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return [] if one == other else [path]
    if one == {} or other == {}:
        return [] if one == other else [path]
    keys = dict.fromkeys((*one, *other))
    return [step for key in keys for step in unlike(_in(one, key), _in(other, key), f"{path}.{key}".lstrip("."))]


def _in(body: Json, key: str) -> Any:
    """What stands there; a mapping that is missing on one side has its members compared one by one."""
    value = body.get(key)
    return {"": None} if value is None and key == "tags" else value


FORMS = [(name, form) for name in ("bottlerocket-mig", "everything", "capacity-block", "offline") for form in eks.FORMS]
SUFFIX = {
    Form.AWS: "aws.sh",
    Form.EKSCTL: "eksctl.yaml",
    Form.KARPENTER: "karpenter.yaml",
    Form.TERRAFORM: "tf",
}


def rendered(case: Json, form: Form) -> str:
    return eks.render(form, made(case), pool(case["name"], **case["spec"]))[0]


@pytest.mark.parametrize(("name", "form"), FORMS, ids=[f"{name}-{form}" for name, form in FORMS])
def test_form(name: str, form: Form) -> None:
    text = rendered(read(FOLDER / f"{name}.json"), form)
    assert text == (FOLDER / f"{name}.{SUFFIX[form]}").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", CASES, ids=names)
def test_the_aws_commands_are_the_bodies(path: Path) -> None:
    """Read as a shell and the CLI read them, they are what fracgpu sends; a new template has version 1."""
    case = read(path)
    commands = rendered(case, Form.AWS).replace("\\\n", "").strip().split("\n\n")
    *templates, group = [shlex.split(command) for command in commands]
    for words in templates:
        body = case["resources"]["ec2.launchTemplate"]["body"]
        assert words[:3] == ["aws", "ec2", "create-launch-template"]
        assert json.loads(value(words, "launch-template-data")) == body["LaunchTemplateData"]
        assert json.loads(value(words, "tag-specifications")) == body["TagSpecifications"]
    body = case["resources"]["eks.nodegroup"]["body"]
    assert group[:3] == ["aws", "eks", "create-nodegroup"]
    for member in ("labels", "taints", "tags", "nodeRepairConfig"):
        said = value(group, dashed(member))
        assert (json.loads(said) if said else None) == body.get(member)
    for member in ("amiType", "capacityType", "releaseVersion", "nodegroupName", "clusterName"):
        assert (value(group, dashed(member)) or None) == body.get(member)
    assert pairs(value(group, "scaling-config")) == {key: str(one) for key, one in body["scalingConfig"].items()}
    expected = {**body["launchTemplate"], "version": "1"} if templates else body.get("launchTemplate", {})
    assert pairs(value(group, "launch-template")) == expected


def value(words: list[str], flag: str) -> str:
    return words[words.index(f"--{flag}") + 1] if f"--{flag}" in words else ""


def dashed(member: str) -> str:
    return re.sub(r"(?=[A-Z])", "-", member).lower()


def pairs(text: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in text.split(",")) if text else {}


@pytest.mark.parametrize("path", CASES, ids=names)
def test_eksctl_has_the_same_settings(path: Path) -> None:
    case = read(path)
    (group,) = yaml.safe_load(rendered(case, Form.EKSCTL))["managedNodeGroups"]
    text = case["resources"].get("ec2.launchTemplate", {}).get("decoded", {}).get(USER_DATA, "")
    settings = tomllib.loads(text)["settings"] if text.startswith("[settings") else None
    assert group.get("bottlerocket", {}).get("settings") == settings
    body = case["resources"]["eks.nodegroup"]["body"]
    assert group.get("labels") == body.get("labels")
    assert [taint["key"] for taint in group.get("taints", [])] == [taint["key"] for taint in body.get("taints", [])]
    assert (group["minSize"], group["maxSize"]) == (body["scalingConfig"]["minSize"], body["scalingConfig"]["maxSize"])


OTHER_WORDS = {Form.AWS: {NEW}, Form.TERRAFORM: {NEW, "$Latest", "MINIMAL", "launch-template"}}
"""What a form says by a flag of its own, or not at all, which is a note. eksctl chooses much itself: see above."""


@pytest.mark.parametrize("form", OTHER_WORDS)
@pytest.mark.parametrize("path", CASES, ids=names)
def test_a_form_says_every_value_of_its_bodies(path: Path, form: Form) -> None:
    case = read(path)
    text = rendered(case, form)
    said = {leaf for one in made(case) for leaf in leaves(one.body)}
    encoded = {one.body.get("LaunchTemplateData", {}).get("UserData") for one in made(case)}
    assert {one for one in said if one not in text} - OTHER_WORDS[form] - encoded == set()


def leaves(value: Any) -> list[str]:
    """Every text and number; truth values are told by flags."""
    if isinstance(value, dict):
        return [leaf for one in value.values() for leaf in leaves(one)]
    if isinstance(value, list):
        return [leaf for one in value for leaf in leaves(one)]
    return [] if isinstance(value, bool) else [str(value)]


@pytest.mark.parametrize("path", CASES, ids=names)
def test_karpenter_counts_what_the_cluster_autoscaler_does(path: Path) -> None:
    """One overlay of the pool's own nodes, with the same resources; none where EC2 tells the truth."""
    case = read(path)
    body = case["resources"]["eks.nodegroup"]["body"]
    node_class, node_pool, *overlays = yaml.safe_load_all(rendered(case, Form.KARPENTER))
    name = node_pool["metadata"]["name"]
    tags = {key.removeprefix(_AUTOSCALER): one for key, one in body["tags"].items() if key.startswith(_AUTOSCALER)}
    assert [one["spec"]["capacity"] for one in overlays] == ([tags] if tags else [])
    for one in overlays:
        assert {"key": "karpenter.sh/nodepool", "operator": "In", "values": [name]} in one["spec"]["requirements"]
    assert node_pool["spec"]["template"]["spec"]["nodeClassRef"]["name"] == node_class["metadata"]["name"]
    assert node_pool["spec"]["template"].get("metadata", {}).get("labels") == body.get("labels")
    decoded = case["resources"].get("ec2.launchTemplate", {}).get("decoded", {})
    assert node_class["spec"].get("userData") == decoded.get(USER_DATA)


def test_karpenter_keeps_labels_of_its_own_domains() -> None:
    of = pool(machine="g5.xlarge", labels={"karpenter.sh/team": "vision", "team": "vision"})
    _, notes = eks.render(Form.KARPENTER, eks.desired(of, None), of)
    assert "spec.labels.karpenter.sh/team" in {note.field for note in notes}
    assert "spec.labels.team" not in {note.field for note in notes}


def test_karpenter_has_a_word_of_its_own_for_a_startup_taint() -> None:
    case = read(FOLDER / "mig-layout-operator-startup-taint.json")
    _, node_pool, _ = yaml.safe_load_all(rendered(case, Form.KARPENTER))
    spec = node_pool["spec"]["template"]["spec"]
    assert [taint["key"] for taint in spec["startupTaints"]] == ["fracgpu.dev/mig-pending"]
    assert [taint["key"] for taint in spec["taints"]] == ["nvidia.com/gpu"]


@pytest.mark.parametrize("zones", [None, ["us-east-1a"]])
@pytest.mark.parametrize("path", CASES, ids=names)
def test_terraform_declares_what_it_refers_to(path: Path, zones: list[str] | None) -> None:
    case = read(path)
    of = pool(case["name"], **case["spec"]) if zones is None else pool(case["name"], **case["spec"], zones=zones)
    text, _ = eks.render(Form.TERRAFORM, eks.desired(of, None), of)
    code = re.sub(r'"(?:[^"\\\n]|\\.)*"', "", text)
    used = set(re.findall(r"\b(?:var|data\.\w+|(?<!data\.)aws_launch_template)\.[-\w]+", code))
    heads = re.findall(r'^(variable|data|resource)((?: "[-\w]+")+) \{$', text, re.MULTILINE)
    words = {"variable": "var.", "data": "data.", "resource": ""}
    declared = {words[kind] + ".".join(re.findall(r'"([-\w]+)"', labels)) for kind, labels in heads}
    assert declared - used == {name for name in declared if name.startswith("aws_eks_node_group.")}
    assert used <= declared
    assert not zones or "subnets" in case["spec"].get("eks", {}) or '["us-east-1a"]' in text


def test_what_a_form_cannot_say_is_a_note() -> None:
    found = {}
    for path in CASES:
        case = read(path)
        for form in eks.FORMS:
            _, notes = eks.render(form, made(case), pool(case["name"], **case["spec"]))
            found[path.stem, form] = {note.field for note in notes if note.code == "form-gap"}
    assert found["offline", Form.AWS] == {"spec.eks.subnets", "spec.eks.nodeRole"}
    assert found["mig-devices-user-data", Form.EKSCTL] == {"spec.eks.backend"}
    assert found["own-template", Form.EKSCTL] == {"spec.eks.launchTemplate"}
    assert found["everything", Form.EKSCTL] == {"spec.eks.updateConfig.updateStrategy", "spec.eks.version"}
    assert found["everything", Form.TERRAFORM] == {"spec.eks.updateConfig.updateStrategy", "spec.eks.nodeRepairConfig"}
    assert found["everything", Form.AWS] == set()
    assert found["bottlerocket-mig", Form.KARPENTER] == set()
    kept = {"spec.nodes", "spec.eks.updateConfig", "spec.eks.nodeRepairConfig", "spec.eks.version"}
    assert found["everything", Form.KARPENTER] == kept
    assert found["own-template", Form.KARPENTER] >= {"spec.eks.launchTemplate"}


def test_a_form_of_another_cloud_is_refused() -> None:
    case = read(FOLDER / "whole.json")
    with pytest.raises(Invalid, match="gcloud makes no node pools"):
        rendered(case, Form.GCLOUD)


def write() -> None:
    for path in CASES:
        case = read(path)
        case["resources"] = as_file(made(case))
        path.write_text(json.dumps(case, indent=2) + "\n", encoding="utf-8")
    for name, form in FORMS:
        (FOLDER / f"{name}.{SUFFIX[form]}").write_text(rendered(read(FOLDER / f"{name}.json"), form), encoding="utf-8")


if __name__ == "__main__":
    write()
