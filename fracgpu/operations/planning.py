"""What one pool needs: the pool as wanted held against the pool as it is. Pure; `apply` carries it out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from fracgpu.errors import Conflict, ExistsDifferently, Finding, FracgpuError, ImmutableField, NotOurs, info, warning
from fracgpu.operations.prepare import Prepared
from fracgpu.operations.wait import failure
from fracgpu.plan import Action, Change, Resource, change_of, creation, deletion, linked
from fracgpu.providers import FLEET, Observed, Phase
from fracgpu.resolve import ClusterRef

BROKEN = (Phase.FAILED, Phase.DEGRADED)
MOVING = (Phase.CREATING, Phase.UPDATING, Phase.DELETING)


@dataclass(frozen=True, slots=True)
class Choices:
    """What the user permits beyond making and changing what is fracgpu's.

    `adopt` marks a pool that fracgpu did not make, `recreate` replaces one in a failed state, `replace` one of which a
    field is fixed at creation, `not_ours` lets that be done to a pool without the mark. Without `change` a pool that
    exists and differs is left alone. `fleet` is the fleet that the pools belong to.
    """

    change: bool = True
    adopt: bool = False
    recreate: bool = False
    replace: bool = False
    not_ours: bool = False
    fleet: str | None = None


@dataclass(frozen=True, slots=True)
class PoolPlan:
    """The steps for one pool. `problem` is why they may not be taken, where something else must be said first."""

    name: str
    cluster: ClusterRef
    changes: tuple[Change, ...]
    prepared: Prepared | None = None
    """None for a pool that is to be deleted."""
    seen: Observed | None = None
    problem: FracgpuError | None = None
    notes: tuple[Finding, ...] = field(default=())

    @property
    def action(self) -> Action:
        """What happens to the pool as a whole."""
        actions = {change.action for change in self.changes}
        if Action.REPLACE in actions:
            return Action.REPLACE
        own = self.changes[-1].action
        return Action.UPDATE if own is Action.NO_OP and actions != {Action.NO_OP} else own


def plan_pool(prepared: Prepared, seen: Observed | None, choices: Choices) -> PoolPlan:
    """The plan for a pool that is declared."""
    name, cluster = prepared.pool.name, prepared.pool.cluster
    prepared = prepared.marked(choices.fleet or (seen.fleet if seen else None))
    if seen is None:
        changes = tuple(creation(resource) for resource in prepared.resources)
        return PoolPlan(name, cluster, changes, prepared, notes=prepared.notes)
    changes = tuple(_changes(prepared, seen, choices))
    problem = _problem(changes, seen, choices)
    notes = (*prepared.notes, *_notes(changes, seen, choices))
    return PoolPlan(name, cluster, changes, prepared, seen, problem, notes)


def plan_deletion(seen: Observed, reason: str, *, not_ours: bool = False) -> PoolPlan:
    """The plan for a pool that is to go: itself first, then what belongs to it."""
    pool, *owned = reversed(seen.resources)
    changes = (deletion(pool, reason, seen.tag), *(deletion(one, "belongs to the pool") for one in owned))
    problem = None if seen.ours or not_ours else _foreign(seen)
    return PoolPlan(seen.name, seen.cluster, changes, seen=seen, problem=problem)


def plan_cleaning(name: str, cluster: ClusterRef, leftovers: Sequence[Resource]) -> PoolPlan:
    """The plan for what a pool that is gone has left behind."""
    return PoolPlan(name, cluster, tuple(deletion(one, "its pool is gone") for one in leftovers))


def compare(prepared: Prepared, seen: Observed) -> list[Change]:
    """What it would take to make the pool that is there into the one that is wanted."""
    cloud = prepared.provider
    there = {(resource.kind, resource.name): cloud.settled(resource) for resource in seen.resources}
    changes = [
        change_of(want, there.get((want.kind, want.name)), cloud.comparison(want.kind), seen.tag)
        for want in prepared.resources
    ]
    return linked(changes, cloud.comparison)


def _changes(prepared: Prepared, seen: Observed, choices: Choices) -> Iterator[Change]:
    changes = compare(prepared, seen)
    if seen.status.phase in BROKEN and choices.recreate:
        said = seen.status.message or "the cloud does not say why"
        yield from changes[:-1]
        yield _as(changes[-1], Action.REPLACE, f"it is {seen.status.phase.value}: {said}")
        return
    mark = _mark(seen, choices)
    for change in changes:
        yield _as(change, Action.UPDATE, mark) if mark and change.action is Action.NO_OP else change


def _mark(seen: Observed, choices: Choices) -> str | None:
    """Why the mark of ownership must be written, where it must."""
    if choices.adopt and not seen.ours:
        return "marks it as fracgpu's"
    if choices.fleet and seen.fleet != choices.fleet and (seen.fleet is None or choices.adopt):
        return f"marks it as one of fleet {choices.fleet}"
    return None


def _as(change: Change, action: Action, reason: str) -> Change:
    return replace(change, action=action, reason=reason)


def pool_problem(seen: Observed, changes: Sequence[Change]) -> FracgpuError | None:
    """Why a pool can take no change at all, where it is in a failed state; a degraded one may yet be changed."""
    idle = all(change.action is Action.NO_OP for change in changes)
    broken = seen.status.phase is Phase.FAILED or (idle and seen.status.phase is Phase.DEGRADED)
    return failed(seen) if broken else None


def _problem(changes: Sequence[Change], seen: Observed, choices: Choices) -> FracgpuError | None:
    """Why the changes may not be made; None where nothing is in the way."""
    actions = {change.action for change in changes}
    broken = pool_problem(seen, changes)
    if broken is not None and not choices.recreate:
        return broken
    if seen.fleet and choices.fleet and seen.fleet != choices.fleet and not choices.adopt:
        return _other_fleet(seen, choices.fleet)
    if actions == {Action.NO_OP}:
        return None
    if not choices.change and any(change.fields for change in changes) and not choices.recreate:
        return _differs(seen, changes)
    if not seen.ours and not (choices.adopt or choices.not_ours):
        return _foreign(seen, changes)
    if Action.REPLACE in actions and not (choices.replace or choices.recreate):
        return immutable(seen, changes)
    return None


def failed(seen: Observed) -> FracgpuError:
    """The cause of a failed pool, with the way out in its hint."""
    error = failure(seen)
    way = f"fracgpu pool create {seen.name} --recreate makes it anew; fracgpu pool delete {seen.name} removes it"
    if "--recreate" not in (error.hint or ""):
        error.hint = f"{error.hint}; {way}" if error.hint else way
    return error


def _differs(seen: Observed, changes: Sequence[Change]) -> ExistsDifferently:
    fields = [one for change in changes for one in change.fields]
    said = "; ".join(map(str, fields[:5])) + ("; ..." if len(fields) > 5 else "")
    replaced = any(change.action is Action.REPLACE for change in changes)
    hint = f"fracgpu pool update {seen.name} with the same flags changes it, or fracgpu pool apply -f FILE"
    if replaced:
        hint += "; with --replace, since a field is fixed at creation"
    return ExistsDifferently(
        f"{seen.name} exists and differs: {said}", hint=hint, detail={"fields": field_list(changes)}
    )


def immutable(seen: Observed, changes: Sequence[Change]) -> ImmutableField:
    """Fields that cannot change in place, and how to change them all the same."""
    fixed = [change for change in changes if change.action is Action.REPLACE]
    said = "; ".join(change.reason or "" for change in fixed)
    hint = "--replace drains and deletes the pool and makes it anew under its name; a new name makes a second pool"
    return ImmutableField(f"{seen.name}: {said}", hint=hint, detail={"fields": field_list(fixed)})


def field_list(changes: Sequence[Change]) -> list[dict[str, object]]:
    """Every field that differs, for `detail`."""
    fields = [one for change in changes for one in change.fields]
    return [
        {"path": ".".join(one.path), "before": one.before, "after": one.after, "effect": one.effect.value}
        for one in fields
    ]


def _foreign(seen: Observed, changes: Sequence[Change] = ()) -> Conflict:
    if not changes:
        return NotOurs(f"{seen.name} was not made by fracgpu", hint="--not-ours --yes deletes it all the same")
    said = "; ".join(str(one) for change in changes for one in change.fields[:5])
    hint = "--adopt takes it over; fracgpu pool update and scale change it without"
    message = f"{seen.name} was not made by fracgpu and differs: {said or 'it is to be made anew'}"
    return NotOurs(message, hint=hint, detail={"fields": field_list(changes)})


def _other_fleet(seen: Observed, fleet: str) -> NotOurs:
    message = f"{seen.name} belongs to fleet {seen.fleet}, not to {fleet}"
    return NotOurs(message, hint="give the pool another name; --adopt moves it into this fleet", detail={FLEET: fleet})


def _notes(changes: Sequence[Change], seen: Observed, choices: Choices) -> Iterator[Finding]:
    if not seen.ours and not choices.adopt and all(change.action is Action.NO_OP for change in changes):
        message = f"{seen.name} is as wanted, and was not made by fracgpu"
        yield warning("not-ours", message, hint="--adopt marks it as fracgpu's")
    if seen.status.phase in MOVING:
        message = f"{seen.name} is {seen.status.phase.value}: what it is compared with may be out of date"
        yield info("in-flight", message, hint=f"fracgpu pool wait {seen.name}")
