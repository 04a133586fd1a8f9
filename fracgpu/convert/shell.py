"""Commands as they were typed or pasted -> their words."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from fracgpu.errors import Finding, Invalid, warning

CONTINUED = re.compile(r"[\\`^][ \t]*\r?\n")
"""A line that goes on, as sh, PowerShell and cmd write it."""
COMMENT = re.compile(r"^[ \t]*#.*\n?", re.MULTILINE)
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
VARIABLE = re.compile(r"\$(\w+|\{[^}]*\}|\([^)]*\))")
ENDS = frozenset("\n;&|<>")
"""Letters that a shell takes for more than a part of a word."""
NEXT = frozenset({";", "&&"})


def commands_of(arguments: Sequence[str]) -> list[list[str]]:
    """The words of each command: as the shell gave them, or split here where whole lines are one argument.

    Raises Invalid where the text is more than commands one after the other.
    """
    if len(arguments) == 1 and re.search(r"\s", arguments[0].strip()):
        return list(split(arguments[0]))
    return [list(arguments)]


def split(text: str) -> Iterator[list[str]]:
    """The commands of a pasted text: continued lines joined; comments, prompts and assignments left out."""
    words: list[str] = []
    for word in (*_words(CONTINUED.sub(" ", COMMENT.sub("", text))), "\n"):
        if not word or not set(word) <= ENDS:
            words.append(word)
        elif set(word) <= {"\n"} or word.strip("\n") in NEXT:
            yield from filter(None, [_bare(words)])
            words = []
        else:
            message = f"{word.strip()} makes more of this than a command"
            raise Invalid.one("usage", message, hint="convert the command alone; quotes keep such letters in a value")


def _words(text: str) -> list[str]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars="".join(ENDS))
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    try:
        return list(lexer)
    except ValueError as error:
        raise Invalid.one("usage", f"the command cannot be read: {error}".lower(), hint="check its quotes") from error


def _bare(words: list[str]) -> list[str]:
    """A command without what stands before its name."""
    while words and (words[0] in ("$", "sudo", "time") or ASSIGNMENT.fullmatch(words[0])):
        words = words[1:]
    return words


OF_EC2 = ("$Latest", "$Default")
"""Versions of a launch template, which look like a shell's variables."""


def variables(words: Sequence[str]) -> Iterator[Finding]:
    """What a shell would have replaced: here it stands as it was written."""
    found = dict.fromkeys(match[0] for word in words for match in VARIABLE.finditer(word))
    for name in (one for one in found if one not in OF_EC2):
        message = f"{name} was not replaced by a shell; it stands in the file as it was written"
        yield warning("shell-variable", message, hint="write its value into the file")
