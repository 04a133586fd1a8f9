"""Delete pools: ours unasked, another's only when told so."""

from __future__ import annotations

from fracgpu.operations.apply import How, apply
from fracgpu.operations.clock import Clock
from fracgpu.operations.listing import found
from fracgpu.operations.outcome import Work
from fracgpu.operations.planning import Choices, PoolPlan, plan_cleaning, plan_deletion
from fracgpu.operations.wait import Wait, asked
from fracgpu.providers import Session
from fracgpu.resolve import ClusterRef


def deletion_of(
    session: Session, cluster: ClusterRef, name: str, *, not_ours: bool = False, clock: Clock | None = None
) -> PoolPlan:
    """The plan for deleting the pool of that name, or what a pool that is gone has left behind.

    Its problem is NotOurs for a pool without the mark unless `not_ours`. Raises NotFound where there is neither.
    """
    seen = asked(lambda: session.observe(name), clock)
    if seen is None and (left := asked(lambda: session.leftovers(name), clock)):
        return plan_cleaning(name, cluster, left)
    return plan_deletion(seen or found(session, name, clock), "asked for", not_ours=not_ours)


def delete(planned: PoolPlan, session: Session, wait: Wait, how: How) -> Work:
    """Drain and delete one pool, and what belongs to it. Raises the plan's problem."""
    return (yield from apply(planned, session, wait, Choices(), how))
