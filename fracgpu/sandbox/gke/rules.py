"""What GKE refuses in a new node pool. Each rule raises INVALID_ARGUMENT or returns.

Where no public report has the server's words, the text is the sandbox's own and only the status is to be relied on.
"""

from __future__ import annotations

import re

from fracgpu.sandbox import settings
from fracgpu.sandbox.gke.errors import invalid, invalid_field, over_quota
from fracgpu.sandbox.gke.gpu_rules import check_accelerators
from fracgpu.sandbox.gke.labels import check_labels, check_resource_labels, check_tags, check_taints
from fracgpu.sandbox.gke.machines import machine_type
from fracgpu.sandbox.gke.names import cluster_zones, region, region_zones
from fracgpu.sandbox.gke.pool import metrics
from fracgpu.sandbox.world import Cloud, Cluster, Json, World

_POOL_NAME = r"(?:[a-z](?:[-a-z0-9]{0,38}[a-z0-9])?)"
"""The server's own words: https://github.com/pulumi/pulumi-gcp/issues/1510"""

_DISK_TYPES = frozenset(
    {"pd-standard", "pd-balanced", "pd-ssd", "hyperdisk-balanced", "hyperdisk-extreme", "hyperdisk-ml"}
)

_IMAGE_TYPES = frozenset(
    {"cos_containerd", "ubuntu_containerd", "windows_ltsc_containerd", "windows_sac_containerd", "cos", "ubuntu"}
)


def check_new_pool(world: World, cluster: Cluster, body: Json) -> None:
    """Refuse a NodePool that GKE would refuse at once."""
    check_name(str(body.get("name", "")))
    config = body.get("config", {})
    check_locations(cluster, body.get("locations"))
    zones = tuple(body.get("locations") or cluster_zones(cluster.path[1], cluster.name))
    check_machine(world, config, zones)
    check_accelerators(config)
    check_config(config)
    check_capacity(body)
    check_autoscaling(body.get("autoscaling", {}), int(body.get("initialNodeCount", 0)), len(zones))
    check_upgrade_settings(body.get("upgradeSettings"))
    check_size(int(body.get("initialNodeCount", 0)))


MOST_IN_A_ZONE = 1000
"""https://cloud.google.com/kubernetes-engine/quotas#limits_per_cluster"""


def check_size(each: int) -> None:
    """Refuse a number of nodes a zone that no pool has."""
    if each < 0:
        raise invalid("Node count must not be negative.")
    if each > MOST_IN_A_ZONE:
        raise invalid(f"Node pool size {each} exceeds the limit of {MOST_IN_A_ZONE} nodes per zone.")


def check_name(name: str) -> None:
    if not re.fullmatch(_POOL_NAME, name):
        raise invalid_field("node_pool.name", name, f"Must be a match of regex '{_POOL_NAME}'")


def check_locations(cluster: Cluster, zones: list[str] | None) -> None:
    """Nodes live in zones of the cluster's own region."""
    known = region_zones(cluster.path[1])
    for zone in zones or []:
        if zone not in known:
            raise invalid(f'Location "{zone}" is not a zone of region "{region(cluster.path[1])}".')
    if zones and len(set(zones)) < len(zones):
        raise invalid("Locations must not be given twice.")


def check_machine(world: World, config: Json, zones: tuple[str, ...]) -> None:
    """https://github.com/keras-team/kinetic/issues/305"""
    name = config.get("machineType", "e2-medium")
    for zone in zones:
        if machine_type(name) is None or not settings.offered(world, Cloud.GKE, name, zone):
            raise invalid(f'Invalid machine type "{name}" in zone "{zone}": GCE_NOT_FOUND')


def check_config(config: Json) -> None:
    """Everything in a NodeConfig that is no GPU."""
    size = int(config.get("diskSizeGb", 100))
    if not 10 <= size <= 65536:
        raise invalid_field("node_pool.config.disk_size_gb", size, "Must be at least 10 and at most 65536.")
    disk = config.get("diskType", "pd-balanced")
    if disk not in _DISK_TYPES:
        raise invalid_field("node_pool.config.disk_type", disk, "There is no such disk type.")
    image = config.get("imageType", "COS_CONTAINERD")
    if image.lower() not in _IMAGE_TYPES:
        raise invalid_field("node_pool.config.image_type", image, "There is no such image type.")
    check_labels(config.get("labels", {}))
    check_resource_labels(config.get("resourceLabels", {}))
    check_taints(config.get("taints", []))
    check_tags(config.get("tags", []))


