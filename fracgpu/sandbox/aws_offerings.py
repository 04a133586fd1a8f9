"""Which zones have which instance type: EC2's own list, and on top of it what `sandbox set offering` says.

GPU types that the list does not have in a region at all are taken to be in all of its zones: the list is older than
the types, and a sandbox without them would be a poor place to try them.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS, INSTANCE_TYPES

if TYPE_CHECKING:
    from fracgpu.sandbox.aws_backend import Backend


def zones_of(backend: Backend, region: str, machine: str) -> set[str]:
    """The zones of a region that have that instance type now."""
    zones = _listed(region).get(machine)
    if zones is None and _has_gpu(machine):
        zones = set().union(*_listed(region).values())
    known = {*(zones or set()), *(row["zone"] for row in backend.settings.get("offering", []))}
    return {zone for zone in known if zone.startswith(region) and _on(backend, machine, zone, zones or set())}


def all_offerings(backend: Backend, region: str, location_type: str) -> list[tuple[str, str]]:
    """(instance type, location) of everything that is offered in a region; locations are zones or the region."""
    machines = {*_listed(region), *(name for name in INSTANCE_TYPES if _has_gpu(name))}
    pairs = [(machine, zone) for machine in sorted(machines) for zone in sorted(zones_of(backend, region, machine))]
    if location_type == "availability-zone":
        return pairs
    return sorted({(machine, region) for machine, _ in pairs})


def _on(backend: Backend, machine: str, zone: str, zones: set[str]) -> bool:
    said = backend.switched(machine, zone)
    return zone in zones if said is None else said


def _has_gpu(machine: str) -> bool:
    return bool(INSTANCE_TYPES.get(machine, {}).get("GpuInfo"))


@cache
def _listed(region: str) -> dict[str, set[str]]:
    zones: dict[str, set[str]] = {}
    for row in INSTANCE_TYPE_OFFERINGS["availability-zone"].get(region, []):
        zones.setdefault(row["InstanceType"], set()).add(row["Location"])
    return zones
