"""One shell, the clouds' own tools and fracgpu side by side: what one makes, the others see.

`eval "$(fracgpu sandbox env)"` in an environment with nothing of the user's but a proxy is all that is done for them.
The AWS CLI is no development requirement, since it pins a botocore of its own; boto3, which reads the same variables
and the same models, stands in for it where it is not installed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import DEAD_PROXY

pytestmark = [pytest.mark.xdist_group("foreign_tools"), pytest.mark.timeout(300)]

Tool = Callable[[str], str]
GPU = "nvidia.com/gpu"


class Shell:
    """A shell that was told of the sandbox and of nothing else."""

    def __init__(self, home: Path) -> None:
        programs = home / "bin"
        programs.mkdir()
        (programs / "fracgpu").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m fracgpu "$@"\n')
        (programs / "fracgpu").chmod(0o755)
        self.environ = {
            "HOME": str(home),
            "XDG_RUNTIME_DIR": str(home),
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "LANG": "C.UTF-8",
            "HTTPS_PROXY": DEAD_PROXY,
            "HTTP_PROXY": DEAD_PROXY,
        }
        self.python = sys.executable

    def run(self, script: str, told: bool = True) -> str:
        """What the script prints; it is told of the sandbox first unless `told` is False."""
        lines = ["told=$(fracgpu sandbox env)", 'eval "$told"', "unset told"] if told else []
        command = ["/bin/sh", "-eu", "-c", "\n".join([*lines, script])]
        done = subprocess.run(command, env=self.environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def json(self, script: str) -> Any:
        return json.loads(self.run(script))


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    home = tmp_path_factory.mktemp("home")
    home.chmod(0o700)
    shell = Shell(home)
    shell.run("fracgpu sandbox start && fracgpu sandbox set operation-seconds 0.2", told=False)
    yield shell
    shell.run("fracgpu sandbox stop", told=False)


def _sharing(shell: Shell, provider: str) -> dict[str, Any]:
    """Every GPU pool that fracgpu lists there, and how its GPUs are shared."""
    listed = shell.json(f"fracgpu --sandbox -q pool list --provider {provider} -o json")
    return {item["metadata"]["name"]: item["spec"].get("sharing") for item in listed["items"]}


def test_gcloud_and_fracgpu_see_each_others_pools(shell: Shell, tool: Tool) -> None:
    tool("gcloud")
    accelerator = (
        "type=nvidia-tesla-a100,count=1,gpu-partition-size=1g.5gb,gpu-driver-version=default,"
        "gpu-sharing-strategy=time-sharing,max-shared-clients-per-gpu=3"
    )
    pools = "gcloud container node-pools"
    shell.run(
        f"{pools} create theirs --cluster sandbox --quiet --machine-type a2-highgpu-1g --accelerator {accelerator} "
        "--num-nodes 1 --node-locations us-central1-a"
    )
    shell.run("fracgpu --sandbox -q pool create ours --mig 2g.10gb --zone us-central1-a")
    assert _sharing(shell, "gke")["theirs"] == {"mig": {"profile": "1g.5gb"}, "timeSlicing": {"replicas": 3}}
    listed = shell.run(f"{pools} list --cluster sandbox --format 'value(name,config.machineType,status)'")
    assert set(listed.split("\n")) >= {"theirs\ta2-highgpu-1g\tRUNNING", "ours\ta2-highgpu-1g\tRUNNING"}
    described = shell.json(f"{pools} describe ours --cluster sandbox --format json")
    (gpu,) = described["config"]["accelerators"]
    assert (gpu["gpuPartitionSize"], gpu["acceleratorCount"]) == ("2g.10gb", "1")
    shell.run(f"{pools} delete theirs --cluster sandbox --quiet")
    assert "theirs" not in _sharing(shell, "gke")


def test_az_and_fracgpu_see_each_others_pools(shell: Shell, tool: Tool) -> None:
    tool("az")
    here = "--resource-group sandbox --cluster-name sandbox --output json"
    shell.run(
        f"az aks nodepool add --name theirs {here} --node-vm-size Standard_NC24ads_A100_v4 --node-count 1 "
        "--gpu-instance-profile MIG1g --node-taints nvidia.com/gpu=present:NoSchedule"
    )
    shell.run("fracgpu --sandbox -q pool create ours --provider aks --mig 2g.20gb")
    assert _sharing(shell, "aks")["theirs"] == {"mig": {"profile": "1g.10gb"}}
    listed = shell.json(f"az aks nodepool list {here}")
    assert {"theirs": "MIG1g", "ours": "MIG2g"}.items() <= {
        pool["name"]: pool["gpuInstanceProfile"] for pool in listed
    }.items()
    scaled = shell.json(f"az aks nodepool scale --name ours --node-count 2 {here}")
    assert (scaled["count"], scaled["tags"]["fracgpu-managed"]) == (2, "true")
    shell.run(f"az aks nodepool delete --name theirs {here}")
    assert "theirs" not in _sharing(shell, "aks")


KUBECONFIGS = {
    "gcloud": ("gcloud container clusters get-credentials sandbox", "gke-sandbox-default-pool"),
    "aws": ("aws eks update-kubeconfig --name sandbox", "ip-192-168-"),
    "az": ("az aks get-credentials --resource-group sandbox --name sandbox", "aks-system-"),
}


@pytest.mark.parametrize("name", KUBECONFIGS)
def test_a_kubeconfig_that_a_clouds_tool_writes_leads_kubectl_to_the_cluster(
    shell: Shell, tool: Tool, tmp_path: Path, name: str
) -> None:
    tool("kubectl")
    tool(name)
    if name == "gcloud":
        tool("gke-gcloud-auth-plugin")
    write, node = KUBECONFIGS[name]
    aside = f"export KUBECONFIG='{tmp_path}/config'"
    assert node in shell.run(f"{aside}\n{write} > '{tmp_path}/said'\nkubectl get nodes")


POD = """
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  nodeSelector: {{cloud.google.com/gke-nodepool: slices}}
  tolerations: [{{key: nvidia.com/gpu, operator: Exists}}]
  containers: [{{name: main, image: nvidia/cuda, resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}}}]
