"""What an autoscaler believes of pools at zero, and how it differs from what their nodes would show."""

from __future__ import annotations

import json
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

import boto3
import pytest
from botocore.config import Config

from tests.sandbox.conftest import Sandbox
from tests.sandbox.kubernetes.conftest import gke_pool, put_pool

Json = dict[str, Any]
GPU = "nvidia.com/gpu"
AKS_TAG = "k8s.io_cluster-autoscaler_node-template_resources_"


def sharing(strategy: str, clients: int) -> Json:
    return {"gpu_sharing_strategy": strategy, "max_shared_clients_per_gpu": clients}


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
        # What one of MIG single, time-slicing or MPS makes of a GPU, told by a tag and not told.
        ({"gpuInstanceProfile": "MIG1g", "tags": {f"{AKS_TAG}nvidia.com_gpu": "7"}}, {GPU: 7}),
        ({"nodeLabels": {"team": "vision", "nvidia.com/device-plugin.config": "time-sliced-4"}}, {GPU: 1}),
        (
            {"tags": {f"{AKS_TAG}nvidia.com_gpu": "0", f"{AKS_TAG}nvidia.com_gpu.shared": "4"}},
            {GPU: 0, f"{GPU}.shared": 4},
        ),
        ({"tags": {f"{AKS_TAG}nvidia.com_gpu": "many", AKS_TAG: "7"}}, {GPU: 1}),
        # Azure counts a part of a GPU as one.
        ({"vmSize": "Standard_NV6ads_A10_v5"}, {GPU: 1}),
    ],
)
def test_on_aks_the_size_counts_and_the_tags(sandbox: Sandbox, properties: Json, gpus: Json) -> None:
    put_pool(sandbox, "gpus", count=0, **{"nodeLabels": {"team": "vision"}, **properties})
    belief = believed(sandbox, "aks", "gpus")
    assert {name: count for name, count in belief["resources"].items() if name != "cpu"} == gpus
    assert belief["labels"]["team"] == "vision"
    assert belief["taints"] == [{"key": GPU, "value": "present", "effect": "NoSchedule"}]


@pytest.mark.parametrize(
    ("size", "predicted"),
    [("Standard_NC24ads_A100_v4", True), ("Standard_NC4as_T4_v3", True), ("Standard_NC40ads_H100_v5", False)],
)
def test_on_aks_the_gpu_label_is_predicted_for_sizes_up_to_the_a100(
    sandbox: Sandbox, size: str, predicted: bool
) -> None:
    put_pool(sandbox, "gpus", count=0, vmSize=size)
    assert ("accelerator" in believed(sandbox, "aks", "gpus")["labels"]) is predicted


def test_on_aks_a_taint_without_a_value_is_not_seen(sandbox: Sandbox) -> None:
    put_pool(sandbox, "gpus", count=0, nodeTaints=["nvidia.com/gpu:NoSchedule", "a=b:NoExecute"])
    assert believed(sandbox, "aks", "gpus")["taints"] == [{"key": "a", "value": "b", "effect": "NoExecute"}]


@pytest.mark.parametrize(
    ("machine", "gpu", "count"),
    [
        ("a2-highgpu-1g", {"accelerator_type": "nvidia-tesla-a100"}, 1),
        ("a2-highgpu-1g", {"accelerator_type": "nvidia-tesla-a100", "gpu_partition_size": "1g.5gb"}, 7),
        ("g2-standard-4", {"accelerator_type": "nvidia-l4", "gpu_sharing_config": sharing("TIME_SHARING", 4)}, 4),
        ("g2-standard-4", {"accelerator_type": "nvidia-l4", "gpu_sharing_config": sharing("MPS", 3)}, 3),
        (
            "a2-highgpu-1g",
            {
                "accelerator_type": "nvidia-tesla-a100",
                "gpu_partition_size": "3g.20gb",
                "gpu_sharing_config": sharing("TIME_SHARING", 5),
            },
            10,
        ),
    ],
)
def test_on_gke_the_autoscaler_knows_what_nodes_show(sandbox: Sandbox, machine: str, gpu: Json, count: int) -> None:
    gke_pool(sandbox, "gpus", machine, {**gpu, "accelerator_count": 1}, nodes=0)
    belief = believed(sandbox, "gke", "gpus")
    assert belief["resources"][GPU] == count
    assert [taint["key"] for taint in belief["taints"]] == [GPU]


RESOURCE = "k8s.io/cluster-autoscaler/node-template/resources/"


@pytest.mark.parametrize(
    ("machine", "tags", "value", "gpus", "taints"),
    [
        ("g5.xlarge", {}, "present", {GPU: 1}, 1),
        ("g5.xlarge", {}, "", {GPU: 1}, 0),
        ("g5.xlarge", {f"{RESOURCE}{GPU}": "10"}, "present", {GPU: 10}, 1),
        (
            "g5.xlarge",
            {f"{RESOURCE}{GPU}": "0", f"{RESOURCE}{GPU}.shared": "4"},
            "present",
            {GPU: 0, f"{GPU}.shared": 4},
            1,
        ),
        ("p4d.24xlarge", {}, "present", {GPU: 8}, 1),
        (
            "p4d.24xlarge",
            {f"{RESOURCE}{GPU}": "0", f"{RESOURCE}nvidia.com/mig-1g.5gb": "56"},
            "present",
            {GPU: 0, "nvidia.com/mig-1g.5gb": 56},
            1,
        ),
        # EC2 counts no GPU where there is a part of one.
        ("g6f.large", {}, "present", {GPU: 0}, 1),
        ("g6f.large", {f"{RESOURCE}{GPU}": "1"}, "present", {GPU: 1}, 1),
        ("m5.large", {}, "present", {}, 1),
    ],
)
def test_on_eks_tags_override_the_machine_and_taints_need_a_value(
    sandbox: Sandbox, machine: str, tags: Json, value: str, gpus: Json, taints: int
) -> None:
    belief = eks_belief(sandbox, machine, value, tags)
    assert {name: count for name, count in belief["resources"].items() if name != "cpu"} == gpus
    assert len(belief["taints"]) == taints


def test_on_eks_labels_are_those_that_the_api_tells(sandbox: Sandbox) -> None:
    labels = eks_belief(sandbox, "g5.xlarge", "present", {})["labels"]
    assert labels["eks.amazonaws.com/nodegroup"] == "gpus"
    assert labels["amiType"] == "AL2023_x86_64_NVIDIA"
    assert labels["eks.amazonaws.com/capacityType"] == "ON_DEMAND"
    assert not [name for name in labels if name.endswith(("nodegroup-image", "sourceLaunchTemplateId"))]


def eks_belief(sandbox: Sandbox, machine: str, value: str, tags: Json) -> Json:
    """What is believed of a node group at zero with a taint of that value."""
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
        instanceTypes=[machine],
        amiType="AL2023_x86_64_STANDARD" if machine == "m5.large" else "AL2023_x86_64_NVIDIA",
        scalingConfig={"minSize": 0, "maxSize": 4, "desiredSize": 0},
        taints=[{"key": GPU, "value": value, "effect": "NO_SCHEDULE"}],
        tags=tags,
    )
    sandbox.advance(10)
    return believed(sandbox, "eks", "gpus")
