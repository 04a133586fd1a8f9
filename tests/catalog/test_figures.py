"""The catalog against a second copy of its figures: a number changed by mistake differs from it.

Who corrects a figure corrects both, `profiles/gpus/` and `data/mig-catalog-figures.json`, and names the source.
"""

from __future__ import annotations

from typing import Any

from fracgpu.catalog.load import load
from fracgpu.catalog.models import Engines, Gpu, Placements, Profile


def test_same_gpus_and_profiles(figures: dict[str, Any]) -> None:
    ours = {gpu.key: [profile.name for profile in gpu.profiles] for gpu in load().gpus() if gpu.mig}
    assert ours == {key: list(rows["profiles"]) for key, rows in sorted(figures.items())}


def test_gpu_figures(gpu: Gpu, figures: dict[str, Any]) -> None:
    if gpu.mig:
        assert _gpu(gpu) == figures[gpu.key]["gpu"]
    else:
        assert gpu.key not in figures


def test_profile_figures(profile: Profile, figures: dict[str, Any]) -> None:
    assert _profile(profile) == figures[profile.gpu]["profiles"][profile.name]


def _gpu(gpu: Gpu) -> list[Any]:
    return [
        gpu.architecture,
        gpu.compute_capability,
        gpu.memory_gb,
        gpu.memory_mib,
        gpu.compute_slices,
        gpu.memory_slices,
        gpu.placement_units,
        gpu.max_instances,
        gpu.min_driver,
        list(gpu.pci_device_ids),
    ]


def _profile(profile: Profile) -> list[Any]:
    return [
        profile.profile_id,
        profile.compute_slices,
        profile.memory_slices,
        profile.max_per_gpu,
        profile.memory_gib,
        profile.memory_mib,
        profile.sm_count,
        _engines(profile.engines),
        _placements(profile.placements),
        profile.mig_parted_config,
        profile.min_driver_branch,
    ]


def _engines(engines: Engines | None) -> list[int | None] | None:
    return [engines.copy, engines.nvdec, engines.nvenc, engines.jpeg, engines.ofa] if engines else None


def _placements(placements: Placements | None) -> list[Any] | None:
    return [list(placements.starts), placements.size, placements.verified] if placements else None
