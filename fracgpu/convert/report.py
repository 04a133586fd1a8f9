"""What became of each flag of a converted command, as notes: nothing is dropped in silence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from fracgpu.convert.flags import Given, Row, Rows
from fracgpu.errors import Finding, info, warning
from fracgpu.plan import Json


def notes_on(given: Given, rows: Rows, document: Json) -> Iterator[Finding]:
    """One note a flag, in the order of the command."""
    for flag, words in given.flags.items():
        yield _note(" ".join((flag, *words)), words, rows[flag], document)


def _note(said: str, words: list[str], row: Row, document: Json) -> Finding:
    if row.runs:
        return info("flag-left-out", f"{said}: how that command runs, not what it makes")
    if row.gap is not None:
        if words and all(word in row.usual for word in words):
            return info("flag-left-out", f"{said}: what fracgpu does anyway")
        message = f"{said}: the file form cannot say {row.gap}; the pool would not have it"
        return warning("not-in-file-form", message)
    became = [f"{path}: {_shown(value)}" for path in row.becomes if (value := _at(document, path)) is not None]
    if not became:
        return info("flag-left-out", f"{said}: what fracgpu does unless told otherwise")
    return info("flag-converted", f"{said} -> {', '.join(became)}", field=_whole(row.becomes[0]))


def _at(document: Json, path: str) -> Any:
    value: Any = document
    for step in _whole(path).split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _whole(path: str) -> str:
    return path if path.startswith("metadata.") else f"spec.{path}"


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
