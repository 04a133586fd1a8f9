"""The AWS CLI itself against the sandbox; run where it is installed."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.sandbox.conftest import Sandbox

pytestmark = pytest.mark.skipif(
    shutil.which("aws") is None,
    reason="the AWS CLI is not installed; `pip install awscli` in an environment of its own",
)

HERE = ("--cluster-name", "sandbox")

Aws = Callable[..., Any]


@pytest.fixture
def settings(sandbox: Sandbox, tmp_path: Path) -> dict[str, str]:
    endpoints = {f"AWS_ENDPOINT_URL_{service}": sandbox.http for service in ("EKS", "EC2", "IAM", "STS")}
    return endpoints | {
        "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "nothing",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_MAX_ATTEMPTS": "1",
        "AWS_PAGER": "",
        "NO_PROXY": "127.0.0.1",
    }


@pytest.fixture
def aws(settings: dict[str, str]) -> Aws:
    def run(*arguments: str, fails: bool = False) -> Any:
        command = ["aws", *arguments, "--output", "json"]
        done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, check=False)
        assert (done.returncode != 0) == fails, done.stderr
        return done.stderr if fails else json.loads(done.stdout or "null")

    return run


@pytest.fixture
def create(aws: Aws) -> Callable[..., Any]:
    subnets = aws("eks", "describe-cluster", "--name", "sandbox")["cluster"]["resourcesVpcConfig"]["subnetIds"]
    role = aws("iam", "get-role", "--role-name", "fracgpu-sandbox-node")["Role"]["Arn"]

    def make(name: str, *arguments: str, fails: bool = False) -> Any:
        where = (*HERE, "--nodegroup-name", name, "--subnets", *subnets, "--node-role", role)
        return aws("eks", "create-nodegroup", *where, *arguments, fails=fails)

    return make


def test_a_life_in_the_aws_cli(aws: Aws, create: Callable[..., Any]) -> None:
    group = (*HERE, "--nodegroup-name", "gpus")
    create(
        "gpus",
        *("--scaling-config", "minSize=0,maxSize=20,desiredSize=1", "--capacity-type", "SPOT", "--disk-size", "200"),
        *("--instance-types", "g5.xlarge", "--ami-type", "AL2023_x86_64_NVIDIA"),
        *("--labels", "nvidia.com/device-plugin.config=time-sliced-10"),
        *("--taints", "key=nvidia.com/gpu,value=present,effect=NO_SCHEDULE"),
    )
    aws("eks", "wait", "nodegroup-active", *group)
    assert aws("eks", "list-nodegroups", *HERE)["nodegroups"] == ["system", "gpus"]
    sizes = "minSize=0,maxSize=30,desiredSize=2"
    update = aws("eks", "update-nodegroup-config", *group, "--scaling-config", sizes)["update"]
    told = ("--name", "sandbox", "--nodegroup-name", "gpus", "--update-id", update["id"])
    assert aws("eks", "describe-update", *told)["update"]["status"] == "Successful"
    assert aws("eks", "describe-nodegroup", *group)["nodegroup"]["scalingConfig"]["desiredSize"] == 2
    aws("eks", "delete-nodegroup", *group)
    aws("eks", "wait", "nodegroup-deleted", *group)
    refusal = aws("eks", "describe-nodegroup", *group, fails=True)
    assert "(ResourceNotFoundException) when calling the DescribeNodegroup operation: No node group found" in refusal


def test_a_launch_template_in_the_aws_cli(aws: Aws, create: Callable[..., Any]) -> None:
    text = '[settings.kubelet-device-plugins.nvidia]\ndevice-sharing-strategy = "time-slicing"\n'
    data = json.dumps({"UserData": base64.b64encode(text.encode()).decode()})
    named = ("--launch-template-name", "own")
    made = aws("ec2", "create-launch-template", *named, "--launch-template-data", data)["LaunchTemplate"]
    found = aws("ec2", "describe-launch-templates")["LaunchTemplates"]
    assert [template["LaunchTemplateId"] for template in found] == [made["LaunchTemplateId"]]
    versions = aws("ec2", "describe-launch-template-versions", *named)["LaunchTemplateVersions"]
    assert versions[0]["LaunchTemplateData"] == json.loads(data)
    group = ("--instance-types", "g5.xlarge", "--ami-type", "BOTTLEROCKET_x86_64_NVIDIA")
    made = create("gpus", *group, "--launch-template", "name=own,version=1")["nodegroup"]
    assert made["launchTemplate"]["version"] == "1"


def test_a_refusal_in_the_aws_cli(create: Callable[..., Any]) -> None:
    refusal = create("gpus", "--taints", "key=a,value=b,effect=NoSchedule", fails=True)
    assert "(InvalidParameterException) when calling the CreateNodegroup operation: Invalid taint effect" in refusal


def test_kubectl_signs_in_with_a_kubeconfig_of_the_aws_cli(settings: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    command = ["aws", "eks", "update-kubeconfig", "--name", "sandbox", "--kubeconfig", str(file)]
    subprocess.run(command, env=os.environ | settings, capture_output=True, check=True)
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl is not installed; https://kubernetes.io/docs/tasks/tools")
    command = ["kubectl", "--kubeconfig", str(file), "get", "nodes", "-o", "name"]
    told = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("node/ip-")
