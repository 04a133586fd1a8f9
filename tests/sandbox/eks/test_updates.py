"""Changes of node groups and of their tags."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from tests.sandbox.eks.test_life import code, describe, slow

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_eks import EKSClient

    from fracgpu.sandbox.world import Pool
    from tests.sandbox.conftest import Sandbox

Make = Callable[..., dict[str, Any]]
WHERE: Any = {"clusterName": "sandbox", "nodegroupName": "gpus"}


@pytest.fixture
def pool(sandbox: Sandbox, eks: EKSClient, request_of: Make) -> Pool:
    taint = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}
    eks.create_nodegroup(**request_of(labels={"a": "1", "b": "2"}, taints=[taint]))
    sandbox.advance(1)
    return sandbox.world.cluster("eks", "us-east-1", "sandbox").pools["gpus"]  # type: ignore[arg-type]


def update_of(eks: EKSClient, update: Any) -> Any:
    return eks.describe_update(name="sandbox", nodegroupName="gpus", updateId=update["id"])["update"]


def test_sizes_labels_and_taints_change_when_the_update_ends(sandbox: Sandbox, eks: EKSClient, pool: Pool) -> None:
    slow(sandbox)
    labels: Any = {"addOrUpdateLabels": {"a": "9", "c": "3"}, "removeLabels": ["b"]}
    added = {"key": "team", "value": "vision", "effect": "NO_EXECUTE"}
    gone = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}
    taints: Any = {"addOrUpdateTaints": [added], "removeTaints": [gone]}
    sizes: Any = {"minSize": 1, "maxSize": 30, "desiredSize": 5}
    update = eks.update_nodegroup_config(**WHERE, labels=labels, taints=taints, scalingConfig=sizes)["update"]
    assert (update["status"], update["type"]) == ("InProgress", "ConfigUpdate")
    assert {param["type"] for param in update["params"]} >= {"MinSize", "LabelsToAdd", "TaintsToRemove"}
    assert describe(eks)["status"] == "UPDATING"
    sandbox.advance(3600)
    group = describe(eks)
    assert update_of(eks, update)["status"] == "Successful"
    assert (group["status"], pool.size, pool.incarnation) == ("ACTIVE", 5, 0)
    assert group["labels"] == {"a": "9", "c": "3"}
    assert group["taints"] == [added]
    assert group["scalingConfig"] == sizes


def test_one_change_at_a_time(sandbox: Sandbox, eks: EKSClient, pool: Pool) -> None:
    slow(sandbox)
    sizes: Any = {"desiredSize": 3}
    eks.update_nodegroup_config(**WHERE, scalingConfig=sizes)
    changes: list[Callable[[], Any]] = [
        lambda: eks.update_nodegroup_config(**WHERE, scalingConfig=sizes),
        lambda: eks.update_nodegroup_version(**WHERE),
    ]
    for change in changes:
        with pytest.raises(ClientError) as busy:
            change()
        assert code(busy) == "ResourceInUseException"
        assert "Nodegroup cannot be updated as it is currently not in Active State" in str(busy.value)
    with pytest.raises(ClientError) as kept:
        eks.delete_nodegroup(**WHERE)
    assert code(kept) == "ResourceInUseException"


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ({"minSize": 8}, "Minimum capacity 8 can't be greater than desired size 2"),
        ({"maxSize": 1}, "desired capacity 2 can't be greater than max size 1"),
    ],
)
def test_sizes_that_contradict_those_that_stay(eks: EKSClient, pool: Pool, sizes: Any, words: str) -> None:
    with pytest.raises(ClientError) as refused:
        eks.update_nodegroup_config(**WHERE, scalingConfig=sizes)
    assert code(refused) == "InvalidParameterException"
    assert words in str(refused.value)


def test_the_same_token_is_one_update(eks: EKSClient, pool: Pool) -> None:
    sizes: Any = {"desiredSize": 3}
    first = eks.update_nodegroup_config(**WHERE, scalingConfig=sizes, clientRequestToken="once")["update"]
    again = eks.update_nodegroup_config(**WHERE, scalingConfig=sizes, clientRequestToken="once")["update"]
    assert again["id"] == first["id"]
    assert eks.list_updates(name="sandbox", nodegroupName="gpus")["updateIds"] == [first["id"]]


def test_an_update_is_found_by_its_group_only(eks: EKSClient, pool: Pool) -> None:
    sizes: Any = {"desiredSize": 3}
    update = eks.update_nodegroup_config(**WHERE, scalingConfig=sizes)["update"]
    with pytest.raises(ClientError) as nowhere:
        eks.describe_update(name="sandbox", updateId=update["id"])
    assert code(nowhere) == "ResourceNotFoundException"
    assert eks.list_updates(name="sandbox")["updateIds"] == []


def test_a_new_ami_replaces_every_node(sandbox: Sandbox, eks: EKSClient, pool: Pool) -> None:
    update = eks.update_nodegroup_version(**WHERE, version="1.33", force=True)["update"]
    sandbox.advance(1)
    assert update_of(eks, update)["status"] == "Successful"
    assert (pool.incarnation, pool.size) == (1, 2)
    assert describe(eks)["version"] == "1.33"


def test_a_group_without_a_template_cannot_be_given_one(eks: EKSClient, ec2: EC2Client, pool: Pool) -> None:
    ec2.create_launch_template(LaunchTemplateName="own", LaunchTemplateData={"EbsOptimized": True})
    with pytest.raises(ClientError) as refused:
        eks.update_nodegroup_version(**WHERE, launchTemplate={"name": "own", "version": "1"})
    assert code(refused) == "InvalidParameterException"


def test_another_version_of_the_template_is_what_the_nodes_are_made_from(
    sandbox: Sandbox, eks: EKSClient, ec2: EC2Client, request_of: Make
) -> None:
    def data(replicas: int) -> Any:
        text = (
            "[settings.kubelet-device-plugins.nvidia]\n"
            'device-sharing-strategy = "time-slicing"\n'
            "[settings.kubelet-device-plugins.nvidia.time-slicing]\n"
            f"replicas = {replicas}\nrename-by-default = false\n"
        )
        return {"UserData": base64.b64encode(text.encode()).decode()}

    ec2.create_launch_template(LaunchTemplateName="own", LaunchTemplateData=data(10))
    ec2.create_launch_template(LaunchTemplateName="other", LaunchTemplateData=data(10))
    eks.create_nodegroup(**request_of(amiType="BOTTLEROCKET_x86_64_NVIDIA", launchTemplate={"name": "own"}))
    sandbox.advance(1)
    cluster = sandbox.world.cluster("eks", "us-east-1", "sandbox")  # type: ignore[arg-type]
    made = cluster.pools["gpus"]
    shape = sandbox.world.shapes[made.cloud]
    assert shape(cluster, made).allocatable == {"nvidia.com/gpu": 10}
    ec2.create_launch_template_version(LaunchTemplateName="own", LaunchTemplateData=data(4))
    assert shape(cluster, made).allocatable == {"nvidia.com/gpu": 10}
    with pytest.raises(ClientError) as other:
        eks.update_nodegroup_version(**WHERE, launchTemplate={"name": "other", "version": "1"})
    assert code(other) == "InvalidParameterException"
    eks.update_nodegroup_version(**WHERE, launchTemplate={"name": "own", "version": "2"})
    sandbox.advance(1)
    assert shape(cluster, made).allocatable == {"nvidia.com/gpu": 4}
    assert (made.incarnation, describe(eks)["launchTemplate"]["version"]) == (1, "2")


def test_tags_of_groups_and_clusters(eks: EKSClient, pool: Pool) -> None:
    group = describe(eks)["nodegroupArn"]
    cluster = eks.describe_cluster(name="sandbox")["cluster"]["arn"]
    for arn in (group, cluster):
        eks.tag_resource(resourceArn=arn, tags={"fracgpu-managed": "true", "team": "vision"})
        eks.untag_resource(resourceArn=arn, tagKeys=["team", "never-there"])
        assert eks.list_tags_for_resource(resourceArn=arn)["tags"] == {"fracgpu-managed": "true"}
    assert describe(eks)["tags"] == {"fracgpu-managed": "true"}
    with pytest.raises(ClientError) as missing:
        eks.list_tags_for_resource(resourceArn=group[:-1] + "?")
    assert code(missing) == "NotFoundException"
