"""Make one pool: once, whatever happens. The same call again finds it and says so."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

from fracgpu.errors import Conflict, ExistsDifferently, Finding, info, warning
from fracgpu.operations.listing import pool_document
from fracgpu.operations.outcome import Event, Item, Outcome, Work
from fracgpu.operations.prepare import Prepared
from fracgpu.operations.wait import Wait, failure, until_finished, until_ready
from fracgpu.plan import Action, Change, change_of, creation, linked
from fracgpu.providers import Observed, Phase, Session


@dataclass(frozen=True, slots=True)
class CreateOptions:
    """How to create. Without `wait` the operation is started and left to the cloud."""

    wait: bool = True
    adopt: bool = False


def create(prepared: Prepared, session: Session, wait: Wait, options: CreateOptions = CreateOptions()) -> Work:
    """Make the pool unless it is there, and wait until it is ready.

    Raises ExistsDifferently where a pool of that name differs, the cause where it is in a failed state, and whatever
    the
    cloud refuses. A pool that is being made as wanted (by an earlier run, on any machine) is waited for.
    """
    seen = session.observe(prepared.pool.name)
    if seen is None:
        yield wait.event("asking the cloud to make it")
        return (yield from _make(prepared, session, wait, options))
    if seen.status.phase is Phase.FAILED:
        raise failure(seen)
    changes = compare(prepared, seen)
    if any(change.action is not Action.NO_OP for change in changes):
        raise _differs(seen, changes)
    return (yield from _found(prepared, session, wait, options, seen))


def compare(prepared: Prepared, seen: Observed) -> list[Change]:
    """What it would take to make the pool that is there into the one that is wanted."""
    cloud = prepared.provider
    there = {(resource.kind, resource.name): cloud.settled(resource) for resource in seen.resources}
    changes = [
        change_of(want, there.get((want.kind, want.name)), cloud.comparison(want.kind), seen.tag)
        for want in prepared.resources
    ]
    return linked(changes, cloud.comparison)


def _make(prepared: Prepared, session: Session, wait: Wait, options: CreateOptions) -> Work:
    operations = []
    for resource in prepared.resources:
        operation = session.apply(creation(resource))
        operations.append(operation)
        if options.wait or resource is not prepared.resources[-1]:
            yield from until_finished(session, operation, wait)
    if not options.wait:
        return _item(prepared, Outcome.PENDING, None)
    seen = yield from until_ready(session, wait)
    return _item(prepared, Outcome.DONE, seen)


def _found(prepared: Prepared, session: Session, wait: Wait, options: CreateOptions, seen: Observed) -> Work:
    """The pool is there as wanted: wait out whatever is in flight for it."""
    outcome, action = Outcome.UNCHANGED, Action.NO_OP
    if seen.status.phase is not Phase.READY:
        outcome, action = Outcome.DONE, Action.CREATE
        if not options.wait:
            return replace(_item(prepared, Outcome.PENDING, seen), action=action)
        yield from _in_flight(session, wait)
        seen = yield from until_ready(session, wait)
    notes = () if seen.ours else (_not_ours(seen),)
    return replace(_item(prepared, outcome, seen, notes), action=action)


def _in_flight(session: Session, wait: Wait) -> Generator[Event, None, None]:
    for operation in session.operations(wait.pool):
        yield from until_finished(session, operation, wait)


def _item(prepared: Prepared, outcome: Outcome, seen: Observed | None, notes: tuple[Finding, ...] = ()) -> Item:
    pool = prepared.pool
    document = pool_document(seen, prepared.provider) if seen else None
    if outcome is Outcome.DONE and seen is not None and pool.nodes.count == 0:
        notes = (*notes, _unproven(pool.name))
    return Item(pool.name, pool.cluster, Action.CREATE, outcome, document, notes=(*prepared.notes, *notes))


def _unproven(name: str) -> Finding:
    message = f"{name} has no node yet: capacity, quota and slices are proven only when the first one comes"
    return info("capacity-unproven-at-zero", message, field="spec.nodes", hint=f"fracgpu pool verify {name} --prove")


def _not_ours(seen: Observed) -> Finding:
    message = f"{seen.name} is as wanted, and was not made by fracgpu"
    return warning("not-ours", message, hint="--adopt marks it as fracgpu's")


def _differs(seen: Observed, changes: list[Change]) -> Conflict:
    fields = [one for change in changes for one in change.fields]
    said = "; ".join(map(str, fields[:5])) + ("; ..." if len(fields) > 5 else "")
    replaced = any(change.action is Action.REPLACE for change in changes)
    hint = "fracgpu pool apply -f FILE changes it" + (
        " (with --replace, since a field is fixed at creation)" if replaced else ""
    )
    detail = {
        "fields": [
            {"path": ".".join(one.path), "before": one.before, "after": one.after, "effect": one.effect.value}
            for one in fields
        ]
    }
    return ExistsDifferently(f"{seen.name} exists and differs: {said}", hint=hint, detail=detail)
