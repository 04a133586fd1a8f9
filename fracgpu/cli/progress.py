"""Work, watched: one live line for a person, one line a change in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from fracgpu.cli.globals import GLOBALS
from fracgpu.cli.output import colour, painted
from fracgpu.cli.show_result import item_line
from fracgpu.cli.streams import to_stderr
from fracgpu.errors import Interrupted
from fracgpu.operations.engine import Job, Run
from fracgpu.operations.outcome import Event, Item, Outcome

T = TypeVar("T")
CLEAR = "\r\x1b[K"
HEARTBEAT = 60.0
"""Seconds after which a log hears that work goes on: some CI systems end a job that says nothing."""


def watch(work: Generator[Event, None, T], again: str) -> T:
    """Run work to its end and show its events. Ctrl-C stops the waiting, not the cloud: Interrupted says how to go
    on."""
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
        raise _left(again) from interrupt
    finally:
        if live and last:
            to_stderr(CLEAR)


def _left(again: str) -> Interrupted:
    message = "stopped waiting; the cloud goes on"
    return Interrupted(message, hint=f"take it up again with: {again}", detail={"waitCommand": again})


def _show(event: Event, last: str, live: bool) -> str:
    said = f"{event.pool}: {event.message}"
    if GLOBALS.quiet or (said == last and not live):
        return said
    usual = f", usually {duration(event.usual)}" if event.usual else ""
    elapsed = f" ({duration(event.elapsed)}{usual})"
    to_stderr(f"{CLEAR}{said}{elapsed}" if live else f"{said}{elapsed}\n")
    return said


def duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}m{rest:02d}s" if minutes else f"{rest}s"


def follow(jobs: Sequence[Job], again: str) -> list[Item]:
    """Run jobs to their end. Ctrl-C once: nothing further is begun; twice (or with one job only): Interrupted."""
    run = Run(jobs)
    board = _Board(len(jobs))
    while True:
        try:
            said = run.next()
            if said is None:
                return run.result()
            board.show(said)
        except KeyboardInterrupt as interrupt:
            if run.stopping or len(jobs) == 1:
                raise _left(again) from interrupt
            run.stop()
            board.line("interrupted: what is under way is finished, nothing further is begun; Ctrl-C again leaves")
        finally:
            board.clear()


@dataclass(slots=True)
class _Board:
    """How far the jobs are."""

    jobs: int
    live: bool = field(init=False)
    counts: dict[Outcome, int] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)
    spoke: float = field(default_factory=time.monotonic)
    last: str = ""

    def __post_init__(self) -> None:
        self.live = colour(sys.stderr) and not GLOBALS.quiet

    def show(self, said: Event | Item) -> None:
        if isinstance(said, Item):
            self.counts[said.outcome] = self.counts.get(said.outcome, 0) + 1
            if said.outcome is Outcome.FAILED or not (self.live or said.outcome is Outcome.UNCHANGED or self.jobs == 1):
                self.line(_ended(said))
        elif self.jobs == 1:
            self.last = _show(said, self.last, self.live)
        elif self.live:
            to_stderr(f"{CLEAR}{self._summary()} | {said.pool}: {said.message}"[:160])
        elif time.monotonic() - self.spoke > HEARTBEAT:
            self.line(self._summary())

    def line(self, text: str) -> None:
        if not GLOBALS.quiet:
            to_stderr((CLEAR if self.live else "") + text + "\n")
        self.spoke = time.monotonic()

    def clear(self) -> None:
        if self.live:
            to_stderr(CLEAR)

    def _summary(self) -> str:
        done = sum(self.counts.values())
        failed = self.counts.get(Outcome.FAILED, 0)
        words = f"{done} of {self.jobs} done" + (f", {failed} failed" if failed else "")
        return f"{words} ({duration(time.monotonic() - self.began)})"


def _ended(item: Item) -> str:
    """One line about a pool that is finished; a failed one with its cause."""
    line = item_line(item)
    if item.error is None:
        return line
    return f"{line}: {painted(item.error.code, '31')}: {item.error.message}"
