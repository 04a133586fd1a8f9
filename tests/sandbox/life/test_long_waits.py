"""What happens to whoever waits for long: tokens end, clouds throttle, networks go, laptops sleep. Nothing is lost, and
nothing is done twice.

Time is the sandbox's; the SDKs' own pauses pass on it as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fracgpu.errors import NotSignedIn, TimedOut
from fracgpu.operations.outcome import Item, Outcome
from tests.life import CLOUDS, HOUR, MINUTE, Hand, PushedClock, Weather, spec
from tests.sandbox.conftest import Sandbox

LONG = 20 * MINUTE
EXPIRED: dict[str, dict[str, Any]] = {
    "gke": {"status": 401},
    "aks": {"status": 401, "code": "ExpiredAuthenticationToken"},
    "eks": {"status": 403, "code": "ExpiredTokenException"},
}
VERBS: dict[str, Callable[[Hand], Item]] = {
    "create": lambda hand: hand.create(spec(hand.cloud)),
    "change": lambda hand: hand.apply(spec(hand.cloud, labels={"team": "audio"})),
    "delete": lambda hand: hand.delete(),
}


@pytest.fixture(params=CLOUDS)
def waiting(world: Sandbox, unhurried: Sandbox, request: pytest.FixtureRequest) -> Iterator[Hand]:
    """A hand on a cluster of each cloud, whose operations take long."""
    own = world.world.faults
    world.world.operation_seconds = LONG
    yield Hand(world, request.param)
    world.world.faults = own


def come(hand: Hand, verb: str, at: Callable[[float], dict[str, Any] | None]) -> tuple[Weather, Callable[[], Item]]:
    """The pool as the verb needs it, and the weather that begins with it."""
    if verb != "create":
        hand.sandbox.world.operation_seconds = 0
        hand.create(spec(hand.cloud))
        hand.sandbox.world.operation_seconds = LONG
    before = hand.operations()
    hand.sandbox.world.faults = weather = Weather(hand.sandbox, at)

    def go() -> Item:
        done = VERBS[verb](hand)
        assert hand.operations() - before == 1, "it was done twice"
        return done

    return weather, go


@pytest.mark.parametrize("verb", VERBS)
def test_tokens_that_end_are_had_anew(waiting: Hand, verb: str) -> None:
    """Every two minutes one look is refused."""
    seen: set[int] = {0}

    def at(passed: float) -> dict[str, Any] | None:
        life = int(passed // (2 * MINUTE))
        fresh = life in seen
        seen.add(life)
        return None if fresh else EXPIRED[waiting.cloud]

    weather, go = come(waiting, verb, at)
    assert go().outcome is Outcome.DONE
    assert weather.met >= 9


def test_whoever_is_signed_out_in_the_middle_is_told_and_goes_on_later(waiting: Hand) -> None:
    weather, go = come(waiting, "create", lambda passed: EXPIRED[waiting.cloud] if passed > 10 * MINUTE else None)
    with pytest.raises(NotSignedIn) as told:
        go()
    assert told.value.hint
    assert weather.met
    waiting.sandbox.world.faults = Weather(waiting.sandbox, lambda _: None)
    assert Hand(waiting.sandbox, waiting.cloud).create(spec(waiting.cloud)).outcome is Outcome.DONE
    assert waiting.operations() == 1


STORMS: dict[str, dict[str, Any]] = {
    "without a word": {"status": 429},
    "with a pause": {"status": 429, "retry_after": 45},
    "unavailable": {"status": 503},
    "broken": {"status": 500},
    "dropped": {"drop": True},
    "cut": {"drop": True, "status": 503},
}


@pytest.mark.parametrize(
    ("storm", "verb"),
    [(storm, verb) for storm in STORMS for verb in VERBS if verb == "create" or storm in ("with a pause", "cut")],
)
def test_storms_pass(waiting: Hand, storm: str, verb: str) -> None:
    """Four minutes in which no look is answered; longer where the cloud itself says that it is there."""
    length = (10 if STORMS[storm].get("status") == 429 else 4) * MINUTE
    began = 5 * MINUTE
    weather, go = come(waiting, verb, lambda passed: STORMS[storm] if began < passed < began + length else None)
    assert go().outcome is Outcome.DONE
    assert weather.met > 3


class Dozing(PushedClock):
    """A laptop that is closed in its tenth pause, for eight hours."""

    woke = float("inf")

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        if len(self.slept) == 10:
            self.sandbox.advance(8 * HOUR)
            self.woke = self.now()


@pytest.mark.parametrize("verb", VERBS)
def test_a_laptop_that_slept_goes_on(waiting: Hand, verb: str) -> None:
    """Its limit has passed, and its network takes a minute to come back."""
    waiting.clock = clock = Dozing(waiting.sandbox)
    waiting.limit = 45 * MINUTE
    weather, go = come(waiting, verb, lambda _: {"drop": True} if 0 <= clock.now() - clock.woke < MINUTE else None)
    assert go().outcome is Outcome.DONE
    assert weather.met


def test_one_that_wakes_too_early_is_told_how_to_go_on(waiting: Hand) -> None:
    waiting.sandbox.world.operation_seconds = 24 * HOUR
    waiting.clock = Dozing(waiting.sandbox)
    waiting.limit = 45 * MINUTE
    with pytest.raises(TimedOut) as told:
        waiting.create(spec(waiting.cloud))
    assert told.value.detail["waitCommand"]
    waiting.sandbox.advance(24 * HOUR)
    assert waiting.waits().outcome is Outcome.DONE
    assert waiting.operations() == 1
