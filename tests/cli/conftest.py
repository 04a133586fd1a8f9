"""The command line, run in the test's own process, in a folder of the test's own."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import fields
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fracgpu.cli.app import run
from fracgpu.cli.globals import GLOBALS, Globals


class Ran(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)

    def error(self) -> Any:
        """The error document, behind whatever was said on the way."""
        return json.loads(self.err[self.err.index("{\n") :])


Cli = Callable[..., Ran]


def _fresh() -> None:
    """The global options as they are when the program starts."""
    start = Globals()
    for one in fields(Globals):
        setattr(GLOBALS, one.name, getattr(start, one.name))


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], home: Path) -> Cli:
    """`cli("pool", "explain", ...)`; `given` is what stands on standard input."""
    monkeypatch.chdir(tmp_path)

    def _cli(*words: str, given: str = "") -> Ran:
        _fresh()
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(given.encode())))
        code = run(list(words))
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return _cli
