"""The laws of geometry, against a search of another kind: every tiling of the grid, written out unit by unit."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fracgpu.catalog.geometry import (
    Arrangement,
    Layout,
    Limit,
    Misfit,
    fit,
    left,
    maximal_layouts,
    nearest_layouts,
    valid_layouts,
)
from fracgpu.catalog.load import load
from fracgpu.catalog.models import Gpu, Placements, Profile

MIG_GPUS = {gpu.key: gpu for gpu in load().gpus() if gpu.mig}
Bag = frozenset[tuple[str, int]]
untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def bag(counts: Counter[str] | dict[str, int]) -> Bag:
    return frozenset((name, count) for name, count in counts.items() if count)


def bag_of(layout: Layout) -> Bag:
    return bag(layout.counts)


def tilings(gpu: Gpu, units: int) -> frozenset[Bag]:
    """Every set of instances that some walk along the grid lays down without overlap, the empty one included."""
    starting: dict[int, list[Profile]] = {}
    for row in gpu.profiles:
        for start in row.placements.starts if row.placements else ():
            starting.setdefault(start, []).append(row)

    @functools.cache
    def onward(unit: int) -> frozenset[Bag]:
        if unit >= units:
            return frozenset([frozenset()])
        ways = set(onward(unit + 1))
        for row in starting.get(unit, []):
            assert row.placements
            end = unit + row.placements.size
            if end <= units:
                ways |= {bag(Counter(dict(rest)) + Counter({row.name: 1})) for rest in onward(end)}
        return frozenset(ways)

    return onward(0)


def all_counts(gpu: Gpu) -> Iterator[Bag]:
    """Every choice of counts up to each profile's own maximum, where there is no grid to walk."""
    for counts in product(*(range(row.max_per_gpu + 1) for row in gpu.profiles)):
        yield bag({row.name: count for row, count in zip(gpu.profiles, counts, strict=True)})


def lawful(gpu: Gpu, layout: Bag) -> bool:
    """The counts, the budgets and the attributes, one after the other."""
    rows = [row for row in gpu.profiles for _ in range(dict(layout).get(row.name, 0))]
    if any(count > row.max_per_gpu for row in gpu.profiles for name, count in layout if name == row.name):
        return False
    if gpu.max_instances is not None and len(rows) > gpu.max_instances:
        return False
    if gpu.compute_slices is not None and sum(row.compute_slices for row in rows) > gpu.compute_slices:
        return False
    if gpu.memory_slices is not None and sum(row.memory_slices or 0 for row in rows) > gpu.memory_slices:
        return False
    if sum("+me" in row.attributes for row in rows) > 1:
        return False
    hogs = sum("+me.all" in row.attributes for row in rows)
    return not hogs or sum("-me" not in row.attributes for row in rows) == 1


@functools.cache
def brute_force(gpu: Gpu) -> frozenset[Bag]:
    """Every layout that fits, the empty one included."""
    placed = all(row.placements for row in gpu.profiles)
    found = tilings(gpu, gpu.placement_units or 0) if placed else all_counts(gpu)
    return frozenset(one for one in found if lawful(gpu, one))


@pytest.mark.parametrize("key", MIG_GPUS)
def test_exactly_the_layouts_of_brute_force_are_valid(key: str) -> None:
    gpu = MIG_GPUS[key]
    expected = brute_force(gpu) - {frozenset()}
    assert {bag_of(one) for one in valid_layouts(gpu, attributes=True)} == expected
    attributed = {row.name for row in gpu.profiles if row.attributes}
    plain = {one for one in expected if attributed.isdisjoint(dict(one))}
    assert {bag_of(one) for one in valid_layouts(gpu)} == plain


@pytest.mark.parametrize("attributes", [False, True], ids=["plain", "attributes"])
@pytest.mark.parametrize("key", MIG_GPUS)
def test_a_layout_is_maximal_when_no_instance_can_be_added(key: str, attributes: bool) -> None:
    gpu = MIG_GPUS[key]
    rows = [row for row in gpu.profiles if attributes or not row.attributes]
    full = maximal_layouts(gpu, attributes=attributes)
    for one in valid_layouts(gpu, attributes=attributes):
        grown = (bag(Counter(one.counts) + Counter({row.name: 1})) for row in rows)
        assert (one in full) == brute_force(gpu).isdisjoint(grown)


