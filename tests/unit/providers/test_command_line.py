"""Commands that a shell reads back as they were meant."""

from __future__ import annotations

import subprocess

from hypothesis import given, settings
from hypothesis import strategies as st

from fracgpu.providers.command_line import Flag, command, pairs


def test_one_flag_a_line() -> None:
    flags: list[Flag] = [("--name", "a b"), ("--on", True), ("--off", False), ("--none", None), ("--count", "0")]
    assert command(["tool", "do it"], flags) == "tool 'do it' \\\n  --name='a b' \\\n  --on \\\n  --count=0\n"
    assert command(["tool"], [("--name", "x")], join=" ") == "tool \\\n  --name x\n"


def test_pairs() -> None:
    assert list(pairs({"a": "b", "c": "d"}.items())) == ["a=b", "c=d"]


@settings(derandomize=True, deadline=None, max_examples=25)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1), max_size=4))
def test_whatever_is_said_arrives(values: list[str]) -> None:
    """In a real shell: no value ends the command, begins another or is expanded."""
    flags: list[Flag] = [(f"--f{number}", value) for number, value in enumerate(values)]
    ran = subprocess.run(["sh", "-c", command(["printf", r"%s\0", "first"], flags)], check=True, capture_output=True)
    assert ran.stdout.decode().split("\0") == ["first", *(f"{name}={value}" for name, value in flags), ""]
