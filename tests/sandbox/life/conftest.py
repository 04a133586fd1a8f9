"""One sandbox for the tests of a file, emptied before each."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from google.api_core.retry import retry_base, retry_unary

from tests.life import MINUTE, Hand
from tests.sandbox.conftest import Sandbox


@pytest.fixture(scope="module")
def running() -> Iterator[Sandbox]:
    sandbox = Sandbox()
    yield sandbox
    sandbox.server.end()


@pytest.fixture
def world(running: Sandbox) -> Sandbox:
    """An empty sandbox whose operations take a minute of its own clock."""
    running.world.reset()
    running.world.operation_seconds = MINUTE
    return running


@pytest.fixture
def unhurried(running: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """The sandbox, on whose clock every pause passes: those that an SDK makes between its own tries, too.

    gRPC's tries end by a clock that the SDK reads itself, so that it is given the sandbox's.
    """
    monkeypatch.setattr(time, "sleep", running.advance)
    clock = SimpleNamespace(sleep=running.advance, monotonic=running.world.now)
    monkeypatch.setattr(retry_unary, "time", clock)
    monkeypatch.setattr(retry_base, "time", clock)
    return running


@pytest.fixture(params=("gke", "aks", "eks"))
def hand(world: Sandbox, request: pytest.FixtureRequest) -> Hand:
    """A hand on a cluster of each cloud."""
    return Hand(world, request.param)
