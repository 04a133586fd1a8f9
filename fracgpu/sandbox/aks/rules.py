"""What AKS refuses in an agent pool, before any machine is asked for."""

from __future__ import annotations

import re
from typing import Any

from fracgpu.sandbox.aks import sizes
from fracgpu.sandbox.aks.errors import (
    ArmError,
    bad_request,
    change_not_allowed,
    invalid_parameter,
    size_not_allowed,
    zone_not_supported,
)
from fracgpu.sandbox.settings import offered
from fracgpu.sandbox.world import World

Properties = dict[str, Any]

NAME = re.compile(r"[a-z][a-z0-9]{0,11}")
LARGEST = 1000
POOLS = 100
SPOT_LABEL = ("kubernetes.azure.com/scalesetpriority", "spot")
SPOT_TAINT = "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"
RESERVED = ("kubernetes.azure.com/", "kubernetes.io/")
"""https://learn.microsoft.com/azure/aks/use-labels#reserved-prefixes"""

IMMUTABLE = (
    "vmSize",
    "osType",
    "osDiskType",
    "osDiskSizeGB",
    "maxPods",
    "type",
    "availabilityZones",
    "vnetSubnetID",
    "podSubnetID",
    "enableNodePublicIP",
    "enableEncryptionAtHost",
    "enableUltraSSD",
    "enableFIPS",
    "scaleSetPriority",
    "scaleSetEvictionPolicy",
    "spotMaxPrice",
    "gpuInstanceProfile",
    "gpuProfile.driver",
    "gpuProfile.nvidia.managementMode",
    "capacityReservationGroupID",
)
"""Members fixed at creation (https://learn.microsoft.com/azure/aks/manage-node-pools and the pages it links)."""

_PREFIX = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
_WORD = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
_TAINT = re.compile(r"([^=:]+)(?:=([^=:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)")
_BAD_IN_TAGS = re.compile(r"[<>%&\\?/\x00-\x1f]")


def check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise invalid_parameter(
            "name",
            "The name must start with a lowercase letter, have max length of 12, and only have characters a-z0-9.",
        )


def check(world: World, name: str, pool: Properties) -> None:
    """Refuse a pool (all defaults filled in) that AKS would not make. Raises ArmError."""
    _size(world, name, pool)
    _counts(pool)
    _spot(pool)
    for key, value in pool["nodeLabels"].items():
        _label(key, value, spot=is_spot(pool))
    for taint in pool["nodeTaints"]:
        _taint(taint, spot=is_spot(pool))
    _tags(pool["tags"])


def check_update(before: Properties, sent: Properties) -> None:
    """Refuse a change of what is fixed at creation; a member that was left out is not a change. Raises ArmError."""
    for path in IMMUTABLE:
        new = _at(sent, path)
        if new is not None and not _same(_at(before, path), new):
            raise change_not_allowed(path)


def is_spot(pool: Properties) -> bool:
    return bool(pool.get("scaleSetPriority") == "Spot")


def _at(pool: Any, path: str) -> Any:
    for name in path.split("."):
        pool = pool.get(name) if isinstance(pool, dict) else None
    return pool


def _same(before: Any, after: Any) -> bool:
    if isinstance(before, str) and isinstance(after, str):
        return before.lower() == after.lower()
    return bool(_said(before) == _said(after))


def _said(value: Any) -> Any:
    """None for every way of saying nothing; a pool of regular priority does not say so, nor what Spot would be."""
    return None if value in (None, False, 0, "", [], "Regular", "Delete", -1) else value


def _size(world: World, name: str, pool: Properties) -> None:
    wanted = pool.get("vmSize")
    if not wanted:
        raise invalid_parameter("vmSize", "The VM size must be given.")
    zones = [zone for zone in sizes.ZONES if offered(world, "aks", wanted, zone)]
    if sizes.size(wanted) is None or not zones:
        names = [size.name for size in sizes.offered_sizes()]
        raise size_not_allowed(name, sizes.LOCATION, names)
    if missing := [zone for zone in pool.get("availabilityZones", []) if zone not in zones]:
        raise zone_not_supported(name, missing, zones, sizes.LOCATION)


