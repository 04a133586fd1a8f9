"""What a person is told to type after an apply that did not end well."""

from __future__ import annotations

from pathlib import Path

import pytest

from fracgpu.cli.again import apply_command, apply_saved_command
from fracgpu.cli.globals import GLOBALS


def test_the_same_files_fleet_and_permissions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GLOBALS, "sandbox", False)
    told = apply_command(["my pools", "b.yaml"], "vis", ["--prune", "--replace"])
    assert told == "fracgpu pool apply -f 'my pools' -f b.yaml --fleet vis --prune --replace"


def test_a_saved_plan_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GLOBALS, "sandbox", True)
    told = apply_saved_command(Path("plan.json"))
    assert told == (
        "fracgpu --sandbox pool plan -f FILE --out plan.json && fracgpu --sandbox pool apply --plan plan.json"
    )
