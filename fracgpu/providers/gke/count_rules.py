"""Node counts: ours are totals over all zones, GKE's first count is per zone.

Users meet both and mistake one for the other
(https://github.com/terraform-google-modules/terraform-google-kubernetes-engine/issues/1639).
"""

from __future__ import annotations

from collections.abc import Iterator

from fracgpu.errors import Finding, info, warning
from fracgpu.providers import ClusterFacts
from fracgpu.providers.gke.places import zone_count, zones_of
from fracgpu.resolve import ResolvedPool

_EMPTY_START = "https://github.com/hashicorp/terraform-provider-google/issues/8270"
_NODES_LIMIT = 15_000
"""Nodes of one cluster: https://cloud.google.com/kubernetes-engine/quotas"""


def check(pool: ResolvedPool, facts: ClusterFacts | None) -> Iterator[Finding]:
    """What the counts make of zones, and what they leave unproven."""
    if pool.nodes.max > _NODES_LIMIT:
        message = f"{pool.nodes.max} nodes are more than a cluster may have"
        field = "spec.nodes.max" if pool.nodes.autoscaling else "spec.nodes.count"
        yield Finding("nodes-out-of-range", message, field=field, nearest=(str(_NODES_LIMIT),))
    if not zones_of(pool, facts) and pool.cluster.location is not None:
        message = f"the zones of {pool.cluster.location} are not known offline: the count is computed for one zone"
        hint = "--zone (repeat) names them; with the cluster at hand they are asked for"
        yield warning("zones-unknown", message, field="spec.zones", hint=hint)
    zones = zone_count(pool, facts)
    if pool.nodes.count % zones:
        yield _uneven(pool, zones)
    yield from _first_nodes(pool, pool.nodes.count // zones * zones)


def _uneven(pool: ResolvedPool, zones: int) -> Finding:
    count = pool.nodes.count
    lower, upper = count // zones * zones, (count // zones + 1) * zones
    if pool.nodes.autoscaling:
        message = f"{count} nodes over {zones} zones: GKE makes as many in each, so the pool begins with {lower}"
        return info("nodes-rounded", message, field="spec.nodes.count", nearest=(str(lower), str(upper)))
    message = f"{count} nodes cannot be spread over {zones} zones: GKE makes as many in each"
    near = tuple(str(number) for number in (lower, upper) if number)
    hint = f"--nodes {upper}, or --zone for fewer zones"
    return Finding("nodes-out-of-range", message, field="spec.nodes.count", hint=hint, nearest=near)


def _first_nodes(pool: ResolvedPool, first: int) -> Iterator[Finding]:
    if pool.nodes.autoscaling and first < pool.nodes.min:
        least = f"min {pool.nodes.min}"
        message = f"the pool begins with {first} nodes, and the autoscaler raises it to {least} only when pods wait"
        hint = "a --nodes that is a multiple of the zones and at least min"
        yield warning("begins-below-min", message, field="spec.nodes.count", hint=hint, link=_EMPTY_START)
    if first == 0 and (pool.nodes.autoscaling or pool.nodes.count == 0):
        message = "a pool that begins without nodes proves neither quota nor stock; the first pod that waits will"
        hint = "--nodes 1 asks for a machine at once; that a waiting pod brings a node needs nothing more on GKE"
        yield info("capacity-unproven-at-zero", message, field="spec.nodes.count", hint=hint)
