"""How waits are paced, how long they last, and what they survive."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fracgpu.catalog.models import ProviderName
from fracgpu.errors import Busy, FracgpuError, NotSignedIn, Throttled, TimedOut, Unreachable
from fracgpu.operations.outcome import Event
from fracgpu.operations.wait import (
    AWAKE,
    BACKOFF,
    LATEST,
    PATIENCE,
    SOONEST,
    Wait,
    asked,
    backoff,
    looked,
    patiently,
    pause,
)
from fracgpu.resolve import ClusterRef

T = TypeVar("T")
HERE = ClusterRef(ProviderName.GKE, "c", project="p", location="us-central1")


class Clock:
    """Time that passes by sleeping alone; `jump` is a machine that was asleep."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds

    def jump(self, seconds: float) -> None:
        self.time += seconds


def wait(clock: Clock, limit: float = 100.0) -> Wait:
    return Wait.start("gpu", HERE, limit, "fracgpu pool wait gpu", clock)


def ended(work: Generator[Event, None, T]) -> T:
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


def script(*answers: FracgpuError | str) -> Callable[[], str]:
    """Answers, one a call; errors are raised, the last one for ever."""
    left: Iterator[FracgpuError | str] = iter(answers)
    last = answers[-1]

    def call() -> str:
        answer = next(left, last)
        if isinstance(answer, FracgpuError):
            raise answer
        return answer

    return call


@given(st.floats(0, 1e6))
def test_a_pause_is_a_tenth_of_what_has_passed_within_limits(passed: float) -> None:
    assert SOONEST <= pause(passed) <= LATEST
    assert pause(passed) <= max(SOONEST, passed / 10 + 1e-9)


@given(st.integers(1, 60))
def test_backoff_grows_to_its_longest_and_never_vanishes(tries: int) -> None:
    first, longest = BACKOFF
    assert first / 2 <= backoff(tries) <= longest
    assert backoff(tries) <= first * 2 ** (tries - 1)


def test_those_who_wait_for_one_cluster_do_not_come_back_together() -> None:
    assert len({backoff(6) for _ in range(20)}) > 1


def test_a_lost_connection_is_waited_out() -> None:
    clock = Clock()

    def look() -> str:
        if clock.now() - 1000 < PATIENCE - LATEST:
            raise Unreachable("gone")
        return "back"

    assert ended(looked(look, wait(clock, limit=1000))) == "back"


def test_a_connection_lost_for_good_is_told() -> None:
    clock = Clock()
    with pytest.raises(Unreachable):
        ended(looked(script(Unreachable("gone")), wait(clock, limit=1000)))
    assert PATIENCE < sum(clock.slept) < PATIENCE + 2 * LATEST


def test_a_storm_of_refusals_is_sat_out_until_the_limit() -> None:
    clock = Clock()
    with pytest.raises(TimedOut):
        ended(looked(script(Throttled("slow down")), wait(clock, limit=5000)))
    assert sum(clock.slept) == pytest.approx(5000)


def test_a_token_that_ends_in_a_long_wait_is_had_anew() -> None:
    assert ended(looked(script(NotSignedIn("expired"), "back"), wait(Clock()))) == "back"


def test_whoever_is_signed_out_is_told_soon() -> None:
    clock = Clock()
    with pytest.raises(NotSignedIn):
        ended(looked(script(NotSignedIn("no")), wait(clock)))
    assert len(clock.slept) == 2


def test_retry_after_is_obeyed() -> None:
    clock = Clock()
    ended(looked(script(Throttled("slow down", retry_after=17), "now"), wait(clock)))
    assert clock.slept == [17]
    clock = Clock()
    ended(
        patiently(script(Throttled("slow down", retry_after=60), Throttled("still", retry_after=9), "now"), wait(clock))
    )
    assert clock.slept == [60, 9]


def test_a_busy_cluster_is_waited_for_until_the_limit() -> None:
    clock = Clock()
    with pytest.raises(Busy):
        ended(patiently(script(Busy("another operation")), wait(clock)))
    assert 60 < sum(clock.slept) <= 100


def test_nobody_waits_who_said_so() -> None:
    clock = Clock()
    with pytest.raises(Busy):
        ended(patiently(script(Busy("another operation"), "free"), wait(clock), patient=False))
    assert clock.slept == []


def test_a_machine_that_slept_past_the_limit_is_told_how_to_go_on() -> None:
    clock = Clock()
    waiting = wait(clock)
    clock.jump(12 * 3600)
    with pytest.raises(TimedOut) as told:
        waiting.rest(clock.now())
    assert told.value.detail["waitCommand"] == "fracgpu pool wait gpu"
    assert clock.slept == []


class Dozing(Clock):
    """A machine that falls asleep in its second pause, for eight hours."""

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        if len(self.slept) == 2:
            self.jump(8 * 3600)


def test_a_machine_that_wakes_finds_its_network_and_looks_again() -> None:
    clock = Dozing()
    waiting = wait(clock, limit=60)
    assert ended(looked(script(*[Unreachable("no network yet")] * 9, "made meanwhile"), waiting)) == "made meanwhile"
    assert len(clock.slept) == 9
    with pytest.raises(Unreachable):
        ended(looked(script(Unreachable("gone")), wait(clock := Dozing(), limit=12 * 3600)))
    assert sum(clock.slept) > PATIENCE
    with pytest.raises(TimedOut):
        ended(looked(script(Throttled("later")), wait(clock := Dozing(), limit=60)))
    assert sum(clock.slept[2:]) == pytest.approx(AWAKE)


def test_a_verb_that_waits_for_nothing_lets_itself_be_put_off_for_a_minute() -> None:
    clock = Clock()
    put_off = [Throttled("later", retry_after=20)] * 2
    assert asked(script(*put_off, "there"), clock) == "there"
    assert 36 <= sum(clock.slept) <= 44
    for told in (Throttled("later"), Throttled("later", retry_after=61)):
        with pytest.raises(Throttled):
            asked(script(told, "there"), Clock())


def test_the_last_pause_ends_at_the_limit() -> None:
    clock = Clock()
    waiting = wait(clock, limit=3)
    waiting.rest(clock.now(), wish=60)
    assert clock.slept == [3]
