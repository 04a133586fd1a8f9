"""A cluster of the sandbox as a plain HTTP client sees it, and pools to put into it."""

from __future__ import annotations

import json
from collections.abc import Callable
from http.client import HTTPConnection
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest
from google.api_core.client_options import ClientOptions
from google.auth.credentials import AnonymousCredentials
from google.cloud.container_v1 import ClusterManagerClient, NodePool

from tests.sandbox.conftest import Sandbox

Json = dict[str, Any]

AKS = ("00000000-0000-0000-0000-000000000000", "sandbox", "sandbox")
SPOT_TAINT = {"key": "kubernetes.azure.com/scalesetpriority", "value": "spot", "effect": "NoSchedule"}
GPU_TAINT = "nvidia.com/gpu=present:NoSchedule"


class Answer(NamedTuple):
    status: int
    body: Json
    headers: dict[str, str]


class Api:
    """One cluster's Kubernetes API. Paths are below it (`api/v1/nodes`); every call lets time pass first."""

    def __init__(self, sandbox: Sandbox, cloud: str, *path: str) -> None:
        self.sandbox = sandbox
        self.url = f"{sandbox.http}/k8s/{cloud}/{'~'.join(path)}"
        self._prefix = f"/k8s/{cloud}/{'~'.join(path)}/"
        self._host = sandbox.http.removeprefix("http://")

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        kind: str = "application/json",
        accept: str = "application/json",
        **query: str,
    ) -> Answer:
        """Send one request, signed in; `kind` is the body's content type, `accept` the answer's."""
        self.sandbox.advance(10)
        connection = HTTPConnection(self._host, timeout=30)
        try:
            where = self._prefix + path + (f"?{urlencode(query)}" if query else "")
            data = body if isinstance(body, (str, bytes, type(None))) else json.dumps(body)
            headers = {"Authorization": "Bearer sandbox", "Content-Type": kind, "Accept": accept}
            connection.request(method, where, data, headers)
            response = connection.getresponse()
            text = response.read()
            parsed = json.loads(text) if "json" in (response.getheader("Content-Type") or "") else {"text": text}
            return Answer(response.status, parsed, dict(response.getheaders()))
        finally:
            connection.close()

    def get(self, path: str, **query: str) -> Json:
        """The body of a GET that must succeed."""
        answer = self.call("GET", path, **query)
        assert answer.status == 200, answer.body
        return answer.body

    def create(self, path: str, body: Json) -> Json:
        answer = self.call("POST", path, body)
        assert answer.status == 201, answer.body
        return answer.body

    def merge(self, path: str, body: Json) -> Json:
        answer = self.call("PATCH", path, body, kind="application/merge-patch+json")
        assert answer.status == 200, answer.body
        return answer.body

    def names(self, path: str, **query: str) -> list[str]:
        return [item["metadata"]["name"] for item in self.get(path, **query)["items"]]

    def config_map(self, **data: str) -> None:
        """The device plugin's ConfigMap, made or replaced; underscores in names are dashes."""
        path = "api/v1/namespaces/gpu-operator/configmaps"
        body = {
            "metadata": {"name": "fracgpu-device-plugin"},
            "data": {k.replace("_", "-"): v for k, v in data.items()},
        }
        self.call("DELETE", f"{path}/fracgpu-device-plugin")
        self.create(path, body)


@pytest.fixture
def api(sandbox: Sandbox) -> Api:
    """AKS's cluster `sandbox`, which has one node of its system pool."""
    return Api(sandbox, "aks", *AKS)


AddPool = Callable[..., list[str]]


@pytest.fixture
def add_pool(api: Api) -> AddPool:
    """Make an AKS pool through the cloud's API; gives the names of its nodes once they have joined."""

    def add(name: str = "gpus", **properties: Any) -> list[str]:
        put_pool(api.sandbox, name, **properties)
        return api.names("api/v1/nodes", labelSelector=f"agentpool={name}")

    return add


def put_pool(sandbox: Sandbox, name: str, **properties: Any) -> None:
    """Create or update an AKS pool; the operation is over when this returns."""
    body = {"vmSize": "Standard_NC24ads_A100_v4", "mode": "User", "count": 1, "nodeTaints": [GPU_TAINT], **properties}
    connection = HTTPConnection(sandbox.http.removeprefix("http://"), timeout=30)
    subscription, group, cluster = AKS
    path = (
        f"/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.ContainerService"
        f"/managedClusters/{cluster}/agentPools/{name}?api-version=2026-08-01"
    )
    try:
        headers = {"Authorization": "Bearer sandbox", "Content-Type": "application/json"}
        connection.request("PUT", path, json.dumps({"properties": body}), headers)
        response = connection.getresponse()
        text = response.read()
        assert response.status in (200, 201), text
    finally:
        connection.close()
    sandbox.advance(10)


def gke_pool(sandbox: Sandbox, name: str, machine: str, gpu: Json, nodes: int = 1) -> Api:
    """Make a pool in GKE's cluster `sandbox`; gives that cluster's API once the nodes have joined."""
    client = ClusterManagerClient(
        transport="rest",
        credentials=AnonymousCredentials(),  # type: ignore[no-untyped-call]
        client_options=ClientOptions(api_endpoint=sandbox.http),
    )
    pool = NodePool(
        {
            "name": name,
            "initial_node_count": nodes,
            "locations": ["us-central1-a"],
            "config": {"machine_type": machine, "accelerators": [gpu]},
        }
    )
    client.create_node_pool(parent="projects/sandbox/locations/us-central1/clusters/sandbox", node_pool=pool)
    sandbox.advance(60)
    return Api(sandbox, "gke", "sandbox", "us-central1", "sandbox")


def pod(name: str, *, gpus: int | None = 1, resource: str = "nvidia.com/gpu", **spec: Any) -> Json:
    """A pod that asks for GPUs and tolerates their taint."""
    limits = {} if gpus is None else {"resources": {"limits": {resource: str(gpus)}}}
    return {
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {
            "containers": [{"name": "main", "image": "nvidia/cuda", **limits}],
            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
            **spec,
        },
    }
