"""A plugin-config key and what it means are one thing said two ways."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fracgpu.pluginkey import PluginConfig, config_of, document, key_of, meaning
from fracgpu.sharing import Mig, Mps, Sharing, Strategy, TimeSlicing, Whole

REPLICAS = st.integers(2, 10_000)
SHARES = st.one_of(
    st.none(),
    st.builds(TimeSlicing, REPLICAS, st.booleans(), st.booleans()),
    st.builds(Mps, REPLICAS, st.booleans()),
)
CONFIGS = st.builds(PluginConfig, st.booleans(), SHARES)
LABEL_VALUE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")


@given(CONFIGS)
def test_a_key_means_what_it_was_made_from(config: PluginConfig) -> None:
    if config.key is None:
        assert config == PluginConfig()
    else:
        assert LABEL_VALUE.fullmatch(config.key)
        assert meaning(config.key) == config


@given(CONFIGS, CONFIGS)
def test_two_configs_never_share_a_key(one: PluginConfig, other: PluginConfig) -> None:
    assert (one.key == other.key) is (one == other)


@given(st.text(alphabet="migxedtslcponr-0123456789", max_size=40))
def test_a_text_is_a_key_of_ours_only_if_it_is_what_we_would_write(text: str) -> None:
    found = meaning(text)
    assert found is None or found.key == text


@pytest.mark.parametrize(
    ("key", "config"),
    [
        ("time-sliced-10", PluginConfig(share=TimeSlicing(10))),
        ("time-sliced-2-renamed", PluginConfig(share=TimeSlicing(2, rename=True))),
        ("time-sliced-2-one", PluginConfig(share=TimeSlicing(2, one_per_container=True))),
        ("time-sliced-2-renamed-one", PluginConfig(share=TimeSlicing(2, True, True))),
        ("mps-4", PluginConfig(share=Mps(4))),
        ("mig-mixed", PluginConfig(mixed=True)),
        ("mig-mixed-mps-4-renamed", PluginConfig(True, Mps(4, rename=True))),
    ],
)
def test_the_keys_that_others_rely_on(key: str, config: PluginConfig) -> None:
    assert config.key == key
    assert meaning(key) == config


@pytest.mark.parametrize(
    "text",
    ["", "default", "time-sliced", "time-sliced-0", "time-sliced-010", "time-sliced-x", "mps-4-one", "a100", "-mps-2"],
)
def test_a_key_of_somebody_else_means_nothing_to_us(text: str) -> None:
    assert meaning(text) is None


def test_plain_mig_and_whole_gpus_carry_no_key() -> None:
    assert key_of(Sharing(Whole())) is None
    assert key_of(Sharing(Mig(((("1g.5gb", 7),),), Strategy.SINGLE))) is None
    assert key_of(Sharing(Mig(((("1g.5gb", 7),),), Strategy.MIXED))) == "mig-mixed"


def test_a_key_that_the_user_named_is_kept() -> None:
    assert key_of(Sharing(Whole(), TimeSlicing(10), config_key="team-a")) == "team-a"


@given(CONFIGS)
def test_the_document_says_what_the_config_says(config: PluginConfig) -> None:
    body = document(config, ("nvidia.com/gpu", "nvidia.com/mig-1g.5gb"))
    sharing = body.get("sharing", {})
    assert body["version"] == "v1"
    assert body.get("flags", {}).get("migStrategy", "single") == ("mixed" if config.mixed else "single")
    assert len(sharing) == (config.share is not None)
    for how in sharing.values():
        assert config.share is not None
        assert how["renameByDefault"] is config.share.rename
        assert [one["replicas"] for one in how["resources"]] == [config.share.replicas] * 2


def test_mps_has_no_word_for_one_share_a_container() -> None:
    """The plugin's MPS section has no such key: https://github.com/NVIDIA/k8s-device-plugin, api/config/v1."""
    assert document(PluginConfig(share=Mps(4)))["sharing"]["mps"].keys() == {"renameByDefault", "resources"}
    time_slicing = document(PluginConfig(share=TimeSlicing(4)))["sharing"]["timeSlicing"]
    assert time_slicing["failRequestsGreaterThanOne"] is False


def test_the_config_of_a_pool_is_its_strategy_and_its_share() -> None:
    cut = Mig(((("1g.5gb", 7),),), Strategy.MIXED)
    assert config_of(Sharing(cut, Mps(2))) == PluginConfig(True, Mps(2))