@st.composite
def requests(draw: st.DrawFn) -> tuple[Gpu, dict[str, int]]:
    """A GPU of the catalog and a layout that somebody might ask of it: a few instances, one or two too many."""
    gpu = MIG_GPUS[draw(st.sampled_from(sorted(MIG_GPUS)))]
    names = st.sampled_from([row.name for row in gpu.profiles])
    return gpu, dict(Counter(draw(st.lists(names, min_size=1, max_size=9))))


@untimed
@given(requests())
def test_a_layout_fits_exactly_where_brute_force_fits_it(request: tuple[Gpu, dict[str, int]]) -> None:
    gpu, counts = request
    answer = fit(gpu, Layout.of(gpu, counts))
    assert isinstance(answer, Arrangement) == (bag(counts) in brute_force(gpu))


@untimed
@given(requests(), st.data())
def test_the_order_in_which_a_layout_is_written_does_not_matter(
    request: tuple[Gpu, dict[str, int]], data: st.DataObject
) -> None:
    gpu, counts = request
    names = data.draw(st.permutations(sorted(counts)))
    one, other = Layout.of(gpu, counts), Layout.of(gpu, {name: counts[name] for name in names})
    assert one == other
    assert hash(one) == hash(other)
    assert fit(gpu, one) == fit(gpu, other)


@untimed
@given(requests())
def test_used_and_idle_slices_are_the_whole_gpu(request: tuple[Gpu, dict[str, int]]) -> None:
    gpu, counts = request
    layout = Layout.of(gpu, counts)
    if isinstance(fit(gpu, layout), Misfit):
        with pytest.raises(ValueError, match="does not fit"):
            left(gpu, layout)
        return
    unused = left(gpu, layout)
    rows = [row for row in gpu.profiles for _ in range(counts.get(row.name, 0))]
    assert unused.compute_slices is not None
    assert unused.compute_slices >= 0
    assert unused.compute_slices + sum(row.compute_slices for row in rows) == gpu.compute_slices
    if gpu.memory_slices is None:
        assert unused.memory_slices is None
        return
    assert unused.memory_slices is not None
    assert unused.memory_slices >= 0
    assert unused.memory_slices + sum(row.memory_slices or 0 for row in rows) == gpu.memory_slices


def check_places(gpu: Gpu, answer: Arrangement) -> None:
    """Created one by one at the starts given, every instance finds an allowed and free place."""
    rows = {row.name: row for row in gpu.profiles}
    taken: set[int] = set()
    for place in answer.placements:
        where = rows[place.profile].placements
        assert where is not None
        assert place.start in where.starts
        assert place.size == where.size
        units = set(range(place.start, place.start + place.size))
        assert taken.isdisjoint(units)
        taken |= units
    sizes = [rows[name].compute_slices for name in answer.creation_order]
    assert sizes == sorted(sizes, reverse=True)
    assert Counter(answer.creation_order) == Counter(answer.layout.counts)


@untimed
@given(requests())
def test_the_placements_can_be_created_in_their_order(request: tuple[Gpu, dict[str, int]]) -> None:
    gpu, counts = request
    answer = fit(gpu, Layout.of(gpu, counts))
    if isinstance(answer, Arrangement):
        check_places(gpu, answer)
        assert len(answer.placements) in (0, answer.layout.instances)


Size = tuple[int, int]


@functools.cache
def cheapest_match(ones: tuple[Size, ...], others: tuple[Size, ...]) -> int:
    """The least number of slices moved over every way to pair, drop and add instances."""
    if not ones:
        return sum(map(sum, others))
    (compute, memory), rest = ones[0], ones[1:]
    costs = [compute + memory + cheapest_match(rest, others)]
    for index, (other_compute, other_memory) in enumerate(others):
        cost = abs(compute - other_compute) + abs(memory - other_memory)
        costs.append(cost + cheapest_match(rest, (*others[:index], *others[index + 1 :])))
    return min(costs)


