"""What the sessions of a run have in common is made once, and asked once."""

from __future__ import annotations

import threading

import pytest

from fracgpu.errors import Throttled
from fracgpu.providers.access import Access

PATIENCE = 30.0
"""Seconds until a test that hangs fails; none waits for them."""


def test_an_answer_is_asked_for_once_and_holds_up_nobody_who_wants_another() -> None:
    access = Access()
    asking, go_on = threading.Event(), threading.Event()
    answers: list[str] = []

    def slow() -> str:
        asking.set()
        assert go_on.wait(PATIENCE)
        return "slow"

    threads = [threading.Thread(target=lambda: answers.append(access.answered("a", slow))) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert asking.wait(PATIENCE)
    assert access.answered("b", lambda: "quick") == "quick"
    assert access.shared("client", lambda: "made") == "made"
    go_on.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert answers == ["slow", "slow"]


def test_what_could_not_be_had_is_asked_for_again() -> None:
    access = Access()

    def refused() -> str:
        raise Throttled("later")

    with pytest.raises(Throttled):
        access.answered("a", refused)
    assert access.answered("a", lambda: "there") == "there"
    assert access.answered("a", refused) == "there"
