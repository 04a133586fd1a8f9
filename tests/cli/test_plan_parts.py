"""A very long file is planned by several processes, and nobody can tell by the answer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fracgpu.cli.output import LONG, Output
from fracgpu.cli.pool.plan_parts import answer, shared_out
from fracgpu.operations.planning import Choices
from tests.cli.conftest import Cli

POOL = """\
apiVersion: fracgpu/v1
kind: NodePool
metadata: {{name: p{number}}}
spec:
  cluster: {{provider: gke, project: p, location: us-central1-a, name: c}}
  machine: g2-standard-4
  sharing: {{timeSlicing: {{replicas: 4}}}}
  labels: {{text: t{number}}}
"""
WORTH, COUNT = 50, 120
PROGRAM = f"""
import os, sys
from fracgpu.cli.pool import plan, plan_parts
os.cpu_count, plan_parts.WORTH = lambda: 2, {WORTH}
if sys.argv.pop(1) == "parts":
    plan.declared = None  # the usual way would end here
from fracgpu.cli.app import run
sys.exit(run())
"""
PLAN = ("pool", "plan", "--offline", "-f", "pools.yaml")


def text(count: int) -> str:
    return "---\n".join(POOL.format(number=number) for number in range(count))


def planned(way: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    """The answer of a process of its own with two processors; the way is `parts` alone or `any`."""
    return subprocess.run([sys.executable, "-c", PROGRAM, way, *PLAN, *words], capture_output=True, check=False)


@pytest.mark.parametrize(("form", "count"), [("json", COUNT), ("json", LONG), ("table", COUNT), ("name", COUNT)])
def test_the_answer_is_the_same(form: str, count: int, cli: Cli) -> None:
    Path("pools.yaml").write_text(text(count), encoding="utf-8")
    parted = planned("parts", "-o", form)
    usual = cli(*PLAN, "-o", form)
    assert (parted.returncode, usual.code) == (0, 0)
    assert parted.stdout.decode() == usual.out
    assert parted.stderr.decode() == usual.err


def test_a_wrong_document_is_told_with_its_place(cli: Cli) -> None:
    wrong = POOL.format(number="x").replace("g2-standard-4", "g2-nonsense")
    Path("pools.yaml").write_text(f"{text(COUNT)}---\n{wrong}", encoding="utf-8")
    ran = planned("any")
    assert ran.returncode == 2
    line = text(COUNT).count("\n") + 1 + 6
    assert f"pools.yaml:{line}:3: error unknown-machine".encode() in ran.stderr


def test_twins_in_two_parts_are_found(cli: Cli) -> None:
    Path("pools.yaml").write_text(f"{text(COUNT)}---\n{POOL.format(number=0)}", encoding="utf-8")
    ran = planned("any")
    assert (ran.returncode, b"declared twice" in ran.stderr) == (2, True)


@pytest.mark.parametrize("workers", [2, 3, 7])
@pytest.mark.parametrize("files", [1, 3, 20])
def test_every_document_is_in_one_part_and_in_order(workers: int, files: int) -> None:
    written = [(f"{file}.yaml", text(30).replace("name: p", f"name: f{file}p")) for file in range(files)]
    groups = shared_out(written, workers)
    assert len(groups) == workers
    answers = [answer(group, Choices(), Output.NAME, strict=False) for group in groups if group]
    names = [line for one in answers if one for line in one.changes]
    assert names == [f"nodepool/f{file}p{number}" for file in range(files) for number in range(30)]
