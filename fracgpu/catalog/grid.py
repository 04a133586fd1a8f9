"""A GPU as the search for placements sees it: budgets, and a bitmask for every place an instance may take.

One unit of the placement grid is one bit, so two instances collide where their masks share a bit.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass

from fracgpu.catalog.layout import Layout, Placement, by_size, unknown_profile
from fracgpu.catalog.models import Gpu, Placements, Profile


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """One profile: what it takes and where it may lie. `masks` is empty where its placements are unknown."""

    name: str
    compute: int
    memory: int
    most: int
    attributes: frozenset[str]
    starts: tuple[int, ...]
    masks: tuple[int, ...]
    size: int
    verified: bool


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """One GPU's budgets and slots, largest first. None: no source states that budget."""

    gpu: str
    compute: int | None
    memory: int | None
    instances: int | None
    slots: dict[str, Slot]

    def wanted(self, layout: Layout) -> tuple[tuple[Slot, int], ...]:
        """The layout's slots with their counts, largest first. Raises ValueError for a profile of another GPU."""
        counts = layout.counts
        for name in counts:
            if name not in self.slots:
                raise ValueError(unknown_profile(self.gpu, name, self.slots))
        return tuple((slot, counts[name]) for name, slot in self.slots.items() if name in counts)


# Rows of the catalog are long-lived and their hash walks every fact, which would cost more than the search itself: so
# the memo goes by identity, and keeps the row so that no other can take its id.
_MEMO: dict[int, tuple[Gpu, Grid]] = {}


def grid_of(gpu: Gpu) -> Grid:
    """The GPU's grid; made once for each row of the catalog."""
    known = _MEMO.get(id(gpu))
    if known is None:
        known = _MEMO[id(gpu)] = (gpu, _build(gpu))
    return known[1]


@functools.cache
def _build(gpu: Gpu) -> Grid:
    slots = {profile.name: _slot(profile) for profile in by_size(gpu)}
    return Grid(gpu.key, gpu.compute_slices, gpu.memory_slices, gpu.max_instances, slots)


def _slot(profile: Profile) -> Slot:
    where = profile.placements or Placements((), 0, verified=False)
    # From the top down: what the driver does first too (see geometry.fit).
    starts = tuple(sorted(where.starts, reverse=True))
    return Slot(
        name=profile.name,
        compute=profile.compute_slices,
        memory=profile.memory_slices or 0,
        most=profile.max_per_gpu,
        attributes=frozenset(profile.attributes),
        starts=starts,
        masks=tuple(((1 << where.size) - 1) << start for start in starts),
        size=where.size,
        verified=where.verified,
    )


def place(wanted: Iterable[tuple[Slot, int]]) -> tuple[Placement, ...] | None:
    """Non-overlapping places for all instances, in the order given, or None. Exact: tries every combination."""
    queue = tuple(slot for slot, count in wanted for _ in range(count))
    starts = _search(queue, 0, 0, 0)
    if starts is None:
        return None
    return tuple(Placement(slot.name, start, slot.size) for slot, start in zip(queue, starts, strict=True))


def _search(queue: tuple[Slot, ...], at: int, taken: int, first: int) -> tuple[int, ...] | None:
    if at == len(queue):
        return ()
    slot = queue[at]
    alike = at + 1 < len(queue) and queue[at + 1] is slot
    for index in range(first, len(slot.masks)):
        if slot.masks[index] & taken:
            continue
        # Instances of one profile are interchangeable: the next one only looks further on.
        rest = _search(queue, at + 1, taken | slot.masks[index], index + 1 if alike else 0)
        if rest is not None:
            return (slot.starts[index], *rest)
    return None


def most_placeable(wanted: Iterable[tuple[Slot, int]]) -> int:
    """How many of the instances can lie on the GPU at once."""
    return _most(tuple(slot for slot, count in wanted for _ in range(count)), 0)


def _most(queue: tuple[Slot, ...], taken: int) -> int:
    if not queue:
        return 0
    slot, rest = queue[0], queue[1:]
    placed = (1 + _most(rest, taken | mask) for mask in slot.masks if not mask & taken)
    return max(_most(rest, taken), *placed, 0)
