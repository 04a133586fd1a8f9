"""What goes wrong after the call: stock, quota, offerings, bad user data, and faults that somebody set."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from tests.sandbox.eks.conftest import client
from tests.sandbox.eks.test_life import code, describe

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_eks import EKSClient

    from tests.sandbox.conftest import Sandbox

Make = Callable[..., dict[str, Any]]
MIG = (
    '[settings.kubelet-device-plugins.nvidia]\ndevice-partitioning-strategy = "mig"\n'
    '[settings.kubelet-device-plugins.nvidia.mig.profile]\n"a100.40gb" = "{profile}"\n'
)


def issue_of(eks: EKSClient) -> tuple[str, str, str]:
    """(status, code, message) of the group and its only health issue."""
    group = describe(eks)
    (issue,) = group["health"]["issues"]
    return group["status"], issue["code"], issue["message"]


def test_nothing_came_up(sandbox: Sandbox, eks: EKSClient, request_of: Make) -> None:
    sandbox.world.faults.add("eks", "CreateNodegroup", outcome="failed")
    eks.create_nodegroup(**request_of())
    sandbox.advance(1)
    status, name, message = issue_of(eks)
    assert (status, name) == ("CREATE_FAILED", "AsgInstanceLaunchFailures")
    assert "InsufficientInstanceCapacity - We currently do not have sufficient g5.xlarge capacity" in message


def test_half_of_it_came_up_and_the_group_cannot_be_updated(sandbox: Sandbox, eks: EKSClient, request_of: Make) -> None:
    sandbox.world.faults.add("eks", "CreateNodegroup", outcome="partial")
    eks.create_nodegroup(**request_of(scalingConfig={"minSize": 0, "maxSize": 4, "desiredSize": 4}))
    sandbox.advance(1)
    assert issue_of(eks)[0] == "DEGRADED"
    assert sandbox.world.cluster("eks", "us-east-1", "sandbox").pools["gpus"].size == 2  # type: ignore[arg-type]
    sizes: Any = {"desiredSize": 1}
    with pytest.raises(ClientError) as refused:
        eks.update_nodegroup_config(clusterName="sandbox", nodegroupName="gpus", scalingConfig=sizes)
    assert code(refused) == "ResourceInUseException"


def test_a_delete_that_fails_can_be_tried_again(sandbox: Sandbox, eks: EKSClient, request_of: Make) -> None:
    eks.create_nodegroup(**request_of())
    sandbox.advance(1)
    sandbox.world.faults.add("eks", "DeleteNodegroup", outcome="failed")
    eks.delete_nodegroup(clusterName="sandbox", nodegroupName="gpus")
    sandbox.advance(1)
    assert issue_of(eks)[:2] == ("DELETE_FAILED", "Ec2SecurityGroupDeletionFailure")
    eks.delete_nodegroup(clusterName="sandbox", nodegroupName="gpus")
    sandbox.advance(1)
    assert eks.list_nodegroups(clusterName="sandbox")["nodegroups"] == ["system"]


def test_an_update_that_fails_leaves_the_group_as_it_was(sandbox: Sandbox, eks: EKSClient, request_of: Make) -> None:
    eks.create_nodegroup(**request_of())
    sandbox.advance(1)
    sandbox.world.faults.add("eks", "UpdateNodegroupVersion", outcome="failed")
    made = eks.update_nodegroup_version(clusterName="sandbox", nodegroupName="gpus", version="1.33")["update"]
    sandbox.advance(1)
    update = eks.describe_update(name="sandbox", nodegroupName="gpus", updateId=made["id"])["update"]
    assert update["status"] == "Failed"
    assert [error["errorCode"] for error in update["errors"]] == ["PodEvictionFailure"]
    assert (describe(eks)["status"], describe(eks)["version"]) == ("ACTIVE", "1.34")


def test_a_config_that_fails_changes_nothing(sandbox: Sandbox, eks: EKSClient, request_of: Make) -> None:
    eks.create_nodegroup(**request_of())
    sandbox.advance(1)
    before = describe(eks)["scalingConfig"]
    sandbox.world.faults.add("eks", "UpdateNodegroupConfig", outcome="failed")
    made = eks.update_nodegroup_config(
        clusterName="sandbox", nodegroupName="gpus", scalingConfig={"minSize": 0, "maxSize": 9, "desiredSize": 9}
    )["update"]
    sandbox.advance(1)
    update = eks.describe_update(name="sandbox", nodegroupName="gpus", updateId=made["id"])["update"]
    assert [error["errorCode"] for error in update["errors"]] == ["ClusterUnreachable"]
    assert describe(eks)["scalingConfig"] == before


@pytest.mark.parametrize(
    ("capacity", "metric", "words"),
    [
        ("ON_DEMAND", "Running On-Demand G and VT instances", "current vCPU limit of 6 allows"),
        ("SPOT", "L-3819A6DF", "MaxSpotInstanceCountExceeded - Max spot instance count exceeded"),
    ],
)
def test_quotas_are_counted_in_vcpus_of_the_family(
    sandbox: Sandbox, eks: EKSClient, request_of: Make, capacity: str, metric: str, words: str
) -> None:
    sandbox.world.settings["quota"] = [{"cloud": "eks", "metric": metric, "region": "us-east-1", "limit": 6}]
    eks.create_nodegroup(**request_of(capacityType=capacity))
    sandbox.advance(1)
    status, name, message = issue_of(eks)
    assert (status, name) == ("DEGRADED", "AsgInstanceLaunchFailures")
    assert words in message
    pool = sandbox.world.cluster("eks", "us-east-1", "sandbox").pools["gpus"]  # type: ignore[arg-type]
    assert pool.size == 1
    sandbox.world.settings["quota"][0]["limit"] = 8
    assert describe(eks)["status"] == "ACTIVE"
    assert pool.size == 2


def test_active_at_zero_nodes_proves_nothing(sandbox: Sandbox, eks: EKSClient, request_of: Make) -> None:
    sandbox.world.settings["quota"] = [{"cloud": "eks", "metric": "P", "region": "", "limit": 0}]
    sizes: Any = {"minSize": 0, "maxSize": 2, "desiredSize": 0}
    eks.create_nodegroup(**request_of(instanceTypes=["p4d.24xlarge"], scalingConfig=sizes))
    sandbox.advance(1)
    assert describe(eks)["status"] == "ACTIVE"
    up: Any = {"desiredSize": 1}
    eks.update_nodegroup_config(clusterName="sandbox", nodegroupName="gpus", scalingConfig=up)
    sandbox.advance(1)
    assert issue_of(eks)[0] == "DEGRADED"
    assert "VcpuLimitExceeded" in issue_of(eks)[2]


def test_nodes_come_up_where_the_machine_is_offered(
    sandbox: Sandbox, eks: EKSClient, ec2: EC2Client, request_of: Make
) -> None:
    zones = [f"us-east-1{letter}" for letter in "abcd"]
    off = [{"cloud": "eks", "machine": "g5.xlarge", "zone": zone, "on": False} for zone in zones]
    sandbox.world.settings["offering"] = off[1:]
    eks.create_nodegroup(**request_of())
    sandbox.advance(1)
    pool = sandbox.world.cluster("eks", "us-east-1", "sandbox").pools["gpus"]  # type: ignore[arg-type]
    assert (describe(eks)["status"], pool.zones) == ("ACTIVE", ("us-east-1a",))
    offered = ec2.describe_instance_type_offerings(
        LocationType="availability-zone", Filters=[{"Name": "instance-type", "Values": ["g5.xlarge"]}]
    )["InstanceTypeOfferings"]
    assert {row["Location"] for row in offered} == {"us-east-1a", "us-east-1f"}
    sandbox.world.settings["offering"] = off
    eks.create_nodegroup(**request_of(nodegroupName="nowhere"))
    sandbox.advance(1)
    group = describe(eks, "nowhere")
    assert group["status"] == "CREATE_FAILED"
    assert "Unsupported - Your requested instance type (g5.xlarge)" in group["health"]["issues"][0]["message"]
    assert "choosing us-east-1f" in group["health"]["issues"][0]["message"]


@pytest.mark.parametrize(
    ("ami_type", "user_data", "name", "words"),
    [
        (
            "BOTTLEROCKET_x86_64_NVIDIA",
            MIG.format(profile="1g.10gb"),
            None,
            None,
        ),
        (
            "BOTTLEROCKET_x86_64_NVIDIA",
            MIG.format(profile="1g.6gb"),
            "NodeCreationFailure",
            "Instances failed to join the kubernetes cluster",
        ),
        (
            "BOTTLEROCKET_x86_64_NVIDIA",
            '[settings."kubelet-device-plugins.nvidia"]\n',
            "Ec2LaunchTemplateInvalidConfiguration",
            "User data was not a TOML format that could be processed.",
        ),
        (
            "AL2023_x86_64_NVIDIA",
            "#!/bin/bash\nnvidia-smi\n",
            "Ec2LaunchTemplateInvalidConfiguration",
            "User data was not in the MIME multipart format.",
        ),
    ],
    ids=["sound", "no-such-profile", "toml-of-its-own-kind", "not-mime"],
)
def test_user_data_is_judged_when_the_nodes_come(
    sandbox: Sandbox,
    eks: EKSClient,
    ec2: EC2Client,
    request_of: Make,
    ami_type: str,
    user_data: str,
    name: str | None,
    words: str | None,
) -> None:
    data: Any = {"UserData": base64.b64encode(user_data.encode()).decode()}
    ec2.create_launch_template(LaunchTemplateName="own", LaunchTemplateData=data)
    machines = {"instanceTypes": ["p4d.24xlarge"], "amiType": ami_type}
    eks.create_nodegroup(**request_of(launchTemplate={"name": "own"}, **machines))
    sandbox.advance(1)
    if name is None:
        assert (describe(eks)["status"], describe(eks)["health"]) == ("ACTIVE", {"issues": []})
    else:
        assert issue_of(eks) == ("CREATE_FAILED", name, words)


@pytest.mark.parametrize(
    ("how", "status", "expected"),
    [
        ({"status": 429}, 429, "ThrottlingException"),
        ({"status": 503, "code": "ServiceUnavailableException"}, 503, "ServiceUnavailableException"),
        ({"status": 403, "message": "not authorized to perform: eks:CreateNodegroup"}, 403, "AccessDeniedException"),
        ({"code": "ResourcePropagationDelayException", "status": 428}, 428, "ResourcePropagationDelayException"),
    ],
)
def test_a_fault_is_one_answer_in_the_shape_of_eks(
    sandbox: Sandbox, eks: EKSClient, request_of: Make, how: dict[str, Any], status: int, expected: str
) -> None:
    sandbox.world.faults.add("eks", "CreateNodegroup", **how)
    with pytest.raises(ClientError) as failed:
        eks.create_nodegroup(**request_of())
    assert code(failed) == expected
    assert failed.value.response["ResponseMetadata"]["HTTPStatusCode"] == status
    eks.create_nodegroup(**request_of())


def test_faults_of_ec2_iam_and_sts_are_set_by_the_names_of_their_calls(sandbox: Sandbox) -> None:
    for call in ("CreateLaunchTemplate", "GetRole", "GetCallerIdentity"):
        sandbox.world.faults.add("eks", call, status=403, code="UnauthorizedOperation", message="no <b>")
    data = {"EbsOptimized": True}
    calls: list[Callable[[], Any]] = [
        lambda: client(sandbox, "ec2").create_launch_template(LaunchTemplateName="own", LaunchTemplateData=data),
        lambda: client(sandbox, "iam").get_role(RoleName="fracgpu-sandbox-node"),
        lambda: client(sandbox, "sts").get_caller_identity(),
    ]
    for call_it in calls:
        with pytest.raises(ClientError) as failed:
            call_it()
        assert code(failed) == "UnauthorizedOperation"
        assert failed.value.response["Error"]["Message"] == "no <b>"
        call_it()


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("region", {"us-east-1"}),
        ("availability-zone", {"us-east-1a", "us-east-1b", "us-east-1c", "us-east-1d"}),
        ("availability-zone-id", {"use1-az1", "use1-az2", "use1-az4", "use1-az6"}),
    ],
)
def test_offerings_by_every_kind_of_place(ec2: EC2Client, kind: Any, expected: set[str]) -> None:
    filters: Any = [{"Name": "instance-type", "Values": ["p4d.24xlarge"]}]
    rows = ec2.describe_instance_type_offerings(LocationType=kind, Filters=filters)["InstanceTypeOfferings"]
    assert {row["Location"] for row in rows} == expected
    assert {row["LocationType"] for row in rows} == {kind}


def test_a_machine_that_ec2_lists_nowhere_in_a_region_is_everywhere_in_it(ec2: EC2Client) -> None:
    filters: Any = [{"Name": "instance-type", "Values": ["p5e.*"]}]
    where: Any = "availability-zone"
    rows = ec2.describe_instance_type_offerings(LocationType=where, Filters=filters)["InstanceTypeOfferings"]
    assert [row["InstanceType"] for row in rows] == ["p5e.48xlarge"] * 6
