"""A command as a person pastes it into a shell: one flag a line, every word quoted."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence

Flag = tuple[str, str | bool | Sequence[str] | None]
"""A flag and its value or values: True is the flag alone; None, False and no values leave it out."""


def command(words: Sequence[str], flags: Iterable[Flag], join: str = "=") -> str:
    """`words` on the first line, each flag on its own. `join` stands between a flag and its value."""
    lines = [shlex.join(words), *(_flag(name, value, join) for name, value in flags if value)]
    return " \\\n  ".join(lines) + "\n"


def _flag(name: str, value: str | bool | Sequence[str], join: str) -> str:
    if isinstance(value, bool):
        return name
    text = shlex.quote(value) if isinstance(value, str) else shlex.join(value)
    return f"{name}{join}{text}"


def pairs(members: Iterable[tuple[str, str]]) -> Iterator[str]:
    """`key=value` for each."""
    return (f"{key}={value}" for key, value in members)
