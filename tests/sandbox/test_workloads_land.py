"""What `workload` writes runs on the pool that it was written for, on every cloud, and takes what it asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fracgpu.advertise import explain
from fracgpu.catalog.load import load
from fracgpu.kube.workload import Ask, Kind, manifest
from fracgpu.operations.list_pools import listed
from fracgpu.operations.plugin import apply_config, plan_config
from tests.kube_pools import Cloud
from tests.sandbox.kubernetes.conftest import Api

if TYPE_CHECKING:
    from tests.sandbox.conftest import Sandbox

PATHS = {
    Kind.POD: "api/v1/namespaces/default/pods",
    Kind.DEPLOYMENT: "apis/apps/v1/namespaces/default/deployments",
    Kind.JOB: "apis/batch/v1/namespaces/default/jobs",
}
POOLS: dict[str, tuple[str, dict[str, Any]]] = {
    "gke-mig-spot": ("gke", {"gpu": "a100-40gb", "mig": {"profile": "2g.10gb"}, "capacity": "spot"}),
    "gke-mps": ("gke", {"machine": "g2-standard-4", "mps": {"replicas": 4}}),
    "aks-mixed": ("aks", {"gpu": "a100-80gb", "mig": {"profile": "1g.10gb", "strategy": "mixed"}}),
    "aks-renamed": ("aks", {"gpu": "t4", "timeSlicing": {"replicas": 4}, "renameByDefault": True, "capacity": "spot"}),
    "eks-layout": ("eks", {"machine": "p4d.24xlarge", "mig": {"layout": {"3g.20gb": 1, "1g.5gb": 2}}}),
    "eks-shared": ("eks", {"gpu": "a10g", "timeSlicing": {"replicas": 4}, "taints": ["team=vision:PreferNoSchedule"]}),
}


@pytest.mark.parametrize("name", POOLS)
def test_what_is_asked_for_is_got(sandbox: Sandbox, name: str) -> None:
    provider, spec = POOLS[name]
    cloud = Cloud(sandbox, provider)
    promise, _ = cloud.make("slices", **spec)
    session = cloud.session()
    apply_config(session, plan_config(session, cloud.cluster, [promise]))
    sandbox.advance(600)
    explanation = explain(promise.pool, promise.facts)
    *_, path = session.kube_access().server.rpartition(f"/k8s/{provider}/")
    api = Api(sandbox, provider, path)
    for kind in Kind:
        api.create(PATHS[kind], manifest(kind, explanation, Ask())[0])
    pods = api.get(PATHS[Kind.POD])["items"]
    nodes = set(cloud.nodes(promise))
    assert len(pods) == len(Kind)
    assert {pod["status"]["phase"] for pod in pods} <= {"Running", "Succeeded"}
    assert {pod["spec"]["nodeName"] for pod in pods} <= nodes
    resource = explanation.pod_resources[0]
    (item,) = (one for one in listed(session, cloud.cluster, load()).items if one["metadata"]["name"] == "slices")
    held = sum(pod["status"]["phase"] == "Running" for pod in pods)
    assert item["status"]["slices"][resource]["used"] == held >= 1
    assert item["status"]["slices"][resource]["free"] == explanation.resources[resource] - held
