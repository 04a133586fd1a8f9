"""Versions of Kubernetes and of node images as AKS tells of them: there is one of each, so nothing can be upgraded.

https://learn.microsoft.com/rest/api/aks/agent-pools/get-upgrade-profile and its neighbours.
"""

from __future__ import annotations

from fracgpu.sandbox.aks.cluster import cluster_id
from fracgpu.sandbox.aks.pools import NODE_IMAGE, VERSION
from fracgpu.sandbox.world import Cluster, Json, Pool


def pool_upgrades(cluster: Cluster, pool: Pool) -> Json:
    """What a pool could be upgraded to."""
    where = f"{cluster_id(cluster.path)}/agentPools/{pool.name}/upgradeProfiles/default"
    found = {"kubernetesVersion": VERSION, "osType": pool.body["osType"], "latestNodeImageVersion": NODE_IMAGE}
    return _named(where, "managedClusters/agentPools/upgradeProfiles", {**found, "upgrades": []})


def cluster_upgrades(cluster: Cluster) -> Json:
    """What the control plane and the pools of a cluster could be upgraded to."""
    profile = {"kubernetesVersion": VERSION, "osType": "Linux", "upgrades": []}
    pools = [{**profile, "name": pool.name, "osType": pool.body["osType"]} for pool in cluster.pools.values()]
    body = {"controlPlaneProfile": {**profile, "name": cluster.name}, "agentPoolProfiles": pools}
    return _named(f"{cluster_id(cluster.path)}/upgradeprofiles/default", "managedClusters/upgradeprofiles", body)


def pool_versions(cluster: Cluster) -> Json:
    """The versions that a new pool may have."""
    body = {"agentPoolVersions": [{"default": True, "kubernetesVersion": VERSION, "isPreview": False}]}
    where = f"{cluster_id(cluster.path)}/availableAgentPoolVersions/default"
    return _named(where, "managedClusters/availableAgentpoolVersions", body)


def kubernetes_versions() -> Json:
    """The versions of a region, by minor version."""
    patches: Json = {VERSION: {"upgrades": []}}
    plan = {"supportPlan": ["KubernetesOfficial", "AKSLongTermSupport"]}
    minor = VERSION.rpartition(".")[0]
    return {"values": [{"version": minor, "isDefault": True, "capabilities": plan, "patchVersions": patches}]}


def _named(id: str, type: str, properties: Json) -> Json:
    return {"id": id, "name": "default", "type": f"Microsoft.ContainerService/{type}", "properties": properties}
