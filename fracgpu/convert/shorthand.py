"""The AWS CLI's values: JSON, or its shorthand `key=value,key=[a,b]`.

https://docs.aws.amazon.com/cli/latest/userguide/cli-usage-shorthand.html
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fracgpu.errors import Invalid
from fracgpu.mistakes import shown


def structure(flag: str, text: str) -> dict[str, Any]:
    """A mapping. Raises Invalid."""
    value = _json(flag, text) if text.lstrip().startswith("{") else _shorthand(flag, text)
    if not isinstance(value, dict):
        raise _unread(flag, text)
    return value


def structures(flag: str, words: Sequence[str]) -> list[dict[str, Any]]:
    """A list of mappings: one JSON list, or one mapping a word. Raises Invalid."""
    if len(words) == 1 and words[0].lstrip().startswith("["):
        rows = _json(flag, words[0])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise _unread(flag, words[0])
        return rows
    return [structure(flag, word) for word in words]


def texts(flag: str, words: Sequence[str]) -> list[str]:
    """A list of texts: one JSON list, or one a word. Raises Invalid."""
    if len(words) == 1 and words[0].lstrip().startswith("["):
        rows = _json(flag, words[0])
        if not isinstance(rows, list) or not all(isinstance(row, str) for row in rows):
            raise _unread(flag, words[0])
        return rows
    return list(words)


def _json(flag: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _unread(flag, text) from error


def _shorthand(flag: str, text: str) -> dict[str, Any]:
    """`a=1,b=2`; a value in brackets is a list. Nested mappings have to be JSON."""
    found: dict[str, Any] = {}
    for part in _parts(text):
        key, equals, value = part.partition("=")
        if not equals or not key.strip() or "{" in value:
            raise _unread(flag, text)
        found[key.strip()] = value[1:-1].split(",") if value[:1] == "[" and value[-1:] == "]" else value
    return found


def _parts(text: str) -> list[str]:
    """Split at the commas that are in no brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part.strip()]


def _unread(flag: str, text: str) -> Invalid:
    if text.startswith(("file://", "fileb://")):
        message = f"{flag} {text}: files are not read here"
        return Invalid.one("usage", message, field=flag, hint="put what the file holds in its place")
    return Invalid.one(
        "invalid-value", f"{flag} {shown(repr(text))} cannot be read", field=flag, hint="key=value,... or JSON"
    )
