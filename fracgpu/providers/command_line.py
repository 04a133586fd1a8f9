"""A command as a person pastes it into a shell: one flag a line, every word quoted."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence

Flag = tuple[str, str | bool | None]
"""A flag and its value: True is the flag alone, None or False leaves it out."""


def command(words: Sequence[str], flags: Iterable[Flag], join: str = "=") -> str:
    """`words` on the first line, each flag on its own. `join` stands between a flag and its value."""
    lines = [shlex.join(words), *(_flag(name, value, join) for name, value in flags if value not in (None, False))]
    return " \\\n  ".join(lines) + "\n"


def _flag(name: str, value: str | bool | None, join: str) -> str:
    if value is True:
        return name
    text = shlex.quote(str(value))
    return f"{name}{join}{text}"


def pairs(members: Iterable[tuple[str, str]]) -> Iterator[str]:
    """`key=value` for each."""
    return (f"{key}={value}" for key, value in members)
