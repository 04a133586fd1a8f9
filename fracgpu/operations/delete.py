"""Delete pools: ours unasked, another's only when told so."""

from __future__ import annotations

from fracgpu.errors import NotOurs
from fracgpu.operations.outcome import Item, Outcome, Work
from fracgpu.operations.wait import Wait, until_finished, until_gone
from fracgpu.plan import Action, deletion
from fracgpu.providers import Observed, Session


def delete(seen: Observed, session: Session, wait: Wait, *, not_ours: bool = False, wait_for_end: bool = True) -> Work:
    """Delete one pool and what belongs to it. Raises NotOurs for a pool without the mark unless `not_ours`."""
    if not (seen.ours or not_ours):
        message = f"{seen.name} was not made by fracgpu"
        raise NotOurs(message, hint="--not-ours --yes deletes it all the same")
    yield wait.event("asking the cloud to delete it")
    pool, *owned = reversed(seen.resources)
    operation = session.apply(deletion(pool, "asked for", seen.tag))
    if wait_for_end:
        yield from until_finished(session, operation, wait)
        yield from until_gone(session, wait)
    for resource in owned:
        session.apply(deletion(resource, "belongs to the pool"))
    outcome = Outcome.DONE if wait_for_end else Outcome.PENDING
    return Item(seen.name, seen.cluster, Action.DELETE, outcome)