def _counts(pool: Properties) -> None:
    least = 1 if pool["mode"] == "System" else 0
    if not least <= pool["count"] <= LARGEST:
        raise invalid_parameter("count", f"A {pool['mode']} pool has {least} to {LARGEST} nodes, not {pool['count']}.")
    low, high = pool.get("minCount"), pool.get("maxCount")
    if not pool["enableAutoScaling"]:
        if low is not None or high is not None:
            raise invalid_parameter("minCount", "minCount and maxCount need enableAutoScaling.")
        return
    if low is None or high is None:
        raise invalid_parameter("minCount", "minCount and maxCount are required with enableAutoScaling.")
    if not least <= low <= high <= LARGEST:
        raise invalid_parameter(
            "minCount", f"minCount {low} and maxCount {high} of a {pool['mode']} pool must be {least} <= min <= max."
        )


def _spot(pool: Properties) -> None:
    if not is_spot(pool):
        if "scaleSetEvictionPolicy" in pool:
            raise invalid_parameter("scaleSetEvictionPolicy", "It needs scaleSetPriority Spot.")
        return
    if pool["mode"] == "System":
        raise invalid_parameter("mode", "A Spot pool cannot be a System pool.")
    if pool["type"] != "VirtualMachineScaleSets":
        raise invalid_parameter("type", "A Spot pool is made of VirtualMachineScaleSets.")
    price = pool["spotMaxPrice"]
    if price != -1 and price <= 0:
        raise invalid_parameter("spotMaxPrice", f"{price} is neither -1 nor above 0.")
    # https://github.com/hashicorp/terraform-provider-azurerm/issues/29318
    if pool["upgradeSettings"].get("maxSurge"):
        raise invalid_parameter("upgradeSettings.maxSurge", "Spot pools have no surge nodes.")


def _label(key: str, value: str, *, spot: bool) -> None:
    if spot and (key, value) == SPOT_LABEL:
        return
    prefix, slash, word = key.rpartition("/")
    if key.startswith(RESERVED):
        raise invalid_parameter("nodeLabels", f"The label {key!r} has a prefix that is reserved for the service.")
    if (slash and not _PREFIX.fullmatch(prefix)) or not _WORD.fullmatch(word):
        raise invalid_parameter("nodeLabels", f"{key!r} is not a label key of Kubernetes.")
    if value and not _WORD.fullmatch(value):
        raise invalid_parameter("nodeLabels", f"{value!r} is not a label value of Kubernetes.")


def _taint(taint: str, *, spot: bool) -> None:
    if spot and taint == SPOT_TAINT:
        return
    match = _TAINT.fullmatch(taint)
    if match is None:
        raise invalid_parameter("nodeTaints", f"{taint!r} does not read key=value:Effect.")
    key, value = match[1], match[2] or ""
    prefix, slash, word = key.rpartition("/")
    if (slash and not _PREFIX.fullmatch(prefix)) or not _WORD.fullmatch(word) or (value and not _WORD.fullmatch(value)):
        raise invalid_parameter("nodeTaints", f"{taint!r} is not a taint of Kubernetes.")
    if key.startswith("kubernetes.azure.com/"):
        raise invalid_parameter("nodeTaints", f"The taint {key!r} has a prefix that is reserved for the service.")


def _tags(tags: dict[str, str]) -> None:
    for name, value in tags.items():
        if _BAD_IN_TAGS.search(name):
            raise ArmError(
                400,
                "InvalidTagNameCharacters",
                f"The tag names '{name}' have reserved characters '<,>,%,&,\\,?,/' or control characters.",
            )
        if not 0 < len(name) <= 512 or len(value) > 256:
            raise bad_request(f"The tag '{name}' is too long: a name has 1 to 512 characters, a value at most 256.")
    if len({name.lower() for name in tags}) != len(tags):
        raise bad_request("Tag names are the same whatever their case, and two of these are.")
    # https://github.com/Azure/AKS/issues/4925
    if any(name.lower() == "skipgpudriverinstall" for name in tags):
        raise bad_request("The tag SkipGPUDriverInstall is retired; set gpuProfile.driver to None instead.")
