"""A command as it was typed or pasted -> its words."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from fracgpu.errors import Finding, Invalid, warning

CONTINUED = re.compile(r"[\\`^][ \t]*\r?\n")
"""A line that goes on, as sh, PowerShell and cmd write it."""
COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
VARIABLE = re.compile(r"\$(\w+|\{[^}]*\}|\([^)]*\))")
ENDS = frozenset({";", "&&", "||", "|", "&", ">", ">>", "<"})


def words_of(arguments: Sequence[str]) -> list[str]:
    """The words of one command: as the shell gave them, or split here where a whole line is one argument.

    Raises Invalid where the text is not one command.
    """
    if len(arguments) == 1 and re.search(r"\s", arguments[0].strip()):
        return split(arguments[0])
    return list(arguments)


def split(text: str) -> list[str]:
    """The words of a pasted command: continued lines joined, comments, prompt and assignments left out."""
    try:
        words = shlex.split(CONTINUED.sub(" ", COMMENT.sub("", text)))
    except ValueError as error:
        raise Invalid.one("usage", f"the command cannot be read: {error}".lower(), hint="check its quotes") from error
    while words and (words[0] in ("$", "sudo", "time") or ASSIGNMENT.fullmatch(words[0])):
        words = words[1:]
    ending = next((word for word in words if word in ENDS or word.endswith(";")), None)
    if ending:
        message = f"one command at a time: {ending} begins something else"
        raise Invalid.one("usage", message, hint="convert each command by itself")
    return words


def variables(words: Sequence[str]) -> Iterator[Finding]:
    """What a shell would have replaced: here it stands as it was written."""
    for name in dict.fromkeys(match[0] for word in words for match in VARIABLE.finditer(word)):
        message = f"{name} was not replaced by a shell; it stands in the file as it was written"
        yield warning("shell-variable", message, hint="write its value into the file")
