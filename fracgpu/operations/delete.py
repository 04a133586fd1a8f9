"""Delete pools: ours unasked, another's only when told so."""

from __future__ import annotations

from fracgpu.operations.apply import How, apply
from fracgpu.operations.outcome import Work
from fracgpu.operations.planning import Choices, plan_deletion
from fracgpu.operations.wait import Wait
from fracgpu.providers import Observed, Session


def delete(seen: Observed, session: Session, wait: Wait, *, not_ours: bool = False, how: How) -> Work:
    """Drain and delete one pool, and what belongs to it. Raises NotOurs for a pool without the mark unless
    `not_ours`."""
    planned = plan_deletion(seen, "asked for", not_ours=not_ours)
    return (yield from apply(planned, session, wait, Choices(not_ours=not_ours), how))
