"""Pictures show every slice once: what an instance has, and what is idle."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fracgpu.catalog.geometry import Arrangement, Layout, fit, left, valid_layouts
from fracgpu.catalog.load import load
from fracgpu.catalog.models import Gpu
from fracgpu.catalog.picture import Picture, Row, draw

MIG_GPUS = [gpu.key for gpu in load().gpus() if gpu.mig]


def arranged(gpu: Gpu, layout: Layout) -> Arrangement:
    answer = fit(gpu, layout)
    assert isinstance(answer, Arrangement)
    return answer


def pictured(key: str, **counts: int) -> Picture:
    gpu = load().gpu(key)
    return draw(gpu, arranged(gpu, Layout.of(gpu, counts)))


def rows(picture: Picture) -> dict[str, Row]:
    return {row.title: row for row in picture.rows}


def widths(row: Row) -> dict[str, int]:
    return {cell.instance.letter: cell.width // row.slice_width for cell in row.segments if cell.instance}


def idle(row: Row) -> int:
    return sum(cell.instance is None for cell in row.segments)


@pytest.mark.parametrize("key", MIG_GPUS)
def test_the_cells_of_a_row_cover_it_and_every_slice_is_an_instances_or_idle(key: str) -> None:
    gpu = load().gpu(key)
    for layout in valid_layouts(gpu, attributes=True):
        unused = left(gpu, layout)
        for row in draw(gpu, arranged(gpu, layout)).rows:
            starts = [cell.start for cell in row.segments]
            ends = [cell.start + cell.width for cell in row.segments]
            assert starts == [0, *ends[:-1]]
            assert ends[-1] == row.slices * row.slice_width
            assert idle(row) == (unused.memory_slices if row.title == "memory" else unused.compute_slices)


@pytest.mark.parametrize("key", MIG_GPUS)
def test_an_instance_has_as_many_slices_in_the_picture_as_in_its_profile(key: str) -> None:
    gpu = load().gpu(key)
    profiles = {row.name: row for row in gpu.profiles}
    for layout in valid_layouts(gpu):
        for row in draw(gpu, arranged(gpu, layout)).rows:
            for cell in row.segments:
                if cell.instance:
                    profile = profiles[cell.instance.profile.name]
                    slices = profile.memory_slices if row.title == "memory" else profile.compute_slices
                    assert cell.width == (slices or 0) * row.slice_width


def test_memory_lies_where_the_arrangement_places_it() -> None:
    gpu = load().gpu("rtx-pro-6000-blackwell-96gb")
    arrangement = arranged(gpu, Layout.of(gpu, {"2g.48gb": 1, "1g.24gb": 1}))
    memory = rows(draw(gpu, arrangement))["memory"]
    drawn = {(cell.instance.profile.name, cell.start, cell.width) for cell in memory.segments if cell.instance}
    assert drawn == {(place.profile, place.start, place.size) for place in arrangement.placements}


def test_compute_stands_below_the_memory_of_its_instance() -> None:
    picture = pictured("a100-40gb", **{"1g.10gb": 4})
    memory, compute = rows(picture)["memory"], rows(picture)["compute"]
    assert widths(memory) == dict.fromkeys("ABCD", 2)
    assert widths(compute) == dict.fromkeys("ABCD", 1)
    assert [cell.start for cell in compute.segments if cell.instance] == [0, 2, 4, 6]


def test_letters_run_from_left_to_right_and_the_legend_names_them() -> None:
    picture = pictured("a100-40gb", **{"3g.20gb": 1, "2g.10gb": 1, "1g.5gb": 2})
    assert [cell.instance.letter for cell in picture.rows[0].segments if cell.instance] == ["A", "B", "C", "D"]
    assert [(entry.letters, entry.text) for entry in picture.legend] == [
        ("D", "1 x 3g.20gb: 3 compute slices, 4 memory slices, 19.5 GiB"),
        ("C", "1 x 2g.10gb: 2 compute slices, 2 memory slices, 9.6 GiB"),
        ("A B", "2 x 1g.5gb: 1 compute slice, 1 memory slice, 4.8 GiB each"),
    ]


def test_a_profile_keeps_its_colour_from_one_layout_to_the_next() -> None:
    one = pictured("a100-40gb", **{"3g.20gb": 1, "1g.5gb": 1})
    other = pictured("a100-40gb", **{"1g.5gb": 7})
    assert one.legend[-1].fill == other.legend[0].fill
    assert one.legend[0].fill != one.legend[-1].fill


@pytest.mark.parametrize(
    ("key", "counts", "notes"),
    [
        ("a100-40gb", {"3g.20gb": 1, "2g.10gb": 2}, ["unused: nothing"]),
        ("a100-40gb", {"4g.20gb": 1}, ["unused: 3 compute slices and 4 memory slices"]),
        ("h200-141gb-sxm", {"3g.71gb": 2}, ["unused: 1 compute slice", "placements inferred"]),
        ("b300-269gb", {"7g.269gb": 1}, ["unused: nothing", "where the instances lie on this GPU is not known"]),
        ("a100-40gb", {"1g.5gb+me": 1, "1g.5gb": 6}, ["unused: 1 memory slice", "unsettled: "]),
    ],
)
def test_what_is_idle_or_unsure_is_said(key: str, counts: dict[str, int], notes: list[str]) -> None:
    said = pictured(key, **counts).notes
    assert len(said) == len(notes)
    assert all(text.startswith(start) for text, start in zip(said, notes, strict=True))


def test_instances_of_unknown_place_stand_in_a_row() -> None:
    picture = pictured("b300-269gb", **{"3g.135gb": 1, "2g.67gb": 1})
    assert [(cell.start, cell.width) for cell in rows(picture)["memory"].segments][:2] == [(0, 4), (4, 2)]


def test_compute_stands_side_by_side_where_it_would_not_fit_below_its_memory() -> None:
    """As on a GPU whose instances have more compute than memory slices."""
    gpu = load().gpu("a30-24gb")
    lean = tuple(replace(row, memory_slices=1) if row.name == "2g.12gb" else row for row in gpu.profiles)
    gpu = replace(gpu, profiles=tuple(replace(row, placements=None) for row in lean))
    compute = rows(draw(gpu, arranged(gpu, Layout.of(gpu, {"2g.12gb": 2}))))["compute"]
    assert [(cell.start, cell.width) for cell in compute.segments] == [(0, 2), (2, 2)]
