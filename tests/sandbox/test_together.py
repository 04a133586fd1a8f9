"""Many clients at once on every front: nobody waits for ever, nobody sees half of anything, nothing is left over."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlencode

import grpc
from google.cloud import container_v1
from google.cloud.container_v1.services.cluster_manager.transports import ClusterManagerGrpcTransport

from fracgpu.sandbox.world import Cloud
from tests.sandbox.conftest import Sandbox

THREADS, ROUNDS = 16, 4
SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
AGENT_POOLS = (
    f"/subscriptions/{SUBSCRIPTION}/resourceGroups/sandbox/providers/Microsoft.ContainerService"
    "/managedClusters/sandbox/agentPools"
)
GKE = "projects/sandbox/locations/us-central1/clusters/sandbox"
GROUPS = "/clusters/sandbox/node-groups"


class Client:
    """One connection to the sandbox; an answer that is no success is an AssertionError with its text."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._connection = HTTPConnection(sandbox.http.removeprefix("http://"), timeout=60)

    def close(self) -> None:
        self._connection.close()

    def __call__(self, method: str, path: str, body: Any = None, service: str = "", form: Any = None) -> Any:
        scope = f"AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/{service}/aws4_request" if service else "Bearer x"
        kind = "application/x-www-form-urlencoded" if form else "application/json"
        data = urlencode(form) if form else None if body is None else json.dumps(body)
        self._connection.request(method, path, data, {"Authorization": scope, "Content-Type": kind})
        response = self._connection.getresponse()
        text = response.read()
        assert response.status < 300, (method, path, response.status, text)
        return json.loads(text) if text.startswith((b"{", b"[")) else text.decode()


def _aks(call: Client, name: str) -> None:
    version = "?api-version=2026-08-01"
    pool = {"vmSize": "Standard_NC24ads_A100_v4", "mode": "User", "count": 2, "gpuInstanceProfile": "MIG1g"}
    call("PUT", f"{AGENT_POOLS}/{name}{version}", {"properties": pool})
    found = call("GET", f"{AGENT_POOLS}/{name}{version}")["properties"]
    assert (found["provisioningState"], found["count"]) == ("Succeeded", 2)
    assert name in {pool["name"] for pool in call("GET", AGENT_POOLS + version)["value"]}
    call("DELETE", f"{AGENT_POOLS}/{name}{version}")
    assert name not in {pool["name"] for pool in call("GET", AGENT_POOLS + version)["value"]}


def _gke(call: Client, name: str) -> None:
    config = {"machineType": "a2-highgpu-1g", "accelerators": [{"acceleratorType": "nvidia-tesla-a100"}]}
    config["accelerators"][0]["acceleratorCount"] = "1"  # type: ignore[index]
    pool = {"name": name, "initialNodeCount": 1, "locations": ["us-central1-a"], "config": config}
    call("POST", f"/v1/{GKE}/nodePools", {"nodePool": pool})
    assert call("GET", f"/v1/{GKE}/nodePools/{name}")["status"] == "RUNNING"
    assert name in {pool["name"] for pool in call("GET", f"/v1/{GKE}/nodePools")["nodePools"]}
    call("DELETE", f"/v1/{GKE}/nodePools/{name}")
    assert name not in {pool["name"] for pool in call("GET", f"/v1/{GKE}/nodePools")["nodePools"]}


def _eks(call: Client, name: str) -> None:
    role = "arn:aws:iam::123456789012:role/node"
    subnets = call("GET", "/clusters/sandbox", service="eks")["cluster"]["resourcesVpcConfig"]["subnetIds"]
    group = {"nodegroupName": name, "nodeRole": role, "subnets": subnets[:2], "instanceTypes": ["g5.xlarge"]}
    group |= {"amiType": "AL2023_x86_64_NVIDIA", "clientRequestToken": name}
    call("POST", GROUPS, group, service="eks")
    assert call("GET", f"{GROUPS}/{name}", service="eks")["nodegroup"]["status"] == "ACTIVE"
    assert name in call("GET", f"{GROUPS}?maxResults=100", service="eks")["nodegroups"]
    call("DELETE", f"{GROUPS}/{name}", service="eks")
    assert name not in call("GET", f"{GROUPS}?maxResults=100", service="eks")["nodegroups"]


