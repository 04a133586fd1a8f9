"""A sandbox inside the test process, on free ports, whose clock the test can push forward."""

from __future__ import annotations

import shutil
import socket
import time
from collections.abc import Callable, Iterator

import pytest

from fracgpu.sandbox.server import Server
from fracgpu.sandbox.world import World


class Sandbox:
    """A running server: `http` (URL), `grpc` (host:port), `world`, `token`, and `advance` for its clock.

    Operations take no time worth waiting for; a test that looks at what is in flight sets
    `world.operation_seconds` to an hour and calls `advance(3600)`.
    """

    def __init__(self) -> None:
        self._ahead = 0.0
        self.world = World(operation_seconds=0.05, now=lambda: time.monotonic() + self._ahead)
        self.server = Server(self.world, poll_seconds=0.01)
        self.http = self.server.http
        self.grpc = self.server.grpc
        self.token = self.server.token

    def advance(self, seconds: float) -> None:
        """Let that much time pass at once; what was due is finished when this returns."""
        self._ahead += seconds
        self.world.settle()


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    running = Sandbox()
    yield running
    running.server.end()


@pytest.fixture
def free_port() -> int:
    """A port on which nobody listens: it was bound a moment ago and let go."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def tool() -> Callable[[str], str]:
    """Finds a cloud's own command by name; the test is skipped, by name, on a machine that does not have it."""

    def _tool(name: str) -> str:
        found = shutil.which(name)
        if found is None:
            pytest.skip(f"{name} is not installed on this machine")
        return found

    return _tool
