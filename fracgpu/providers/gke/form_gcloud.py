"""A node pool as `gcloud container node-pools create`.

https://cloud.google.com/sdk/gcloud/reference/container/node-pools/create
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fracgpu.errors import Finding, warning
from fracgpu.plan import Json
from fracgpu.providers.command_line import Flag, command, pairs
from fracgpu.providers.gke.desired import EFFECTS, SCOPES
from fracgpu.resolve import ResolvedPool

_DRIVERS = {"DEFAULT": "default", "LATEST": "latest", "INSTALLATION_DISABLED": "disabled"}
_STRATEGIES = {"TIME_SHARING": "time-sharing", "MPS": "mps"}


def gcloud(body: Json, pool: ResolvedPool) -> tuple[str, tuple[Finding, ...]]:
    """The command, and what it cannot say."""
    config = body["config"]
    flags = [*_where(pool), *_size(body), *_machine(config), *_kubernetes(config), *_upkeep(body)]
    words = ["gcloud", "container", "node-pools", "create", body["name"]]
    return command(words, flags), tuple(_gaps(config))


def _where(pool: ResolvedPool) -> Iterator[Flag]:
    cluster = pool.cluster
    yield "--cluster", cluster.name
    yield "--project", cluster.project
    yield "--location", cluster.location or "LOCATION"


def _size(body: Json) -> Iterator[Flag]:
    scaling = body.get("autoscaling", {})
    yield "--node-locations", _joined(body.get("locations"))
    yield "--num-nodes", str(body["initialNodeCount"])
    if scaling.get("enabled"):
        yield "--enable-autoscaling", True
        yield "--total-min-nodes", str(scaling["totalMinNodeCount"])
        yield "--total-max-nodes", str(scaling["totalMaxNodeCount"])
        yield "--location-policy", scaling.get("locationPolicy")


def _machine(config: Json) -> Iterator[Flag]:
    yield "--machine-type", config["machineType"]
    for accelerator in config["accelerators"]:
        yield "--accelerator", _accelerator(accelerator)
    yield "--spot", bool(config.get("spot"))
    affinity = config.get("reservationAffinity")
    if affinity:
        yield "--reservation-affinity", "specific"
        yield "--reservation", affinity["values"][0]
    yield "--disk-size", _text(config.get("diskSizeGb"))
    yield "--disk-type", config.get("diskType")
    yield "--image-type", config.get("imageType")
    yield "--service-account", config.get("serviceAccount")
    yield "--scopes", None if config["oauthScopes"] == list(SCOPES) else _joined(config["oauthScopes"])
    gvnic = config.get("gvnic")
    if gvnic:
        yield ("--enable-gvnic" if gvnic["enabled"] else "--no-enable-gvnic"), True


def _accelerator(accelerator: Json) -> str:
    """The one flag that has GPU, cut, share and driver."""
    sharing = accelerator.get("gpuSharingConfig", {})
    driver = accelerator["gpuDriverInstallationConfig"]["gpuDriverVersion"]
    members = {
        "type": accelerator["acceleratorType"],
        "count": accelerator["acceleratorCount"],
        "gpu-partition-size": accelerator.get("gpuPartitionSize"),
        "gpu-sharing-strategy": _STRATEGIES.get(sharing.get("gpuSharingStrategy", "")),
        "max-shared-clients-per-gpu": sharing.get("maxSharedClientsPerGpu"),
        "gpu-driver-version": _DRIVERS[driver],
    }
    return ",".join(pairs((key, value) for key, value in members.items() if value))


def _kubernetes(config: Json) -> Iterator[Flag]:
    yield "--node-labels", _map(config.get("labels"))
    yield "--node-taints", ",".join(_taint(taint) for taint in config.get("taints", ()) if taint.get("value")) or None
    yield "--labels", _map(config.get("resourceLabels"))
    yield "--tags", _joined(config.get("tags"))
    yield "--metadata", _map(config.get("metadata"))


def _taint(taint: Json) -> str:
    words = {native: effect.value for effect, native in EFFECTS.items()}
    return f"{taint['key']}={taint.get('value', '')}:{words[taint['effect']]}"


def _upkeep(body: Json) -> Iterator[Flag]:
    management, upgrades = body["management"], body["upgradeSettings"]
    yield ("--enable-autorepair" if management["autoRepair"] else "--no-enable-autorepair"), True
    yield ("--enable-autoupgrade" if management["autoUpgrade"] else "--no-enable-autoupgrade"), True
    yield "--max-surge-upgrade", str(upgrades["maxSurge"])
    yield "--max-unavailable-upgrade", _text(upgrades.get("maxUnavailable"))
    yield "--max-pods-per-node", body.get("maxPodsConstraint", {}).get("maxPodsPerNode")
    yield "--node-version", body.get("version")


def _gaps(config: Json) -> Iterator[Finding]:
    for taint in config.get("taints", ()):
        if not taint.get("value"):
            message = f"gcloud has no way to write the taint {taint['key']} without a value; it is left out"
            yield warning("form-gap", message, field="spec.taints", hint=f"{taint['key']}=present")


def _joined(items: list[str] | None) -> str | None:
    return ",".join(items) if items else None


def _map(members: dict[str, str] | None) -> str | None:
    return ",".join(pairs(members.items())) if members else None


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
