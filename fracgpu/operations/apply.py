"""Carry out the plan of one pool, from whatever state an earlier run, on any machine, has left it in."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import assert_never

from fracgpu.errors import (
    CloudError,
    DrainBlocked,
    Finding,
    Invalid,
    Level,
    NoCapacity,
    NotFound,
    PoolFailed,
    Quota,
    Stock,
    info,
)
from fracgpu.operations.listing import pool_document
from fracgpu.operations.outcome import Event, Item, Outcome, Work
from fracgpu.operations.planning import MOVING, Choices, PoolPlan, plan_pool
from fracgpu.operations.wait import Wait, at_rest, looked, patiently, until_finished, until_gone, until_ready
from fracgpu.plan import Action, Change, creation, deletion
from fracgpu.providers import Observed, Operation, Phase, Session

Drain = Callable[[Observed, Session, Wait], Generator[Event, None, tuple[Finding, ...]]]
"""Empties a pool's nodes before it is deleted. Raises DrainBlocked, naming what is in the way."""


ENDINGS = (NoCapacity, PoolFailed, DrainBlocked, CloudError, NotFound)
"""What an operation may end in badly; others are of the look at it."""


@dataclass(frozen=True, slots=True)
class How:
    """How a plan is carried out. Without `wait` the last operation is begun and left to the cloud; with `force` pods
    that may not be moved do not hold a delete up."""

    wait: bool = True
    preflight: bool = True
    drain: Drain | None = None
    force: bool = False


def apply(planned: PoolPlan, session: Session, wait: Wait, choices: Choices, how: How) -> Work:
    """Make the pool as planned, and wait until it is ready. The same call again changes nothing.

    A pool in motion is waited for and planned anew, since what moves it may be an earlier run of the same plan. Raises
    the plan's problem, and whatever the cloud refuses or ends in.
    """
    if how.wait and _worth_waiting(planned, choices):
        return (yield from _after_others(planned, session, wait, choices, how))
    if planned.problem:
        raise planned.problem
    return (yield from _carry_out(planned, session, wait, how))


def _worth_waiting(planned: PoolPlan, choices: Choices) -> bool:
    """The pool is in motion, and what comes of it may be what is wanted."""
    if planned.seen is None or planned.prepared is None or planned.seen.status.phase not in MOVING:
        return False
    return choices.change or planned.problem is None or planned.seen.status.phase is not Phase.CREATING


def _after_others(planned: PoolPlan, session: Session, wait: Wait, choices: Choices, how: How) -> Work:
    """Wait for what is in flight, plan anew, and do what is left."""
    assert planned.seen is not None
    assert planned.prepared is not None
    begun = Action.CREATE if planned.seen.status.phase is Phase.CREATING else Action.UPDATE
    seen = yield from settled(session, wait)
    planned = plan_pool(planned.prepared, seen, choices)
    if planned.problem:
        raise planned.problem
    done = yield from _carry_out(planned, session, wait, how)
    return replace(done, action=begun, outcome=Outcome.DONE) if planned.action is Action.NO_OP else done


def settled(session: Session, wait: Wait) -> Generator[Event, None, Observed | None]:
    """The pool once nothing moves it; what an earlier operation on it ended in is told by its state."""
    yield wait.event("waiting for what is in flight")
    for operation in (yield from looked(lambda: session.operations(wait.pool), wait)):
        try:
            yield from until_finished(session, operation, wait)
        except ENDINGS as error:
            yield wait.event(error.message)
    return (yield from at_rest(session, wait))


def _carry_out(planned: PoolPlan, session: Session, wait: Wait, how: How) -> Work:
    match planned.action:
        case Action.NO_OP:
            moving = planned.seen is not None and planned.seen.status.phase in MOVING
            return item(planned, Outcome.PENDING if moving else Outcome.UNCHANGED, planned.seen)
        case Action.CREATE:
            return (yield from _create(planned, session, wait, how))
        case Action.UPDATE:
            return (yield from _update(planned, session, wait, how))
        case Action.REPLACE:
            return (yield from _replace(planned, session, wait, how))
        case Action.DELETE:
            return (yield from _delete(planned, session, wait, how))
    assert_never(planned.action)


def _create(planned: PoolPlan, session: Session, wait: Wait, how: How) -> Work:
    assert planned.prepared is not None
    notes = preflight(planned, session) if how.preflight else ()
    yield wait.event("asking the cloud to make it")
    yield from _steps([creation(one) for one in planned.prepared.resources], session, wait, how)
    return (yield from _ended(planned, session, wait, how, notes))


def _update(planned: PoolPlan, session: Session, wait: Wait, how: How) -> Work:
    steps = [change for change in planned.changes if change.action is not Action.NO_OP]
    yield wait.event("asking the cloud to change it")
    yield from _steps(steps, session, wait, how)
    return (yield from _ended(planned, session, wait, how))


