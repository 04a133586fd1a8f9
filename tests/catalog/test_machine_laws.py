"""Laws that every machine's row obeys."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Any

import botocore.session
import pytest
from moto.ec2.models.instance_types import INSTANCE_TYPES

from fracgpu.catalog.load import load
from fracgpu.catalog.models import CpuArchitecture, Gpu, Machine, ProviderName

UNLISTED_BY_EC2 = {"p6e-gb200.36xlarge", "p6e-gb300.36xlarge"}
EC2_NAMES = {
    "T4": "t4-16gb",
    "T4g": "t4g-16gb",
    "A10G": "a10g-24gb",
    "L4": "l4-24gb",
    "L40S": "l40s-48gb",
    "RTX PRO 4500": "rtx-pro-4500-blackwell-32gb",
    "RTX PRO Server 6000": "rtx-pro-6000-blackwell-96gb",
    "V100": "v100-32gb",
    "H100": "h100-80gb-sxm",
    "H200": "h200-141gb-sxm",
    "B200": "b200-180gb",
    "B300": "b300-269gb",
}


def test_one_row_a_machine_and_gpu() -> None:
    rows = [(m.provider, m.name.casefold(), m.gpu) for provider in ProviderName for m in load().machines(provider)]
    assert [row for row, count in Counter(rows).items() if count > 1] == []


def test_row_is_whole(machine: Machine) -> None:
    assert machine.gpu in load().gpu_keys
    assert machine.vcpus is not None
    assert machine.vcpus >= 1
    assert machine.memory_gib is None or machine.memory_gib > 0
    assert machine.gpu_counts[0] == machine.gpu_count >= 1
    assert machine.gpu_counts == tuple(sorted(set(machine.gpu_counts)))
    assert machine.accessory or machine.gpu_counts == (machine.gpu_count,)
    assert machine.sources
    assert set(machine.sources) <= {source.key for source in load().machine_sources(machine.provider)}


def test_a_part_of_a_gpu_has_its_share_of_memory(part_machine: Machine) -> None:
    assert part_machine.gpu_memory_gib is not None
    assert part_machine.gpu_count == 1
    whole = load().gpu(part_machine.gpu).memory_gib
    assert part_machine.gpu_memory_gib == pytest.approx(whole * part_machine.gpu_fraction, rel=0.1)


def test_mig_or_why_not(machine: Machine) -> None:
    gpu = load().gpu(machine.gpu)
    if machine.mig:
        assert gpu.mig
        assert not machine.fractional
        assert _can_be_said(gpu, machine.provider)
    assert (machine.mig_reason is not None) is (gpu.mig and not machine.mig)


def test_cpu_is_arm_where_the_gpu_is_graces(machine: Machine) -> None:
    grace = machine.gpu.startswith(("gb", "gh")) or machine.gpu == "t4g-16gb"
    assert (machine.architecture is CpuArchitecture.ARM64) is grace


def test_gke_machine_has_its_gpus_accelerator(gke_machine: Machine) -> None:
    assert gke_machine.accelerator in {load().gpu(gke_machine.gpu).gke_accelerator, "nvidia-h100-mega-80gb"}
    assert gke_machine.accessory is gke_machine.name.startswith("n1-")
    assert gke_machine.min_version is None or re.fullmatch(r"1\.\d+\.\d+-gke\.\d+", gke_machine.min_version)
    assert not gke_machine.ami_types


def test_eks_machine_has_ami_types_of_the_sdk(eks_machine: Machine) -> None:
    assert eks_machine.ami_types
    assert set(eks_machine.ami_types) <= _ami_types()
    word = "_ARM_64_" if eks_machine.architecture is CpuArchitecture.ARM64 else "_x86_64_"
    assert all(word in ami and "_NVIDIA" in ami for ami in eks_machine.ami_types)
    assert eks_machine.accelerator is None


def test_aks_machine_is_a_size_of_azure(aks_machine: Machine) -> None:
    assert re.fullmatch(r"Standard_N[CDV]C?\d+\w+_v\d", aks_machine.name)
    assert aks_machine.quota
    assert not aks_machine.ami_types
    assert aks_machine.accelerator is None


@pytest.mark.parametrize("provider", ProviderName)
def test_every_source_is_used_and_public(provider: ProviderName) -> None:
    used = {key for machine in load().machines(provider) for key in machine.sources}
    sources = load().machine_sources(provider)
    assert [source.key for source in sources if source.key not in used] == []
    assert Counter(source.key for source in sources).most_common(1)[0][1] == 1
    assert all("https://" in source.text or re.match(r"[\w.-]+/[\w.-]+", source.text) for source in sources)


def test_eks_has_every_nvidia_type_of_ec2() -> None:
    """Against EC2's DescribeInstanceTypes as moto keeps it."""
    ours = {machine.name for machine in load().machines(ProviderName.EKS)}
    assert ours - UNLISTED_BY_EC2 == set(_nvidia_types())


def test_eks_figures_are_ec2s(eks_machine: Machine) -> None:
    if eks_machine.name in UNLISTED_BY_EC2:
        assert eks_machine.name not in _nvidia_types()
        return
    told = _nvidia_types()[eks_machine.name]
    [gpu] = told["GpuInfo"]["Gpus"]
    assert eks_machine.vcpus == told["VCpuInfo"]["DefaultVCpus"]
    assert eks_machine.memory_gib == told["MemoryInfo"]["SizeInMiB"] / 1024
    assert eks_machine.architecture.value in told["ProcessorInfo"]["SupportedArchitectures"]
    assert eks_machine.gpu_count == gpu["LogicalGpuCount"]
    assert eks_machine.gpu_fraction == gpu.get("GpuPartitionSize", 1)
    by_memory = {40960: "a100-40gb", 81920: "a100-80gb"}
    size = gpu["MemoryInfo"]["SizeInMiB"]
    assert eks_machine.gpu == (by_memory[size] if gpu["Name"] == "A100" else EC2_NAMES[gpu["Name"]])
    if eks_machine.gpu_memory_gib is not None:
        assert eks_machine.gpu_memory_gib == pytest.approx(size / 1024, abs=0.01)


def test_n1_takes_as_many_gpus_as_its_vcpus_allow() -> None:
    rows = {(m.name, m.gpu): m.gpu_counts for m in load().machines(ProviderName.GKE) if m.accessory}
    assert rows["n1-standard-1", "t4-16gb"] == (1, 2, 4)
    assert rows["n1-highcpu-96", "t4-16gb"] == (4,)
    assert rows["n1-standard-16", "v100-16gb"] == (2, 4, 8)
    assert rows["n1-highmem-64", "p100-16gb"] == (4,)
    assert rows["n1-standard-32", "p4-8gb"] == (2, 4)


def _can_be_said(gpu: Gpu, provider: ProviderName) -> bool:
    words = {ProviderName.AKS: "aks", ProviderName.GKE: "gke", ProviderName.EKS: "name"}
    return any(getattr(profile, words[provider]) for profile in gpu.profiles)


@cache
def _ami_types() -> set[str]:
    shape: Any = botocore.session.get_session().get_service_model("eks").shape_for("AMITypes")
    return set(shape.enum)


@cache
def _nvidia_types() -> dict[str, Any]:
    return {
        name: told
        for name, told in INSTANCE_TYPES.items()
        if any(gpu.get("Manufacturer") == "NVIDIA" for gpu in told.get("GpuInfo", {}).get("Gpus", []))
    }
