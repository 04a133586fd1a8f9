"""Pools become nodes, and nodes follow their pools."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from fracgpu.sandbox.settings import change
from fracgpu.sandbox.world import Cloud, NodeShape, Pool
from tests.sandbox.conftest import Sandbox
from tests.sandbox.kubernetes.conftest import AKS, AddPool, Api, gke_pool, put_pool

HOUR = 3600.0


def test_a_node_has_what_its_machine_has(api: Api, add_pool: AddPool) -> None:
    (name,) = add_pool(nodeLabels={"team": "vision"})
    node = api.get(f"api/v1/nodes/{name}")
    assert name.startswith("aks-gpus-")
    assert name.endswith("-vmss000000")
    assert node["status"]["capacity"]["cpu"] == "24"
    assert node["status"]["capacity"]["pods"] == "110"
    labels = node["metadata"]["labels"]
    assert labels["node.kubernetes.io/instance-type"] == "Standard_NC24ads_A100_v4"
    assert labels["team"] == "vision"
    assert node["spec"]["taints"] == [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]
    assert node["spec"]["providerID"].startswith("azure:///subscriptions/")


def test_nodes_come_and_go_with_the_count(api: Api, add_pool: AddPool) -> None:
    first = add_pool(count=2)
    put_pool(api.sandbox, "gpus", count=3)
    grown = api.names("api/v1/nodes", labelSelector="agentpool=gpus")
    put_pool(api.sandbox, "gpus", count=1)
    left = api.names("api/v1/nodes", labelSelector="agentpool=gpus")
    assert (len(first), len(grown), left) == (2, 3, first[:1])
    pods = api.get("api/v1/pods", fieldSelector=f"spec.nodeName={grown[2]}")["items"]
    assert pods == []
    assert api.names("apis/coordination.k8s.io/v1/leases", fieldSelector=f"metadata.name={grown[2]}") == []


def test_a_node_is_ready_a_moment_after_it_joins(sandbox: Sandbox) -> None:
    sandbox.world.operation_seconds = HOUR
    cluster = sandbox.world.cluster(Cloud.AKS, *AKS)
    api = Api(sandbox, "aks", *AKS)
    sandbox.advance(HOUR)
    api.get("api/v1/nodes")
    sandbox.world.shapes[Cloud.AKS] = _shape
    cluster.pools = {"gpus": Pool(Cloud.AKS, "gpus", {}, "Succeeded", size=1)}
    sandbox.world.touch(cluster)
    sandbox.advance(-10)
    (joined,) = api.get("api/v1/nodes", labelSelector="pool=gpus")["items"]
    (ready,) = api.get("api/v1/nodes", labelSelector="pool=gpus")["items"]
    assert [condition(joined, "Ready"), condition(ready, "Ready")] == ["False", "True"]
    assert "nvidia.com/gpu" not in joined["status"]["capacity"]
    assert ready["status"]["capacity"]["nvidia.com/gpu"] == "8"
    assert joined["spec"]["taints"] == [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]
    assert "taints" not in ready["spec"]


def _shape(_: Any, pool: Pool, **changes: Any) -> NodeShape:
    given: dict[str, Any] = {
        "machine": "big",
        "gpu_product": "NVIDIA H100 80GB HBM3",
        "gpu_count": 8,
        "vcpus": 96,
        "memory_gib": 100.0,
        "architecture": "amd64",
        "labels": {"pool": pool.name, **pool.body.get("labels", {})},
        "taints": [],
        **changes,
    }
    return NodeShape(**given)


def condition(node: dict[str, Any], kind: str) -> str:
    return str(next(one["status"] for one in node["status"]["conditions"] if one["type"] == kind))


def test_labels_and_taints_of_a_pool_reach_its_nodes_and_leave_the_rest_alone(api: Api, add_pool: AddPool) -> None:
    (name,) = add_pool(nodeLabels={"a": "1", "b": "1"})
    api.merge(f"api/v1/nodes/{name}", {"metadata": {"labels": {"mine": "yes"}}})
    put_pool(api.sandbox, "gpus", nodeLabels={"a": "2"}, nodeTaints=["x=y:NoExecute"])
    node = api.get(f"api/v1/nodes/{name}")
    labels = node["metadata"]["labels"]
    assert (labels["a"], labels.get("b"), labels["mine"]) == ("2", None, "yes")
    assert node["spec"]["taints"] == [{"key": "x", "value": "y", "effect": "NoExecute"}]


def test_a_pool_made_again_has_other_nodes(api: Api, add_pool: AddPool) -> None:
    before = add_pool(count=2)
    world = api.sandbox.world
    cluster = world.cluster(Cloud.AKS, *AKS)
    cluster.pools["gpus"].incarnation += 1
    world.touch(cluster)
    after = api.names("api/v1/nodes", labelSelector="agentpool=gpus")
    assert len(after) == 2
    assert not set(before) & set(after)


def test_zones_are_taken_in_turn(api: Api, add_pool: AddPool) -> None:
    add_pool(count=3, availabilityZones=["1", "3"])
    nodes = api.get("api/v1/nodes", labelSelector="agentpool=gpus")["items"]
    zones = [node["metadata"]["labels"]["topology.kubernetes.io/zone"] for node in nodes]
    assert len(set(zones)) == 2


def test_a_deleted_node_stays_away(api: Api, add_pool: AddPool) -> None:
    names = add_pool(count=2)
    assert api.call("DELETE", f"api/v1/nodes/{names[0]}").status == 200
    assert api.names("api/v1/nodes", labelSelector="agentpool=gpus") == names[1:]


def test_a_node_that_never_joins_is_not_there(sandbox: Sandbox) -> None:
    cluster = sandbox.world.cluster(Cloud.EKS, "us-west-2", "other")
    sandbox.world.shapes[Cloud.EKS] = lambda of, pool: _shape(of, pool, broken="the node never joins: no such profile")
    cluster.pools["gpus"] = Pool(Cloud.EKS, "gpus", {}, "ACTIVE", size=2)
    sandbox.world.touch(cluster)
    assert Api(sandbox, "eks", "us-west-2", "other").names("api/v1/nodes", labelSelector="pool=gpus") == []


def test_set_node_makes_it_unready_and_ready_again(api: Api, add_pool: AddPool) -> None:
    (name,) = add_pool()
    for ready in (False, True):
        change(api.sandbox.world, "node", {"name": name, "ready": ready})
        assert condition(api.get(f"api/v1/nodes/{name}"), "Ready") == str(ready)


@pytest.mark.parametrize(
    ("accelerator", "count"),
    [
        ({}, "1"),
        ({"gpu_partition_size": "1g.5gb"}, "7"),
        ({"gpu_sharing_config": {"max_shared_clients_per_gpu": 10, "gpu_sharing_strategy": "TIME_SHARING"}}, "10"),
        (
            {
                "gpu_partition_size": "3g.20gb",
                "gpu_sharing_config": {"max_shared_clients_per_gpu": 3, "gpu_sharing_strategy": "MPS"},
            },
            "6",
        ),
    ],
)
def test_gke_shows_its_shares_under_one_name(sandbox: Sandbox, accelerator: dict[str, Any], count: str) -> None:
    gpu = {"accelerator_count": 1, "accelerator_type": "nvidia-tesla-a100", **accelerator}
    api = gke_pool(sandbox, "gpus", "a2-highgpu-1g", gpu)
    (node,) = api.get("api/v1/nodes", labelSelector="cloud.google.com/gke-nodepool=gpus")["items"]
    assert node["status"]["allocatable"]["nvidia.com/gpu"] == count
    assert node["metadata"]["labels"]["topology.kubernetes.io/zone"] == "us-central1-a"
    pods = api.get("api/v1/namespaces/kube-system/pods", labelSelector="k8s-app=nvidia-gpu-device-plugin")["items"]
    assert [pod["spec"]["nodeName"] for pod in pods] == [node["metadata"]["name"]]


def test_what_nobody_watched_has_the_times_at_which_it_happened(api: Api) -> None:
    api.get("version")
    put_pool(api.sandbox, "gpus")
    api.sandbox.advance(600)
    nodes = api.get("api/v1/nodes", labelSelector="agentpool=gpus")["items"]
    events = api.get("api/v1/namespaces/default/events")["items"]
    times = [nodes[0]["metadata"]["creationTimestamp"], *(event["lastTimestamp"] for event in events)]
    times += [condition["lastTransitionTime"] for condition in nodes[0]["status"]["conditions"]]
    ages = [(datetime.now(UTC) - datetime.fromisoformat(time)).total_seconds() for time in times]
    assert all(590 < age < 720 for age in ages), ages


def test_nodes_come_without_anybody_looking(api: Api) -> None:
    put_pool(api.sandbox, "gpus")
    api.get("api/v1/nodes")
    put_pool(api.sandbox, "gpus", count=2)
    api.sandbox.world.pass_time()
    life = api.sandbox.world.cluster(Cloud.AKS, *AKS).kubernetes
    assert sum(machine.pool == "gpus" for machine in life.machines.values()) == 2
