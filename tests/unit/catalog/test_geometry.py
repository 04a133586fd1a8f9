"""What fits on a GPU, against figures that others publish."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from fracgpu.catalog.geometry import (
    Arrangement,
    Layout,
    Limit,
    Misfit,
    Unused,
    fit,
    left,
    maximal_layouts,
    nearest_layouts,
    uniform,
    valid_layouts,
)
from fracgpu.catalog.load import load
from fracgpu.catalog.models import Gpu

FULL_GEOMETRIES: Mapping[str, list[dict[str, int]]] = json.loads(
    (Path(__file__).parent / "data" / "full_geometries.json").read_text()
)
RTX = "rtx-pro-6000-blackwell-96gb"
MIG_GPUS = [gpu.key for gpu in load().gpus() if gpu.mig]


def gpu(key: str) -> Gpu:
    return load().gpu(key)


def layout(key: str, **counts: int) -> Layout:
    return Layout.of(gpu(key), counts)


def parse(key: str, text: str) -> Layout:
    return Layout.of(gpu(key), {name: int(count) for name, count in (item.split("=") for item in text.split(","))})


def fitting(key: str, text: str) -> Arrangement:
    answer = fit(gpu(key), parse(key, text))
    assert isinstance(answer, Arrangement), str(answer)
    return answer


def misfit(key: str, text: str) -> Misfit:
    answer = fit(gpu(key), parse(key, text))
    assert isinstance(answer, Misfit)
    return answer


@pytest.mark.parametrize("key", FULL_GEOMETRIES)
def test_the_full_layouts_are_those_computed_from_the_published_placements(key: str) -> None:
    expected = {Layout.of(gpu(key), counts) for counts in FULL_GEOMETRIES[key]}
    assert set(maximal_layouts(gpu(key))) == expected
    assert len(maximal_layouts(gpu(key))) == len(expected)


def test_full_layouts_come_largest_profile_first_then_more_of_it() -> None:
    assert [one.counts for one in maximal_layouts(gpu("a100-40gb"))] == FULL_GEOMETRIES["a100-40gb"]


@pytest.mark.parametrize(("key", "valid", "full"), [("a100-40gb", 77, 28), ("a30-24gb", 9, 4), (RTX, 9, 4)])
def test_how_many_layouts_there_are(key: str, valid: int, full: int) -> None:
    assert len(valid_layouts(gpu(key))) == valid
    assert len(maximal_layouts(gpu(key))) == full


def test_without_the_double_memory_profile_an_a100_has_twelve_full_layouts_of_thirty_seven() -> None:
    valid = {one for one in valid_layouts(gpu("a100-40gb")) if "1g.10gb" not in one.counts}
    assert len(valid) == 37
    names = ("7g.40gb", "4g.20gb", "3g.20gb", "2g.10gb", "1g.5gb")
    grown = {
        one
        for one in valid
        for name in names
        if layout("a100-40gb", **one.counts | {name: 1 + one.counts.get(name, 0)}) in valid
    }
    assert len(valid - grown) == 12


@pytest.mark.parametrize(
    ("key", "text", "unused"),
    [
        ("a100-40gb", "1g.5gb=7", Unused(0, 1)),
        ("a100-40gb", "4g.20gb=1", Unused(3, 4)),
        ("a100-40gb", "3g.20gb=2", Unused(1, 0)),
        ("a100-80gb", "1g.20gb=4", Unused(3, 0)),
        ("a30-24gb", "2g.12gb=1,1g.6gb=1", Unused(1, 1)),
        (RTX, "2g.48gb=1", Unused(2, 2)),
        (RTX, "4g.96gb=1", Unused(0, 0)),
        ("thor-igpu", "1g.0gb=1", Unused(2, None)),
    ],
)
def test_what_a_layout_leaves_idle(key: str, text: str, unused: Unused) -> None:
    assert left(gpu(key), parse(key, text)) == unused


def test_a_layout_that_does_not_fit_leaves_nothing_to_count() -> None:
    with pytest.raises(
        ValueError, match=re.escape("1g.5gb=8 does not fit on a100-40gb: 1g.5gb: 8 asked for, at most 7")
    ):
        left(gpu("a100-40gb"), parse("a100-40gb", "1g.5gb=8"))


@pytest.mark.parametrize(
    ("key", "text", "limits"),
    [
        ("a100-40gb", "1g.5gb=8", [(Limit.PROFILE_COUNT, 8, 7), (Limit.COMPUTE_SLICES, 8, 7), (Limit.INSTANCES, 8, 7)]),
        ("a100-40gb", "3g.20gb=2,1g.5gb=1", [(Limit.MEMORY_SLICES, 9, 8)]),
        ("a100-40gb", "3g.20gb=1,2g.10gb=2,1g.5gb=1", [(Limit.COMPUTE_SLICES, 8, 7), (Limit.MEMORY_SLICES, 9, 8)]),
        ("a100-40gb", "1g.5gb+me=2", [(Limit.PROFILE_COUNT, 2, 1), (Limit.MEDIA_EXTENSIONS, 2, 1)]),
        ("a30-24gb", "2g.12gb+me=1,1g.6gb+me=1", [(Limit.MEDIA_EXTENSIONS, 2, 1)]),
        (RTX, "1g.24gb+me.all=1,1g.24gb=2", [(Limit.MEDIA_ENGINES, 2, 0)]),
        (RTX, "2g.48gb+me.all=1,1g.24gb+gfx=1,1g.24gb-me=1", [(Limit.MEDIA_ENGINES, 1, 0)]),
        (RTX, "2g.48gb+me.all=1,1g.24gb+me.all=1", [(Limit.MEDIA_ENGINES, 1, 0)]),
    ],
)
def test_a_misfit_says_every_limit_that_it_breaks_with_numbers(
    key: str, text: str, limits: list[tuple[Limit, int, int]]
) -> None:
    answer = misfit(key, text)
    assert [(one.limit, one.wanted, one.available) for one in answer.shortages] == limits
    assert answer.reason is limits[0][0]


def test_a_misfit_reads_as_a_sentence() -> None:
    text = str(misfit("a100-40gb", "3g.20gb=2,1g.5gb=1"))
    assert text == "memory slices: 9 needed, the GPU has 8"
    text = str(misfit(RTX, "1g.24gb+me.all=1,1g.24gb=2"))
    assert text == "1g.24gb+me.all, 1g.24gb: the first takes every media engine, none is left for the 2 beside it"
    text = str(misfit("a30-24gb", "2g.12gb+me=1,1g.6gb+me=1"))
    assert text == "2g.12gb+me, 1g.6gb+me: 2 asked for, the media extensions go to 1 instance at most"


@pytest.mark.parametrize("text", ["1g.24gb+me.all=1,1g.24gb-me=3", "2g.48gb+me.all=1,2g.48gb-me=1", "1g.24gb+gfx=4"])
def test_all_media_engines_may_be_joined_by_instances_without_them(text: str) -> None:
    assert fitting(RTX, text).unsettled == ()


@pytest.mark.parametrize(
    ("key", "text", "unsettled"),
    [
        ("a100-40gb", "1g.5gb+me=1,1g.5gb=6", True),
        ("a100-40gb", "1g.5gb+me=1,1g.10gb=1", True),
        ("a100-40gb", "1g.5gb+me=1", False),
        ("a100-40gb", "3g.20gb=1,1g.5gb+me=1", False),
        ("a30-24gb", "2g.12gb+me=1,1g.6gb=2", False),
        (RTX, "1g.24gb+me=1,1g.24gb=1", True),
    ],
)
def test_me_beside_plain_of_its_size_is_allowed_and_said_to_be_unsettled(key: str, text: str, unsettled: bool) -> None:
    doubts = fitting(key, text).unsettled
    assert [doubt.code for doubt in doubts] == (["me-beside-plain"] if unsettled else [])
    assert all(doubt.link.startswith("https://docs.nvidia.com/") for doubt in doubts)


@pytest.mark.parametrize(
    ("key", "text", "placed", "proven"),
    [
        ("a100-40gb", "3g.20gb=2", True, True),
        ("h200-141gb-sxm", "3g.71gb=2", True, False),
        ("b200-180gb", "1g.23gb=7", True, False),
        ("b300-269gb", "3g.135gb=2", False, False),
        ("gb300-278gb", "3g.139gb=1,2g.70gb=2", False, False),
        ("rtx-pro-5000-blackwell-48gb", "1g.24gb=2", False, False),
        ("thor-igpu", "2g.0gb=1,1g.0gb+gfx=1", False, False),
    ],
)
def test_only_placements_seen_on_the_gpu_prove_a_layout(key: str, text: str, placed: bool, proven: bool) -> None:
    answer = fitting(key, text)
    assert (bool(answer.placements), answer.proven) == (placed, proven)


# What was typed after `nvidia-smi mig -cgi` on an A100 40GB, and where the instances then lay (None: the driver said
# "Insufficient Resources"):
# https://docs.nvidia.com/datacenter/tesla/mig-user-guide/getting-started-with-mig.html, "Instance Geometry".
TRANSCRIPTS: list[tuple[list[str], set[tuple[str, int]] | None]] = [
    (["3g.20gb", "3g.20gb"], {("3g.20gb", 4), ("3g.20gb", 0)}),
    (["1g.5gb", "2g.10gb", "4g.20gb"], {("1g.5gb", 6), ("2g.10gb", 4), ("4g.20gb", 0)}),
    (["1g.5gb", "1g.5gb", "2g.10gb", "3g.20gb"], None),
    (["3g.20gb", "1g.5gb", "2g.10gb", "1g.5gb"], {("3g.20gb", 4), ("1g.5gb", 0), ("2g.10gb", 2), ("1g.5gb", 1)}),
    (["2g.10gb", *["1g.5gb"] * 5], {("2g.10gb", 4), *(("1g.5gb", at) for at in (6, 0, 1, 2, 3))}),
]

# The one order of preference that explains all of them: first the end that a 4g does not reach.
PREFERENCE = {"1g": (6, 4, 5, 0, 1, 2, 3), "2g": (4, 0, 2), "3g": (4, 0), "4g": (0,), "7g": (0,)}


def create(key: str, names: Sequence[str], preference: Mapping[str, Sequence[int]]) -> set[tuple[str, int]] | None:
    """Instances made one after the other, each at the first free start of its preference; None where one has none."""
    sizes = {row.name: row.placements.size for row in gpu(key).profiles if row.placements}
    taken: set[int] = set()
    made: set[tuple[str, int]] = set()
    for name in names:
        free = [at for at in preference[name] if taken.isdisjoint(range(at, at + sizes[name]))]
        if not free:
            return None
        taken |= set(range(free[0], free[0] + sizes[name]))
        made.add((name, free[0]))
    return made


def a100_preference() -> dict[str, Sequence[int]]:
    return {row.name: PREFERENCE[row.name[:2]] for row in gpu("a100-40gb").profiles if row.name != "1g.10gb"}


@pytest.mark.parametrize(
    ("names", "outcome"), TRANSCRIPTS, ids=lambda value: "+".join(value) if isinstance(value, list) else ""
)
def test_the_preference_explains_what_the_driver_did(names: list[str], outcome: set[tuple[str, int]] | None) -> None:
    assert create("a100-40gb", names, a100_preference()) == outcome


def test_the_creation_order_succeeds_as_the_driver_chooses_places() -> None:
    for one in valid_layouts(gpu("a100-40gb")):
        if "1g.10gb" not in one.counts:
            answer = fit(gpu("a100-40gb"), one)
            assert isinstance(answer, Arrangement)
            assert create("a100-40gb", answer.creation_order, a100_preference()) is not None, str(one)


@pytest.mark.parametrize("key", MIG_GPUS)
def test_the_creation_order_succeeds_with_the_highest_free_start_and_ends_where_it_says(key: str) -> None:
    """A driver that takes the highest free start makes exactly this arrangement, on every GPU with known placements."""
    rows = {row.name: row.placements for row in gpu(key).profiles if row.placements}
    highest = {name: sorted(where.starts, reverse=True) for name, where in rows.items()}
    for one in valid_layouts(gpu(key), attributes=True) if rows else ():
        answer = fit(gpu(key), one)
        assert isinstance(answer, Arrangement)
        assert tuple(place.profile for place in answer.placements) == answer.creation_order
        assert create(key, answer.creation_order, highest) == {
            (place.profile, place.start) for place in answer.placements
        }


@pytest.mark.parametrize("key", MIG_GPUS)
def test_every_profile_fits_as_often_as_its_row_says_and_not_once_more(key: str) -> None:
    for row in gpu(key).profiles:
        whole = uniform(gpu(key), row)
        assert whole.counts == {row.name: row.max_per_gpu}
        assert isinstance(fit(gpu(key), whole), Arrangement), str(whole)
        assert isinstance(fit(gpu(key), layout(key, **{row.name: row.max_per_gpu + 1})), Misfit)


@pytest.mark.parametrize(
    ("key", "text", "nearest"),
    [
        ("a100-40gb", "4g.20gb=2", "4g.20gb=1,3g.20gb=1"),
        ("a100-40gb", "3g.20gb=2,1g.5gb=1", "3g.20gb=2"),
        ("a100-40gb", "1g.5gb=8", "1g.5gb=7"),
        ("a100-40gb", "1g.5gb=1000000", "1g.5gb=7"),
        ("a100-40gb", "2g.10gb=4", "2g.10gb=3,1g.10gb=1"),
        ("a100-40gb", "1g.5gb+me=2,1g.5gb=5", "1g.5gb=6,1g.5gb+me=1"),
        ("a30-24gb", "2g.12gb=2,1g.6gb=1", "2g.12gb=2"),
        (RTX, "1g.24gb+me.all=1,1g.24gb=1", "1g.24gb=2"),
        ("b300-269gb", "4g.135gb=2", "4g.135gb=1,3g.135gb=1"),
    ],
)
def test_the_nearest_layout_that_fits(key: str, text: str, nearest: str) -> None:
    assert str(nearest_layouts(gpu(key), parse(key, text))[0]) == nearest


def test_a_layout_that_fits_is_its_own_nearest() -> None:
    wanted = parse("a100-40gb", "3g.20gb=1,1g.5gb=1")
    assert nearest_layouts(gpu("a100-40gb"), wanted)[0] == wanted


def test_nothing_unsettled_is_proposed_unasked() -> None:
    near = nearest_layouts(gpu("a100-40gb"), parse("a100-40gb", "1g.5gb+me=2"), limit=100)
    assert all(fitting("a100-40gb", str(one)).unsettled == () for one in near)


def test_a_layout_is_canonical_however_it_is_written() -> None:
    one = layout("a100-40gb", **{"1g.5gb": 2, "3g.20gb": 1, "1g.10gb": 1, "7g.40gb": 0})
    assert one.profiles == (("3g.20gb", 1), ("1g.10gb", 1), ("1g.5gb", 2))
    assert str(one) == "3g.20gb=1,1g.10gb=1,1g.5gb=2"
    assert one.instances == 4


def test_a_layout_names_only_profiles_of_its_gpu() -> None:
    with pytest.raises(ValueError, match=re.escape("a100-80gb has no MIG profile '1g.5gb'; it has 7g.80gb, ")):
        layout("a100-80gb", **{"1g.5gb": 1})
    with pytest.raises(ValueError, match=re.escape("a100-80gb has no MIG profile '1g.5gb'")):
        fit(gpu("a100-80gb"), layout("a100-40gb", **{"1g.5gb": 1}))
    with pytest.raises(ValueError, match=re.escape("t4-16gb has no MIG profile '1g.5gb'; it has none")):
        layout("t4-16gb", **{"1g.5gb": 1})
    with pytest.raises(ValueError, match=re.escape("-1 instances of 1g.5gb")):
        layout("a100-40gb", **{"1g.5gb": -1})


def test_a_gpu_without_mig_has_no_layouts() -> None:
    assert valid_layouts(gpu("t4-16gb"), attributes=True) == ()
    assert maximal_layouts(gpu("t4-16gb")) == ()
