"""What an autoscaler believes of pools at zero, and how it differs from what their nodes would show."""

from __future__ import annotations

import json
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

import boto3
import pytest
from botocore.config import Config

from tests.sandbox.conftest import Sandbox
from tests.sandbox.kubernetes.conftest import put_pool

Json = dict[str, Any]
GPU = "nvidia.com/gpu"


def believed(sandbox: Sandbox, provider: str, pool: str) -> Json:
    """What `sandbox status` says of a pool without nodes."""
    request = Request(f"{sandbox.http}/sandbox/status", headers={"Authorization": f"Bearer {sandbox.token}"})
    with build_opener(ProxyHandler({})).open(request) as answer:
        clusters = json.load(answer)["clusters"]
    pools = [row for one in clusters if one["provider"] == provider for row in one["pools"] if row["name"] == pool]
    assert pools[0]["nodes"] == 0
    found: Json = pools[0]["autoscalerBelieves"]
    return found


@pytest.mark.parametrize(
    ("properties", "gpus"),
    [
        ({}, {GPU: 1}),
        ({"gpuInstanceProfile": "MIG1g"}, {GPU: 1}),
        ({"vmSize": "Standard_ND96asr_v4"}, {GPU: 8}),
        (
            {"tags": {"k8s.io_cluster-autoscaler_node-template_resources_nvidia.com_mig-1g.10gb": "7"}},
            {GPU: 1, "nvidia.com/mig-1g.10gb": 7},
        ),
    ],
)
def test_on_aks_the_size_counts_and_the_tags(sandbox: Sandbox, properties: Json, gpus: Json) -> None:
    put_pool(sandbox, "gpus", count=0, nodeLabels={"team": "vision"}, **properties)
    belief = believed(sandbox, "aks", "gpus")
    assert {name: count for name, count in belief["resources"].items() if name != "cpu"} == gpus
    assert belief["labels"]["team"] == "vision"
    assert belief["taints"] == [{"key": GPU, "value": "present", "effect": "NoSchedule"}]


RESOURCE = "k8s.io/cluster-autoscaler/node-template/resources/"


@pytest.mark.parametrize(
    ("tags", "value", "gpus", "taints"),
    [
        ({}, "present", {GPU: 1}, 1),
        ({}, "", {GPU: 1}, 0),
        ({f"{RESOURCE}{GPU}": "10"}, "present", {GPU: 10}, 1),
        ({f"{RESOURCE}{GPU}": "0", f"{RESOURCE}{GPU}.shared": "4"}, "present", {GPU: 0, f"{GPU}.shared": 4}, 1),
    ],
)
def test_on_eks_tags_override_the_machine_and_taints_need_a_value(
    sandbox: Sandbox, tags: Json, value: str, gpus: Json, taints: int
) -> None:
    eks = boto3.client(
        "eks",
        region_name="us-east-1",
        endpoint_url=sandbox.http,
        aws_access_key_id="AKIAEXAMPLE",
        aws_secret_access_key="nothing",
        config=Config(proxies={}),
    )
    system = eks.describe_nodegroup(clusterName="sandbox", nodegroupName="system")["nodegroup"]
    eks.create_nodegroup(
        clusterName="sandbox",
        nodegroupName="gpus",
        subnets=system["subnets"],
        nodeRole=system["nodeRole"],
        instanceTypes=["g5.xlarge"],
        amiType="AL2023_x86_64_NVIDIA",
        scalingConfig={"minSize": 0, "maxSize": 4, "desiredSize": 0},
        taints=[{"key": GPU, "value": value, "effect": "NO_SCHEDULE"}],
        tags=tags,
    )
    sandbox.advance(10)
    belief = believed(sandbox, "eks", "gpus")
    assert {name: count for name, count in belief["resources"].items() if name != "cpu"} == gpus
    assert len(belief["taints"]) == taints
