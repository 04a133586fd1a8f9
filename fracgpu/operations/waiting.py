"""`wait` as a verb: until a pool that somebody else made or deleted is ready or gone."""

from __future__ import annotations

from collections.abc import Generator
from enum import StrEnum

from fracgpu.catalog.load import load
from fracgpu.errors import Finding, NotFound, warning
from fracgpu.operations.listing import pool_document
from fracgpu.operations.outcome import Event, Item, Outcome, Work
from fracgpu.operations.verify import until_verified
from fracgpu.operations.wait import Wait, in_flight, looked, until_gone, until_ready
from fracgpu.plan import Action, Resource
from fracgpu.providers import Session, provider


class Goal(StrEnum):
    READY = "ready"
    DELETED = "deleted"
    VERIFIED = "verified"


def wait_for(session: Session, wait: Wait, goal: Goal) -> Work:
    """Wait until the goal is reached. Raises NotFound for a pool that is not there, unless deletion is the goal."""
    if goal is Goal.DELETED:
        yield from until_gone(session, wait)
        left = yield from looked(lambda: session.leftovers(wait.pool), wait)
        notes = tuple(_left_behind(one, wait.pool) for one in left)
        return Item(wait.pool, wait.cluster, Action.DELETE, Outcome.DONE, notes=notes)
    yield from _there(session, wait)
    yield from in_flight(session, wait)
    seen = yield from until_ready(session, wait)
    notes = ()
    if goal is Goal.VERIFIED:
        notes = (yield from until_verified(session, seen, load(), wait)).notes
    document = pool_document(seen, provider(wait.cluster.provider))
    return Item(wait.pool, wait.cluster, Action.NO_OP, Outcome.DONE, document, notes=notes, word=goal.value)


def _left_behind(left: Resource, pool: str) -> Finding:
    """Whoever waits looks, and deletes nothing."""
    message = f"{pool} is gone; its {left.kind} {left.name} is still there"
    return warning("left-behind", message, hint=f"fracgpu pool delete {pool} removes it")


def _there(session: Session, wait: Wait) -> Generator[Event, None, None]:
    """Raises NotFound with the names of the pools that exist."""
    seen = yield from looked(lambda: session.observe(wait.pool), wait)
    if seen is None:
        names = tuple(pool.name for pool in session.list())
        raise NotFound(f"the cluster has no pool {wait.pool}", nearest=names, hint="fracgpu pool list --all")
