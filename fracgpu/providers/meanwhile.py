"""What has happened to a pool between a plan and its being carried out; told alike on every cloud."""

from __future__ import annotations

from fracgpu.differences import Comparison, Effect, differences
from fracgpu.errors import ExistsDifferently, FracgpuError, StalePlan
from fracgpu.plan import Action, Change, Resource, change_of


def check_same(desired: Resource, seen: Resource, comparison: Comparison, cause: FracgpuError | None = None) -> None:
    """For a create that found the pool there: `seen` (settled) is what was wanted. Raises ExistsDifferently."""
    difference = change_of(desired, seen, comparison)
    if difference.action is not Action.NO_OP:
        said = "; ".join(map(str, difference.fields[:5]))
        hint = f"fracgpu pool show {seen.name}; fracgpu pool apply -f FILE changes it"
        raise ExistsDifferently(f"{seen.name} exists and differs: {said}", hint=hint) from cause


def check_fresh(change: Change, seen: Resource, tag: str | None, comparison: Comparison) -> None:
    """For an update: the pool (`seen`, settled; `tag`) differs from its desired body only as it did when planned.

    Raises StalePlan.
    """
    if change.tag in (None, tag) or change.before is None or change.after is None:
        return
    planned = {(one.path, repr(one.before)) for one in differences(change.before, change.after, comparison)}
    left = differences(seen.body, change.after, comparison)
    new = [one for one in left if (one.path, repr(one.before)) not in planned and one.effect is not Effect.IGNORED]
    if new:
        said = "; ".join(map(str, new[:5]))
        raise StalePlan(f"{change.name} has changed since it was planned: {said}", hint="plan again")
