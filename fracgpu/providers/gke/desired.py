"""From a pool to the google.container.v1.NodePool that GKE is sent, as proto JSON with enum words.

What gcloud adds and the SDK does not is said here: OAuth scopes, auto-repair, auto-upgrade, surge, and the driver.
Lists are in one order, so that the order in which they were written is never a difference.
"""

from __future__ import annotations

from typing import assert_never

from fracgpu.plan import Json, Resource
from fracgpu.providers import MANAGED, ClusterFacts
from fracgpu.providers.gke.places import zone_count
from fracgpu.resolve import ResolvedPool
from fracgpu.sharing import Mig, Mps, TimeSlicing
from fracgpu.spec import Capacity
from fracgpu.taints import Taint, TaintEffect

KIND = "gke.nodePool"

_SCOPES = "https://www.googleapis.com/auth/"
SCOPES = tuple(
    f"{_SCOPES}{name}"
    for name in (
        "devstorage.read_only",
        "logging.write",
        "monitoring",
        "service.management.readonly",
        "servicecontrol",
        "trace.append",
    )
)
"""What gcloud sends; without the first, nodes cannot pull from Artifact Registry
(https://cloud.google.com/kubernetes-engine/docs/reference/rest/v1/NodeConfig)."""

RESERVATION_KEY = "compute.googleapis.com/reservation-name"

EFFECTS = {
    TaintEffect.NO_SCHEDULE: "NO_SCHEDULE",
    TaintEffect.PREFER_NO_SCHEDULE: "PREFER_NO_SCHEDULE",
    TaintEffect.NO_EXECUTE: "NO_EXECUTE",
}


def desired(pool: ResolvedPool, facts: ClusterFacts | None) -> tuple[Resource, ...]:
    """The one resource of a GKE pool. Offline in a region, the count is that of a pool in one zone."""
    body: Json = {
        "name": pool.name,
        "initialNodeCount": pool.nodes.count // zone_count(pool, facts),
        "config": _config(pool),
        "management": {
            "autoRepair": pool.gke.auto_repair is not False,
            "autoUpgrade": pool.gke.auto_upgrade is not False,
        },
        "upgradeSettings": _upgrades(pool),
    }
    if pool.nodes.autoscaling:
        body["autoscaling"] = _autoscaling(pool)
    if pool.zones:
        body["locations"] = sorted(pool.zones)
    if pool.gke.max_pods is not None:
        body["maxPodsConstraint"] = {"maxPodsPerNode": str(pool.gke.max_pods)}
    if pool.gke.version:
        body["version"] = pool.gke.version
    return (Resource(KIND, pool.name, pool.name, pool.cluster, body),)


def _upgrades(pool: ResolvedPool) -> Json:
    surge = 1 if pool.gke.max_surge is None else pool.gke.max_surge
    settings: Json = {"maxSurge": surge}
    if pool.gke.max_unavailable is not None:
        settings["maxUnavailable"] = pool.gke.max_unavailable
    return settings


def _autoscaling(pool: ResolvedPool) -> Json:
    """Limits of the whole pool, never the per-zone ones, which multiply by the number of zones."""
    scaling: Json = {"enabled": True, "totalMinNodeCount": pool.nodes.min, "totalMaxNodeCount": pool.nodes.max}
    policy = location_policy(pool)
    if policy:
        scaling["locationPolicy"] = policy
    return scaling


def location_policy(pool: ResolvedPool) -> str | None:
    """What was asked; else ANY for spot, GKE's own default there, which goes where there are machines."""
    return pool.gke.location_policy or ("ANY" if pool.spot else None)


def _config(pool: ResolvedPool) -> Json:
    said = pool.gke
    config: Json = {
        "machineType": pool.machine.name,
        "accelerators": [_accelerator(pool)],
        "oauthScopes": sorted(said.oauth_scopes) if said.oauth_scopes is not None else list(SCOPES),
        "metadata": {"disable-legacy-endpoints": "true"},
        "resourceLabels": {**pool.tags, MANAGED: "true"},
    }
    if pool.labels:
        config["labels"] = dict(pool.labels)
    if pool.taints:
        config["taints"] = sorted(map(taint_body, pool.taints), key=taint_order)
    if pool.spot:
        config["spot"] = True
    if pool.capacity is Capacity.RESERVED and said.reservation:
        config["reservationAffinity"] = _affinity(said.reservation)
    if said.network_tags:
        config["tags"] = sorted(said.network_tags)
    return config | _machine_options(pool)


def _machine_options(pool: ResolvedPool) -> Json:
    said = pool.gke
    options: Json = {
        "diskSizeGb": pool.disk_gb,
        "diskType": said.disk_type,
        "imageType": said.image_type,
        "serviceAccount": said.service_account,
        "gvnic": None if said.gvnic is None else {"enabled": said.gvnic},
    }
    return {key: value for key, value in options.items() if value is not None}


def taint_body(taint: Taint) -> Json:
    body = {"key": taint.key, "value": taint.value, "effect": EFFECTS[taint.effect]}
    return {name: text for name, text in body.items() if text}


def taint_order(taint: Json) -> tuple[str, str, str]:
    """The order in which taints stand in a body."""
    return taint["key"], taint.get("value", ""), taint["effect"]


def _affinity(reservation: str) -> Json:
    return {"consumeReservationType": "SPECIFIC_RESERVATION", "key": RESERVATION_KEY, "values": [reservation]}


def _accelerator(pool: ResolvedPool) -> Json:
    """The GPUs of a node. int64 is text in proto JSON."""
    body: Json = {
        "acceleratorCount": str(pool.gpus_per_node),
        "acceleratorType": pool.machine.accelerator or pool.gpu.gke_accelerator,
        "gpuDriverInstallationConfig": {"gpuDriverVersion": driver_version(pool)},
    }
    if isinstance(pool.sharing.cut, Mig):
        body["gpuPartitionSize"] = partition_size(pool)
    sharing = _sharing_config(pool)
    if sharing:
        body["gpuSharingConfig"] = sharing
    return body


def partition_size(pool: ResolvedPool) -> str:
    """GKE's word for the profile; the profile's own name where GKE has none, which `rules` refuses."""
    profile = next(iter(pool.profiles().values()))
    return profile.gke or profile.name


def _sharing_config(pool: ResolvedPool) -> Json | None:
    match pool.sharing.share:
        case None:
            return None
        case TimeSlicing(replicas=clients):
            return {"gpuSharingStrategy": "TIME_SHARING", "maxSharedClientsPerGpu": str(clients)}
        case Mps(replicas=clients):
            return {"gpuSharingStrategy": "MPS", "maxSharedClientsPerGpu": str(clients)}
    assert_never(pool.sharing.share)


def driver_version(pool: ResolvedPool) -> str:
    """Always said: what the server makes of nothing has changed with its versions.

    DEFAULT is the driver that Google tests with a node version. Blackwell needs 570 or newer (the catalog's
    `min_driver`), which may be newer than that, so those GPUs get LATEST.
    https://cloud.google.com/kubernetes-engine/docs/how-to/gpus#installing_drivers
    """
    if pool.gke.driver == "None":
        return "INSTALLATION_DISABLED"
    return pool.gke.driver_version or default_driver_version(pool.gpu.architecture)


def default_driver_version(architecture: str | None) -> str:
    return "LATEST" if architecture == "Blackwell" else "DEFAULT"
