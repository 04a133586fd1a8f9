"""The bodies that AWS is sent, whole: as files, against AWS's own schemas, and against what the AWS CLI sends.

A file of `eks/` has a spec and the bodies that it becomes. After a change that is meant, `python -m
tests.golden.test_eks` writes bodies and forms anew; review the difference.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore.model import OperationModel, Shape
from botocore.validate import ParamValidator

from fracgpu.plan import Json, Resource
from fracgpu.providers import eks
from tests.eks_pools import pool

FOLDER = Path(__file__).parent / "eks"
WIRE = Path(__file__).parent / "wire" / "eks"
CASES = sorted(FOLDER.glob("*.json"))
names = [path.stem for path in CASES]

CALLS = {"ec2.launchTemplate": ("ec2", "CreateLaunchTemplate"), "eks.nodegroup": ("eks", "CreateNodegroup")}

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


def write() -> None:
    for path in CASES:
        case = read(path)
        case["resources"] = as_file(made(case))
        path.write_text(json.dumps(case, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
