"""Laws that every GPU's file obeys as a whole."""

from __future__ import annotations

import re
from collections import Counter

from fracgpu.catalog.load import Catalog, load, profiles_folder
from fracgpu.catalog.models import Gpu, Profile

PUBLIC = re.compile(r"https://|^[\w.-]+/[\w.-]+(@[0-9a-f]{7,40})? |^nvidia-smi .*transcript, ")


def test_largest_profile_is_the_whole_gpu(gpu: Gpu) -> None:
    whole = [p for p in gpu.profiles if p.plain and p.compute_slices == gpu.compute_slices]
    assert len(whole) == (1 if gpu.mig else 0)
    for profile in whole:
        assert profile.memory_slices == gpu.memory_slices
        assert profile.max_per_gpu == 1
        if profile.placements is not None:
            assert profile.placements.starts == (0,)
            assert profile.placements.size == gpu.placement_units


def test_no_profile_has_more_than_the_whole_gpu(gpu: Gpu) -> None:
    whole = next((p for p in gpu.profiles if p.plain and p.compute_slices == gpu.compute_slices), None)
    for profile in gpu.profiles:
        assert whole is not None
        if profile.sm_count is not None and whole.sm_count is not None:
            assert profile.sm_count * profile.max_per_gpu <= whole.sm_count
        for mine, all_of_them in zip(_engines(profile), _engines(whole), strict=True):
            if mine is not None and all_of_them is not None:
                assert 0 <= mine <= all_of_them


def test_max_instances_is_the_largest_count(gpu: Gpu) -> None:
    counts = [profile.max_per_gpu for profile in gpu.profiles]
    if gpu.key == "thor-igpu":  # one compute instance beside one +gfx instance
        assert (max(counts), gpu.max_instances) == (1, 2)
    else:
        assert max(counts, default=None) == gpu.max_instances


def test_gpu_without_mig_has_no_slices(gpu: Gpu) -> None:
    slices = (gpu.compute_slices, gpu.memory_slices, gpu.placement_units, gpu.max_instances)
    if not gpu.mig:
        assert slices == (None, None, None, None)
        assert gpu.compute_capability is not None
    else:
        assert gpu.compute_slices is not None


def test_key_says_the_memory(gpu: Gpu) -> None:
    said = re.findall(r"(?<=-)\d+(?=gb)", gpu.key)
    assert said == ([str(round(gpu.memory_gb))] if gpu.memory_gb else [])
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", gpu.key)


def test_product_is_nvidias(gpu: Gpu) -> None:
    assert gpu.product.startswith("NVIDIA ")


def test_mig_reboots_on_ampere_alone(gpu: Gpu) -> None:
    """Hopper and later turn MIG on without a reset (container-engine-accelerators@992db81 partition_gpu.go)."""
    assert gpu.reboots_for_mig is (gpu.mig and gpu.architecture == "Ampere")


def test_verified_placements_are_from_lgipp_or_go_nvml(gpu: Gpu) -> None:
    seen = {profile.placements.verified for profile in gpu.profiles if profile.placements}
    evidence = gpu.placement_evidence
    assert bool(seen) is (evidence is not None)
    if evidence is not None:
        assert seen == {evidence.startswith(("-lgipp", "the go-nvml table"))}


def test_profiles_are_told_apart(gpu: Gpu) -> None:
    assert _twice(profile.name for profile in gpu.profiles) == []
    assert _twice(profile.profile_id for profile in gpu.profiles if profile.profile_id is not None) == []
    assert _twice(profile.aks for profile in gpu.profiles if profile.aks) == []


def test_sources_are_public_and_told_apart(gpu: Gpu) -> None:
    assert gpu.sources
    assert _twice(source.key for source in gpu.sources) == []
    for source in gpu.sources:
        assert PUBLIC.search(source.text), source.text


def test_min_driver_is_a_version(gpu: Gpu) -> None:
    if gpu.min_driver is not None:
        assert re.fullmatch(r"\d{3}\.\d{2,3}(\.\d{2})?", gpu.min_driver)


def test_aliases_read_from_the_head_are_the_whole_files(gpu: Gpu) -> None:
    assert Catalog(profiles_folder()).gpu_aliases[gpu.key] == gpu.aliases


def test_pci_ids_name_one_gpu_each() -> None:
    ids = [number for gpu in load().gpus() for number in gpu.pci_device_ids]
    assert _twice(ids) == []
    assert all(re.fullmatch(r"[0-9A-F]{4}", number) for number in ids)


def _engines(profile: Profile) -> tuple[int | None, ...]:
    engines = profile.engines
    return (engines.copy, engines.nvdec, engines.nvenc, engines.jpeg, engines.ofa) if engines else (None,) * 5


def _twice(items: object) -> list[object]:
    return [item for item, count in Counter(items).items() if count > 1]  # type: ignore[call-overload]
