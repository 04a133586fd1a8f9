"""What EKS refuses when a node group is made, with its error codes and, where they are public, its words."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from tests.sandbox.eks.test_life import code, describe

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_eks import EKSClient

    from tests.sandbox.conftest import Sandbox

Make = Callable[..., dict[str, Any]]
TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}

REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("name-too-long", {"nodegroupName": "g" * 64}, "at most 63 characters"),
    ("name-begins-with-hyphen", {"nodegroupName": "-gpus"}, "nodegroupName -gpus is not valid"),
    ("name-with-dot", {"nodegroupName": "gpus.a100"}, "nodegroupName gpus.a100 is not valid"),
    ("role", {"nodeRole": "node-role"}, "Invalid Role Arn"),
    ("ami-type", {"amiType": "AL2023_NVIDIA"}, "Invalid amiType: AL2023_NVIDIA, must be one of these ["),
    ("capacity-type", {"capacityType": "spot"}, "must be one of these [ON_DEMAND, SPOT, CAPACITY_BLOCK]"),
    (
        "taint-effect",
        {"taints": [{**TAINT, "effect": "NoSchedule"}]},
        "Invalid taint effect: NoSchedule, must be one of these [NO_SCHEDULE, NO_EXECUTE, PREFER_NO_SCHEDULE]",
    ),
    ("taints", {"taints": [{**TAINT, "key": f"k{number}"} for number in range(51)]}, "at most 50 taints"),
    (
        "reserved-label",
        {"labels": {"node-role.kubernetes.io/gpu": "true"}},
        "Label cannot contain reserved prefixes [kubernetes.io/, k8s.io/, eks.amazonaws.com/]",
    ),
    ("label-value", {"labels": {"team": "a b"}}, "field must consist of alphanumeric characters"),
    ("tags", {"tags": {f"k{number}": "v" for number in range(51)}}, "at most 50 tags"),
    ("tag-of-aws", {"tags": {"aws:x": "v"}}, "Invalid tag key: aws:x"),
    (
        "min-above-desired",
        {"scalingConfig": {"minSize": 3, "maxSize": 5, "desiredSize": 2}},
        "minSize can't be greater than desiredSize",
    ),
    (
        "desired-above-max",
        {"scalingConfig": {"minSize": 0, "maxSize": 5, "desiredSize": 6}},
        "desiredSize can't be greater than maxSize",
    ),
    (
        "unknown-machine",
        {"instanceTypes": ["g5.xlarge", "p9.large"]},
        "The following supplied instance types do not exist: [p9.large]",
    ),
    (
        "architecture",
        {"instanceTypes": ["g5g.xlarge"]},
        "[g5g.xlarge] is not a valid instance type for requested amiType AL2023_x86_64_NVIDIA",
    ),
    (
        "gpu-ami-on-a-cpu-machine",
        {"instanceTypes": ["m5.large"]},
        "[m5.large] is not a valid instance type for requested amiType AL2023_x86_64_NVIDIA",
    ),
    ("disk", {"diskSize": 0}, "diskSize must be between 1 and 16384 GiB"),
    ("unknown-subnet", {"subnets": ["subnet-0aaaaaaaaaaaaaaa1"]}, "subnet-0aaaaaaaaaaaaaaa1' does not exist"),
    ("no-template", {"launchTemplate": {"name": "nope"}}, "with template name nope, does not exist"),
    ("template-named-twice", {"launchTemplate": {"name": "a", "id": "lt-1"}}, "Either provide launch template ID or"),
    ("custom-without-template", {"amiType": "CUSTOM"}, "Launch template details can't be null for Custom ami type"),
    ("version", {"version": "1.19"}, "Requested Nodegroup version 1.19"),
    (
        "release",
        {"version": "1.33", "releaseVersion": "1.32.1-20251101"},
        "Requested Nodegroup release version 1.32.1-20251101 is invalid. Allowed release version is 1.33.",
    ),
    (
        "retired-ami",
        {"amiType": "AL2_x86_64_GPU"},
        "AMI Type AL2_x86_64_GPU is only supported for kubernetes versions 1.32 or earlier",
    ),
    ("capacity-block", {"capacityType": "CAPACITY_BLOCK"}, "needs a launch template with the market type"),
    ("unavailable", {"updateConfig": {"maxUnavailable": 21}}, "must be within the range 1 and max size of the node"),
]


@pytest.mark.parametrize(("changes", "words"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_refused(eks: EKSClient, request_of: Make, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ClientError) as refused:
        eks.create_nodegroup(**request_of(**changes))
    assert code(refused) == "InvalidParameterException"
    assert words in refused.value.response["Error"]["Message"]
    assert {**refused.value.response}["clusterName"] == "sandbox"
    assert eks.list_nodegroups(clusterName="sandbox")["nodegroups"] == ["system"]


TEMPLATES: list[tuple[str, dict[str, Any], dict[str, Any], str, str]] = [
    (
        "disk-twice",
        {"EbsOptimized": True},
        {"diskSize": 200},
        "InvalidParameterException",
        "Disk size must be specified within the launch template.",
    ),
    (
        "ssh",
        {"EbsOptimized": True},
        {"remoteAccess": {"ec2SshKey": "k"}},
        "InvalidParameterException",
        "Remote access configuration cannot be specified with a launch template.",
    ),
    (
        "machine-twice",
        {"InstanceType": "g5.xlarge"},
        {},
        "InvalidRequestException",
        "Cannot specify instance types in launch template and API request",
    ),
    (
        "ami-twice",
        {"ImageId": "ami-0123456789abcdef0"},
        {},
        "InvalidParameterException",
        "You cannot specify an AMI Type other than CUSTOM, when specifying an image id in your launch template.",
    ),
    (
        "version-with-ami",
        {"ImageId": "ami-0123456789abcdef0"},
        {"amiType": None, "version": "1.34"},
        "InvalidParameterException",
        "You cannot specify a kubernetes version to use when specifying an image id to use within the launch template.",
    ),
    (
        "spot-in-the-template",
        {"InstanceMarketOptions": {"MarketType": "spot"}},
        {},
        "InvalidParameterException",
        "Instance market options are not supported with the launch template.",
    ),
    (
        "profile",
        {"IamInstanceProfile": {"Name": "p"}},
        {},
        "InvalidRequestException",
        "should not specify an instance profile. The noderole in your request will be used",
    ),
]


@pytest.mark.parametrize(
    ("data", "changes", "expected", "words"), [row[1:] for row in TEMPLATES], ids=[row[0] for row in TEMPLATES]
)
def test_template_and_group_do_not_go_together(
    eks: EKSClient,
    ec2: EC2Client,
    request_of: Make,
    data: Any,
    changes: dict[str, Any],
    expected: str,
    words: str,
) -> None:
    ec2.create_launch_template(LaunchTemplateName="own", LaunchTemplateData=data)
    with pytest.raises(ClientError) as refused:
        eks.create_nodegroup(**request_of(launchTemplate={"name": "own"}, **changes))
    assert code(refused) == expected
    assert words in str(refused.value)


def test_a_version_of_a_template_that_is_not_there(eks: EKSClient, ec2: EC2Client, request_of: Make) -> None:
    template = ec2.create_launch_template(LaunchTemplateName="own", LaunchTemplateData={"EbsOptimized": True})
    template_id = template["LaunchTemplate"]["LaunchTemplateId"]
    with pytest.raises(ClientError) as refused:
        eks.create_nodegroup(**request_of(launchTemplate={"id": template_id, "version": "7"}))
    assert f"Could not find the specified version 7 for the launch template with ID {template_id}" in str(refused.value)


def test_the_template_is_told_by_both_of_its_names_and_its_number(
    eks: EKSClient, ec2: EC2Client, request_of: Make
) -> None:
    made = ec2.create_launch_template(LaunchTemplateName="own", LaunchTemplateData={"InstanceType": "g5.2xlarge"})
    eks.create_nodegroup(**request_of(launchTemplate={"name": "own", "version": "$Latest"}, instanceTypes=None))
    group = describe(eks)
    template_id = made["LaunchTemplate"]["LaunchTemplateId"]
    assert group["launchTemplate"] == {"id": template_id, "name": "own", "version": "1"}
    assert not {"diskSize", "instanceTypes"} & set(group)


def test_a_capacity_block_has_its_machine_in_the_template(eks: EKSClient, ec2: EC2Client, request_of: Make) -> None:
    data: Any = {"InstanceType": "p5.48xlarge", "InstanceMarketOptions": {"MarketType": "capacity-block"}}
    ec2.create_launch_template(LaunchTemplateName="own", LaunchTemplateData=data)
    block = {"launchTemplate": {"name": "own"}, "capacityType": "CAPACITY_BLOCK"}
    eks.create_nodegroup(**request_of(instanceTypes=None, **block))
    assert describe(eks)["capacityType"] == "CAPACITY_BLOCK"


def test_other_clusters_take_subnets_that_only_look_like_some(eks: EKSClient, request_of: Make) -> None:
    invented = ["subnet-0aaaaaaaaaaaaaaa1", "subnet-0bbbbbbbbbbbbbbb2"]
    eks.create_nodegroup(**request_of(clusterName="prod", subnets=invented))
    with pytest.raises(ClientError) as malformed:
        eks.create_nodegroup(**request_of(clusterName="prod", nodegroupName="more", subnets=["vpc-1"]))
    assert code(malformed) == "InvalidParameterException"


def test_a_cluster_has_thirty_groups_unless_the_quota_says_otherwise(
    sandbox: Sandbox, eks: EKSClient, request_of: Make
) -> None:
    sandbox.world.settings["quota"] = [{"cloud": "eks", "metric": "nodegroups", "region": "", "limit": 2}]
    eks.create_nodegroup(**request_of())
    with pytest.raises(ClientError) as full:
        eks.create_nodegroup(**request_of(nodegroupName="more"))
    assert code(full) == "ResourceLimitExceededException"
    del sandbox.world.settings["quota"]
    for number in range(28):
        eks.create_nodegroup(**request_of(nodegroupName=f"g{number}"))
    with pytest.raises(ClientError) as full:
        eks.create_nodegroup(**request_of(nodegroupName="more"))
    assert code(full) == "ResourceLimitExceededException"


@pytest.mark.parametrize(
    ("path", "headers", "status", "expected"),
    [
        ("/clusters", {}, 403, "MissingAuthenticationTokenException"),
        ("/clusters/sandbox/fargate-profiles", {"Authorization": "eks"}, 404, "UnknownOperationException"),
        ("/cluster-versions", {"Authorization": "eks"}, 404, "UnknownOperationException"),
    ],
)
def test_requests_that_no_client_of_eks_should_send(
    sandbox: Sandbox, path: str, headers: dict[str, str], status: int, expected: str
) -> None:
    signed = {
        name: f"AWS4-HMAC-SHA256 Credential=A/20261130/us-east-1/{it}/aws4_request" for name, it in headers.items()
    }
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with pytest.raises(urllib.error.HTTPError) as refused:
        opener.open(urllib.request.Request(sandbox.http + path, headers=signed))
    with refused.value as answer:
        assert (answer.status, answer.headers["x-amzn-ErrorType"]) == (status, expected)
        assert json.load(answer)["message"]
