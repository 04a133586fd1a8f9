"""Lengths of time as typed: 90s, 45m, 1h30m, 600."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from fracgpu.errors import Invalid

UNITS = {"s": 1, "m": 60, "h": 3600}
TimeoutOption = Annotated[
    str, typer.Option("--timeout", help="Stop waiting after this long (45m, 90s, 1h30m)", metavar="TIME")
]


def seconds(text: str, flag: str = "--timeout") -> float:
    """The length in seconds; a bare number is seconds. Raises Invalid."""
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    parts = re.findall(r"(\d+(?:\.\d+)?)([smh])", text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise Invalid.one("invalid-value", f"{flag} {text!r} is not a length of time", field=flag, hint=f"{flag} 45m")
    return sum(float(number) * UNITS[unit] for number, unit in parts)
