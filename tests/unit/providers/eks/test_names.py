"""Names of launch templates: readable, legal for EC2, and each pool's own."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fracgpu.providers.eks.names import GROUP_NAME, nearest_group_name, template_name

LEGAL = re.compile(r"[A-Za-z0-9()./_-]{3,128}")
names = st.from_regex(GROUP_NAME, fullmatch=True)
clusters = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}", fullmatch=True)


def test_readable() -> None:
    assert template_name("prod", "a100-mig") == "fracgpu-prod-a100-mig"


def test_a_long_one_ends_in_a_hash() -> None:
    name = template_name("c" * 100, "p" * 63)
    assert re.fullmatch(r"fracgpu-c{100}-p+-[0-9a-f]{10}", name)
    assert len(name) == 128


@given(clusters, names)
def test_legal(cluster: str, pool: str) -> None:
    assert LEGAL.fullmatch(template_name(cluster, pool))


@given(clusters, names, names)
def test_pools_of_a_cluster_have_their_own(cluster: str, one: str, other: str) -> None:
    assert (template_name(cluster, one) == template_name(cluster, other)) == (one == other)


@pytest.mark.parametrize("name", ["gpu pool", "-x", "", "ü", "a" * 70, "_", "a/b"])
def test_the_nearest_name_is_legal(name: str) -> None:
    assert GROUP_NAME.fullmatch(nearest_group_name(name))