"""


def test_kubectl_sees_the_slices_and_a_pod_takes_one(shell: Shell, tool: Tool) -> None:
    tool("kubectl")
    shell.run("fracgpu --sandbox -q pool create slices --mig 1g.5gb --zone us-central1-a --verify")
    shell.run("fracgpu --sandbox -q workload pod slices --name takes | kubectl apply -f -")
    shell.run("kubectl wait pod/takes --for=condition=PodScheduled --timeout=30s")
    (node,) = shell.json("kubectl get nodes -l cloud.google.com/gke-nodepool=slices -o json")["items"]
    name = node["metadata"]["name"]
    assert node["status"]["allocatable"][GPU] == "7"
    assert shell.json("kubectl get pod takes -o json")["spec"]["nodeName"] == name
    (line,) = [row.split() for row in shell.run("kubectl get nodes -o wide").splitlines() if row.startswith(name)]
    assert (line[1], line[2]) == ("Ready", "<none>")
    described = shell.run(f"kubectl describe node {name}")
    assert f"{GPU}:     7" in described
    assert "nvidia.com/gpu=present:NoSchedule" in described


def test_a_pod_that_cannot_land_is_told_the_true_reason(shell: Shell, tool: Tool) -> None:
    tool("kubectl")
    shell.run("fracgpu --sandbox -q pool create slices --mig 1g.5gb --zone us-central1-a --verify")
    shell.run(f"kubectl apply -f - << 'END'\n{POD.format(name='cannot', gpus=8)}\nEND")
    shell.run("kubectl wait pod/cannot --for=condition=PodScheduled=false --timeout=30s")
    assert "1 Insufficient nvidia.com/gpu" in shell.run("kubectl describe pod cannot")
    assert "Pending" in shell.run("kubectl get pod cannot -o wide")


CHART = {
    "Chart.yaml": "{apiVersion: v2, name: small, version: 0.1.0}",
    "values.yaml": "replicas: 1",
    "crds/widget.yaml": """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
""",
    "templates/all.yaml": """
apiVersion: example.com/v1
kind: Widget
metadata: {name: "{{ .Release.Name }}"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: "{{ .Release.Name }}"}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: x}}
  template: {metadata: {labels: {app: x}}, spec: {containers: [{name: c, image: x}]}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: "{{ .Release.Name }}", annotations: {"helm.sh/hook": pre-install}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}}
