"""Which zones have which instance type: EC2's own list, and on top of it what `sandbox set offering` says.

GPU types that the list does not have in a region at all are taken to be in all of its zones: the list is older than
the types, and a sandbox without them would be a poor place to try them.
"""

from __future__ import annotations

from sys import intern

from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend
from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS, INSTANCE_TYPES

from fracgpu.sandbox.settings import switched
from fracgpu.sandbox.world import Cloud, Json


def _compact() -> dict[str, dict[str, tuple[str, ...]]]:
    """Region -> instance type -> zones. moto's own form of it takes 40 MB; nobody else reads it, so it is let go."""
    listed: dict[str, dict[str, tuple[str, ...]]] = {}
    for region, rows in INSTANCE_TYPE_OFFERINGS["availability-zone"].items():
        machines = listed.setdefault(region, {})
        for row in rows:
            machine = intern(row["InstanceType"])
            machines[machine] = (*machines.get(machine, ()), intern(row["Location"]))
    INSTANCE_TYPE_OFFERINGS.clear()
    return listed


_LISTED = _compact()


def zones_of(settings: Json, region: str, machine: str) -> set[str]:
    """The zones of a region that have that instance type now."""
    listed = _LISTED.get(region, {})
    zones = set(listed.get(machine, ()))
    if machine not in listed and _has_gpu(machine):
        zones = {zone for zones in listed.values() for zone in zones}
    known = {*zones, *(row["zone"] for row in settings.get("offering", []))}
    return {zone for zone in known if zone.startswith(region) and _on(settings, machine, zone, zones)}


def all_offerings(settings: Json, region: str, location_type: str) -> list[tuple[str, str]]:
    """(instance type, location) of everything that is offered in a region; a location is what `location_type` says."""
    machines = {*_LISTED.get(region, {}), *(name for name in INSTANCE_TYPES if _has_gpu(name))}
    pairs = [(machine, zone) for machine in sorted(machines) for zone in sorted(zones_of(settings, region, machine))]
    if location_type == "availability-zone":
        return pairs
    if location_type == "availability-zone-id":
        ids = {zone.name: zone.zone_id for zone in RegionsAndZonesBackend.zones.get(region, [])}
        return [(machine, ids[zone]) for machine, zone in pairs if zone in ids]
    return sorted({(machine, region) for machine, _ in pairs})


def _on(settings: Json, machine: str, zone: str, zones: set[str]) -> bool:
    said = switched(settings, Cloud.EKS, machine, zone)
    return zone in zones if said is None else said


def _has_gpu(machine: str) -> bool:
    return bool(INSTANCE_TYPES.get(machine, {}).get("GpuInfo"))
