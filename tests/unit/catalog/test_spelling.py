"""Names as people write them, brought to one form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fracgpu.catalog.spelling import ProfileName, aks_profile, loose_numbers, parse_profile, without_vendor, words

ATTRIBUTES = ["", "+me", "+me.all", "+gfx", "-me"]
names = st.builds(
    ProfileName,
    st.integers(1, 9),
    st.integers(0, 999),
    st.sampled_from(ATTRIBUTES).map(lambda text: (text,) if text else ()),
)


@given(names)
def test_a_name_is_read_as_it_is_written(name: ProfileName) -> None:
    assert parse_profile(str(name)) == name


@given(names, st.sampled_from(["", "mig-", "MIG ", "nvidia.com/mig-", " "]), st.booleans())
def test_resource_and_driver_spellings_mean_the_same(name: ProfileName, prefix: str, upper: bool) -> None:
    written = prefix + str(name).replace("+", ".")
    assert parse_profile(written.upper() if upper else written) == name


@pytest.mark.parametrize(
    "text",
    ["", "1g", "5gb", "g.5gb", "1g.5", "1g.5gb+", "1g.5gb+you", "1g.5gb-gfx", "1g.5gb+me+gfx", "1c.1g.5gb", "MIG1g"],
)
def test_not_a_profile_name(text: str) -> None:
    assert parse_profile(text) is None


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    name = parse_profile(text)
    assert name is None or parse_profile(str(name)) == name


@pytest.mark.parametrize(
    ("text", "word"),
    [("MIG1g", "MIG1g"), ("mig7G", "MIG7g"), (" MIG3g ", "MIG3g"), ("MIG-1g", None), ("MIG1g.5gb", None)],
)
def test_word_of_aks(text: str, word: str | None) -> None:
    assert aks_profile(text) == word


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("3g 40", (3, 40)), ("2g", (2, None)), ("1g.5 gb", (1, 5)), ("MIG9g", (9, None)), ("half", None)],
)
def test_numbers_of_what_only_resembles_a_name(text: str, numbers: tuple[int, int | None] | None) -> None:
    assert loose_numbers(text) == numbers


@pytest.mark.parametrize("text", ["a100-40gb", "A100_40GB", "a100 40 GB", "A100/40g", " a100.40GiB "])
def test_words_of_a_gpu(text: str) -> None:
    assert words(text) == ("a100", "40")


def test_a_letter_of_the_model_is_no_unit() -> None:
    assert words("A10G") == ("a10g",)
    assert words("T4g-16GB") == ("t4g", "16")


@given(st.text())
def test_vendor_words_lead_only(text: str) -> None:
    rest = without_vendor(words(f"NVIDIA tesla {text}"))
    assert rest == without_vendor(words(text))
    assert not rest or rest[0] not in {"nvidia", "tesla", "geforce"}