""",
}


def test_helm_installs_changes_and_takes_away_a_chart(shell: Shell, tool: Tool, tmp_path: Path) -> None:
    tool("helm")
    for name, text in CHART.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    there = f"one '{tmp_path}' --kube-context sandbox --wait --timeout 60s"
    shell.run(f"helm install {there}\nhelm upgrade {there} --set replicas=3")
    history = shell.json("helm history one --kube-context sandbox -o json")
    assert [row["status"] for row in history] == ["superseded", "deployed"]
    shell.run("helm rollback one 1 --kube-context sandbox --wait\nhelm uninstall one --kube-context sandbox --wait")
    assert shell.json("helm list --kube-context sandbox -o json") == []


CREATE = (
    "--nodegroup-name theirs --subnets $subnets --node-role $role --instance-types g5.xlarge "
    "--ami-type AL2023_x86_64_NVIDIA --scaling-config minSize=0,maxSize=2,desiredSize=1 "
    "--labels nvidia.com/device-plugin.config=time-sliced-10"
)


def test_the_aws_cli_and_fracgpu_see_each_others_pools(shell: Shell, tool: Tool) -> None:
    tool("aws")
    groups = "aws eks"
    shell.run(
        "subnets=$(aws ec2 describe-subnets --query 'Subnets[:2].SubnetId' --output text)\n"
        "role=$(aws iam get-role --role-name fracgpu-sandbox-node --query Role.Arn --output text)\n"
        f"{groups} create-nodegroup --cluster-name sandbox {CREATE}\n"
        f"{groups} wait nodegroup-active --cluster-name sandbox --nodegroup-name theirs\n"
    )
    shell.run("fracgpu --sandbox -q pool create ours --provider eks --machine p4d.24xlarge --mig 1g.5gb")
    assert _sharing(shell, "eks")["theirs"] == {"timeSlicing": {"replicas": 10}}
    listed = shell.json(f"{groups} list-nodegroups --cluster-name sandbox --output json")["nodegroups"]
    assert {"ours", "theirs"} <= set(listed)
    query = "LaunchTemplates[].LaunchTemplateName"
    templates = shell.json(f"aws ec2 describe-launch-templates --query '{query}' --output json")
    assert "fracgpu-sandbox-ours" in templates
    shell.run(
        f"{groups} delete-nodegroup --cluster-name sandbox --nodegroup-name theirs\n"
        f"{groups} wait nodegroup-deleted --cluster-name sandbox --nodegroup-name theirs\n"
    )
    assert "theirs" not in _sharing(shell, "eks")


BOTO3 = """
import boto3, json
eks, ec2, iam = (boto3.client(name) for name in ("eks", "ec2", "iam"))
named = dict(clusterName="sandbox", nodegroupName="by-boto3")
eks.create_nodegroup(
    **named, amiType="AL2023_x86_64_NVIDIA", instanceTypes=["g5.xlarge"],
    subnets=[subnet["SubnetId"] for subnet in ec2.describe_subnets()["Subnets"][:2]],
    nodeRole=iam.get_role(RoleName="fracgpu-sandbox-node")["Role"]["Arn"],
    scalingConfig=dict(minSize=0, maxSize=2, desiredSize=1),
    labels={"nvidia.com/device-plugin.config": "time-sliced-4"},
)
eks.get_waiter("nodegroup_active").wait(**named, WaiterConfig=dict(Delay=1))
print(json.dumps([eks.list_nodegroups(clusterName="sandbox")["nodegroups"],
                  [one["LaunchTemplateName"] for one in ec2.describe_launch_templates()["LaunchTemplates"]]]))
"""


def test_boto3_and_fracgpu_see_each_others_pools(shell: Shell) -> None:
    shell.run("fracgpu --sandbox -q pool create cut --provider eks --machine p4d.24xlarge --mig 3g.20gb=2")
    groups, templates = shell.json(f"'{shell.python}' - << 'END'\n{BOTO3}\nEND")
    assert {"cut", "by-boto3"} <= set(groups)
    assert "fracgpu-sandbox-cut" in templates
    listed = _sharing(shell, "eks")
    assert listed["by-boto3"] == {"timeSlicing": {"replicas": 4}}
    assert listed["cut"]["mig"]["profile"] == "3g.20gb"


def test_a_shell_that_is_told_and_untold_is_as_it_was(shell: Shell) -> None:
    before = shell.run("env", told=False)
    after = shell.run('eval "$(fracgpu sandbox env --unset)"\nenv')
    assert sorted(before.splitlines()) == sorted(after.splitlines())
