"""Change the number of nodes: a count, or the limits of the autoscaler; totals over all zones on every cloud."""

from __future__ import annotations

from collections.abc import Callable

from fracgpu.errors import Invalid
from fracgpu.spec import NodePool, NodesSpec


def scaled(count: int | None, low: int | None, high: int | None) -> Callable[[NodePool], NodePool]:
    """The edit of a pool that gives it these counts.

    A count alone moves an autoscaled pool within its limits. Limits alone keep the count where they allow it, else move
    it to the nearest; equal ones switch the autoscaler off. Raises Invalid where nothing is said.
    """
    if count is None and low is None and high is None:
        message = "how many nodes? say a count, or limits for the autoscaler"
        raise Invalid.one("usage", message, field="--nodes", hint="--nodes N, or --min N --max N")

    def edit(pool: NodePool) -> NodePool:
        return pool.model_copy(
            update={"spec": pool.spec.model_copy(update={"nodes": _nodes(pool.spec.nodes, count, low, high)})}
        )

    return edit


def _nodes(now: NodesSpec, count: int | None, low: int | None, high: int | None) -> NodesSpec:
    low = low if low is not None else now.min
    high = high if high is not None else now.max
    if high is None:
        return NodesSpec(count=now.count if count is None else count, min=low)
    if count is None:
        count = now.count if now.count is not None else now.min
        count = min(max(count or 0, low or 0), high)
    return NodesSpec(count=count, min=low, max=high)
