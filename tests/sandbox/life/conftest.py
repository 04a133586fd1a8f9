"""One sandbox for the tests of a file, emptied before each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

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


@pytest.fixture(params=("gke", "aks", "eks"))
def hand(world: Sandbox, request: pytest.FixtureRequest) -> Hand:
    """A hand on a cluster of each cloud."""
    return Hand(world, request.param)
