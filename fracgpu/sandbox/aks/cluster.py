"""A managed cluster as ARM shows it, and the kubeconfig that it hands out."""

from __future__ import annotations

import base64
import json
from typing import Any

from fracgpu.sandbox.aks.pools import VERSION, view
from fracgpu.sandbox.aks.sizes import LOCATION
from fracgpu.sandbox.environment import DUMMY_TOKEN, kubernetes_url, secure
from fracgpu.sandbox.world import Cloud, Cluster, Json, Pool


def pool_view(cluster: Cluster, pool: Pool) -> Json:
    return view(pool, f"{cluster_id(cluster.path)}/agentPools/{pool.name}")


def cluster_view(cluster: Cluster) -> Json:
    pools = [{"name": pool.name, **pool_view(cluster, pool)["properties"]} for pool in cluster.pools.values()]
    _, group, name = cluster.path
    return {
        "id": cluster_id(cluster.path),
        "name": name,
        "type": "Microsoft.ContainerService/ManagedClusters",
        "location": LOCATION,
        "sku": {"name": "Base", "tier": "Standard"},
        "identity": {"type": "SystemAssigned"},
        "properties": {
            "provisioningState": "Succeeded",
            "powerState": {"code": "Running"},
            "kubernetesVersion": VERSION,
            "currentKubernetesVersion": VERSION,
            "dnsPrefix": name,
            "fqdn": f"{name}.hcp.{LOCATION}.azmk8s.io",
            "agentPoolProfiles": pools,
            "nodeResourceGroup": f"MC_{group}_{name}_{LOCATION}",
            "enableRBAC": True,
            # What a cluster with a managed identity shows; az fails without it (`aks show`, `aks list`).
            "servicePrincipalProfile": {"clientId": "msi"},
            "maxAgentPools": 100,
            "networkProfile": _NETWORK,
        },
    }


_NETWORK: dict[str, Any] = {"networkPlugin": "azure", "networkPluginMode": "overlay", "loadBalancerSku": "standard"}


def cluster_id(path: tuple[str, ...]) -> str:
    subscription, group, name = path
    return (
        f"/subscriptions/{subscription}/resourcegroups/{group}"
        f"/providers/Microsoft.ContainerService/managedClusters/{name}"
    )


def credential(cluster: Cluster, base: str, authority: str) -> str:
    """The kubeconfig of a user of the cluster, in base64; `base` is where the sandbox is, `authority` whom to trust."""
    user = "clusterUser_{}_{}".format(*cluster.path[1:])
    server = kubernetes_url(secure(base), Cloud.AKS, cluster.path)
    kubeconfig = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": cluster.name,
        "clusters": [{"name": cluster.name, "cluster": {"server": server, "certificate-authority-data": authority}}],
        "users": [{"name": user, "user": {"token": DUMMY_TOKEN}}],
        "contexts": [{"name": cluster.name, "context": {"cluster": cluster.name, "user": user}}],
    }
    return base64.b64encode(json.dumps(kubeconfig).encode()).decode()
