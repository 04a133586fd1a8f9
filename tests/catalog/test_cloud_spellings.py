"""What the catalog says to each cloud, against that cloud's own list of words."""

from __future__ import annotations

import re
from typing import Any

from azure.mgmt.containerservice.models import GPUInstanceProfile

from fracgpu.catalog.load import load
from fracgpu.catalog.models import Gpu, Profile, ProviderName

AKS_INSTANCES = {"MIG1g": 7, "MIG2g": 3, "MIG3g": 2, "MIG4g": 1, "MIG7g": 1}
"""Instances that AKS makes of each GPU (Azure/AgentBaker@06836ee parts/linux/cloud-init/artifacts/mig-partition.sh)."""
AKS_PROFILE_IDS = {"MIG1g": 19, "MIG2g": 14, "MIG3g": 9, "MIG4g": 5, "MIG7g": 0}


def test_aks_word_is_in_the_sdk_and_makes_this_profile(aks_profile: Profile) -> None:
    assert aks_profile.aks in {word.value for word in GPUInstanceProfile}
    assert aks_profile.max_per_gpu == AKS_INSTANCES[aks_profile.aks]
    assert aks_profile.profile_id == AKS_PROFILE_IDS[aks_profile.aks]


def test_aks_words_are_all_or_none(gpu: Gpu) -> None:
    words = {profile.aks for profile in gpu.profiles if profile.aks}
    assert words in (set(), set(AKS_INSTANCES))
    on_aks = any(machine.gpu == gpu.key and machine.mig for machine in load().machines(ProviderName.AKS))
    assert bool(words) is on_aks


def test_gke_sizes_are_gkes(gpu: Gpu, gke_partitions: dict[str, dict[str, int]]) -> None:
    sizes = {profile.gke: profile.max_per_gpu for profile in gpu.profiles if profile.gke}
    known = gke_partitions[gpu.gke_accelerator] if gpu.gke_accelerator else {}
    assert sizes == known


def test_gke_and_bottlerocket_use_the_profiles_own_name(profile: Profile) -> None:
    """GKE has one flat table for all GPUs, so another word would be another slice. Bottlerocket knows no suffixes
    (bottlerocket-project-website@6102096 data/settings/1.54.x/kubelet-device-plugins.toml)."""
    assert profile.gke in (None, profile.name)
    keyed = load().gpu(profile.gpu).bottlerocket_key is not None
    assert profile.bottlerocket == (profile.name if keyed and profile.plain else None)


def test_bottlerocket_key_has_its_form(gpu: Gpu) -> None:
    assert gpu.bottlerocket_key is None or re.fullmatch(r"[a-z]+\d+\.\d+gb", gpu.bottlerocket_key)


def test_mig_parted_config_makes_the_most_of_it(profile: Profile, mig_parted: dict[str, Any]) -> None:
    """Named where the static file has a config that fills this GPU with the profile, and only there."""
    config = f"all-{profile.name.replace('+', '.')}"
    devices = set(load().gpu(profile.gpu).pci_device_ids)
    made = [
        instances
        for only, instances in mig_parted.get(config, [])
        if only is None or {device[2:6] for device in only} & devices
    ]
    fills = made == [{profile.name: profile.max_per_gpu}]
    assert profile.mig_parted_config == (config if fills else None)