def _replace(planned: PoolPlan, session: Session, wait: Wait, how: How) -> Work:
    """Drain, delete, make anew under the same name, with what belongs to the pool: a cloud may end that with it."""
    seen, prepared = planned.seen, planned.prepared
    assert seen is not None
    assert prepared is not None
    notes = preflight(planned, session) if how.preflight else ()
    left = yield from _remove(seen, session, wait, how)
    yield wait.event("asking the cloud to make it anew")
    yield from _steps([creation(one) for one in prepared.resources], session, wait, how)
    return (yield from _ended(planned, session, wait, how, (*notes, *left)))


def _delete(planned: PoolPlan, session: Session, wait: Wait, how: How) -> Work:
    """The pool, then what belongs to it; of a pool that is gone already, what it has left behind."""
    seen, changes = planned.seen, planned.changes
    left: tuple[Finding, ...] = ()
    if seen is not None and not how.wait:
        left = yield from _drained(seen, session, wait, how.drain)
        yield wait.event("asking the cloud to delete it")
        yield from _begin(replace(changes[0], force=how.force), session, wait, patient=False)
    elif seen is not None:
        left = yield from _remove(seen, session, wait, how)
    for change in changes[1:] if seen is not None else changes:
        yield from _step(change, session, wait)
    outcome = Outcome.DONE if how.wait or seen is None else Outcome.PENDING
    return replace(item(planned, outcome, None), notes=(*planned.notes, *left))


def _remove(seen: Observed, session: Session, wait: Wait, how: How) -> Generator[Event, None, tuple[Finding, ...]]:
    """Drain the pool, delete it and wait until its name is free. Returns what is worth knowing of the drain."""
    notes = yield from _drained(seen, session, wait, how.drain)
    yield wait.event("asking the cloud to delete it")
    yield from _step(deletion(seen.resources[-1], "", None, force=how.force), session, wait)
    yield from until_gone(session, wait)
    return notes


def _drained(
    seen: Observed, session: Session, wait: Wait, drain: Drain | None
) -> Generator[Event, None, tuple[Finding, ...]]:
    if drain is None or seen.status.phase is Phase.DELETING:
        return ()
    return (yield from drain(seen, session, wait))


def _steps(changes: list[Change], session: Session, wait: Wait, how: How) -> Generator[Event, None, None]:
    """One change after another; without `how.wait` the last is only begun."""
    for change in changes[:-1]:
        yield from _step(change, session, wait)
    operation = yield from _begin(changes[-1], session, wait, patient=how.wait)
    if how.wait:
        yield from until_finished(session, operation, wait)


def _step(change: Change, session: Session, wait: Wait) -> Generator[Event, None, None]:
    operation = yield from _begin(change, session, wait)
    yield from until_finished(session, operation, wait)


def _begin(change: Change, session: Session, wait: Wait, *, patient: bool = True) -> Generator[Event, None, Operation]:
    return (yield from patiently(lambda: session.apply(change), wait, patient=patient))


def _ended(
    planned: PoolPlan, session: Session, wait: Wait, how: How, notes: tuple[Finding, ...] = ()
) -> Generator[Event, None, Item]:
    if not how.wait:
        return replace(item(planned, Outcome.PENDING, None), notes=(*planned.notes, *notes))
    done = item(planned, Outcome.DONE, (yield from until_ready(session, wait)))
    return replace(done, notes=(*done.notes, *notes))


def preflight(planned: PoolPlan, session: Session) -> tuple[Finding, ...]:
    """What the cloud says before anything is sent: its warnings. Raises Quota, Stock or Invalid for its errors."""
    assert planned.prepared is not None
    findings = tuple(session.preflight(planned.prepared.pool))
    errors = [one for one in findings if one.level is Level.ERROR]
    if not errors:
        return findings
    kind = {"quota": Quota, "stock": Stock}.get(errors[0].code)
    if kind is None:
        raise Invalid(errors)
    first = errors[0]
    raise kind(first.message, hint=first.hint, field=first.field, nearest=first.nearest, detail=first.detail)


def item(planned: PoolPlan, outcome: Outcome, seen: Observed | None) -> Item:
    """What became of the pool."""
    document = pool_document(seen, planned.prepared.provider) if seen and planned.prepared else None
    notes = (*planned.notes, *_unproven(planned, outcome, seen))
    return Item(planned.name, planned.cluster, planned.action, outcome, document, notes=notes)


def _unproven(planned: PoolPlan, outcome: Outcome, seen: Observed | None) -> tuple[Finding, ...]:
    """A pool without a node proves neither quota nor stock, and nothing of its slices."""
    pool = planned.prepared.pool if planned.prepared else None
    said = any(note.code == "capacity-unproven-at-zero" for note in planned.notes)
    if outcome is not Outcome.DONE or seen is None or pool is None or pool.nodes.count or said:
        return ()
    message = f"{pool.name} has no node yet: capacity, quota and slices are proven only when the first one comes"
    hint = f"fracgpu pool verify {pool.name} --prove"
    return (info("capacity-unproven-at-zero", message, field="spec.nodes", hint=hint),)
