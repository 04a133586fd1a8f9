"""Cores: how many a subscription may use in the region, what its pools use, and what happens when they do not suffice.

Regular pools count against the region (`cores`) and against their machine family, and are refused at once; Spot counts
against one quota for the whole region (`lowPriorityCores`), and its operation fails
(Azure/karpenter-provider-azure@352646f `pkg/fake/aksmachinesapi.go`).
"""

from __future__ import annotations

from collections import Counter

from fracgpu.sandbox.aks import errors, rules, sizes
from fracgpu.sandbox.settings import quota
from fracgpu.sandbox.world import Cloud, Cluster, Json, World

REGION = "cores"
SPOT = "lowPriorityCores"
PLENTY = 100_000
"""The limit of a quota that nobody set."""


def check(world: World, cluster: Cluster, before: Json, after: Json) -> Json | None:
    """The error in which the operation will end for want of Spot cores; None when all is well. Raises ArmError."""
    size = sizes.size(after["vmSize"])
    needed = (after["count"] - before.get("count", 0)) * (size.vcpus if size else 0)
    if size is None or needed <= 0:
        return None
    used = usage(world, cluster.path[0])
    location = sizes.LOCATION
    if rules.is_spot(after):
        limit = _limit(world, SPOT)
        return errors.low_priority_quota(location, limit, used[SPOT], needed) if used[SPOT] + needed > limit else None
    for metric in (REGION, size.family):
        left = _limit(world, metric) - used[metric]
        if needed > left:
            raise errors.vcpu_quota(location, left, needed, None if metric == REGION else metric)
    return None


def usage(world: World, subscription: str) -> Counter[str]:
    """Cores in use, by quota."""
    used: Counter[str] = Counter()
    for cluster in world.clusters.values():
        if cluster.cloud is not Cloud.AKS or cluster.path[0].lower() != subscription.lower():
            continue
        for pool in cluster.pools.values():
            size = sizes.size(pool.body["vmSize"])
            cores = (size.vcpus if size else 0) * pool.body["count"]
            metrics = (SPOT,) if rules.is_spot(pool.body) or size is None else (REGION, size.family)
            used.update(dict.fromkeys(metrics, cores))
    return used


def usages(world: World, subscription: str) -> list[Json]:
    """The region's quotas as Microsoft.Compute lists them."""
    used = usage(world, subscription)
    families = sorted({size.family for size in sizes.offered_sizes()})
    return [
        {
            "unit": "Count",
            "currentValue": used[metric],
            "limit": _limit(world, metric),
            "name": {"value": metric, "localizedValue": _LOCALIZED.get(metric, f"{metric} vCPUs")},
        }
        for metric in (REGION, SPOT, *families)
    ]


METRICS = frozenset((REGION, SPOT, *(size.family for size in sizes.offered_sizes())))
"""Names that `sandbox set quota` may give a limit; general machines have families beside them."""

_LOCALIZED = {REGION: "Total Regional vCPUs", SPOT: "Total Regional Low-priority vCPUs"}


def _limit(world: World, metric: str) -> int:
    limit = quota(world, "aks", metric, sizes.LOCATION)
    return PLENTY if limit is None else limit
