"""The generated reference is as the program is, and leaves nothing out."""

from __future__ import annotations

from typing import Any

import pytest

from docs import generate
from docs.generator import codes
from fracgpu.cli.field_texts import FIELD_TEXTS
from fracgpu.cli.schema import json_schema


def test_is_fresh() -> None:
    assert [str(path) for path in generate.stale()] == []


def test_every_code_is_explained_and_no_other() -> None:
    assert (codes.without_words(), codes.without_code()) == ([], [])


def test_a_stale_page_is_named(tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(generate, "pages", lambda: {generate.ROOT / "docs" / "reference" / "gpus.md": "old"})
    assert generate.main(["--check"]) == 1
    assert "docs/reference/gpus.md" in capsys.readouterr().out


@pytest.mark.parametrize("model", sorted({"NodePool", *json_schema()["$defs"]}))
def test_every_field_says_what_it_means(model: str) -> None:
    schema = json_schema()
    body = schema if model == "NodePool" else schema["$defs"][model]
    silent = [name for name, form in body.get("properties", {}).items() if not form.get("description")]
    assert silent == []


def test_no_field_is_described_that_does_not_exist() -> None:
    schema = json_schema()
    for model, texts in FIELD_TEXTS.items():
        body = schema if model == "NodePool" else schema["$defs"][model]
        assert set(texts) <= set(body["properties"]), model
