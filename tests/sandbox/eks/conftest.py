"""Clients of AWS's own SDK, pointed at the sandbox, and node groups to try things on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.config import Config

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_eks import EKSClient

    from tests.sandbox.conftest import Sandbox

Group = dict[str, Any]


def client(sandbox: Sandbox, service: str, region: str = "us-east-1") -> Any:
    """A boto3 client that tries once, knows no proxy and looks for no credentials."""
    return boto3.client(  # type: ignore[call-overload]
        service,
        region_name=region,
        endpoint_url=sandbox.http,
        aws_access_key_id="AKIAEXAMPLE",
        aws_secret_access_key="nothing",
        config=Config(retries={"mode": "standard", "total_max_attempts": 1}, proxies={}),
    )


@pytest.fixture
def eks(sandbox: Sandbox) -> EKSClient:
    made: EKSClient = client(sandbox, "eks")
    return made


@pytest.fixture
def ec2(sandbox: Sandbox) -> EC2Client:
    made: EC2Client = client(sandbox, "ec2")
    return made


@pytest.fixture
def request_of(eks: EKSClient) -> Callable[..., Group]:
    """Makes the members of a CreateNodegroup that is good as it stands; a value of None leaves its member out."""
    cluster = eks.describe_cluster(name="sandbox")["cluster"]
    system = eks.describe_nodegroup(clusterName="sandbox", nodegroupName="system")["nodegroup"]

    def make(**changes: Any) -> Group:
        members: Group = {
            "clusterName": "sandbox",
            "nodegroupName": "gpus",
            "subnets": cluster["resourcesVpcConfig"]["subnetIds"],
            "nodeRole": system["nodeRole"],
            "instanceTypes": ["g5.xlarge"],
            "amiType": "AL2023_x86_64_NVIDIA",
            "scalingConfig": {"minSize": 0, "maxSize": 20, "desiredSize": 2},
            **changes,
        }
        return {member: value for member, value in members.items() if value is not None}

    return make
