"""What UpdateNodePool changes, and what it refuses to change in a pool that exists."""

from __future__ import annotations

import copy

from fracgpu.sandbox.gke.errors import GkeError, invalid
from fracgpu.sandbox.gke.gpu_rules import check_accelerators, check_sharing
from fracgpu.sandbox.gke.names import instance_groups
from fracgpu.sandbox.gke.pool import accelerators, settle_nodes
from fracgpu.sandbox.gke.rules import check_config, check_locations, check_machine, check_upgrade_settings
from fracgpu.sandbox.gke.versions import node_version
from fracgpu.sandbox.world import Cluster, Json, Pool, World

_WRAPPED = {"tags": "tags", "labels": "labels", "taints": "taints", "resourceLabels": "labels"}
"""Fields of the config whose whole set is replaced -> the one field of the message that wraps it."""

_CONFIG = frozenset(
    {
        "imageType",
        "machineType",
        "diskType",
        "diskSizeGb",
        "workloadMetadataConfig",
        "linuxNodeConfig",
        "kubeletConfig",
        "gcfsConfig",
        "confidentialNodes",
        "gvnic",
        "fastSocket",
        "loggingConfig",
        "windowsNodeConfig",
        "resourceManagerTags",
        "containerdConfig",
        "storagePools",
        "maxRunDuration",
        "flexStart",
        "bootDisk",
        "consolidationDelay",
        "taintConfig",
    }
)

_POOL = frozenset({"upgradeSettings", "queuedProvisioning", "nodeDrainConfig", "maintenancePolicy"})

_IN_PLACE = frozenset({*_WRAPPED, *_POOL, "locations"})
"""Changes after which the nodes are still the same machines."""

_ADDRESS = frozenset({"name", "projectId", "zone", "clusterId", "nodePoolId", "etag"})

_OTHER = ("nodeVersion", "locations", "accelerators", "nodeNetworkConfig")


def asked_for(request: Json) -> Json:
    """What an UpdateNodePoolRequest asks to change, without the words that say where."""
    asked = {key: value for key, value in request.items() if key not in _ADDRESS}
    if not asked:
        fields = [*_OTHER, *_WRAPPED, *sorted(_CONFIG | _POOL)]
        raise invalid(f"At least one of {[_snake(name) for name in fields]} must be specified.")
    return asked


def check_update(world: World, cluster: Cluster, pool: Pool, request: Json) -> None:
    """Refuse what GKE refuses to change in place."""
    asked = asked_for(request)
    etag = request.get("etag")
    if etag and etag != pool.body.get("etag"):
        raise GkeError("ABORTED", f'The etag "{etag}" is not the current one of node pool "{pool.name}".')
    if "locations" in asked and len(asked) > 1:
        raise invalid("Locations must be updated in a request of their own.")
    check_locations(cluster, asked.get("locations"))
    check_upgrade_settings(asked.get("upgradeSettings"))
    if "accelerators" in asked:
        _check_same_gpus(accelerators(pool.body), asked["accelerators"])
    config = updated(cluster, pool.body, asked)["config"]
    check_config(config)
    if "machineType" in asked:
        check_machine(world, config, tuple(pool.body["locations"]))
        check_accelerators(config)


def _check_same_gpus(has: list[Json], asked: list[Json]) -> None:
    """Sharing and driver change in place; type, count and partition do not.

    https://github.com/GoogleCloudPlatform/magic-modules/pull/18493
    """
    if len(has) != len(asked):
        raise invalid(f"Accelerators: {len(asked)} should not be updated.")
    for old, new in zip(has, asked, strict=True):
        for field, said in _FIXED.items():
            if old.get(field, "") != new.get(field, ""):
                raise invalid(f"{said}: {new.get(field, '')} should not be updated.")
        check_sharing(new.get("gpuSharingConfig"))


_FIXED = {
    "acceleratorCount": "Accelerator count",
    "acceleratorType": "Accelerator type",
    "gpuPartitionSize": "GPU partition size",
}


def updated(cluster: Cluster, body: Json, asked: Json) -> Json:
    """The pool's body after the change."""
    new = copy.deepcopy(body)
    config = new["config"]
    for key, value in asked.items():
        if key in _WRAPPED:
            _replace(config, key, value.get(_WRAPPED[key]))
        elif key in _CONFIG:
            config[key] = value
        elif key == "upgradeSettings":
            new[key] = {"strategy": "SURGE", **value}
        elif key in _POOL:
            new[key] = value
        elif key == "accelerators":
            config[key] = [_with_driver(old, given) for old, given in zip(config[key], value, strict=True)]
        elif key == "nodeNetworkConfig":
            new["networkConfig"] = {**new["networkConfig"], **value}
        elif key == "nodeVersion":
            new["version"] = node_version(value)
        elif key == "locations":
            new["locations"] = list(value)
            new["instanceGroupUrls"] = instance_groups(cluster, new["name"], tuple(value))
    return new


def _replace(config: Json, key: str, value: object) -> None:
    if value:
        config[key] = value
    else:
        config.pop(key, None)


def _with_driver(old: Json, new: Json) -> Json:
    """The new accelerator; a driver that it does not speak of stays."""
    return {"gpuDriverInstallationConfig": old["gpuDriverInstallationConfig"], **new}


def carry_out(cluster: Cluster, pool: Pool, asked: Json) -> None:
    """Make the change; nodes are made anew where their machines cannot stay as they are."""
    each = pool.size // len(pool.body["locations"])
    pool.body = updated(cluster, pool.body, asked)
    settle_nodes(pool, each * len(asked["locations"]) if "locations" in asked else pool.size)
    if not set(asked) <= _IN_PLACE:
        pool.incarnation += 1


def is_upgrade(asked: Json) -> bool:
    """Whether GKE calls it an upgrade of the nodes."""
    return not set(asked) <= _IN_PLACE


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
