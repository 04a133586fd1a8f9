"""Text that a user names: a file, a pipe, a device or standard input, and never more of it than people write."""

from __future__ import annotations

import sys
from pathlib import Path

LONGEST = 64 * 2**20
"""Bytes. Ten thousand pools take a tenth of it; without an end, reading /dev/zero takes all memory there is."""


def read_text(name: str | Path) -> str:
    """The text of a file, or of standard input where it is called `-`; a byte order mark is left out.

    Raises OSError, UnicodeDecodeError, and ValueError for what goes on beyond LONGEST or is closed.
    """
    if name == "-":
        if sys.stdin is None:
            raise ValueError("standard input is closed")
        raw = sys.stdin.buffer.read(LONGEST + 1)
    else:
        with Path(name).open("rb") as file:
            raw = file.read(LONGEST + 1)
    if len(raw) > LONGEST:
        raise ValueError(f"it goes on beyond {LONGEST // 2**20} MiB")
    return raw.decode("utf-8-sig")
