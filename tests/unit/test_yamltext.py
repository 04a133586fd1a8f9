"""YAML is read safely, strictly, and as everybody else reads it."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fracgpu.yamltext import load_all

SCALARS = st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text(max_size=12) | st.floats(allow_nan=False)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
)


@given(st.lists(VALUES, max_size=3))
def test_what_yaml_writes_is_read_back(values: list[Any]) -> None:
    assert list(load_all(yaml.safe_dump_all(values, explicit_start=True))) == values


@given(VALUES)
def test_flow_and_quotes_make_no_difference(value: Any) -> None:
    assert list(load_all(yaml.safe_dump(value, default_flow_style=True, default_style='"'))) == [
        yaml.safe_load(yaml.safe_dump(value, default_flow_style=True, default_style='"'))
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: yes", {"a": True}),
        ("a: 'yes'", {"a": "yes"}),
        ("a: 010", {"a": 8}),
        ("a: ~", {"a": None}),
        ("{a: 1, b: [x, y]}", {"a": 1, "b": ["x", "y"]}),
        ('{"a": 1e3}', {"a": "1e3"}),
        ("a: |\n  x\n  y\n", {"a": "x\ny\n"}),
        ("base: &b {x: 1}\nmore: {<<: *b, y: 2}", {"base": {"x": 1}, "more": {"x": 1, "y": 2}}),
        ("- &a [1]\n- *a", [[1], [1]]),
    ],
)
def test_the_words_of_yaml(text: str, value: Any) -> None:
    assert list(load_all(text)) == [value]


def test_documents_come_one_by_one_and_empty_ones_as_nothing() -> None:
    assert list(load_all("---\na: 1\n---\n---\nb: 2\n")) == [{"a": 1}, None, {"b": 2}]
    assert list(load_all("# nothing\n")) == []


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        ("a: 1\nb: 2\na: 3\n", "the key a stands twice", 3),
        ("x:\n  k: 1\n  k: 1\n", "the key k stands twice", 3),
        ("a: [1, 2\n", "flow sequence", 2),
        ("? [1]\n: 2\n", "a key is a text", 1),
        ("a: &x [*x]\n", "inside what it names", 1),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, words: str, line: int) -> None:
    with pytest.raises(yaml.YAMLError, match=words) as caught:
        list(load_all(text))
    mark: Any = getattr(caught.value, "problem_mark", None) or getattr(caught.value, "context_mark", None)
    assert mark.line + 1 == line


@pytest.mark.parametrize("text", ["!!python/object/apply:os.system ['true']", "!!python/name:os.system", "!secret x"])
def test_no_tag_makes_an_object(text: str) -> None:
    with pytest.raises(yaml.YAMLError):
        list(load_all(text))


def test_aliases_that_grow_beyond_all_measure_are_refused_before_they_grow() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(yaml.YAMLError, match="aliases"):
        list(load_all("\n".join(lines)))