def _ec2(call: Client, name: str) -> None:
    def ask(action: str, **parameters: str) -> str:
        return str(call("POST", "/", service="ec2", form={"Action": action, "Version": "2016-11-15", **parameters}))

    ask("CreateLaunchTemplate", LaunchTemplateName=name, **{"LaunchTemplateData.InstanceType": "g5.xlarge"})
    assert name in ask("DescribeLaunchTemplates")
    ask("DeleteLaunchTemplate", LaunchTemplateName=name)
    assert name not in ask("DescribeLaunchTemplates")


def _kubernetes(call: Client, name: str) -> None:
    for cluster in (f"aks/{SUBSCRIPTION}~sandbox~sandbox", "gke/sandbox~us-central1~sandbox", "eks/us-east-1~sandbox"):
        maps = f"/k8s/{cluster}/api/v1/namespaces/default/configmaps"
        call("POST", maps, {"metadata": {"name": name}, "data": {"a": name}})
        assert call("GET", f"{maps}/{name}")["data"] == {"a": name}
        nodes = call("GET", f"/k8s/{cluster}/api/v1/nodes")["items"]
        assert len({node["metadata"]["name"] for node in nodes}) == len(nodes) >= 1
        call("DELETE", f"{maps}/{name}")
        assert name not in {one["metadata"]["name"] for one in call("GET", maps)["items"]}


@contextmanager
def _manager(sandbox: Sandbox) -> Iterator[Any]:
    channel = grpc.insecure_channel(sandbox.grpc)
    yield container_v1.ClusterManagerClient(transport=ClusterManagerGrpcTransport(channel=channel))
    channel.close()


def test_sixteen_threads_on_every_front(sandbox: Sandbox) -> None:
    sandbox.world.operation_seconds = 0
    fronts: tuple[Callable[[Client, str], None], ...] = (_aks, _gke, _eks, _ec2, _kubernetes)
    start = threading.Barrier(THREADS)

    def work(number: int) -> None:
        first = number % len(fronts)
        with closing(Client(sandbox)) as call:
            start.wait()
            for turn in range(ROUNDS):
                for front in (*fronts[first:], *fronts[:first]):
                    front(call, f"t{number}x{turn}")

    def ask_over_grpc() -> None:
        with _manager(sandbox) as manager:
            for _ in range(20):
                pools = manager.list_node_pools(parent=GKE).node_pools
                assert {pool.status.name for pool in pools} <= {"RUNNING", "PROVISIONING", "STOPPING"}

    with ThreadPoolExecutor(THREADS + 1) as pool:
        working = [pool.submit(work, number) for number in range(THREADS)] + [pool.submit(ask_over_grpc)]
        for one in working:
            one.result(timeout=100)
    sandbox.world.settle()
    left = {cluster.cloud: sorted(cluster.pools) for cluster in sandbox.world.clusters.values()}
    assert left == {Cloud.AKS: ["system"], Cloud.GKE: ["default-pool"], Cloud.EKS: ["system"]}
    with closing(Client(sandbox)) as call:
        _only_first_nodes(call)


def _only_first_nodes(call: Client) -> None:
    for cluster in (f"aks/{SUBSCRIPTION}~sandbox~sandbox", "gke/sandbox~us-central1~sandbox", "eks/us-east-1~sandbox"):
        nodes = call("GET", f"/k8s/{cluster}/api/v1/nodes")["items"]
        assert not [node for node in nodes if node["metadata"]["name"].startswith(("aks-t", "gke-sandbox-t"))]
