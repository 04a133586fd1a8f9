"""Change an existing pool by what is said of it and leave the rest as it is: the way of `scale` and `update`.

The pool is read back into the file form, changed there, and planned like any other, so that each cloud's idea of zones,
totals and limits stays in one place. Only what the two file forms differ in is changed: a pool of another tool's making
may have fields that the file form has no words for. Whose the pool is does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from fracgpu.catalog.load import Catalog
from fracgpu.differences import FieldChange, Path, differences
from fracgpu.errors import ExistsDifferently, Finding, Invalid, warning
from fracgpu.operations.ownership import unmarked
from fracgpu.operations.planning import PoolPlan, immutable, pool_problem
from fracgpu.operations.prepare import Prepared, examined, raise_errors, sorted_findings
from fracgpu.plan import Action, Change, Resource, change_in, counted_differences, creation, linked
from fracgpu.providers import ClusterFacts, Observed, provider
from fracgpu.spec import NodePool

Edit = Callable[[NodePool], NodePool]


@dataclass(frozen=True, slots=True)
class Revision:
    """A pool before and after an edit, both as its cloud would be sent them."""

    seen: Observed
    before: Prepared
    after: Prepared

    def plan(self, *, may_replace: bool = False) -> PoolPlan:
        """The steps from one to the other. The plan's problem is ImmutableField where that takes a new pool."""
        changes = linked([self._change(want) for want in self.after.resources], self.after.provider.comparison)
        replaced = any(change.action is Action.REPLACE for change in changes)
        problem = pool_problem(self.seen, changes)
        if problem is None and replaced and not may_replace:
            problem = immutable(self.seen, changes)
        pool = self.after.pool
        return PoolPlan(pool.name, pool.cluster, tuple(changes), self.after, self.seen, problem, self._notes(changes))

    def _change(self, want: Resource) -> Change:
        cloud = self.after.provider
        there = _find(self.seen.resources, want)
        if there is None:
            return creation(want)
        now = cloud.settled(there)
        comparison = cloud.comparison(want.kind)
        was = _find(self.before.resources, want)
        free = replace(comparison, granted=None)
        asked = [one.path for one in differences(was.body, want.body, free)] if was else None
        unasked = [one for one in counted_differences(want, now, comparison) if not _among(one, asked)]
        if unasked:
            raise _unsayable(self.seen, unasked)
        fields = [one for one in counted_differences(want, now, free) if _among(one, asked)]
        return change_in(want, now, fields, self.seen.tag)

    def _notes(self, changes: Sequence[Change]) -> tuple[Finding, ...]:
        if self.seen.ours or all(change.action is Action.NO_OP for change in changes):
            return self.after.notes
        message = f"{self.seen.name} was not made by fracgpu; it is changed, and not taken over"
        return (*self.after.notes, warning("not-ours", message, hint="fracgpu pool apply --adopt takes it over"))


def revision(seen: Observed, edit: Edit, catalog: Catalog, facts: ClusterFacts) -> Revision:
    """The pool and what an edit makes of it. Raises Invalid for what the edit makes wrong; what was wrong before is
    let be."""
    written, _ = provider(seen.cluster.provider).read(seen)
    known, before = _examined(written, catalog, facts)
    findings, after = _examined(edit(written), catalog, facts)
    new = sorted_findings(one for one in findings if one not in known)
    raise_errors(new)
    return Revision(seen, _marked(before, seen), _marked(replace(after, notes=tuple(new)), seen))


def _examined(written: NodePool, catalog: Catalog, facts: ClusterFacts) -> tuple[list[Finding], Prepared]:
    """What is wrong with a pool, and its bodies in spite of it."""
    findings, pool = examined(written, catalog, facts)
    if pool is None:
        raise Invalid(findings)
    cloud = provider(pool.provider)
    return findings, Prepared(written, pool, cloud, cloud.desired(pool, facts), (), facts)


def _marked(prepared: Prepared, seen: Observed) -> Prepared:
    """With the marks that the pool carries, and no others."""
    if seen.ours:
        return prepared.marked(seen.fleet)
    return replace(prepared, resources=tuple(map(unmarked, prepared.resources)))


def _find(resources: Sequence[Resource], want: Resource) -> Resource | None:
    return next((one for one in resources if (one.kind, one.name) == (want.kind, want.name)), None)


def _among(field: FieldChange, asked: Sequence[Path] | None) -> bool:
    """The field is one of those asked for, or part of one, or has one as its part."""
    if asked is None:
        return True
    return any(field.path[: len(path)] == path or path[: len(field.path)] == field.path for path in asked)


def _unsayable(seen: Observed, fields: Sequence[FieldChange]) -> ExistsDifferently:
    said = "; ".join(map(str, fields[:5]))
    message = f"{seen.name} has what the file form cannot say, and a change would reset it: {said}"
    return ExistsDifferently(message, hint="change it with the tool that made it")
