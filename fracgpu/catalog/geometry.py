"""What fits on a GPU: placements, leftovers, every full layout, and the nearest one to a layout that does not fit.

Exact over the placement grid of `nvidia-smi mig -lgipp`: 8 units on GPUs of seven slices, 4 on the A30, 12 on the
RTX PRO 6000. Where no source gives placements, slices and counts decide and the answer says that it is not proven.
Answers are remembered, so asking again costs a look-up.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice, repeat

from fracgpu.catalog.grid import Grid, Slot, grid_of, most_placeable, place
from fracgpu.catalog.layout import Arrangement, Doubt, Layout, Limit, Misfit, Placement, Shortage, Unused
from fracgpu.catalog.models import Gpu, Profile

__all__ = [
    "Arrangement",
    "Doubt",
    "Layout",
    "Limit",
    "Misfit",
    "Placement",
    "Shortage",
    "Unused",
    "fit",
    "left",
    "maximal_layouts",
    "nearest_layouts",
    "uniform",
    "valid_layouts",
]

# Against it: NVIDIA/mig-parted@bd7160f pkg/mig/config/known_configs.go, which lists the configs of an A100.
ME_BESIDE_PLAIN = Doubt(
    "me-beside-plain",
    "NVIDIA's guide reads as if a +me instance may sit beside plain ones of its size, mig-parted never mixes them",
    "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html",
)

_Wanted = tuple[tuple[Slot, int], ...]


def fit(gpu: Gpu, layout: Layout) -> Arrangement | Misfit:
    """How the layout lies on one GPU, or every limit that it breaks.

    The arrangement is in creation order, largest first, each instance at its highest free start. That order is the one
    to type: `nvidia-smi mig -cgi 19,19,14,9` fails because the small ones land where the 3g must go, 9 first succeeds
    (https://docs.nvidia.com/datacenter/tesla/mig-user-guide/getting-started-with-mig.html, "Instance Geometry").
    Raises ValueError where the layout names a profile that the GPU does not have.
    """
    return _fit(grid_of(gpu), layout)


@functools.lru_cache(maxsize=1 << 14)
def _fit(grid: Grid, layout: Layout) -> Arrangement | Misfit:
    wanted = grid.wanted(layout)
    shortages = _shortages(grid, wanted)
    if shortages:
        return Misfit(layout, shortages)
    doubts = (ME_BESIDE_PLAIN,) if _me_beside_plain(wanted) else ()
    if not all(slot.masks for slot, _ in wanted):
        return Arrangement(layout, (), proven=False, unsettled=doubts)
    placements = place(wanted)
    if placements is None:
        names = tuple(slot.name for slot, _ in wanted)
        return Misfit(layout, (Shortage(Limit.PLACEMENT, layout.instances, most_placeable(wanted), names),))
    return Arrangement(layout, placements, proven=all(slot.verified for slot, _ in wanted), unsettled=doubts)


def _shortages(grid: Grid, wanted: _Wanted) -> tuple[Shortage, ...]:
    """Every limit that the counts alone break, whatever the placements."""
    return (*_counts_exceeded(wanted), *_exclusions(wanted), *_budgets_exceeded(grid, wanted))


def _counts_exceeded(wanted: _Wanted) -> Iterator[Shortage]:
    for slot, count in wanted:
        if count > slot.most:
            yield Shortage(Limit.PROFILE_COUNT, count, slot.most, (slot.name,))


def _budgets_exceeded(grid: Grid, wanted: _Wanted) -> Iterator[Shortage]:
    names = tuple(slot.name for slot, _ in wanted)
    needs = (
        (Limit.COMPUTE_SLICES, sum(slot.compute * count for slot, count in wanted), grid.compute),
        (Limit.MEMORY_SLICES, sum(slot.memory * count for slot, count in wanted), grid.memory),
        (Limit.INSTANCES, sum(count for _, count in wanted), grid.instances),
    )
    for limit, needed, available in needs:
        if available is not None and needed > available:
            yield Shortage(limit, needed, available, names)


def _exclusions(wanted: _Wanted) -> Iterator[Shortage]:
    """Attributes that shut others out.

    +me takes the one set of media extensions. +me.all takes every media engine, so only -me instances may join it
    (NVIDIA/go-nvml@2f9e261 gen/nvml/nvml.h).
    """
    takers = {slot.name: count for slot, count in wanted if "+me" in slot.attributes}
    if sum(takers.values()) > 1:
        yield Shortage(Limit.MEDIA_EXTENSIONS, sum(takers.values()), 1, tuple(takers))
    hogs = [slot.name for slot, _ in wanted if "+me.all" in slot.attributes]
    needy = {slot.name: count for slot, count in wanted if "-me" not in slot.attributes}
    beside = sum(needy.values()) - 1
    if hogs and beside:
        yield Shortage(Limit.MEDIA_ENGINES, beside, 0, tuple(dict.fromkeys((hogs[0], *needy))))


def _me_beside_plain(wanted: _Wanted) -> bool:
    sizes = {slot.compute for slot, _ in wanted if "+me" in slot.attributes}
    return any(not slot.attributes and slot.compute in sizes for slot, _ in wanted)


def left(gpu: Gpu, layout: Layout) -> Unused:
    """Slices of one GPU that the layout leaves idle; the same wherever its instances lie.

    Memory is counted in memory slices, which are not the units of the RTX PRO 6000's placement grid.
    Raises ValueError where the layout does not fit.
    """
    answer = fit(gpu, layout)
    if isinstance(answer, Misfit):
        raise ValueError(f"{layout} does not fit on {gpu.key}: {answer}")
    grid = grid_of(gpu)
    compute = sum(grid.slots[name].compute * count for name, count in layout.profiles)
    memory = sum(grid.slots[name].memory * count for name, count in layout.profiles)
    return Unused(
        None if grid.compute is None else grid.compute - compute,
        None if grid.memory is None else grid.memory - memory,
    )


def uniform(gpu: Gpu, profile: Profile) -> Layout:
    """The GPU cut into as many instances of one profile as it takes."""
    return Layout.of(gpu, {profile.name: profile.max_per_gpu})


def valid_layouts(gpu: Gpu, *, attributes: bool = False) -> tuple[Layout, ...]:
    """Every layout of at least one instance that fits; with `attributes` also those of +me, +gfx and -me profiles.

    Sorted: the largest profile's layouts first, more of it before fewer.
    """
    return _valid(grid_of(gpu), attributes)


@functools.cache
def _valid(grid: Grid, attributes: bool) -> tuple[Layout, ...]:
    slots = tuple(slot for slot in grid.slots.values() if attributes or not slot.attributes)
    return tuple(layout for layout in _grow(grid, slots, ()) if layout.profiles)


def _grow(grid: Grid, slots: tuple[Slot, ...], chosen: tuple[tuple[str, int], ...]) -> Iterator[Layout]:
    """Every way to go on from `chosen`. What does not fit is left at once: nothing added to it can fit either."""
    if not slots:
        yield Layout(chosen)
        return
    slot, rest = slots[0], slots[1:]
    ways = [chosen]
    for count in range(1, slot.most + 1):
        more = (*chosen, (slot.name, count))
        if isinstance(_fit(grid, Layout(more)), Misfit):
            break
        ways.append(more)
    for way in reversed(ways):
        yield from _grow(grid, rest, way)


def maximal_layouts(gpu: Gpu, *, attributes: bool = False) -> tuple[Layout, ...]:
    """The valid layouts to which no instance can be added, in the order of `valid_layouts`."""
    return _maximal(grid_of(gpu), attributes)


@functools.cache
def _maximal(grid: Grid, attributes: bool) -> tuple[Layout, ...]:
    valid = _valid(grid, attributes)
    smaller = {less for layout in valid for less in _one_less(layout)}
    return tuple(layout for layout in valid if layout not in smaller)


def _one_less(layout: Layout) -> Iterator[Layout]:
    for index, (name, count) in enumerate(layout.profiles):
        kept = ((name, count - 1),) if count > 1 else ()
        yield Layout((*layout.profiles[:index], *kept, *layout.profiles[index + 1 :]))


def nearest_layouts(gpu: Gpu, layout: Layout, limit: int = 3) -> tuple[Layout, ...]:
    """The fitting layouts nearest to `layout`, nearest first; the layout itself where it fits. Never empty.

    Near means few slices, compute and memory together, given up or gained when instances are resized, dropped or
    added; then few instances changed; then the order of `valid_layouts`. Only plain profiles and those of `layout` are
    proposed, and nothing unsettled unless `layout` is so itself.
    """
    return _nearest(grid_of(gpu), layout)[:limit]


_Size = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """A layout that fits, with what nearness looks at: its instances' (compute, memory) slices, largest first."""

    layout: Layout
    sizes: tuple[_Size, ...]
    attributed: frozenset[str]
    unsettled: bool


@functools.cache
def _candidates(grid: Grid, attributes: bool) -> tuple[_Candidate, ...]:
    return tuple(_candidate(grid, layout) for layout in _valid(grid, attributes))


def _candidate(grid: Grid, layout: Layout) -> _Candidate:
    wanted = grid.wanted(layout)
    attributed = frozenset(slot.name for slot, _ in wanted if slot.attributes)
    return _Candidate(layout, tuple(_sizes(wanted)), attributed, _me_beside_plain(wanted))


@functools.lru_cache(maxsize=1 << 12)
def _nearest(grid: Grid, layout: Layout) -> tuple[Layout, ...]:
    wanted = grid.wanted(layout)
    named = frozenset(slot.name for slot, _ in wanted if slot.attributes)
    unsettled = _me_beside_plain(wanted)
    candidates = _candidates(grid, bool(named))
    near = [one for one in candidates if one.attributed <= named and (unsettled or not one.unsettled)]
    # No more of the wanted sizes than any candidate can match: a count may be absurdly large.
    most = max((len(one.sizes) for one in near), default=0)
    sizes = tuple(islice(chain(_sizes(wanted), repeat((0, 0))), most))
    slices = sum((slot.compute + slot.memory) * count for slot, count in wanted)
    near.sort(key=lambda one: (_slices_moved(sizes, slices, one.sizes), _changed(layout, one.layout)))
    return tuple(one.layout for one in near)


def _sizes(wanted: _Wanted) -> Iterator[_Size]:
    return chain.from_iterable(repeat((slot.compute, slot.memory), count) for slot, count in wanted)


def _slices_moved(sizes: tuple[_Size, ...], slices: int, others: tuple[_Size, ...]) -> int:
    """The least number of slices that change when instances of `sizes` (`slices` in all) become the others.

    Larger profiles have more of both kinds of slices, so matching the largest with the largest is the best matching.
    What is matched with none is dropped, and costs all its slices.
    """
    pairs = zip(sizes, others, strict=False)
    return slices + sum(abs(c1 - c2) + abs(m1 - m2) - c1 - m1 for (c1, m1), (c2, m2) in pairs)


def _changed(wanted: Layout, other: Layout) -> int:
    """How many instances have to be added or dropped, a resized one counting as both."""
    counts = wanted.counts
    kept = sum(min(count, counts.get(name, 0)) for name, count in other.profiles)
    return wanted.instances + other.instances - 2 * kept
