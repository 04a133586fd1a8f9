"""Bottlerocket's settings: TOML that EKS can merge, and read back as they were meant."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest

from fracgpu.catalog.load import load
from fracgpu.providers.eks import bottlerocket
from tests.eks_pools import pool

SHARINGS: list[dict[str, Any]] = [
    {"timeSlicing": {"replicas": 10}},
    {"timeSlicing": {"replicas": 2, "failRequestsGreaterThanOne": True}, "renameByDefault": True},
    {"mps": {"replicas": 4}},
    {"mps": {"replicas": 4}, "renameByDefault": True},
    {"mig": {"profile": "1g.5gb"}},
    {"mig": {"profile": "3g.20gb"}, "timeSlicing": {"replicas": 2}},
]


def settings(sharing: dict[str, Any]) -> str:
    return bottlerocket.settings(pool(machine="p4d.24xlarge", sharing=sharing, eks={"backend": "bottlerocket"}))


@pytest.mark.parametrize("sharing", SHARINGS)
def test_eks_can_merge_it(sharing: dict[str, Any]) -> None:
    """No quoted key in a bracketed header, no escapes."""
    text = settings(sharing)
    assert tomllib.loads(text)["settings"]["kubelet-device-plugins"]["nvidia"]
    assert not re.search(r"^\[.*[\"'].*\]", text, re.MULTILINE)
    assert "\\" not in text


@pytest.mark.parametrize("sharing", SHARINGS)
def test_read_back(sharing: dict[str, Any]) -> None:
    assert bottlerocket.read(settings(sharing), load().gpu("a100-40gb")) == sharing


@pytest.mark.parametrize("sharing", SHARINGS[:4])
def test_renaming_and_limit_are_always_said(sharing: dict[str, Any]) -> None:
    """Bottlerocket's own defaults are the opposite of everybody else's."""
    nvidia = tomllib.loads(settings(sharing))["settings"]["kubelet-device-plugins"]["nvidia"]
    strategy = nvidia["device-sharing-strategy"]
    said = {"replicas", "rename-by-default"} | (
        {"fail-requests-greater-than-one"} if strategy == "time-slicing" else set()
    )
    assert set(nvidia[strategy]) == said


def test_nothing_shared_says_nothing() -> None:
    assert settings({}) == ""


def test_bottlerockets_defaults_stand_where_nothing_does() -> None:
    text = '[settings.kubelet-device-plugins.nvidia]\ndevice-sharing-strategy = "time-slicing"\n'
    assert bottlerocket.read(text, None) == {
        "timeSlicing": {"replicas": 2, "failRequestsGreaterThanOne": True},
        "renameByDefault": True,
    }


_MIG = '[settings.kubelet-device-plugins.nvidia]\ndevice-partitioning-strategy = "mig"\n'
UNREADABLE = [
    "no toml",
    _MIG,
    _MIG + '[settings.kubelet-device-plugins.nvidia.mig.profile]\n"a100.40gb" = "9g.99gb"\n',
]


@pytest.mark.parametrize("text", UNREADABLE)
def test_what_the_file_form_cannot_say_is_not_read(text: str) -> None:
    assert bottlerocket.read(text, load().gpu("a100-40gb")) is None


COUNTS = {"7": "1g.5gb", "4": "1g.10gb", "3": "2g.10gb", "2": "3g.20gb", "1": "7g.40gb"}


@pytest.mark.parametrize(("count", "profile"), COUNTS.items())
def test_a_number_of_slices_is_read_as_the_profile_that_it_means(count: str, profile: str) -> None:
    text = _MIG + f'[settings.kubelet-device-plugins.nvidia.mig.profile]\n"a100.40gb" = "{count}"\n'
    assert bottlerocket.read(text, load().gpu("a100-40gb")) == {"mig": {"profile": profile}}


def test_settings_of_other_things_are_told_apart() -> None:
    text = "[settings.kernel]\nlockdown = 'none'\n[settings.kubelet-device-plugins.nvidia]\nenabled = true\n"
    assert bottlerocket.read(text, load().gpu("a100-40gb")) == {}
    assert bottlerocket.others(text) == ("settings.kernel",)
