"""Regions and zones: which a location is, and how many zones a pool spans."""

from __future__ import annotations

import re

from fracgpu.providers import ClusterFacts
from fracgpu.resolve import ResolvedPool

_LOCATION = re.compile(r"([a-z]+-[a-z]+\d{1,2})(-[a-z])?")
"""us-central1, us-central1-a; https://cloud.google.com/compute/docs/regions-zones"""


def is_location(text: str) -> bool:
    return bool(_LOCATION.fullmatch(text))


def is_zone(location: str) -> bool:
    match = _LOCATION.fullmatch(location)
    return bool(match and match[2])


def region_of(location: str) -> str:
    """The region that a location is, or lies in."""
    match = _LOCATION.fullmatch(location)
    return match[1] if match else location


def zones_of(pool: ResolvedPool, facts: ClusterFacts | None) -> tuple[str, ...]:
    """The zones that a pool spans: its own, else the cluster's; empty where only the cloud knows them."""
    location = pool.cluster.location or ""
    if pool.zones:
        return tuple(sorted(pool.zones))
    if facts and facts.zones:
        return facts.zones
    return (location,) if is_zone(location) else ()


def zone_count(pool: ResolvedPool, facts: ClusterFacts | None) -> int:
    """How many zones `initialNodeCount` is multiplied by; 1 where only the cloud knows."""
    return len(zones_of(pool, facts)) or 1
