"""EC2's launch templates, beside the sandbox's EKS and through the same port."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from tests.sandbox.eks.conftest import client
from tests.sandbox.eks.test_life import code

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client

    from tests.sandbox.conftest import Sandbox

PLAIN: Any = {"EbsOptimized": True}


def create(ec2: EC2Client, name: str = "own", data: Any = None, **more: Any) -> Any:
    return ec2.create_launch_template(LaunchTemplateName=name, LaunchTemplateData=data or PLAIN, **more)[
        "LaunchTemplate"
    ]


def versions(ec2: EC2Client, **which: Any) -> list[Any]:
    return list(ec2.describe_launch_template_versions(LaunchTemplateName="own", **which)["LaunchTemplateVersions"])


def test_data_comes_back_as_it_was_sent(ec2: EC2Client) -> None:
    data: Any = {
        "UserData": base64.b64encode(b"[settings]").decode(),
        "BlockDeviceMappings": [{"DeviceName": "/dev/xvdb", "Ebs": {"VolumeSize": 200, "VolumeType": "gp3"}}],
        "MetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 2},
        "TagSpecifications": [{"ResourceType": "instance", "Tags": [{"Key": "team", "Value": "vision"}]}],
    }
    tags: Any = [{"ResourceType": "launch-template", "Tags": [{"Key": "fracgpu-managed", "Value": "true"}]}]
    made = create(ec2, data=data, TagSpecifications=tags, VersionDescription="first")
    assert made["Tags"] == tags[0]["Tags"]
    (version,) = versions(ec2)
    assert version["LaunchTemplateData"] == data
    assert (version["VersionNumber"], version["DefaultVersion"], version["VersionDescription"]) == (1, True, "first")
    filters: Any = [{"Name": "tag:fracgpu-managed", "Values": ["true"]}]
    found = ec2.describe_launch_templates(Filters=filters)["LaunchTemplates"]
    assert [template["LaunchTemplateName"] for template in found] == ["own"]


def test_a_client_token_makes_one_template_and_one_version(ec2: EC2Client) -> None:
    first = create(ec2, ClientToken="once")
    assert create(ec2, ClientToken="once")["LaunchTemplateId"] == first["LaunchTemplateId"]
    with pytest.raises(ClientError) as other:
        create(ec2, data={"EbsOptimized": False}, ClientToken="once")
    assert code(other) == "IdempotentParameterMismatch"
    for _ in range(2):
        ec2.create_launch_template_version(LaunchTemplateName="own", LaunchTemplateData=PLAIN, ClientToken="two")
    assert [version["VersionNumber"] for version in versions(ec2)] == [2, 1]
    with pytest.raises(ClientError) as taken:
        create(ec2, ClientToken="another")
    assert code(taken) == "InvalidLaunchTemplateName.AlreadyExistsException"


def test_a_new_version_begins_with_its_source(ec2: EC2Client) -> None:
    create(ec2, data={"EbsOptimized": True, "InstanceType": "g5.xlarge"})
    data: Any = {"InstanceType": "g5.2xlarge"}
    made = ec2.create_launch_template_version(LaunchTemplateName="own", SourceVersion="1", LaunchTemplateData=data)
    assert made["LaunchTemplateVersion"]["LaunchTemplateData"] == {"EbsOptimized": True, "InstanceType": "g5.2xlarge"}
    ec2.modify_launch_template(LaunchTemplateName="own", DefaultVersion="2")
    assert [version["VersionNumber"] for version in versions(ec2, Versions=["$Default", "$Latest", "1"])] == [2, 2, 1]


def test_numbers_of_versions_are_not_given_twice(ec2: EC2Client) -> None:
    create(ec2)
    for _ in range(2):
        ec2.create_launch_template_version(LaunchTemplateName="own", LaunchTemplateData=PLAIN)
    deleted = ec2.delete_launch_template_versions(LaunchTemplateName="own", Versions=["1", "3", "9"])
    assert [row["VersionNumber"] for row in deleted["SuccessfullyDeletedLaunchTemplateVersions"]] == [3]
    kept = deleted["UnsuccessfullyDeletedLaunchTemplateVersions"]
    assert [(row["VersionNumber"], row["ResponseError"]["Code"]) for row in kept] == [
        (1, "unexpectedError"),
        (9, "launchTemplateVersionDoesNotExist"),
    ]
    ec2.create_launch_template_version(LaunchTemplateName="own", LaunchTemplateData=PLAIN)
    assert [version["VersionNumber"] for version in versions(ec2)] == [4, 2, 1]


def test_lists_of_templates_come_in_pages_and_whole(ec2: EC2Client) -> None:
    for number in range(25):
        create(ec2, f"own-{number:02}")
    whole = ec2.describe_launch_templates()["LaunchTemplates"]
    pages = ec2.get_paginator("describe_launch_templates").paginate(PaginationConfig={"PageSize": 10})
    names = [[template["LaunchTemplateName"] for template in page["LaunchTemplates"]] for page in pages]
    assert [len(page) for page in names] == [10, 10, 5]
    assert [template["LaunchTemplateName"] for template in whole] == [name for page in names for name in page]


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        ({"LaunchTemplateName": "nope"}, "InvalidLaunchTemplateName.NotFoundException"),
        ({"LaunchTemplateId": "lt-0123456789abcdef0"}, "InvalidLaunchTemplateId.NotFound"),
        ({"LaunchTemplateName": "own", "LaunchTemplateId": "lt-1"}, "InvalidParameterCombination"),
        ({}, "MissingParameter"),
    ],
)
def test_templates_that_are_not_there(ec2: EC2Client, which: Any, expected: str) -> None:
    with pytest.raises(ClientError) as missing:
        ec2.delete_launch_template(**which)
    assert code(missing) == expected


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a", PLAIN, "InvalidLaunchTemplateName.MalformedException"),
        ("own template", PLAIN, "InvalidLaunchTemplateName.MalformedException"),
        ("own", {"UserData": "not base64!"}, "InvalidUserData.Malformed"),
        ("own", {"UserData": base64.b64encode(b"x" * 16385).decode()}, "InvalidParameterValue"),
    ],
)
def test_templates_that_ec2_refuses(ec2: EC2Client, name: str, data: Any, expected: str) -> None:
    with pytest.raises(ClientError) as refused:
        create(ec2, name, data)
    assert code(refused) == expected


def test_a_deleted_template_is_gone_and_its_name_free(ec2: EC2Client) -> None:
    first = create(ec2, ClientToken="once")
    ec2.delete_launch_template(LaunchTemplateId=first["LaunchTemplateId"])
    with pytest.raises(ClientError) as gone:
        ec2.describe_launch_templates(LaunchTemplateNames=["own"])
    assert code(gone) == "InvalidLaunchTemplateName.NotFoundException"
    assert create(ec2, ClientToken="once")["LaunchTemplateId"] != first["LaunchTemplateId"]


def test_a_dry_run_makes_nothing(ec2: EC2Client) -> None:
    with pytest.raises(ClientError) as would:
        create(ec2, DryRun=True)
    assert code(would) == "DryRunOperation"
    assert ec2.describe_launch_templates()["LaunchTemplates"] == []


def test_a_reset_forgets_what_was_made_and_keeps_the_role(sandbox: Sandbox, ec2: EC2Client) -> None:
    create(ec2)
    sandbox.world.reset()
    assert ec2.describe_launch_templates()["LaunchTemplates"] == []
    role = client(sandbox, "iam").get_role(RoleName="fracgpu-sandbox-node")["Role"]["Arn"]
    group = client(sandbox, "eks").describe_nodegroup(clusterName="sandbox", nodegroupName="system")["nodegroup"]
    assert group["nodeRole"] == role


def test_the_account_is_one_for_every_service(sandbox: Sandbox, ec2: EC2Client) -> None:
    account = client(sandbox, "sts").get_caller_identity()["Account"]
    owner = ec2.describe_subnets()["Subnets"][0]["OwnerId"]
    arn = client(sandbox, "eks").describe_cluster(name="sandbox")["cluster"]["arn"]
    assert (owner, arn.split(":")[4]) == (account, account)


def test_what_the_sandbox_does_not_have_says_so(sandbox: Sandbox, ec2: EC2Client) -> None:
    with pytest.raises(ClientError) as action:
        ec2.describe_capacity_block_status()
    assert code(action) == "InvalidAction"
    with pytest.raises(ClientError) as service:
        client(sandbox, "autoscaling").describe_auto_scaling_groups()
    assert code(service) == "InvalidAction"
    assert "eks, ec2, iam and sts" in str(service.value)
    with pytest.raises(ClientError) as spoken_json:
        client(sandbox, "service-quotas").list_service_quotas(ServiceCode="ec2")
    assert code(spoken_json) == "UnknownOperationException"


def test_what_moto_fails_over_is_an_error_of_ec2s(sandbox: Sandbox, ec2: EC2Client) -> None:
    with pytest.raises(ClientError, match="cannot carry out RunInstances") as error:
        ec2.run_instances(ImageId="ami-1", MinCount=1, MaxCount=1)
    assert code(error) == "UnsupportedOperation"
    assert ec2.describe_launch_templates()["LaunchTemplates"] == []