def moved(gpu: Gpu, one: Bag, other: Bag) -> int:
    def sizes(layout: Bag) -> tuple[Size, ...]:
        counts = dict(layout)
        return tuple(
            sorted(
                (row.compute_slices, row.memory_slices or 0)
                for row in gpu.profiles
                for _ in range(counts.get(row.name, 0))
            )
        )

    return cheapest_match(sizes(one), sizes(other))


def mixes_me(gpu: Gpu, layout: Bag) -> bool:
    rows = [row for row in gpu.profiles if row.name in dict(layout)]
    return any(
        "+me" in one.attributes and not other.attributes and one.compute_slices == other.compute_slices
        for one in rows
        for other in rows
    )


@untimed
@given(requests())
def test_the_nearest_layouts_fit_and_none_is_nearer(request: tuple[Gpu, dict[str, int]]) -> None:
    gpu, counts = request
    wanted = bag(counts)
    near = [bag_of(one) for one in nearest_layouts(gpu, Layout.of(gpu, counts), limit=3)]
    attributed = {row.name for row in gpu.profiles if row.attributes} - counts.keys()
    proposable = [
        one
        for one in brute_force(gpu)
        if one and attributed.isdisjoint(dict(one)) and (mixes_me(gpu, wanted) or not mixes_me(gpu, one))
    ]
    distances = sorted(moved(gpu, wanted, one) for one in proposable)
    assert near
    assert len(near) == min(3, len(proposable))
    assert len(set(near)) == len(near)
    assert set(near) <= set(proposable)
    assert [moved(gpu, wanted, one) for one in near] == distances[: len(near)]


@st.composite
def imagined_gpus(draw: st.DrawFn) -> Gpu:
    """A GPU that nobody builds: up to four profiles with any placements on a grid of up to ten units."""
    units = draw(st.integers(2, 10))
    profiles = []
    for number in range(draw(st.integers(1, 4))):
        size = draw(st.integers(1, units))
        starts = draw(st.sets(st.integers(0, units - size), min_size=1))
        profiles.append(
            Profile(
                gpu="imagined",
                name=f"p{number}",
                compute_slices=draw(st.integers(1, 3)),
                memory_slices=draw(st.integers(1, 3)),
                max_per_gpu=draw(st.integers(1, 5)),
                attributes=draw(st.sampled_from([(), (), ("+me",), ("+me.all",), ("-me",), ("+gfx",)])),
                placements=Placements(tuple(sorted(starts)), size),
            )
        )
    return Gpu(
        key="imagined",
        product="Imagined",
        architecture="None",
        memory_gb=units,
        compute_slices=draw(st.integers(3, 9)),
        memory_slices=draw(st.integers(3, 9)),
        placement_units=units,
        max_instances=draw(st.integers(1, 9)),
        profiles=tuple(profiles),
    )


@untimed
@given(imagined_gpus(), st.data())
def test_placement_is_exact_on_any_grid(gpu: Gpu, data: st.DataObject) -> None:
    counts = {row.name: data.draw(st.integers(0, row.max_per_gpu)) for row in gpu.profiles}
    fitting = brute_force(gpu)
    answer = fit(gpu, Layout.of(gpu, counts))
    assert isinstance(answer, Arrangement) == (bag(counts) in fitting)
    if isinstance(answer, Arrangement):
        check_places(gpu, answer)
    elif answer.reason is Limit.PLACEMENT:
        assert lawful(gpu, bag(counts))
        within = (Counter(dict(one)) for one in tilings(gpu, gpu.placement_units or 0))
        most = max(one.total() for one in within if one <= Counter(counts))
        assert (answer.shortages[0].wanted, answer.shortages[0].available) == (sum(counts.values()), most)
    else:
        assert not lawful(gpu, bag(counts))


def test_placement_can_be_the_only_limit() -> None:
    rows = (
        Profile("imagined", "wide", 1, 2, memory_slices=1, placements=Placements((1,), 2)),
        Profile("imagined", "narrow", 1, 2, memory_slices=1, placements=Placements((0, 2), 1)),
    )
    gpu = Gpu("imagined", "Imagined", "None", 4, compute_slices=4, memory_slices=4, placement_units=4, profiles=rows)
    answer = fit(gpu, Layout.of(gpu, {"wide": 1, "narrow": 2}))
    assert isinstance(answer, Misfit)
    assert str(answer) == "the slices would do, but only 2 of the 3 instances can be placed"
