"""A GKE cluster as the API shows it, and what a new one begins with."""

from __future__ import annotations

from fracgpu.sandbox.gke.names import API, cluster_zones, digest, region, target_of
from fracgpu.sandbox.gke.pool import first_nodes, new_pool, ordered, renew, settle_nodes
from fracgpu.sandbox.gke.versions import VERSION, VERSIONS
from fracgpu.sandbox.world import Cluster, Json, World

_SCOPES = "https://www.googleapis.com/auth/"

_DEFAULT_POOL: Json = {
    "name": "default-pool",
    "initialNodeCount": 1,
    "config": {
        "machineType": "e2-standard-2",
        "oauthScopes": [f"{_SCOPES}devstorage.read_only", f"{_SCOPES}logging.write", f"{_SCOPES}monitoring"],
    },
    "management": {"autoRepair": True, "autoUpgrade": True},
}


def found(world: World, cluster: Cluster) -> None:
    """Put the small CPU pool into a cluster that has just been seen for the first time."""
    pool = new_pool(cluster, _DEFAULT_POOL)
    pool.state = "RUNNING"
    settle_nodes(pool, first_nodes(pool.body))
    renew(pool, world.number())
    cluster.pools[pool.name] = pool


def cluster_view(world: World, cluster: Cluster) -> Json:
    """The cluster as GetCluster and ListClusters show it."""
    project, location, name = cluster.path
    pools = ordered(cluster.pools.values())
    return {
        **_settings(world),
        "name": name,
        "selfLink": f"{API}/{target_of(cluster).cluster_name}",
        "zone": location,
        "location": location,
        "locations": list(cluster_zones(location, name)),
        "endpoint": _endpoint(world, cluster),
        "id": digest(*cluster.path) * 8,
        "etag": digest(*cluster.path, "etag"),
        "subnetwork": "default",
        "networkConfig": {
            "network": f"projects/{project}/global/networks/default",
            "subnetwork": f"projects/{project}/regions/{region(location)}/subnetworks/default",
            "serviceExternalIpsConfig": {},
        },
        "nodePools": pools,
        "instanceGroupUrls": [url for pool in pools for url in pool["instanceGroupUrls"]],
        "currentNodeCount": sum(pool.size for pool in cluster.pools.values()),
        "status": "RECONCILING" if any(cluster.running()) else "RUNNING",
    }


def _settings(world: World) -> Json:
    return {
        "initialNodeCount": 1,
        "masterAuth": {"clusterCaCertificate": world.tls.authority_data},
        "loggingService": "logging.googleapis.com/kubernetes",
        "monitoringService": "monitoring.googleapis.com/kubernetes",
        "network": "default",
        "clusterIpv4Cidr": "10.4.0.0/14",
        "servicesIpv4Cidr": "34.118.224.0/20",
        "addonsConfig": {"gcePersistentDiskCsiDriverConfig": {"enabled": True}},
        "ipAllocationPolicy": {"useIpAliases": True, "stackType": "IPV4"},
        "defaultMaxPodsConstraint": {"maxPodsPerNode": "110"},
        "databaseEncryption": {"state": "DECRYPTED"},
        "shieldedNodes": {"enabled": True},
        "labelFingerprint": "a9dc16a7",
        "legacyAbac": {},
        "autopilot": {},
        "initialClusterVersion": VERSION,
        "currentMasterVersion": VERSION,
        "currentNodeVersion": VERSION,
        "createTime": "2026-01-01T00:00:00+00:00",
    }


def _endpoint(world: World, cluster: Cluster) -> str:
    """Where the cluster's Kubernetes API answers: host, port and path; clients put https before it."""
    return f"{world.http.removeprefix('http://')}/k8s/gke/{'~'.join(cluster.path)}"


def server_config() -> Json:
    """The versions and images that a location offers."""
    channels = ("RAPID", "REGULAR", "STABLE")
    return {
        "defaultClusterVersion": VERSION,
        "validNodeVersions": list(VERSIONS),
        "validMasterVersions": list(VERSIONS),
        "defaultImageType": "COS_CONTAINERD",
        "validImageTypes": ["COS_CONTAINERD", "UBUNTU_CONTAINERD", "WINDOWS_LTSC_CONTAINERD"],
        "channels": [
            {"channel": channel, "defaultVersion": VERSION, "validVersions": list(VERSIONS)} for channel in channels
        ],
    }
