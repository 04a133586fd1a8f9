"""The flags of another tool's command, read by a table that says of each what it takes and what becomes of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from fracgpu.errors import Invalid
from fracgpu.mistakes import shown
from fracgpu.nearest import nearest_words


class Takes(Enum):
    """How many words belong to a flag."""

    NOTHING = 0
    ONE = 1
    MANY = 2


@dataclass(frozen=True, slots=True)
class Row:
    """A flag: what it takes, and one of: the fields it `becomes`, the `gap` that it leaves, or that it only `runs`.

    `gap` says in words what the file form has no word for. `usual` are values with which a flag says nothing new.
    """

    takes: Takes
    becomes: tuple[str, ...] = ()
    gap: str | None = None
    runs: bool = False
    usual: tuple[str, ...] = ()


def to(*becomes: str, takes: Takes = Takes.ONE, usual: tuple[str, ...] = ()) -> Row:
    return Row(takes, becomes, usual=usual)


def gap(words: str, takes: Takes = Takes.ONE, usual: tuple[str, ...] = ()) -> Row:
    return Row(takes, gap=words, usual=usual)


def runs(takes: Takes = Takes.ONE) -> Row:
    """A flag about how the command runs, not about what it makes."""
    return Row(takes, runs=True)


Rows = Mapping[str, Row]
NUMBER = re.compile(r"-\d+(\.\d+)?")


@dataclass(slots=True)
class Given:
    """The flags of a command as given, in order, and the words after its own that belong to none."""

    tool: str
    command: tuple[str, ...] = ()
    flags: dict[str, list[str]] = field(default_factory=dict)
    positionals: list[str] = field(default_factory=list)

    def has(self, flag: str) -> bool:
        return flag in self.flags

    def text(self, flag: str) -> str | None:
        """The flag's only word; None where it was not given."""
        return self.flags[flag][0] if flag in self.flags else None

    def words(self, flag: str) -> list[str]:
        return self.flags.get(flag, [])

    def number(self, flag: str) -> int | None:
        """The flag's word as a whole number. Raises Invalid."""
        text = self.text(flag)
        if text is None:
            return None
        try:
            return int(text)
        except ValueError as error:
            raise wrong(flag, text, "a whole number") from error

    def pairs(self, flag: str, separator: str | None = None) -> dict[str, str]:
        """`key=value` of each word, or of each part of the only word. A key alone has an empty value."""
        parts = self.words(flag)
        if separator is not None:
            parts = [part for word in parts for part in word.split(separator) if part]
        return {key: value for key, _, value in (part.partition("=") for part in parts)}

    def joined(self, flag: str) -> list[str]:
        """The parts of a word that is a list with commas."""
        return [part.strip() for word in self.words(flag) for part in word.split(",") if part.strip()]


def only(commands: Sequence[Given]) -> Given:
    """The one command. Raises Invalid where there are several: each makes a pool of its own."""
    if len(commands) > 1:
        message = f"{len(commands)} commands, and each makes a pool"
        raise Invalid.one("usage", message, hint="convert each by itself")
    return commands[0]


def wrong(flag: str, text: str, wanted: str, nearest: tuple[str, ...] = ()) -> Invalid:
    """The error of a flag whose word is not what it takes."""
    return Invalid.one("invalid-value", f"{flag} {shown(repr(text))} is not {wanted}", field=flag, nearest=nearest)


def read(tool: str, words: Sequence[str], rows: Rows, short: Mapping[str, str]) -> Given:
    """The words of a command by its table. Raises Invalid for a flag that the table does not know, or that is said
    twice."""
    given = Given(tool)
    queue = list(words)
    while queue:
        word = queue.pop(0)
        if not word.startswith("-") or word == "-" or NUMBER.fullmatch(word):
            given.positionals.append(word)
            continue
        flag, attached = _flag(word, rows, short, tool)
        if flag in given.flags:
            raise Invalid.one("usage", f"{flag} stands twice", field=flag, hint="say it once")
        given.flags[flag] = list(_values(flag, attached, rows[flag].takes, queue))
    return given


def _flag(word: str, rows: Rows, short: Mapping[str, str], tool: str) -> tuple[str, str | None]:
    """The flag's full name, and the value that is attached to it."""
    name, equals, value = word.partition("=")
    if not name.startswith("--"):
        name, value = word[:2], word[2:].removeprefix("=")
        equals = value
    full = short.get(name, name)
    if full not in rows:
        near = nearest_words(name, rows, cutoff=0.6)
        hint = f"did you mean {near[0]}?" if near else "leave it out, and say in the file what it means"
        raise Invalid.one("usage", f"{tool} flag {name} is not known here", field=name, nearest=near, hint=hint)
    return full, value if equals else None


def _values(flag: str, attached: str | None, takes: Takes, queue: list[str]) -> Iterator[str]:
    if takes is Takes.NOTHING:
        if attached is not None:
            raise Invalid.one("usage", f"{flag} takes no value", field=flag, hint=f"{flag} alone")
        return
    if attached is not None:
        yield attached
    elif takes is Takes.ONE:
        if not queue or _is_flag(queue[0]):
            raise Invalid.one("usage", f"{flag} needs a value", field=flag, hint=f"{flag} VALUE")
        yield queue.pop(0)
    while takes is Takes.MANY and queue and not _is_flag(queue[0]):
        yield queue.pop(0)


def _is_flag(word: str) -> bool:
    return word.startswith("-") and not NUMBER.fullmatch(word)
