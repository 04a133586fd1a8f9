"""Change the number of nodes: a count, or the limits of the autoscaler; totals over all zones on every cloud."""

from __future__ import annotations

from collections.abc import Callable

from fracgpu.errors import Invalid
from fracgpu.spec import NodePool, NodesSpec


def scaled(count: int | None, low: int | None, high: int | None) -> Callable[[NodePool], NodePool]:
    """The edit of a pool that gives it these counts.

    A count alone moves an autoscaled pool within its limits, and on EKS brings one back that was scaled to nothing.
    Limits alone keep the count where they allow it, else move it to the nearest; equal ones switch the autoscaler off.
    Raises Invalid where nothing is said.
    """
    if count is None and low is None and high is None:
        message = "how many nodes? say a count, or limits for the autoscaler"
        raise Invalid.one("usage", message, field="--nodes", hint="--nodes N, or --min N --max N")

    def edit(pool: NodePool) -> NodePool:
        now = NodesSpec(count=0) if count is not None and _empty_on_eks(pool) else pool.spec.nodes
        nodes = _nodes(now, count, low, high)
        return pool.model_copy(update={"spec": pool.spec.model_copy(update={"nodes": nodes})})

    return edit


def _empty_on_eks(pool: NodePool) -> bool:
    """Scaled to nothing: EKS has no maximum below 1, so such a group looks like one with limits 0 and 1."""
    nodes = pool.spec.nodes
    return pool.spec.cluster.provider == "eks" and not nodes.count and not nodes.min and nodes.max == 1


def _nodes(now: NodesSpec, count: int | None, low: int | None, high: int | None) -> NodesSpec:
    low = low if low is not None else now.min
    high = high if high is not None else now.max
    if high is None:
        return NodesSpec(count=now.count if count is None else count, min=low)
    if count is None:
        count = now.count if now.count is not None else now.min
        count = min(max(count or 0, low or 0), high)
    return NodesSpec(count=count, min=low, max=high)
