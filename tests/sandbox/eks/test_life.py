"""Node groups come up, are changed and go away as those of EKS do, seen through boto3."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError
from botocore.session import Session

from tests.sandbox.eks.conftest import client

if TYPE_CHECKING:
    from botocore.model import Shape
    from mypy_boto3_eks import EKSClient

    from tests.sandbox.conftest import Sandbox

Make = Callable[..., dict[str, Any]]
SIGNED = {
    "Authorization": "AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/20261130/us-east-1/eks/aws4_request, SignedHeaders=host, "
    "Signature=0",
    "Content-Type": "application/json",
}


def describe(eks: EKSClient, name: str = "gpus") -> dict[str, Any]:
    return dict(eks.describe_nodegroup(clusterName="sandbox", nodegroupName=name)["nodegroup"])


def slow(sandbox: Sandbox) -> None:
    sandbox.world.operation_seconds = 3600


def code(error: pytest.ExceptionInfo[ClientError]) -> str:
    return error.value.response["Error"]["Code"]


def raw(sandbox: Sandbox, method: str, path: str, body: Any = None) -> dict[str, Any]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(sandbox.http + path, data, SIGNED, method=method)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def test_a_group_is_creating_then_active_with_its_nodes(sandbox: Sandbox, eks: EKSClient, request_of: Make) -> None:
    slow(sandbox)
    assert eks.create_nodegroup(**request_of())["nodegroup"]["status"] == "CREATING"
    pool = sandbox.world.cluster("eks", "us-east-1", "sandbox").pools["gpus"]  # type: ignore[arg-type]
    assert (describe(eks)["status"], pool.size) == ("CREATING", 0)
    sandbox.advance(3600)
    assert (describe(eks)["status"], pool.size) == ("ACTIVE", 2)
    assert len(pool.zones) == 4


def test_describe_gives_back_what_was_sent(eks: EKSClient, request_of: Make) -> None:
    sent = request_of(
        capacityType="SPOT",
        diskSize=200,
        labels={"nvidia.com/device-plugin.config": "time-sliced-10", "team": "vision"},
        taints=[{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}],
        tags={"k8s.io/cluster-autoscaler/node-template/resources/nvidia.com/gpu": "10"},
        updateConfig={"maxUnavailablePercentage": 50, "updateStrategy": "MINIMAL"},
        nodeRepairConfig={"enabled": True, "maxUnhealthyNodeThresholdCount": 2},
        warmPoolConfig={"enabled": True, "minSize": 1, "poolState": "STOPPED"},
        remoteAccess={"ec2SshKey": "key"},
    )
    eks.create_nodegroup(**sent)
    assert describe(eks).items() >= sent.items()


def test_what_is_not_said_is_what_eks_takes(eks: EKSClient, request_of: Make) -> None:
    eks.create_nodegroup(**request_of(instanceTypes=None, amiType=None, scalingConfig=None))
    group = describe(eks)
    assert group["instanceTypes"] == ["t3.medium"]
    assert group["amiType"] == "AL2023_x86_64_STANDARD"
    assert group["capacityType"] == "ON_DEMAND"
    assert group["diskSize"] == 20
    assert group["scalingConfig"] == {"minSize": 2, "maxSize": 2, "desiredSize": 2}
    assert group["updateConfig"] == {"maxUnavailable": 1}
    assert group["version"] == "1.34"
    assert group["releaseVersion"].startswith("1.34.")
    assert not {"labels", "taints", "launchTemplate", "remoteAccess"} & set(group)


def test_the_same_token_makes_one_group_and_other_content_is_refused(eks: EKSClient, request_of: Make) -> None:
    first = eks.create_nodegroup(**request_of(clientRequestToken="once"))["nodegroup"]
    again = eks.create_nodegroup(**request_of(clientRequestToken="once"))["nodegroup"]
    assert again["nodegroupArn"] == first["nodegroupArn"]
    with pytest.raises(ClientError) as other:
        eks.create_nodegroup(**request_of(clientRequestToken="once", diskSize=99))
    assert code(other) == "InvalidParameterException"
    with pytest.raises(ClientError) as taken:
        eks.create_nodegroup(**request_of(clientRequestToken="twice"))
    assert code(taken) == "ResourceInUseException"
    assert "NodeGroup already exists with name gpus and cluster name sandbox" in str(taken.value)


def test_a_token_is_forgotten_with_its_group(sandbox: Sandbox, eks: EKSClient, request_of: Make) -> None:
    first = eks.create_nodegroup(**request_of(clientRequestToken="once"))["nodegroup"]
    sandbox.advance(1)
    eks.delete_nodegroup(clusterName="sandbox", nodegroupName="gpus")
    sandbox.advance(1)
    again = eks.create_nodegroup(**request_of(clientRequestToken="once"))["nodegroup"]
    assert again["nodegroupArn"] != first["nodegroupArn"]


def test_an_answer_that_got_lost_is_no_conflict_for_a_client_that_retries(sandbox: Sandbox, request_of: Make) -> None:
    sandbox.world.faults.add("eks", "CreateNodegroup", drop=True)
    eks = client(sandbox, "eks")
    retrying = client(sandbox, "eks")
    retrying.meta.events.register("needs-retry.eks.CreateNodegroup", lambda attempts, **_: 0 if attempts == 1 else None)
    made = retrying.create_nodegroup(**request_of())["nodegroup"]
    assert made["nodegroupArn"] == describe(eks)["nodegroupArn"]


def test_a_group_that_is_deleted_loses_its_nodes_then_itself(
    sandbox: Sandbox, eks: EKSClient, request_of: Make
) -> None:
    eks.create_nodegroup(**request_of())
    sandbox.advance(1)
    slow(sandbox)
    assert eks.delete_nodegroup(clusterName="sandbox", nodegroupName="gpus")["nodegroup"]["status"] == "DELETING"
    pool = sandbox.world.cluster("eks", "us-east-1", "sandbox").pools["gpus"]  # type: ignore[arg-type]
    assert pool.size == 0
    with pytest.raises(ClientError) as twice:
        eks.delete_nodegroup(clusterName="sandbox", nodegroupName="gpus")
    assert code(twice) == "ResourceInUseException"
    sandbox.advance(3600)
    with pytest.raises(ClientError) as gone:
        describe(eks)
    assert code(gone) == "ResourceNotFoundException"
    assert {**gone.value.response}["nodegroupName"] == "gpus"


def test_a_group_can_be_deleted_while_it_comes_up(sandbox: Sandbox, eks: EKSClient, request_of: Make) -> None:
    sandbox.world.faults.add("eks", "CreateNodegroup", outcome="endless")
    eks.create_nodegroup(**request_of())
    sandbox.advance(1e6)
    assert describe(eks)["status"] == "CREATING"
    eks.delete_nodegroup(clusterName="sandbox", nodegroupName="gpus")
    sandbox.advance(1)
    assert eks.list_nodegroups(clusterName="sandbox")["nodegroups"] == ["system"]


def test_lists_are_cut_into_pages(eks: EKSClient, request_of: Make) -> None:
    for number in range(5):
        eks.create_nodegroup(**request_of(nodegroupName=f"g{number}"))
    pages = list(eks.get_paginator("list_nodegroups").paginate(clusterName="sandbox", PaginationConfig={"PageSize": 2}))
    assert [len(page["nodegroups"]) for page in pages] == [2, 2, 2]
    assert [name for page in pages for name in page["nodegroups"]] == ["system", "g0", "g1", "g2", "g3", "g4"]
    with pytest.raises(ClientError) as invented:
        eks.list_nodegroups(clusterName="sandbox", nextToken="?")
    assert code(invented) == "InvalidParameterException"


def test_the_waiters_of_boto3_end(sandbox: Sandbox, eks: EKSClient, request_of: Make) -> None:
    eks.create_nodegroup(**request_of())
    config: Any = {"Delay": 0, "MaxAttempts": 200}
    eks.get_waiter("nodegroup_active").wait(clusterName="sandbox", nodegroupName="gpus", WaiterConfig=config)
    eks.delete_nodegroup(clusterName="sandbox", nodegroupName="gpus")
    eks.get_waiter("nodegroup_deleted").wait(clusterName="sandbox", nodegroupName="gpus", WaiterConfig=config)


def test_any_cluster_answers_but_the_missing_ones(sandbox: Sandbox, eks: EKSClient) -> None:
    assert eks.list_clusters()["clusters"] == ["sandbox"]
    assert eks.list_nodegroups(clusterName="prod")["nodegroups"] == ["system"]
    assert eks.list_clusters()["clusters"] == ["prod", "sandbox"]
    assert client(sandbox, "eks", "eu-west-1").list_clusters()["clusters"] == []
    with pytest.raises(ClientError) as missing:
        eks.list_nodegroups(clusterName="missing-prod")
    assert code(missing) == "ResourceNotFoundException"
    assert "No cluster found for name: missing-prod." in str(missing.value)


def test_a_region_has_clusters_and_subnets_of_its_own(sandbox: Sandbox) -> None:
    here = client(sandbox, "eks", "eu-west-1").describe_cluster(name="sandbox")["cluster"]
    assert here["arn"].startswith("arn:aws:eks:eu-west-1:")
    subnets = client(sandbox, "ec2", "eu-west-1").describe_subnets(SubnetIds=here["resourcesVpcConfig"]["subnetIds"])
    zones = {subnet["AvailabilityZone"] for subnet in subnets["Subnets"]}
    assert zones == {"eu-west-1a", "eu-west-1b", "eu-west-1c"}


def test_every_recorded_call_of_the_aws_cli_is_taken(sandbox: Sandbox, eks: EKSClient) -> None:
    ec2 = client(sandbox, "ec2")
    for template in ("fracgpu-gpu-br-mig", "fracgpu-gpu-br-ts"):
        ec2.create_launch_template(LaunchTemplateName=template, LaunchTemplateData={"EbsOptimized": True})
        ec2.create_launch_template_version(LaunchTemplateName=template, LaunchTemplateData={"EbsOptimized": True})
    taken = 0
    for request in recorded():
        if request["body"]:
            request["body"]["clientRequestToken"] = f"token-{taken}"
        raw(sandbox, request["method"], request["path"], request["body"])
        sandbox.advance(1)
        taken += 1
    assert taken >= 9


def recorded() -> Iterator[dict[str, Any]]:
    """Requests of the real CLI to EKS, in order; those to EC2 are form-encoded and are tested with boto3."""
    for file in sorted((Path(__file__).parent / "recorded").glob("*.json")):
        for call in json.loads(file.read_text())["calls"]:
            yield from (request for request in call["requests"] if request["path"].startswith("/clusters"))


def test_answers_have_no_member_that_the_sdk_does_not_know(sandbox: Sandbox, eks: EKSClient, request_of: Make) -> None:
    eks.create_nodegroup(**request_of(tags={"a": "b"}, labels={"a": "b"}))
    sandbox.advance(1)
    sizes: Any = {"desiredSize": 3}
    update = eks.update_nodegroup_config(clusterName="sandbox", nodegroupName="gpus", scalingConfig=sizes)["update"]
    model = Session().get_service_model("eks")
    for path, name in {
        "/clusters": "ListClusters",
        "/clusters/sandbox": "DescribeCluster",
        "/clusters/sandbox/addons": "ListAddons",
        "/clusters/sandbox/addons/coredns": "DescribeAddon",
        "/clusters/sandbox/node-groups": "ListNodegroups",
        "/clusters/sandbox/node-groups/gpus": "DescribeNodegroup",
        "/clusters/sandbox/updates?nodegroupName=gpus": "ListUpdates",
        f"/clusters/sandbox/updates/{update['id']}?nodegroupName=gpus": "DescribeUpdate",
    }.items():
        shape = model.operation_model(name).output_shape
        assert shape is not None
        assert list(strangers(raw(sandbox, "GET", path), shape, name)) == []


def strangers(value: Any, shape: Shape, where: str) -> Iterator[str]:
    """Paths of members that the shape lacks, or that are not of its type."""
    kinds: dict[str, Any] = {"structure": dict, "map": dict, "list": list, "string": str, "boolean": bool}
    kinds |= {"integer": int, "timestamp": float}
    if not isinstance(value, kinds[shape.type_name]):
        yield f"{where} is {value!r}, not {shape.type_name}"
    elif shape.type_name == "structure":
        for member, inner in value.items():
            known = shape.members.get(member)  # type: ignore[attr-defined]
            yield from strangers(inner, known, f"{where}.{member}") if known else [f"{where}.{member}"]
    elif shape.type_name == "list":
        for inner in value:
            yield from strangers(inner, shape.member, f"{where}[]")  # type: ignore[attr-defined]
    enum = getattr(shape, "enum", None)
    if enum and value not in enum:
        yield f"{where} is {value!r}, not one of {enum}"


def test_the_front_itself_waits_for_no_import_of_moto() -> None:
    program = "import sys, fracgpu.sandbox.eks.front; sys.exit('moto' in sys.modules or 'boto3' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
