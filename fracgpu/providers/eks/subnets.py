"""Which subnets a group's nodes are in: those that were named, else the cluster's, in the zones that were named."""

from __future__ import annotations

from collections.abc import Mapping

from fracgpu.providers import ClusterFacts
from fracgpu.resolve import ResolvedPool

ZONES = "subnetZones"
"""`ClusterFacts.extra`: subnet id -> zone."""


def zone_of(facts: ClusterFacts | None) -> Mapping[str, str]:
    """Subnet -> zone, as far as the cluster has said."""
    zones: Mapping[str, str] = facts.extra.get(ZONES, {}) if facts else {}
    return zones


def subnets_of(pool: ResolvedPool, facts: ClusterFacts | None) -> list[str]:
    """Sorted; empty where only the cluster knows, or where it has none in these zones."""
    if pool.eks.subnets:
        return sorted(pool.eks.subnets)
    if facts is None:
        return []
    zones = zone_of(facts)
    return sorted(one for one in facts.subnets if not pool.zones or zones.get(one) in pool.zones)
