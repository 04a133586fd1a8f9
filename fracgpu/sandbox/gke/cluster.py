"""A GKE cluster as the API shows it, and what a new one begins with."""

from __future__ import annotations

from fracgpu.sandbox.gke.names import API, cluster_zones, digest, region, target_of
from fracgpu.sandbox.gke.pool import first_nodes, new_pool, ordered, renew, settle_nodes
from fracgpu.sandbox.gke.versions import VERSION, VERSIONS
from fracgpu.sandbox.world import Cluster, Json, World

CERTIFICATE = (
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJpekNDQVRHZ0F3SUJBZ0lVYXNCZlFkUkRSais0MllhV3oraTBtclBZTHhRd0NnWUlLb1pJ"
    "emowRUF3SXcKR2pFWU1CWUdBMVVFQXd3UFpuSmhZMmR3ZFNCellXNWtZbTk0TUNBWERUSTJNVEV6TURBeU5URXhNRm9ZRHpJeApNall4TVRBMk1E"
    "STFNVEV3V2pBYU1SZ3dGZ1lEVlFRRERBOW1jbUZqWjNCMUlITmhibVJpYjNnd1dUQVRCZ2NxCmhrak9QUUlCQmdncWhrak9QUU1CQndOQ0FBVHZ6"
    "UldaVlJTeWtjY3hZYSs0RVY2cTZVMzJwZjR5OXExQ3NPOWIKZnR0aG94NnllV2ZRQWZsT2QzSGFCNUZ1Vm1JRmY1aGphd1V3OUR4SlRyRDRBKytv"
    "bzFNd1VUQWRCZ05WSFE0RQpGZ1FVUkRIR05JMjFpcmlrLzl6ankveTNIOWVZRlpFd0h3WURWUjBqQkJnd0ZvQVVSREhHTkkyMWlyaWsvOXpqCnkv"
    "eTNIOWVZRlpFd0R3WURWUjBUQVFIL0JBVXdBd0VCL3pBS0JnZ3Foa2pPUFFRREFnTklBREJGQWlCdW1WY3QKZGcrOHpBdjFYajBqU25WUG9BTGZi"
    "aFJpTzNzNmhyNjBrcjVpeEFJaEFPRnZIaTFFdUwzdnhBSkhzeVZCLzNQcApFZDFMdEJUd3d2dFpSL2ViZW1ZNwotLS0tLUVORCBDRVJUSUZJQ0FU"
    "RS0tLS0tCg=="
)
"""A certificate authority that signs nothing: clients want one in the answer, the sandbox's own port is plain HTTP."""

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
        **_settings(),
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


def _settings() -> Json:
    return {
        "initialNodeCount": 1,
        "masterAuth": {"clusterCaCertificate": CERTIFICATE},
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
    """Where the cluster's Kubernetes API answers (plain HTTP): host, port and path, without a scheme."""
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
