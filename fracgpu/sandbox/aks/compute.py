"""Microsoft.Compute as far as a GPU pool needs it: which sizes a region has, with what, and the quotas."""

from __future__ import annotations

import re
from typing import Any

from fracgpu.sandbox.aks import sizes
from fracgpu.sandbox.aks.sizes import LOCATION, ZONES, Size
from fracgpu.sandbox.settings import offered
from fracgpu.sandbox.world import Json, World

_FILTER = re.compile(r"location eq '([^']*)'")


def skus(world: World, filter: str) -> list[Json]:
    """The virtual machine rows of `Microsoft.Compute/skus`; the one filter that it knows is `location eq 'L'`."""
    wanted = _FILTER.search(filter)
    if wanted and wanted[1].lower() != LOCATION:
        return []
    return [_sku(world, size) for size in sizes.offered_sizes()]


def _sku(world: World, size: Size) -> Json:
    off = [zone for zone in ZONES if not offered(world, "aks", size.name, zone)]
    gone = len(off) == len(ZONES) or not offered(world, "aks", size.name, LOCATION)
    return {
        "resourceType": "virtualMachines",
        "name": size.name,
        "tier": "Standard",
        "size": size.name.removeprefix("Standard_"),
        "family": size.family,
        "locations": [LOCATION],
        "locationInfo": [{"location": LOCATION, "zones": list(ZONES), "zoneDetails": []}],
        "capabilities": [{"name": name, "value": value} for name, value in _capabilities(size).items()],
        "restrictions": [
            *([_restriction("Location", [])] if gone else []),
            *([_restriction("Zone", off)] if off else []),
        ],
    }


def _capabilities(size: Size) -> dict[str, str]:
    # A part of a GPU counts as one here, too: `GPUs` is a whole number in Azure's own answer.
    known = {
        "vCPUs": f"{size.vcpus}",
        "MemoryGB": f"{size.memory_gib:g}",
        "CpuArchitectureType": "Arm64" if size.architecture == "arm64" else "x64",
        "LowPriorityCapable": "True",
        "HyperVGenerations": "V2",
        "EphemeralOSDiskSupported": str(size.cached_gib > 0),
        "CachedDiskBytes": str(size.cached_gib * 1024**3),
    }
    return known | ({"GPUs": str(size.gpus)} if size.gpu else {})


def _restriction(kind: str, zones: list[str]) -> dict[str, Any]:
    where: dict[str, Any] = {"locations": [LOCATION]}
    return {
        "type": kind,
        "values": [LOCATION],
        "restrictionInfo": {**where, "zones": zones} if zones else where,
        "reasonCode": "NotAvailableForSubscription",
    }
