"""stdout and stderr as they may be: closed, full, without a reader, or unable to spell what is to be said.

Nothing heavy is imported here, since `--version` and `--help` come through it.
"""

from __future__ import annotations

import os
import sys
from typing import Any, TextIO


def mend() -> None:
    """Put the null device where whoever started the program left nothing open."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - open to the end


def to_stdout(text: str) -> None:
    """Text to stdout. A reader that has gone away (`| head`) is no error. Raises CannotWrite where there is no room."""
    if trouble := _trouble(text):
        from fracgpu.errors import CannotWrite

        raise CannotWrite(trouble, hint=HINT)


HINT = "make room, or send it somewhere else"


def _trouble(text: str) -> str | None:
    """Write to stdout; why that cannot be done."""
    try:
        _put(sys.stdout, text)
    except BrokenPipeError:
        _divert(sys.stdout)
    except OSError as error:
        _divert(sys.stdout)
        return f"the answer cannot be written: {error.strerror}"
    return None


def to_stderr(text: str) -> None:
    """Text to stderr. That nobody can be told of it does not stop the work, nor change how it ends."""
    try:
        _put(sys.stderr, text)
    except OSError:
        _divert(sys.stderr)


def spells_all(stream: TextIO) -> bool:
    """Whether every text can be written to it as it is."""
    return (stream.encoding or "").lower().replace("-", "") == "utf8"


def as_utf8(word: str) -> str:
    """An argument as the text that its bytes are. Raises Invalid for bytes that are no UTF-8.

    Python reads arguments by the locale, and what that cannot spell as lone surrogates.
    """
    try:
        word.encode()
    except UnicodeEncodeError:
        try:
            return os.fsencode(word).decode()
        except UnicodeError as error:
            from fracgpu.errors import Invalid

            raise Invalid.one("usage", f"the argument {word!r} is not UTF-8 text", hint="write it in UTF-8") from error
    return word


def answer(text: str) -> int:
    """An answer that needs no command; returns the exit code."""
    trouble = _trouble(text)
    if trouble:
        to_stderr(f"error cannot-write: {trouble}\n  hint: {HINT}\n")
    return 1 if trouble else 0


def _put(stream: Any, text: str) -> None:
    try:
        stream.write(text)
    except UnicodeEncodeError:  # a locale that cannot spell it: UTF-8, as kubectl and terraform always write
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")
        stream.write(text)
    stream.flush()


def _divert(stream: TextIO) -> None:
    """Let what is left in the buffer go nowhere, or Python complains of it when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
