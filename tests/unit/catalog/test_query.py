"""Look-ups, and what is offered instead of a name that is not there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fracgpu.catalog import query
from fracgpu.catalog.load import load
from fracgpu.catalog.models import CpuArchitecture, Gpu, ProviderName

AKS, GKE, EKS = ProviderName


@pytest.mark.parametrize(
    ("provider", "written", "names"),
    [
        (GKE, "A2-HIGHGPU-1G", ["a2-highgpu-1g"]),
        (AKS, "standard_nc24ads_a100_v4", ["Standard_NC24ads_A100_v4"]),
        (AKS, "NC24ads_A100_v4", ["Standard_NC24ads_A100_v4"]),
        (EKS, " p4d.24xlarge ", ["p4d.24xlarge"]),
        (EKS, "a2-highgpu-1g", []),
        (GKE, "", []),
    ],
)
def test_machine_in_any_case(provider: ProviderName, written: str, names: list[str]) -> None:
    assert [machine.name for machine in query.find_machine(load(), provider, written)] == names


def test_n1_has_a_row_for_every_gpu_it_takes() -> None:
    rows = query.find_machine(load(), GKE, "n1-standard-8")
    assert {row.gpu for row in rows} == {"t4-16gb", "p4-8gb", "v100-16gb", "p100-16gb"}


@pytest.mark.parametrize(
    ("gpu", "written", "name", "renamed"),
    [
        ("a100-40gb", "1g.5gb", "1g.5gb", False),
        ("a100-40gb", "1G.5GB", "1g.5gb", False),
        ("a100-40gb", "mig-1g.5gb", "1g.5gb", False),
        ("a100-40gb", "MIG 1g.5gb", "1g.5gb", False),
        ("a100-40gb", "nvidia.com/mig-1g.5gb.me", "1g.5gb+me", False),
        ("a100-40gb", "MIG3g", "3g.20gb", False),
        ("h100-94gb-nvl", "mig1g", "1g.12gb", False),
        ("rtx-pro-6000-blackwell-96gb", "1g.24gb.me.all", "1g.24gb+me.all", False),
        ("rtx-pro-6000-blackwell-96gb", "mig-1g.24gb-me", "1g.24gb-me", False),
        ("a100-80gb", "7g.79gb", "7g.80gb", True),
        ("h200-141gb-sxm", "3g.70gb", "3g.71gb", True),
        ("gb200-186gb", "1g.24gb+me", "1g.23gb+me", True),
        ("gb200-186gb", "7g.189gb", "7g.186gb", True),
        ("gb300-278gb", "3g.126gb", "3g.139gb", True),
    ],
)
def test_profile_as_written(gpu: str, written: str, name: str, renamed: bool) -> None:
    found = query.find_profile(load().gpu(gpu), written)
    assert found is not None
    assert (found.profile.name, found.renamed, found.written) == (name, renamed, written)


@pytest.mark.parametrize(
    ("gpu", "written"),
    [
        ("a100-80gb", "1g.5gb"),
        ("b200-180gb", "MIG1g"),
        ("a100-40gb", "MIG5g"),
        ("t4-16gb", "1g.5gb"),
        ("a100-40gb", ""),
    ],
)
def test_profile_that_is_not_there(gpu: str, written: str) -> None:
    assert query.find_profile(load().gpu(gpu), written) is None


def test_one_name_is_another_slice_on_another_gpu() -> None:
    small, large = (query.find_profile(load().gpu(key), "1g.10gb") for key in ("a100-40gb", "a100-80gb"))
    assert small is not None
    assert large is not None
    assert (small.profile.max_per_gpu, large.profile.max_per_gpu) == (4, 7)


@pytest.mark.parametrize(
    ("gpu", "written", "nearest"),
    [
        ("a100-80gb", "1g.5gb", ("1g.10gb", "1g.10gb+me", "1g.20gb")),
        ("h100-94gb-nvl", "1g.10gb", ("1g.12gb", "1g.12gb+me", "1g.24gb")),
        ("h200-141gb-sxm", "3g.70", ("3g.71gb", "4g.71gb", "2g.35gb")),
        ("a30-24gb", "2g", ("2g.12gb", "2g.12gb+me", "1g.6gb")),
        ("a100-40gb", "5g.20gb", ("4g.20gb", "3g.20gb", "7g.40gb")),
        ("a100-40gb", "quarter", ()),
        ("t4-16gb", "1g.5gb", ()),
    ],
)
def test_nearest_profiles(gpu: str, written: str, nearest: tuple[str, ...]) -> None:
    assert query.nearest_profiles(load().gpu(gpu), written) == nearest


@given(st.sampled_from(load().gpus()), st.text(max_size=12), st.integers(1, 5))
def test_nearest_profiles_are_the_gpus_own(gpu: Gpu, text: str, limit: int) -> None:
    near = query.nearest_profiles(gpu, text, limit)
    assert len(near) <= limit
    assert len(set(near)) == len(near)
    assert set(near) <= {profile.name for profile in gpu.profiles}


def test_nearest_profiles_anywhere() -> None:
    assert query.nearest_profiles_anywhere(load(), "1g.11gb")[:2] == ("1g.10gb", "1g.12gb")


def test_nearest_profiles_are_those_that_a_cloud_can_make() -> None:
    for text in ("1g", "2g.5gb", "9g.99gb"):
        assert set(query.nearest_profiles_anywhere(load(), text, GKE)) <= set(query.profiles_of(load(), GKE))
        assert "1g.0gb" not in query.nearest_profiles_anywhere(load(), text)


@pytest.mark.parametrize(
    ("written", "first"),
    [
        ("a1000", "a100-80gb"),
        ("l40", "l40s-48gb"),
        ("h100-81gb", "h100-80gb-sxm"),
        ("rtx6000", "rtx-pro-6000-blackwell-96gb"),
    ],
)
def test_nearest_gpus(written: str, first: str) -> None:
    assert query.nearest_gpus(load(), written)[0] == first


@pytest.mark.parametrize(
    ("provider", "written", "first"),
    [
        (EKS, "p4d.12xlarge", "p4d.24xlarge"),
        (AKS, "NC24ads_A100_v5", "Standard_NC24ads_A100_v4"),
        (GKE, "a2-hihgpu-1g", "a2-highgpu-1g"),
    ],
)
def test_nearest_machines(provider: ProviderName, written: str, first: str) -> None:
    assert query.nearest_machines(load(), provider, written)[0] == first


def test_nothing_near_is_said_as_nothing() -> None:
    assert query.nearest_gpus(load(), "zzzz") == ()
    assert query.nearest_machines(load(), EKS, "zzzz") == ()


@pytest.mark.parametrize(
    ("provider", "gpu", "profile", "first"),
    [
        (AKS, None, "1g.5gb", "Standard_ND96asr_v4"),
        (AKS, None, "1g.10gb", "Standard_NC24ads_A100_v4"),
        (AKS, None, "MIG1g", "Standard_NC24ads_A100_v4"),
        (AKS, None, "1g.20gb", None),
        (GKE, None, "1g.5gb", "a2-highgpu-1g"),
        (GKE, None, "1g.10gb", "a2-ultragpu-1g"),
        (GKE, None, "1g.20gb", "a3-highgpu-1g"),
        (GKE, None, "4g.40gb", None),
        (GKE, None, "1g.47gb", None),
        (GKE, "gb200-186gb", "1g.47gb", "a4x-highgpu-4g"),
        (GKE, "t4-16gb", None, "n1-standard-1"),
        (GKE, "l4-24gb", None, "g2-standard-4"),
        (EKS, None, "1g.5gb", "p4d.24xlarge"),
        (EKS, None, "1g.10gb", "p5.4xlarge"),
        (EKS, "a100-40gb", "1g.10gb", "p4d.24xlarge"),
        (EKS, "l4-24gb", None, "g6.xlarge"),
        (EKS, "t4-16gb", None, "g4dn.xlarge"),
        (EKS, "t4g-16gb", None, "g5g.xlarge"),
        (EKS, "a30-24gb", None, None),
    ],
)
def test_machine_to_choose(provider: ProviderName, gpu: str | None, profile: str | None, first: str | None) -> None:
    found = query.machines_for(load(), provider, gpu=gpu, profile=profile)
    assert (found[0].name if found else None) == first


@pytest.mark.parametrize("provider", ProviderName)
@pytest.mark.parametrize("profile", [None, "1g.10gb", "2g.20gb", "7g.80gb"])
def test_machines_unasked_are_common_ones(provider: ProviderName, profile: str | None) -> None:
    found = query.machines_for(load(), provider, profile=profile)
    assert found
    assert not any(machine.accessory or machine.fractional for machine in found)
    assert {machine.architecture for machine in found} == {CpuArchitecture.X86_64}
    assert list(found) == sorted(found, key=query.preference)


def test_a_part_of_a_gpu_only_when_asked_for() -> None:
    whole = query.machines_for(load(), EKS, gpu="l4-24gb")
    both = query.machines_for(load(), EKS, gpu="l4-24gb", fractional=True)
    assert {m.name.split(".")[0] for m in set(both) - set(whole)} == {"g6f", "gr6f"}


@pytest.mark.parametrize("provider", ProviderName)
def test_every_profile_of_a_cloud_has_a_machine(provider: ProviderName) -> None:
    names = query.profiles_of(load(), provider)
    assert len(set(names)) == len(names)
    keys = {machine.gpu for machine in load().machines(provider)}
    for name in names:
        assert any(query.machines_for(load(), provider, gpu=key, profile=name) for key in keys), name


def test_profiles_of_a_cloud_are_what_it_can_say() -> None:
    assert "1g.20gb" not in query.profiles_of(load(), AKS)
    assert "4g.40gb" not in query.profiles_of(load(), GKE)
    assert {"1g.5gb+me", "1g.20gb", "4g.40gb"} <= set(query.profiles_of(load(), EKS))
    assert query.profiles_of(load(), GKE)[:2] == ("1g.5gb", "1g.10gb")
