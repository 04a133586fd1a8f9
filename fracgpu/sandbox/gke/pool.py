"""A GKE node pool: what the server adds to what was sent, how many nodes that makes, what it counts against a quota."""

from __future__ import annotations

import copy
from collections.abc import Iterable

from fracgpu.sandbox.gke import tables
from fracgpu.sandbox.gke.machines import machine_type
from fracgpu.sandbox.gke.names import API, cluster_zones, digest, instance_groups, region, target_of
from fracgpu.sandbox.gke.versions import node_version
from fracgpu.sandbox.world import Cloud, Cluster, Json, Pool

GPU_TAINT: Json = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}

_SCOPES = "https://www.googleapis.com/auth/"


def new_pool(cluster: Cluster, sent: Json) -> Pool:
    """A pool as the server stores it, PROVISIONING and without nodes."""
    body = filled(cluster, sent)
    return Pool(Cloud.GKE, body["name"], body, "PROVISIONING", zones=tuple(body["locations"]))


def filled(cluster: Cluster, sent: Json) -> Json:
    """What was sent, with everything that the server adds of its own."""
    body = copy.deepcopy(sent)
    name = body["name"]
    zones = tuple(body.get("locations") or cluster_zones(cluster.path[1], cluster.name))
    body["locations"] = list(zones)
    body["config"] = _filled_config(cluster, body.get("config", {}))
    body["version"] = node_version(body.get("version", "-"))
    body.setdefault("management", {})
    body.setdefault("maxPodsConstraint", {"maxPodsPerNode": "110"})
    body["upgradeSettings"] = {"strategy": "SURGE", **body.get("upgradeSettings", {"maxSurge": 1})}
    body["networkConfig"] = {**_network(cluster), **body.get("networkConfig", {})}
    body["podIpv4CidrSize"] = 24
    body["selfLink"] = f"{API}/{target_of(cluster, name).pool_name}"
    body["instanceGroupUrls"] = instance_groups(cluster, name, zones)
    if body.get("autoscaling", {}).get("enabled"):
        policy = "ANY" if is_spot(body) else "BALANCED"
        body["autoscaling"].setdefault("locationPolicy", policy)
    return body


def _filled_config(cluster: Cluster, sent: Json) -> Json:
    config: Json = {
        "machineType": "e2-medium",
        "diskSizeGb": 100,
        "diskType": "pd-balanced",
        "imageType": "COS_CONTAINERD",
        "serviceAccount": "default",
        "oauthScopes": [f"{_SCOPES}logging.write", f"{_SCOPES}monitoring"],
        "shieldedInstanceConfig": {"enableIntegrityMonitoring": True},
        "effectiveCgroupMode": "EFFECTIVE_CGROUP_MODE_V2",
        "windowsNodeConfig": {},
        **sent,
    }
    config["metadata"] = {"disable-legacy-endpoints": "true", **config.get("metadata", {})}
    _fill_accelerators(config)
    if config.get("accelerators"):
        _add_gpu_taint(cluster, config)
    return config


def _fill_accelerators(config: Json) -> None:
    """Name the GPUs that are part of the machine, and the driver, which is DEFAULT where nothing is said.

    https://github.com/GoogleCloudPlatform/magic-modules/pull/12027
    """
    machine = machine_type(config["machineType"])
    if not config.get("accelerators") and machine and machine.accelerator:
        config["accelerators"] = [{"acceleratorCount": str(machine.gpus), "acceleratorType": machine.accelerator}]
    for accelerator in config.get("accelerators", []):
        driver = accelerator.get("gpuDriverInstallationConfig", {})
        accelerator["gpuDriverInstallationConfig"] = {"gpuDriverVersion": "DEFAULT", **driver}


def _add_gpu_taint(cluster: Cluster, config: Json) -> None:
    """GKE taints GPU pools, but not where the cluster has no other pool at that moment.

    https://github.com/terraform-google-modules/terraform-google-kubernetes-engine/issues/703
    """
    others = any(not accelerators(pool.body) for pool in cluster.pools.values())
    present = any(taint.get("key") == GPU_TAINT["key"] for taint in config.get("taints", []))
    if others and not present:
        config["taints"] = [*config.get("taints", []), dict(GPU_TAINT)]


def _network(cluster: Cluster) -> Json:
    return {
        "podRange": f"gke-{cluster.name}-pods-{digest(*cluster.path)}",
        "podIpv4CidrBlock": "10.4.0.0/14",
        "podIpv4RangeUtilization": 0.001,
        "subnetwork": f"projects/{cluster.path[0]}/regions/{region(cluster.path[1])}/subnetworks/default",
    }


def accelerators(body: Json) -> list[Json]:
    found: list[Json] = body.get("config", {}).get("accelerators", [])
    return found


def is_spot(body: Json) -> bool:
    config = body.get("config", {})
    return bool(config.get("spot") or config.get("preemptible"))


def first_nodes(body: Json) -> int:
    """Nodes that a new pool gets, over all its zones.

    `initialNodeCount` is per zone. None asked for gives none, whatever the autoscaler's minimum
    (https://github.com/hashicorp/terraform-provider-google/issues/8270); a few are raised to the minimum.
    """
    zones = len(body["locations"])
    asked = int(body.get("initialNodeCount", 0)) * zones
    scaling = body.get("autoscaling", {})
    if not asked or not scaling.get("enabled"):
        return asked
    least = max(int(scaling.get("totalMinNodeCount", 0)), int(scaling.get("minNodeCount", 0)) * zones)
    return max(asked, least)


def metrics(body: Json, nodes: int) -> dict[str, int]:
    """Quota metric -> how much of it that many nodes of the pool take."""
    gpus = sum(int(accelerator.get("acceleratorCount", 0)) for accelerator in accelerators(body)) * nodes
    machine = machine_type(body["config"]["machineType"])
    taken = {"CPUS": int((machine.vcpus if machine else 0) * nodes)}
    for accelerator in accelerators(body):
        known = tables.ACCELERATORS.get(accelerator.get("acceleratorType", ""))
        if known and gpus:
            taken["PREEMPTIBLE_" * is_spot(body) + known.metric] = gpus
            taken["GPUS_ALL_REGIONS"] = gpus
    return taken


def settle_nodes(pool: Pool, nodes: int) -> None:
    """Note that the pool now has that many nodes, spread over its zones."""
    pool.size = nodes
    pool.zones = tuple(pool.body["locations"])


def renew(pool: Pool, number: int) -> None:
    """Give the pool a new etag; every change does."""
    pool.body["etag"] = digest(pool.name, str(number))


def view(pool: Pool) -> Json:
    """The pool as the API shows it: its status lives beside the body."""
    return {**pool.body, "status": pool.state}


def ordered(pools: Iterable[Pool]) -> list[Json]:
    return [view(pool) for pool in pools]
