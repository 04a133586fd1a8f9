"""Names that Kubernetes takes, and what is made of those that it does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fracgpu.errors import Invalid
from fracgpu.kube.mig_manager import mig_config_map
from fracgpu.kube.names import LABEL, checked, legal, made_of
from fracgpu.kube.plugin import Configs, config_map


@given(st.text(max_size=100) | st.text("aB-_.9", max_size=100))
def test_what_is_made_of_any_pools_name_is_legal(name: str) -> None:
    assert LABEL.fullmatch(made_of(name, "deployment"))
    assert not legal(name) or LABEL.fullmatch(legal(name))


@pytest.mark.parametrize(
    ("name", "near"),
    [("Bad Name", ("bad-name",)), ("", ()), ("a.b", ("a-b",)), ("-", ()), ("a" * 64, ("a" * 63,)), ("a\n", ("a",))],
)
def test_a_name_that_is_none_comes_with_one_that_is(name: str, near: tuple[str, ...]) -> None:
    with pytest.raises(Invalid) as caught:
        checked(name, "--name")
    assert (caught.value.code, caught.value.nearest) == ("invalid-name", near)


@pytest.mark.parametrize("name", ["a", "a-b", "0", "x" * 63])
def test_a_name_that_is_one_is_kept(name: str) -> None:
    assert checked(name, "--name") == name


def test_a_config_map_needs_a_namespace_that_can_be() -> None:
    for namespace in ("", "Bad_NS"):
        with pytest.raises(Invalid):
            config_map(Configs({}, ()), namespace)
        with pytest.raises(Invalid):
            mig_config_map({}, namespace)
