"""Waiting for a cloud, with a limit, through lost connections and in pieces: the cloud goes on when we stop."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from fracgpu.errors import FracgpuError, NotFound, PoolFailed, Throttled, TimedOut, Unreachable
from fracgpu.operations.clock import Clock, SystemClock
from fracgpu.operations.outcome import Event
from fracgpu.providers import Observed, Operation, Phase, Session
from fracgpu.resolve import ClusterRef

PACE = (1.0, 2.0, 5.0, 5.0, 10.0)
"""Seconds between looks; the last one repeats. A cloud's own wish (Progress.next_look) comes first."""
PATIENCE = 10
"""Looks in a row that may fail to reach the cloud (a dropped connection, a laptop that slept) before the wait gives
up."""


@dataclass(slots=True)
class Wait:
    """A wait with a limit. `limit` is in seconds; `again` the command that takes the wait up once more."""

    pool: str
    cluster: ClusterRef
    limit: float
    again: str
    clock: Clock
    began: float
    pace: tuple[float, ...] = PACE

    @classmethod
    def start(
        cls,
        pool: str,
        cluster: ClusterRef,
        limit: float,
        again: str,
        clock: Clock | None = None,
        pace: tuple[float, ...] = PACE,
    ) -> Wait:
        clock = clock or SystemClock()
        return cls(pool, cluster, limit, again, clock, clock.now(), pace)

    @property
    def elapsed(self) -> float:
        return self.clock.now() - self.began

    def event(self, message: str, percent: int | None = None) -> Event:
        return Event(self.pool, self.cluster, message, self.elapsed, self.limit - self.elapsed, percent)

    def rest(self, looks: int, wish: float | None = None) -> None:
        """Sleep until the next look. Raises TimedOut when the limit comes first."""
        left = self.limit - self.elapsed
        if left <= 0:
            message = f"{self.pool} was not ready after {self.limit:.0f} s; the cloud goes on"
            raise TimedOut(message, hint=f"wait on with: {self.again}", detail={"waitCommand": self.again})
        wanted = wish if wish is not None else self.pace[min(looks, len(self.pace) - 1)]
        self.clock.sleep(min(wanted, left))


def until_finished(session: Session, operation: Operation, wait: Wait) -> Generator[Event, None, None]:
    """Watch an operation to its end. Raises what it ended in, or TimedOut."""
    if operation.finished:
        return
    looks = lost = 0
    while True:
        try:
            progress = session.watch(operation)
        except (Unreachable, Throttled) as error:
            lost += 1
            if lost > PATIENCE:
                raise
            yield wait.event(f"{error.message}; asking again")
            wait.rest(looks, getattr(error, "retry_after", None))
            continue
        lost = 0
        yield wait.event(progress.message, progress.percent)
        if progress.done:
            return
        wait.rest(looks, progress.next_look)
        looks += 1


def until_ready(session: Session, wait: Wait) -> Generator[Event, None, Observed]:
    """Look at the pool until it is at rest. Returns it when it is Ready; raises the cause where it failed."""
    looks = lost = 0
    while True:
        try:
            seen = session.observe(wait.pool)
            lost = 0
        except (Unreachable, Throttled) as error:
            lost += 1
            if lost > PATIENCE:
                raise
            yield wait.event(f"{error.message}; asking again")
            wait.rest(looks, getattr(error, "retry_after", None))
            continue
        if seen is None:
            raise NotFound(f"the pool {wait.pool} is not there (any more)", hint="fracgpu pool list")
        if seen.status.phase is Phase.READY:
            return seen
        if seen.status.phase in (Phase.FAILED, Phase.DEGRADED):
            raise failure(seen)
        yield wait.event(seen.status.message or seen.status.phase.value)
        wait.rest(looks)
        looks += 1


def until_gone(session: Session, wait: Wait) -> Generator[Event, None, None]:
    """Look until the cluster has no pool of that name."""
    looks = 0
    while (seen := session.observe(wait.pool)) is not None:
        if seen.status.phase is Phase.FAILED and seen.status.problem:
            raise seen.status.problem
        yield wait.event(seen.status.message or seen.status.phase.value)
        wait.rest(looks)
        looks += 1


def failure(seen: Observed) -> FracgpuError:
    """Why a pool is failed or degraded, as an error that says what to do."""
    if seen.status.problem:
        return seen.status.problem
    message = f"{seen.name} is {seen.status.phase.value}: {seen.status.message or 'the cloud does not say why'}"
    return PoolFailed(message, hint=f"fracgpu pool create {seen.name} --recreate, or fracgpu pool delete {seen.name}")
