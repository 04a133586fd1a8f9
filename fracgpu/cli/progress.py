"""Work, watched: one live line for a person, one line a change in a log."""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import TypeVar

from fracgpu.cli.globals import GLOBALS
from fracgpu.cli.output import colour
from fracgpu.errors import Interrupted
from fracgpu.operations.outcome import Event

T = TypeVar("T")
CLEAR = "\r\x1b[K"


def watch(work: Generator[Event, None, T], again: str) -> T:
    """Run work to its end and show its events. Ctrl-C stops the waiting, not the cloud: Interrupted says how to go on.
    """
    live = colour(sys.stderr) and not GLOBALS.quiet
    last = ""
    try:
        while True:
            try:
                event = next(work)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            last = _show(event, last, live)
    except KeyboardInterrupt as interrupt:
        message = "stopped waiting; the cloud goes on"
        raise Interrupted(message, hint=f"take it up again with: {again}", detail={"waitCommand": again}) from interrupt
    finally:
        if live and last:
            sys.stderr.write(CLEAR)
            sys.stderr.flush()


def _show(event: Event, last: str, live: bool) -> str:
    said = f"{event.pool}: {event.message}"
    if GLOBALS.quiet or (said == last and not live):
        return said
    elapsed = f" ({_duration(event.elapsed)})"
    sys.stderr.write(f"{CLEAR}{said}{elapsed}" if live else f"{said}{elapsed}\n")
    sys.stderr.flush()
    return said


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}m{rest:02d}s" if minutes else f"{rest}s"
