"""A very long file is planned by several processes, and nobody can tell by the answer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fracgpu.cli.output import Output
from fracgpu.cli.pool.plan_parts import WORTH, answer, shared_out
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
COUNT = 2 * WORTH + 100


def text(count: int) -> str:
    return "---\n".join(POOL.format(number=number) for number in range(count))


@pytest.mark.parametrize("form", ["json", "table", "name"])
def test_the_answer_is_the_same(form: str, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("pools.yaml").write_text(text(COUNT), encoding="utf-8")
    words = ["pool", "plan", "--offline", "-f", "pools.yaml", "-o", form]
    parted = subprocess.run([sys.executable, "-m", "fracgpu", *words], capture_output=True, check=True)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    usual = cli(*words)
    assert parted.stdout.decode() == usual.out
    assert parted.stderr.decode() == usual.err


def test_a_wrong_document_is_told_with_its_place(cli: Cli) -> None:
    wrong = POOL.format(number="x").replace("g2-standard-4", "g2-nonsense")
    Path("pools.yaml").write_text(f"{text(COUNT)}---\n{wrong}", encoding="utf-8")
    words = ["pool", "plan", "--offline", "-f", "pools.yaml"]
    ran = subprocess.run([sys.executable, "-m", "fracgpu", *words], capture_output=True, check=False)
    assert ran.returncode == 2
    line = text(COUNT).count("\n") + 1 + 6
    assert f"pools.yaml:{line}:3: error unknown-machine".encode() in ran.stderr


def test_twins_in_two_parts_are_found(cli: Cli) -> None:
    Path("pools.yaml").write_text(f"{text(COUNT)}---\n{POOL.format(number=0)}", encoding="utf-8")
    words = ["pool", "plan", "--offline", "-f", "pools.yaml"]
    ran = subprocess.run([sys.executable, "-m", "fracgpu", *words], capture_output=True, check=False)
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
