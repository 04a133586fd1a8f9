"""The program is ended by force in the middle of a step; a second run, which knows nothing of the first, converges."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from fracgpu.operations.outcome import Outcome
from fracgpu.operations.planning import Choices
from fracgpu.providers import Phase
from fracgpu.sandbox import folder
from fracgpu.sandbox.folder import Endpoints
from fracgpu.spec import NodePool
from tests.life import MINUTE, Hand, fail, spec
from tests.sandbox.conftest import Sandbox

PATIENCE = 60.0
"""Seconds until a test that hangs fails; none waits for them."""
HELD = 1.0
"""Seconds for which the sandbox holds the call that the program dies in. Then it does what was asked, unheard."""

SLICED: dict[str, Any] = {"machine": "p4d.24xlarge", "sharing": {"mig": {"profile": "1g.5gb"}}}
RESLICED: dict[str, Any] = {**SLICED, "sharing": {"mig": {"profile": "2g.10gb"}}}

STEPS: dict[str, tuple[str, dict[str, Any] | None, dict[str, Any], str]] = {
    "gke create": ("gke", None, {}, "CreateNodePool"),
    "gke wait": ("gke", None, {}, "GetOperation"),
    "gke made anew": ("gke", {}, {"capacity": "spot"}, "CreateNodePool"),
    "aks replace": ("aks", {}, {"machine": "Standard_NC8as_T4_v3"}, "AgentPools_Delete"),
    "eks template": ("eks", None, SLICED, "CreateLaunchTemplate"),
    "eks rolled": ("eks", SLICED, RESLICED, "UpdateNodegroupVersion"),
}
"""Cloud, the pool that is there (None: none), the one that is wanted, and the call in which the program dies: a
create and a delete, a first step and a later one, a look. `test_cut_off` has every step."""


@pytest.fixture
def found(world: Sandbox, home: Path) -> Iterator[Sandbox]:
    """The sandbox as one that other processes find; they live by the real clock, so operations are short.

    The call that was held is over before the next test, whose world it would be done in.
    """
    here = Endpoints(world.http, world.grpc, world.server.id, world.token, os.getpid())
    folder.write_state(folder.state_folder(), here)
    world.world.operation_seconds = 0.2
    yield world
    time.sleep(HELD)


@pytest.mark.parametrize("step", STEPS)
def test_a_second_run_converges(step: str, found: Sandbox, tmp_path: Path) -> None:
    cloud, before, after, call = STEPS[step]
    hand = Hand(found, cloud)
    if before is not None:
        hand.create(spec(cloud, **before))
    wanted = spec(cloud, **after)
    fail(found, cloud, call, delay=HELD, times=1)
    program = started(wanted, tmp_path)
    held(found)
    program.send_signal(signal.SIGKILL)
    program.wait(PATIENCE)
    found.world.faults.clear()
    assert hand.apply(wanted, Choices(replace=True)).outcome in (Outcome.DONE, Outcome.UNCHANGED)
    seen = hand.observe()
    assert seen is not None
    assert (seen.status.phase, hand.ours()) == (Phase.READY, ["gpu"])
    found.advance(10 * MINUTE)
    assert hand.apply(wanted).outcome is Outcome.UNCHANGED


def started(wanted: NodePool, where: Path) -> subprocess.Popen[bytes]:
    file = where / "pool.yaml"
    file.write_text(yaml.safe_dump(wanted.model_dump(mode="json", by_alias=True, exclude_none=True)), "utf-8")
    words = ["--sandbox", "pool", "apply", "-f", str(file), "--replace", "--yes", "-q"]
    return subprocess.Popen([sys.executable, "-m", "fracgpu", *words], stdout=subprocess.DEVNULL)


def held(sandbox: Sandbox) -> None:
    """Return when the call has come in."""
    end = time.monotonic() + PATIENCE
    while not any(fault["seen"] for fault in sandbox.world.faults.list()):
        assert time.monotonic() < end, "the program never made the call that it should die in"
        time.sleep(0.01)
