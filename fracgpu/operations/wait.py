"""Waiting for a cloud, with a limit, through lost connections and in pieces: the cloud goes on when we stop."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeVar

from fracgpu.errors import Busy, FracgpuError, NotFound, NotSignedIn, PoolFailed, Throttled, TimedOut, Unreachable
from fracgpu.operations.clock import Clock, SystemClock
from fracgpu.operations.outcome import Event
from fracgpu.providers import Observed, Operation, Phase, Session
from fracgpu.resolve import ClusterRef

T = TypeVar("T")

SOONEST, LATEST, PART = 0.5, 10.0, 0.1
"""A look comes after a tenth of what has passed, at least half a second, at most ten: what took a while is noticed soon
enough, and a cloud that takes minutes is not asked hundreds of times."""
PATIENCE = 300.0
"""Seconds for which a cloud may be out of reach (a dropped connection, a laptop that moves) before a wait gives up."""
SIGN_INS = 2
"""Looks in a row that may be refused as not signed in, and are made again: a token that ended in a long wait is had
anew at the next one."""
LOST = (Unreachable, Throttled, NotSignedIn)
"""Errors of a look that pass."""
OVERSLEPT, AWAKE = 30.0, 120.0
"""A pause that took so many seconds more than it should was a machine asleep; it has so many seconds, whatever the
limit, to find its network again and look at what has become of the pool."""
ASKING = 60.0
"""Seconds that a verb which waits for nothing lets a cloud put it off."""
BACKOFF = (1.0, 30.0)
"""First and longest pause before a change is sent again to a cluster that is busy."""


@dataclass(slots=True)
class Wait:
    """A wait with a limit. `limit` is in seconds; `again` the command that takes the wait up once more."""

    pool: str
    cluster: ClusterRef
    limit: float
    again: str
    clock: Clock
    began: float
    usual: float | None = None
    """What is being waited for usually takes so many seconds; None where nobody knows."""

    @classmethod
    def start(cls, pool: str, cluster: ClusterRef, limit: float, again: str, clock: Clock | None = None) -> Wait:
        clock = clock or SystemClock()
        return cls(pool, cluster, limit, again, clock, clock.now())

    @property
    def elapsed(self) -> float:
        return self.clock.now() - self.began

    @property
    def left(self) -> float:
        return self.limit - self.elapsed

    def event(self, message: str, percent: int | None = None) -> Event:
        return Event(self.pool, self.cluster, message, self.elapsed, self.left, percent, self.usual)

    def rest(self, since: float, wish: float | None = None) -> float:
        """Sleep until the next look at what began at `since`. Raises TimedOut when the limit comes first.

        Returns for how long the machine itself was asleep meanwhile, in seconds.
        """
        if self.left <= 0:
            raise self.timed_out()
        began = self.clock.now()
        wanted = min(wish if wish is not None else spread(pause(began - since)), self.left)
        self.clock.sleep(wanted)
        asleep = self.clock.now() - began - wanted
        if asleep < OVERSLEPT:
            return 0.0
        self.limit = max(self.limit, self.elapsed + AWAKE)
        return asleep

    def timed_out(self) -> TimedOut:
        message = f"{self.pool} was not at rest after {self.limit:.0f} s; the cloud goes on"
        return TimedOut(message, hint=f"wait on with: {self.again}", detail={"waitCommand": self.again})


def pause(passed: float) -> float:
    """Seconds until the next look at something that has gone on for `passed` seconds."""
    return min(max(PART * passed, SOONEST), LATEST)


def spread(seconds: float) -> float:
    """A little more or less, so that hundreds of waits that began together do not all look at the same moment."""
    return seconds * random.uniform(0.9, 1.1)  # noqa: S311 - no secret


def looked(look: Callable[[], T], wait: Wait) -> Generator[Event, None, T]:
    """One look that survives a lost connection. Raises the last error when nothing was reached for `PATIENCE`.

    A cloud that throttles is there, and is asked as often as it permits until the wait's own limit.
    """
    since, refused = wait.clock.now(), 0
    while True:
        try:
            return look()
        except LOST as error:
            refused += isinstance(error, NotSignedIn)
            out_of_reach = isinstance(error, Unreachable) and wait.clock.now() - since > PATIENCE
            if out_of_reach or refused > SIGN_INS:
                raise
            yield wait.event(f"{error.message}; asking again")
            since += wait.rest(since, getattr(error, "retry_after", None))


def asked(look: Callable[[], T], clock: Clock | None = None) -> T:
    """One look of a verb that waits for nothing. A cloud that says when to ask again is obeyed, for a minute in all."""
    clock = clock or SystemClock()
    end = clock.now() + ASKING
    while True:
        try:
            return look()
        except Throttled as error:
            if error.retry_after is None or clock.now() + error.retry_after > end:
                raise
            clock.sleep(spread(error.retry_after))


def patiently(act: Callable[[], T], wait: Wait, *, patient: bool = True) -> Generator[Event, None, T]:
    """Do what is harmless to do twice, again while the cluster is busy or throttles; a Retry-After is obeyed.

    A cloud that cannot be reached is asked once more: its session has tried for a while already.
    Raises the Busy or Throttled itself when the limit comes first, or at once unless `patient`.
    """
    tries = 0
    while True:
        try:
            return act()
        except (Busy, Throttled, Unreachable) as error:
            tries += 1
            if not patient or (isinstance(error, Unreachable) and tries > 1):
                raise
            longest = getattr(error, "retry_after", None) or backoff(tries)
            if longest >= wait.left:
                raise
            yield wait.event(f"{error.message}; trying again in {longest:.0f} s")
            wait.clock.sleep(longest)


def backoff(tries: int) -> float:
    """Seconds before the next try: doubled each time, and a random part of it, so that those who wait do not collide
    again."""
    first, longest = BACKOFF
    ceiling = min(longest, first * 2 ** (tries - 1))
    return random.uniform(ceiling / 2, ceiling)  # noqa: S311 - no secret


def until_finished(session: Session, operation: Operation, wait: Wait) -> Generator[Event, None, None]:
    """Watch an operation to its end. Raises what it ended in, or TimedOut."""
    if operation.finished:
        return
    since = wait.clock.now()
    while True:
        progress = yield from looked(lambda: session.watch(operation), wait)
        if not progress.done and wait.usual is None:
            wait.usual = _usual(session, operation)
        yield wait.event(progress.message, progress.percent)
        if progress.done:
            wait.usual = None
            return
        wait.rest(since, progress.next_look)


def _usual(session: Session, operation: Operation) -> float | None:
    """Nice to know, and no reason to fail."""
    with contextlib.suppress(FracgpuError):
        return session.usual(operation.kind)
    return None


def at_rest(session: Session, wait: Wait) -> Generator[Event, None, Observed | None]:
    """Look at the pool until nothing moves it. Returns it as it is then, None where there is none (any more)."""
    since = wait.clock.now()
    while True:
        seen = yield from looked(lambda: session.observe(wait.pool), wait)
        if seen is None or seen.status.phase in (Phase.READY, Phase.FAILED, Phase.DEGRADED):
            return seen
        yield wait.event(seen.status.message or seen.status.phase.value)
        wait.rest(since)


def in_flight(session: Session, wait: Wait) -> Generator[Event, None, None]:
    """Watch whatever is in flight for the pool, begun by whomever. Raises what it ended in."""
    operations = yield from looked(lambda: session.operations(wait.pool), wait)
    for operation in operations:
        yield from until_finished(session, operation, wait)


def until_ready(session: Session, wait: Wait) -> Generator[Event, None, Observed]:
    """Look at the pool until it is at rest. Returns it when it is Ready; raises the cause where it failed."""
    seen = yield from at_rest(session, wait)
    if seen is None:
        raise NotFound(f"the pool {wait.pool} is not there (any more)", hint="fracgpu pool list")
    if seen.status.phase is not Phase.READY:
        raise failure(seen)
    return seen


def until_gone(session: Session, wait: Wait) -> Generator[Event, None, None]:
    """Look until the cluster has no pool of that name. Raises the cause where its deletion failed."""
    since = wait.clock.now()
    while True:
        seen = yield from looked(lambda: session.observe(wait.pool), wait)
        if seen is None:
            return
        if seen.status.phase is Phase.FAILED:
            raise failure(seen)
        yield wait.event(seen.status.message or seen.status.phase.value)
        wait.rest(since)


def failure(seen: Observed) -> FracgpuError:
    """Why a pool is failed or degraded, as an error that says what to do."""
    if seen.status.problem:
        return seen.status.problem
    message = f"{seen.name} is {seen.status.phase.value}: {seen.status.message or 'the cloud does not say why'}"
    return PoolFailed(message, hint=f"fracgpu pool create {seen.name} --recreate, or fracgpu pool delete {seen.name}")
