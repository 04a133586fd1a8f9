"""`wait` as a verb: until a pool that somebody else made or deleted is ready or gone."""

from __future__ import annotations

from enum import StrEnum

from fracgpu.operations.listing import found, pool_document
from fracgpu.operations.outcome import Item, Outcome, Work
from fracgpu.operations.wait import Wait, until_finished, until_gone, until_ready
from fracgpu.plan import Action
from fracgpu.providers import Session, provider


class Goal(StrEnum):
    READY = "ready"
    DELETED = "deleted"
    VERIFIED = "verified"


def wait_for(session: Session, wait: Wait, goal: Goal) -> Work:
    """Wait until the goal is reached. Raises NotFound for a pool that is not there, unless deletion is the goal."""
    if goal is Goal.DELETED:
        yield from until_gone(session, wait)
        return Item(wait.pool, wait.cluster, Action.DELETE, Outcome.DONE)
    found(session, wait.pool)
    for operation in session.operations(wait.pool):
        yield from until_finished(session, operation, wait)
    seen = yield from until_ready(session, wait)
    document = pool_document(seen, provider(wait.cluster.provider))
    return Item(wait.pool, wait.cluster, Action.NO_OP, Outcome.DONE, document)
