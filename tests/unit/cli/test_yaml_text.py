"""YAML as it is printed: what is read back is what was written."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from fracgpu.cli.yaml_text import to_yaml

SINGLE = (
    "yes No ON null ~ 1 1.5 1e3 0x1F 2024-01-01 12:30:45 1_000 .5 = << y - #a &a *a !a %a @a `a | > {a [a a,b 1g.5gb "
    "a: 3g.20gb=1 nvidia.com/gpu=present:NoSchedule https://a.b/c?d=e#f é ' \" ''a a'b \\ a\\nb 😀 --- ... 1.0.0 017"
)
SPACED = (
    "- a",
    "? a",
    ": a",
    "a: b",
    "a #b",
    "a  b",
    " a",
    "a ",
    "--- a",
    "a\nb",
    "a\nb\n",
    "a\n\nb\n",
    "\na",
    "a\n\n",
)
ODD = (" a\nb", "a\n b", "a\tb\nc", "a\r\nb", "a\u2028b", "\ufeffa", "\x85", "\x00", "\x7f", "")
WORDS = st.sampled_from([*SINGLE.split(" "), *SPACED, *ODD])
TEXTS = st.text(max_size=12) | WORDS | st.text(alphabet="ab1.: -#'\"\n\t,{}[]&*!|>%@`=~", max_size=10)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS
DATA = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=12
)


@settings(max_examples=500)
@given(DATA)
def test_what_is_written_is_read_back(value: Any) -> None:
    assert yaml.safe_load(to_yaml(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": {"b": [1, {"c": "d", "e": []}], "f": {}}}, "a:\n  b:\n  - 1\n  - c: d\n    e: []\n  f: {}\n"),
        ({"sizes": ["1g.5gb", "1", 1, True, None]}, "sizes:\n- 1g.5gb\n- '1'\n- 1\n- true\n- null\n"),
        ({"taints": ["nvidia.com/gpu=present:NoSchedule"]}, "taints:\n- nvidia.com/gpu=present:NoSchedule\n"),
        ({"nvidia.com/mig-1g.5gb": "56"}, "nvidia.com/mig-1g.5gb: '56'\n"),
        ({"script": "a\n  b\n"}, "script: |\n  a\n    b\n"),
        ([["a", "b"], []], "- - a\n  - b\n- []\n"),
        ({"why": "a node reboots, once"}, "why: a node reboots, once\n"),
        ([], "[]\n"),
        (["0o7", "0x1F", "1_000"], "- '0o7'\n- '0x1F'\n- '1_000'\n"),
    ],
)
def test_it_looks_as_people_write_it(value: Any, text: str) -> None:
    assert to_yaml(value) == text


def test_what_is_no_plain_data_is_no_yaml() -> None:
    with pytest.raises(TypeError, match="set"):
        to_yaml({"a": {1}})
