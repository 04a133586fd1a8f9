"""Laws that every MIG profile obeys: arithmetic of slices, memory, placements and names."""

from __future__ import annotations

import math
import re
from itertools import combinations

from fracgpu.catalog.load import load
from fracgpu.catalog.models import Placements, Profile
from fracgpu.catalog.spelling import parse_profile


def test_name_says_slices_and_attributes(profile: Profile) -> None:
    parsed = parse_profile(profile.name)
    assert parsed is not None
    assert str(parsed) == profile.name
    assert parsed.compute_slices == profile.compute_slices
    assert parsed.attributes == profile.attributes
    assert profile.plain is profile.name.endswith("gb")


def test_name_says_memory_as_nvml_rounds_it(profile: Profile) -> None:
    """The share of the GPU's memory in eighths, times the GPU's GiB: NVIDIA/go-nvlib@3c16156 mig_profile.go."""
    gpu, parsed = load().gpu(profile.gpu), parse_profile(profile.name)
    assert parsed is not None
    total = math.ceil(gpu.memory_gib)
    if profile.memory_gib is not None:
        eighths = math.ceil(8 * profile.memory_gib / gpu.memory_gib)
        assert parsed.memory_gb == _half_up(eighths / 8 * total)
    if profile.memory_slices is not None and gpu.memory_slices is not None:
        assert parsed.memory_gb == _half_up(profile.memory_slices / gpu.memory_slices * total)
    else:
        assert (parsed.memory_gb, gpu.memory_gb) == (0, 0), "only unified memory has no slices"


def test_no_more_instances_than_slices(profile: Profile) -> None:
    gpu = load().gpu(profile.gpu)
    assert gpu.compute_slices is not None
    assert 1 <= profile.max_per_gpu * profile.compute_slices <= gpu.compute_slices
    if gpu.memory_slices is not None:
        assert profile.memory_slices is not None
        assert 1 <= profile.max_per_gpu * profile.memory_slices <= gpu.memory_slices
    if {"+me", "+me.all"} & set(profile.attributes):
        assert profile.max_per_gpu == 1, "a GPU has its media extensions once"


def test_count_agrees_with_placements(placed_profile: Profile) -> None:
    """By trying every choice of places. Attributes may allow fewer than there is room for, never more."""
    assert placed_profile.placements is not None
    room = _most_beside_each_other(placed_profile.placements)
    allowed = placed_profile.max_per_gpu
    assert room == allowed if placed_profile.plain else room >= allowed


def test_placements_stay_on_the_grid(placed_profile: Profile) -> None:
    gpu, placements = load().gpu(placed_profile.gpu), placed_profile.placements
    assert placements is not None
    assert gpu.placement_units is not None
    assert gpu.memory_slices is not None
    assert placed_profile.memory_slices is not None
    assert placements.starts == tuple(sorted(set(placements.starts)))
    assert placements.starts[0] >= 0
    assert placements.starts[-1] + placements.size <= gpu.placement_units
    assert placements.size * gpu.memory_slices == placed_profile.memory_slices * gpu.placement_units


def test_memory_is_less_than_the_gpus_and_said_alike(profile: Profile) -> None:
    """Drivers differ by half a GiB; a whole one would be a slip."""
    whole = load().gpu(profile.gpu).memory_gib
    said = [gib for gib in (profile.memory_gib, (profile.memory_mib or 0) / 1024) if gib]
    assert all(gib <= whole for gib in said)
    assert max(said, default=0) - min(said, default=0) <= 0.5


def test_resource_is_a_legal_name(profile: Profile) -> None:
    prefix, name = profile.resource.split("/")
    assert prefix == "nvidia.com"
    assert re.fullmatch(r"mig-[0-9a-z]([-.0-9a-z]{0,57}[0-9a-z])?", name)


def test_sources_are_named_and_defined(profile: Profile) -> None:
    assert profile.sources
    assert set(profile.sources) <= {source.key for source in load().gpu(profile.gpu).sources}


def test_other_names_are_names_of_no_other_profile(profile: Profile) -> None:
    others = [other for other in load().gpu(profile.gpu).profiles if other is not profile]
    taken = {name for other in others for name in (other.name, *other.other_names)} | {profile.name}
    assert taken.isdisjoint(profile.other_names)
    for name in profile.other_names:
        parsed = parse_profile(name)
        assert parsed is not None
        assert (parsed.compute_slices, parsed.attributes) == (profile.compute_slices, profile.attributes)


def _half_up(number: float) -> int:
    return math.floor(number + 0.5)


def _most_beside_each_other(placements: Placements) -> int:
    spans = [set(range(start, start + placements.size)) for start in placements.starts]
    return max(
        count
        for count in range(1, len(spans) + 1)
        for chosen in combinations(spans, count)
        if len(set().union(*chosen)) == count * placements.size
    )
