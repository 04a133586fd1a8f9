"""A GPU and its instances as rows of cells: what the terminal and the SVG file both draw.

Pure data. Memory and compute lie on one scale of columns, so that the slices of an instance stand above one another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import cycle

from fracgpu.catalog.geometry import Arrangement, left
from fracgpu.catalog.layout import by_size
from fracgpu.catalog.models import Gpu, Profile

# Light fills under dark letters on any background, told apart by the common kinds of colour blindness.
_FILLS = ("#d5d5d5", "#e5b3d4", "#ffd166", "#95d5b2", "#a8b8f0", "#8ecae6", "#f4a582")
INK = "#14181d"
"""The colour of letters on a fill."""


@dataclass(frozen=True, slots=True)
class Instance:
    """One GPU instance: a letter to find it by, its profile, and the fill that the profile has in every layout."""

    letter: str
    profile: Profile
    fill: str


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of columns that belong to one instance, or one idle slice where `instance` is None."""

    start: int
    width: int
    instance: Instance | None


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of slice across the GPU: `slices` of `slice_width` columns, covered by the segments without a gap."""

    title: str
    slices: int
    slice_width: int
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A profile of the picture: the letters of its instances, their fill, and what one of them has."""

    letters: str
    fill: str
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A GPU drawn: its rows over `columns` columns, and what to say below, largest profile first."""

    product: str
    layout: str
    columns: int
    rows: tuple[Row, ...]
    legend: tuple[LegendEntry, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Box:
    """An instance at its first column."""

    start: int
    instance: Instance


def draw(gpu: Gpu, arrangement: Arrangement) -> Picture:
    """The picture of a layout on its GPU. Where places are unknown, instances stand in a row, largest first."""
    memory = gpu.memory_slices or 0
    columns = gpu.placement_units or memory or gpu.compute_slices or 0
    width = max(1, columns // memory) if memory else 1
    boxes = _boxes(gpu, arrangement, width)
    rows = []
    if memory:
        rows.append(Row("memory", memory, width, _segments(_memory_runs(boxes, width), memory, width)))
    if gpu.compute_slices:
        slices = gpu.compute_slices
        rows.append(Row("compute", slices, width, _segments(_compute_runs(boxes, slices, width), slices, width)))
    return Picture(
        product=gpu.product,
        layout=str(arrangement.layout),
        columns=columns,
        rows=tuple(rows),
        legend=tuple(_legend([box.instance for box in boxes], arrangement)),
        notes=tuple(_notes(gpu, arrangement)),
    )


def _boxes(gpu: Gpu, arrangement: Arrangement, width: int) -> tuple[_Box, ...]:
    profiles = {profile.name: profile for profile in by_size(gpu)}
    fills = dict(zip(profiles, cycle(_FILLS), strict=False))
    if arrangement.placements:
        starts = [(place.start, profiles[place.profile]) for place in arrangement.placements]
    else:
        starts = list(_in_a_row((profiles[name] for name in arrangement.creation_order), width))
    placed = enumerate(sorted(starts, key=lambda item: item[0]))
    return tuple(_Box(start, Instance(_letter(at), row, fills[row.name])) for at, (start, row) in placed)


def _in_a_row(profiles: Iterable[Profile], width: int) -> Iterator[tuple[int, Profile]]:
    at = 0
    for profile in profiles:
        yield at, profile
        at += (profile.memory_slices or profile.compute_slices) * width


def _letter(index: int) -> str:
    return chr(ord("A") + index) if index < 26 else str(index)


_Run = tuple[int, int, Instance]


def _memory_runs(boxes: Iterable[_Box], width: int) -> list[_Run]:
    return [(box.start, (box.instance.profile.memory_slices or 0) * width, box.instance) for box in boxes]


def _compute_runs(boxes: Iterable[_Box], slices: int, width: int) -> list[_Run]:
    """Compute slices below the memory that an instance has; side by side where that would not go into the GPU."""
    runs = [(box.start, box.instance.profile.compute_slices * width, box.instance) for box in boxes]
    ends = [0, *(start + length for start, length, _ in runs)]
    starts = [*(start for start, _, _ in runs), slices * width]
    if all(end <= start for end, start in zip(ends, starts, strict=True)):
        return runs
    packed, at = [], 0
    for _, length, instance in runs:
        packed.append((at, length, instance))
        at += length
    return packed


def _segments(runs: Iterable[_Run], slices: int, width: int) -> tuple[Segment, ...]:
    """The runs with the slices between and after them as idle segments."""
    segments: list[Segment] = []
    at = 0
    for start, length, instance in runs:
        segments += _idle(at, start, width)
        segments.append(Segment(start, length, instance))
        at = start + length
    return (*segments, *_idle(at, slices * width, width))


def _idle(start: int, end: int, width: int) -> Iterator[Segment]:
    return (Segment(at, width, None) for at in range(start, end, width))


def _legend(instances: list[Instance], arrangement: Arrangement) -> Iterator[LegendEntry]:
    for name, count in arrangement.layout.profiles:
        those = [instance for instance in instances if instance.profile.name == name]
        text = f"{count} x {name}: {_share(those[0].profile)}{' each' if count > 1 else ''}"
        yield LegendEntry(" ".join(instance.letter for instance in those), those[0].fill, text)


def _share(profile: Profile) -> str:
    parts = [_slices(profile.compute_slices, "compute")]
    if profile.memory_slices:
        parts.append(_slices(profile.memory_slices, "memory"))
    if profile.memory_gib:
        parts.append(f"{profile.memory_gib:.1f} GiB")
    return ", ".join(parts)


def _slices(count: int, kind: str) -> str:
    return f"{count} {kind} slice{'' if count == 1 else 's'}"


def _notes(gpu: Gpu, arrangement: Arrangement) -> Iterator[str]:
    unused = left(gpu, arrangement.layout)
    counts = ((unused.compute_slices, "compute"), (unused.memory_slices, "memory"))
    idle = [_slices(count, kind) for count, kind in counts if count]
    yield f"unused: {' and '.join(idle) or 'nothing'}"
    if not arrangement.placements and arrangement.layout.profiles:
        yield "where the instances lie on this GPU is not known"
    elif not arrangement.proven:
        yield "placements inferred from a GPU of the same die, not seen on this one"
    yield from (f"unsettled: {doubt.text} ({doubt.link})" for doubt in arrangement.unsettled)