def check_capacity(body: Json) -> None:
    """Which ways to get a machine exclude one another.

    As GoogleCloudPlatform/cluster-toolkit@10470803 `modules/compute/gke-node-pool/main.tf` has them.
    """
    config = body.get("config", {})
    spot, flex = bool(config.get("spot")), bool(config.get("flexStart"))
    affinity = config.get("reservationAffinity", {})
    consumes = affinity.get("consumeReservationType", "NO_RESERVATION")
    if spot and config.get("preemptible"):
        raise invalid("Only one of spot and preemptible may be set.")
    if (spot or flex) and consumes not in ("NO_RESERVATION", "UNSPECIFIED"):
        raise invalid("Spot and flex-start nodes cannot consume reservations.")
    if flex and spot:
        raise invalid("Only one of spot and flex_start may be set.")
    if consumes == "SPECIFIC_RESERVATION" and not (affinity.get("key") and affinity.get("values")):
        raise invalid("A specific reservation needs the key compute.googleapis.com/reservation-name and its name.")
    if flex and body.get("management", {}).get("autoRepair"):
        raise invalid("Auto-repair must be off for flex-start nodes.")


def check_autoscaling(scaling: Json, initial: int, zones: int) -> None:
    """Limits of the whole pool (total_*) or of each zone, never both; `initial` is per zone."""
    if initial < 0:
        raise invalid_field("node_pool.initial_node_count", initial, "Must not be negative.")
    if not scaling.get("enabled"):
        return
    total = (int(scaling.get("totalMinNodeCount", 0)), int(scaling.get("totalMaxNodeCount", 0)))
    each = (int(scaling.get("minNodeCount", 0)), int(scaling.get("maxNodeCount", 0)))
    if any(total) and any(each):
        raise invalid(
            "Node_pool.autoscaling: min_node_count, max_node_count and their total_ forms exclude one another."
        )
    least, most = total if any(total) else each
    if most < 1 or least < 0 or least > most:
        raise invalid(
            f"Node_pool.autoscaling: minimum {least}, maximum {most}: must be 0 <= minimum <= maximum, maximum >= 1."
        )
    first = initial * zones if any(total) else initial
    if first > most:
        raise invalid(f"Node_pool.initial_node_count: {first} nodes are more than the autoscaling maximum {most}.")


def check_upgrade_settings(upgrade: Json | None) -> None:
    if upgrade is None or upgrade.get("strategy", "SURGE") != "SURGE":
        return
    surge, unavailable = int(upgrade.get("maxSurge", 0)), int(upgrade.get("maxUnavailable", 0))
    if surge < 0 or unavailable < 0 or not 1 <= surge + unavailable <= 20:
        raise invalid("Upgrade settings: the sum of max_surge and max_unavailable must be from 1 to 20.")


def check_quota(world: World, cluster: Cluster, body: Json, nodes: int, has: int = 0) -> None:
    """Refuse more nodes than the quotas set for the sandbox allow; `has` nodes of this pool count already."""
    of = region(cluster.path[1])
    before = metrics(body, has)
    for metric, wanted in metrics(body, nodes).items():
        limit = settings.quota(world, Cloud.GKE, metric, of)
        asked = wanted - before.get(metric, 0)
        if limit is not None and asked > 0:
            used = _used(world, cluster, metric)
            if used + asked > limit:
                raise over_quota(metric, asked, limit, used, cluster.path[0])


def _used(world: World, cluster: Cluster, metric: str) -> int:
    """What the project has in use of that metric, in this region or, where it is a global one, everywhere."""
    everywhere = metric.endswith("_ALL_REGIONS")
    used = 0
    for other in world.clusters.values():
        same = other.cloud is Cloud.GKE and other.path[0] == cluster.path[0]
        if same and (everywhere or region(other.path[1]) == region(cluster.path[1])):
            used += sum(metrics(pool.body, held(pool.body, pool.size)).get(metric, 0) for pool in other.pools.values())
    return used


def held(body: Json, size: int) -> int:
    """Nodes that count against a quota: those that are there, and those that a pool in the making waits for."""
    return max(size, int(body.get("initialNodeCount", 0)) * len(body["locations"]))
