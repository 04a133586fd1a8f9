"""Which machine a pool gets, and what is said where there is none."""

from __future__ import annotations

import pytest

from fracgpu.catalog.choose import Choice, choose
from fracgpu.catalog.load import load
from fracgpu.catalog.models import ProviderName
from fracgpu.errors import Finding

AKS, GKE, EKS = ProviderName


def chosen(cloud: ProviderName, *profiles: str, gpu: str | None = None, machine: str | None = None) -> Choice | Finding:
    return choose(load(), cloud, machine=machine, gpu=gpu, profiles=profiles)


@pytest.mark.parametrize("profiles", [("1g.10gb", "3g.20gb"), ("3g.20gb", "1g.10gb"), ("1g.10gb", "1g.5gb+me")])
def test_the_machine_can_be_cut_into_every_profile_whatever_their_order(profiles: tuple[str, ...]) -> None:
    found = chosen(EKS, *profiles)
    assert isinstance(found, Choice)
    assert found.machine.name == "p4d.24xlarge"


@pytest.mark.parametrize(
    ("cloud", "machine", "nearest"),
    [
        (GKE, "p4d.24xlarge", "a2-highgpu-8g"),
        (EKS, "a2-highgpu-1g", "p4d.24xlarge"),
        (EKS, "Standard_NC4as_T4_v3", "g4dn.xlarge"),
        (AKS, "a3-highgpu-8g", "Standard_ND96isr_H100_v5"),
        (AKS, "a3-hihgpu-8g", None),
        (EKS, "Standard_NC8ads_A10_v4", None),
    ],
)
def test_for_another_clouds_machine_the_same_hardware_is_named(
    cloud: ProviderName, machine: str, nearest: str | None
) -> None:
    found = chosen(cloud, machine=machine)
    assert isinstance(found, Finding)
    assert found.code == "unknown-machine"
    assert next(iter(found.nearest), None) == nearest


@pytest.mark.parametrize(
    ("cloud", "gpu", "nearest"),
    [(AKS, "l4", "a10-24gb"), (AKS, "b200", "gb200-186gb"), (GKE, "a10", "l4-24gb"), (AKS, "v100", "t4-16gb")],
)
def test_for_a_gpu_that_a_cloud_has_not_the_nearest_that_it_has_is_named(
    cloud: ProviderName, gpu: str, nearest: str
) -> None:
    found = chosen(cloud, gpu=gpu)
    assert isinstance(found, Finding)
    assert (found.code, found.nearest[0]) == ("not-expressible", nearest)


def test_one_cloud_has_and_two_have() -> None:
    for gpu, words in (("a10", "AKS has it"), ("l4", "GKE and EKS have it")):
        found = chosen(AKS if gpu == "l4" else GKE, gpu=gpu)
        assert isinstance(found, Finding)
        assert words in found.message


@pytest.mark.parametrize("profile", ["1g", "2g.5gb", "9g.99gb", "1g.5gb+me", "1g.999gb"])
@pytest.mark.parametrize("cloud", ProviderName)
def test_a_profile_that_a_cloud_cannot_make_comes_with_one_that_it_can(cloud: ProviderName, profile: str) -> None:
    found = chosen(cloud, profile)
    if isinstance(found, Finding):
        assert found.hint
        near = chosen(cloud, found.nearest[0])
        assert isinstance(near, Choice) or near.field == "spec.machine"


def test_a_profile_that_only_arm_machines_have_is_not_said_to_be_impossible() -> None:
    found = chosen(EKS, "1g.70gb")
    assert isinstance(found, Finding)
    assert (found.code, found.nearest) == ("missing-field", ("p6e-gb300.36xlarge",))
    assert isinstance(chosen(EKS, "1g.70gb", machine=found.nearest[0]), Choice)


@pytest.mark.parametrize(("gpu", "words"), [("h100", "not h100"), ("h100-64gb", "not NVIDIA H100 SXM5 64GB")])
def test_a_machine_with_another_gpu_is_told_the_gpu_as_it_was_meant(gpu: str, words: str) -> None:
    found = chosen(GKE, gpu=gpu, machine="a2-highgpu-1g")
    assert isinstance(found, Finding)
    assert (found.code, found.message.endswith(words)) == ("machine-gpu-mismatch", True)
