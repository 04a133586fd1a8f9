"""`fracgpu sandbox` as it is typed: what it shows, what it refuses, and how a fault is told of."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from fracgpu.sandbox import folder
from fracgpu.sandbox.folder import Endpoints
from tests.cli.conftest import Cli
from tests.sandbox.conftest import Sandbox
from tests.sandbox.kubernetes.conftest import put_pool


@pytest.fixture(scope="module")
def running() -> Iterator[Sandbox]:
    sandbox = Sandbox()
    yield sandbox
    sandbox.server.end()


@pytest.fixture(autouse=True)
def sandbox(running: Sandbox, home: Path) -> Sandbox:
    """The sandbox that the commands find, as new."""
    running.world.reset()
    running.server.populate()
    here = Endpoints(running.http, running.grpc, running.server.id, running.token, os.getpid())
    folder.write_state(folder.state_folder(), here)
    return running


ADD = ("sandbox", "fault", "add", "--cloud", "gke", "--call", "CreateNodePool")


@pytest.mark.parametrize(
    ("options", "said", "row"),
    [
        ([], "500, once", ["500", "1 of 1", "0"]),
        (["--status", "403", "--code", "DENIED"], "403 DENIED, once", ["403 DENIED", "1 of 1", "0"]),
        (["--delay", "1.5", "--times", "3"], "1.5 s late, 3 times", ["1.5 s late", "3 of 3", "0"]),
        (["--drop", "--times", "0"], "answer lost, every time", ["answer lost", "every time", "0"]),
        (["--outcome", "partial"], "operation partial, once", ["operation partial", "1 of 1", "0"]),
        (["--retry-after", "2"], "retry after 2 s, once", ["retry after 2 s", "1 of 1", "0"]),
    ],
)
def test_a_fault_says_what_it_does_and_how_often(cli: Cli, options: list[str], said: str, row: list[str]) -> None:
    assert cli(*ADD, *options).err == f"sandbox: gke CreateNodePool: {said}\n"
    listed = cli("sandbox", "fault", "list").out.splitlines()
    assert [cell.strip() for cell in listed[1].split("  ") if cell][3:] == row
    assert listed[0].split() == ["ID", "CLOUD", "CALL", "EFFECT", "LEFT", "SEEN"]


def test_a_fault_that_is_used_up_says_so(cli: Cli, sandbox: Sandbox) -> None:
    cli(*ADD, "--times", "2")
    for left in ("1 of 2", "used up"):
        sandbox.world.faults.take("gke", "CreateNodePool")
        assert left in cli("sandbox", "fault", "list").out
    (fault,) = cli("sandbox", "fault", "list", "-o", "json").json()["items"]
    assert (fault["times"], fault["left"], fault["seen"]) == (2, 0, 2)
    cli("sandbox", "fault", "clear")
    assert cli("sandbox", "fault", "list", "-o", "json").json()["items"] == []


@pytest.mark.parametrize(
    "words",
    [
        (*ADD, "--times", "-1"),
        (*ADD, "--outcome", "odd"),
        ("sandbox", "fault", "add", "--cloud", "gke", "--call", "GetNodePool", "--outcome", "failed"),
        ("sandbox", "set", "node", "n"),
        ("sandbox", "set", "pdb", "--namespace", "A b", "--selector", "a=b", "--min-available", "1"),
        ("sandbox", "set", "operation-seconds", "inf"),
    ],
    ids=" ".join,
)
def test_what_makes_no_sense_ends_in_2(cli: Cli, words: tuple[str, ...]) -> None:
    assert cli(*words).code == 2


def test_status_shows_the_clusters_and_what_is_believed_of_pools_at_zero(cli: Cli, sandbox: Sandbox) -> None:
    put_pool(sandbox, "zero", count=0)
    lines = cli("sandbox", "status").out.splitlines()
    assert "AN AUTOSCALER BELIEVES" in lines[4]
    rows = [line.split(maxsplit=5) for line in lines[5:]]
    assert ["gke", "sandbox", "default-pool", "RUNNING", "1", "-"] in rows
    believed = "cpu=24 nvidia.com/gpu=1, taints nvidia.com/gpu=present:NoSchedule"
    assert ["aks", "sandbox", "zero", "Succeeded", "0", believed] in rows
