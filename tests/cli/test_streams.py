"""The program with streams as a shell, a CI job or a service manager may leave them: run as a process of its own."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from fracgpu.cli.output import printable

EXPLAIN = "pool explain --provider gke --mig 1g.5gb"
WRONG = "pool explain --provider gke --mig 1g.5x"


def shell(line: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """A line of bash in which `fracgpu` is this program."""
    program = f"{shlex.quote(sys.executable)} -m fracgpu"
    script = f'fracgpu() {{ {program} "$@"; }}\n{line}'
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root, **variables}
    return subprocess.run(["bash", "-c", script], capture_output=True, env=environment, check=False, timeout=120)


@pytest.mark.parametrize(
    "command",
    ["--version", "--help", "pool --help", "pool create --help", "catalog layouts --gpu h100 -o wide", EXPLAIN],
)
def test_a_reader_that_goes_away_is_no_error(command: str) -> None:
    ran = shell(f"fracgpu {command} | true; exit ${{PIPESTATUS[0]}}")
    assert ran.returncode == 0
    assert b"Traceback" not in ran.stderr
    assert b"rror" not in ran.stderr


@pytest.mark.parametrize("command", ["--version", "--help", "catalog gpus", f"{EXPLAIN} -o json"])
def test_stdout_may_be_closed(command: str) -> None:
    ran = shell(f"fracgpu {command} >&-")
    assert (ran.returncode, b"rror" in ran.stderr) == (0, False)


@pytest.mark.parametrize("stderr", ["2>&-", "2>/dev/full"])
def test_an_error_that_cannot_be_told_keeps_its_exit_code(stderr: str) -> None:
    assert shell(f"fracgpu {WRONG} {stderr}").returncode == 2
    assert shell(f"fracgpu {EXPLAIN} {stderr}").returncode == 0


@pytest.mark.parametrize("command", ["--version", "--help", "catalog gpus", "catalog layouts --gpu a30 -o wide"])
def test_an_answer_that_finds_no_room_is_an_error_and_no_bug(command: str) -> None:
    ran = shell(f"fracgpu {command} > /dev/full")
    assert ran.returncode == 1
    assert ran.stderr.splitlines()[0].startswith(b"error cannot-write: the answer cannot be written: No space left")
    assert b"bug" not in ran.stderr


def test_what_has_no_end_is_not_read_to_the_end() -> None:
    for command in ("pool explain -f /dev/zero", "pool explain -f - </dev/zero", "convert - </dev/zero"):
        ran = shell(f"fracgpu {command}")
        assert (ran.returncode, b"it goes on beyond 64 MiB" in ran.stderr) == (2, True)


def test_a_pipe_is_a_file_and_a_device_is_not_replaced(tmp_path: Path) -> None:
    pool = "apiVersion: fracgpu/v1\nkind: NodePool\nspec: {cluster: {provider: eks, name: c}, machine: g5.xlarge}\n"
    (tmp_path / "pool.yaml").write_text(pool)
    os.mkfifo(tmp_path / "pipe")
    plan = "fracgpu -q pool plan --offline"
    piped = shell(f"cd {tmp_path}; {plan} -f <(cat pool.yaml) --out pipe -o name & cat pipe", HOME=str(tmp_path))
    assert json.loads(piped.stdout[piped.stdout.index(b"{") :].partition(b"nodepool/")[0])["kind"] == "Plan"
    assert (tmp_path / "pipe").is_fifo()


def test_stdin_may_be_closed() -> None:
    for command in ("pool explain -f -", "convert -"):
        assert shell(f"fracgpu {command} <&-").returncode == 2
    assert shell(f"fracgpu {EXPLAIN} <&-").returncode == 0


TAGGED = "pool create x --dry-run --provider eks --cluster c --gpu t4 --tag place=日本"


@pytest.mark.parametrize("form", ["json", "yaml", "table"])
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_what_a_locale_cannot_spell_is_written_in_utf_8(form: str, encoding: str) -> None:
    ran = shell(f"fracgpu {TAGGED} -o {form}", PYTHONIOENCODING=f"{encoding}:strict")
    assert ran.returncode == 0
    assert "日本" in ran.stdout.decode()


def test_an_error_in_json_is_json_in_every_locale() -> None:
    for encoding in ("ascii", "latin-1", "utf-8"):
        ran = shell("fracgpu pool explain --gpu é日本 --provider eks -o json", PYTHONIOENCODING=encoding)
        assert json.loads(ran.stderr)["message"] == "no GPU is called é日本"


def test_arguments_are_read_as_utf_8_and_others_refused() -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert "日本" in shell(f"fracgpu {TAGGED} -o json", **plain).stdout.decode()
    for variables in (plain, {"PYTHONUTF8": "1"}):
        ran = shell("fracgpu pool explain --gpu $'\\xff' -o json", **variables)
        assert (ran.returncode, json.loads(ran.stderr)["code"]) == (2, "usage")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 日本", "plain é 日本"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\n::set-output name=x::y", "a ::set-output name=x::y"),
        ("a\r\tb\u2028", "a\\r\\tb\\u2028"),
    ],
)
def test_nothing_that_a_terminal_or_a_ci_runner_obeys_is_repeated(text: str, shown: str) -> None:
    assert printable(text) == shown
