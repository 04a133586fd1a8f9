"""Texts of the command line as plain values, without pydantic."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.main import get_command

from fracgpu.cli.app import build
from fracgpu.cli.coerce import PLAIN, Choice, Plain
from fracgpu.cli.lazy import LazyGroup
from fracgpu.errors import Invalid


class Colour(StrEnum):
    RED = "red"
    DARK_BLUE = "dark-blue"


def parameter(*, multiple: bool = False, default: Any = None) -> Any:
    return SimpleNamespace(multiple=multiple, nargs=1, default=default, opts=["-c", "--count"])


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [(str, "a b", "a b"), (int, "-3", -3), (float, "1.5", 1.5), (Path, "a/b", Path("a/b")), (bool, "true", True)],
)
def test_a_text_becomes_a_value(kind: type, text: str, value: object) -> None:
    assert PLAIN[kind].coerce(text, parameter(), None) == value


@pytest.mark.parametrize(("kind", "text"), [(int, "3.5"), (int, ""), (float, "x"), (bool, "maybe")])
def test_what_is_none_is_named_with_its_flag(kind: type, text: str) -> None:
    with pytest.raises(Invalid, match="--count") as caught:
        PLAIN[kind].coerce(text, parameter(), None)
    assert (caught.value.code, caught.value.field) == ("usage", "--count")


def test_what_was_not_said_stays_unsaid() -> None:
    assert PLAIN[int].coerce(None, parameter(), None) is None
    assert PLAIN[list[str]].coerce((), parameter(multiple=True), None) is None
    assert PLAIN[list[str]].coerce(("a", "b"), parameter(multiple=True), None) == ["a", "b"]


def test_a_default_is_passed_on_as_it_is() -> None:
    assert Choice(Colour).coerce(Colour.RED, parameter(default=Colour.RED), None) is Colour.RED
    assert PLAIN[int].coerce(7, parameter(default=7), None) == 7


@pytest.mark.parametrize("text", ["dark-blue", "DARK-BLUE", "Dark-Blue"])
def test_a_choice_is_taken_in_any_case(text: str) -> None:
    assert Choice(Colour).coerce(text, parameter(), None) is Colour.DARK_BLUE


def test_a_choice_that_is_none_names_the_nearest() -> None:
    with pytest.raises(Invalid, match="one of red, dark-blue") as caught:
        Choice(Colour).coerce("darkblue", parameter(), None)
    assert caught.value.nearest == ("dark-blue",)


def test_every_parameter_of_every_command_is_plain() -> None:
    """Otherwise pydantic would be loaded for it, and a schema built."""

    def parameters(group: Any) -> list[Any]:
        found = list(group.get_params(_Context(group)))
        for name in group.list_commands(None) if isinstance(group, LazyGroup) else ():
            found += parameters(group.get_command(None, name))
        return found

    own = [one for one in parameters(get_command(build())) if "completion" not in one.name]
    assert len(own) > 100
    assert [one.name for one in own if not isinstance(one._runtime_param, Plain)] == []


class _Context(SimpleNamespace):
    """As much of a context as `get_params` asks for."""

    def __init__(self, command: Any) -> None:
        super().__init__(command=command, help_option_names=["-h", "--help"])
