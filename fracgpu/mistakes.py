"""What pydantic says of a pool -> findings in our words: what stands there, what belongs there, what would be right."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from fracgpu.errors import INVALID_CODES, Finding
from fracgpu.nearest import nearest_words
from fracgpu.spec import NodePool

LONGEST = 60
"""Characters of a wrong value that are repeated in a message."""
FEW = 6
"""A choice of no more words than these is listed where nothing resembles what was written."""
WANTED = {
    "string_type": "a text",
    "int_type": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}
"""Pydantic's words for a value of the wrong type, and what belongs there."""


def explain_problem(
    kind: str, path: str, written: Any, text: str, context: Mapping[str, Any], raw: str | None = None
) -> Finding:
    """One validation problem as a finding.

    `path` is the field, `written` the value that stood there, `raw` how it was written, where that is known, `text`
    pydantic's own message.
    """
    name = path.rsplit(".", 1)[-1]
    if kind == "extra_forbidden":
        near = nearest_words(name, _known_keys(path))
        return Finding("unknown-key", f"unknown key {shown(name)}", field=path, nearest=near, hint=_did_you_mean(near))
    if kind == "missing":
        return Finding("missing-field", f"{path} is missing", field=path)
    if kind in WANTED:
        return _wrong_type(WANTED[kind], path, written, raw)
    if kind in INVALID_CODES:
        near = tuple(context.get("nearest", ()))
        return Finding(kind, f"{path}: {text}", field=path, nearest=near, hint=context.get("hint"))
    if kind in ("enum", "literal_error"):
        return _not_among(str(context.get("expected", "")), path, written)
    return Finding("invalid-value", f"{path}: {text[0].lower()}{text[1:]}", field=path)


def findings_of(error: ValidationError) -> list[Finding]:
    """All problems of plain data that was written nowhere, as findings."""
    return [_found(problem) for problem in error.errors(include_url=False)]


def _found(problem: Any) -> Finding:
    steps = [step for step in problem["loc"] if step != "[key]"]
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).lstrip(".")
    return explain_problem(problem["type"], path, problem.get("input"), problem["msg"], problem.get("ctx") or {})


def shown(value: Any) -> str:
    """A value in a message: no longer than a line, nothing in it that a terminal would obey."""
    text = value if isinstance(value, str) and value.isprintable() else repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _wrong_type(wanted: str, path: str, written: Any, raw: str | None) -> Finding:
    name = path or "a NodePool"
    came = str(written) if raw is None else raw
    if wanted == "a text" and (raw or isinstance(written, (bool, int, float, datetime.date))):
        message = f"{name} is a text, and YAML reads {shown(came)} as {_kind(written)}"
    elif written is None:
        message = f"{name} is {wanted}, and nothing stands there"
    else:
        message = f"{name} is {wanted}, and {shown(came if isinstance(written, str) else written)} is {_kind(written)}"
    return Finding("invalid-value", message, field=path or None, hint=_instead(wanted, path, written, raw))


def _instead(wanted: str, path: str, written: Any, raw: str | None) -> str | None:
    """What to write in place of a value of the wrong type."""
    if wanted == "a text" and not isinstance(written, (dict, list)):
        came = raw if raw is not None else "" if written is None else str(written)
        return f'quote it: "{shown(came)}"' if came else 'an empty text is ""'
    if wanted == "a whole number" and isinstance(written, (str, float)):
        number = str(written).strip().removesuffix(".0")
        return f"write {shown(number)}" if number.lstrip("-").isdecimal() else None
    if wanted == "true or false" and str(written).lower() in ("true", "false"):
        return f"without quotes: {str(written).lower()}"
    if wanted == "a list" and isinstance(written, str):
        return f"[{shown(written)}]"
    if wanted == "a mapping" and (keys := _known_keys(f"{path}.")):
        return f"its keys are {', '.join(keys[:FEW])}{', ...' if len(keys) > FEW else ''}"
    return None


def _kind(value: Any) -> str:
    """What YAML made of a value."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case datetime.date():
            return "a date"
        case str():
            return "a text"
        case list():
            return "a list"
        case dict():
            return "a mapping"
        case _:
            return f"a {type(value).__name__}"


def _not_among(expected: str, path: str, written: Any) -> Finding:
    words = tuple(word.strip("' ") for word in expected.replace(" or ", ",").split(","))
    same = tuple(word for word in words if word.lower() == str(written).lower())
    near = same or nearest_words(str(written), words, cutoff=0.6) or (words if len(words) <= FEW else ())
    message = f"{path} is one of {expected}, not {shown(repr(written))}"
    return Finding("invalid-value", message, field=path, nearest=near)


def _did_you_mean(near: tuple[str, ...]) -> str:
    return f"did you mean {near[0]}?" if near else "fracgpu schema prints every key"


def _known_keys(path: str) -> list[str]:
    """The keys that may stand beside the last part of `path`."""
    model: Any = NodePool
    for step in path.split(".")[:-1]:
        model = _inner_model(model, step.split("[")[0])
        if model is None:
            return []
    return [info.alias or name for name, info in model.model_fields.items()]


def _inner_model(model: type[BaseModel], key: str) -> type[BaseModel] | None:
    for name, info in model.model_fields.items():
        if key in (info.alias, name):
            return next(
                (part for part in _parts(info.annotation) if isinstance(part, type) and issubclass(part, BaseModel)),
                None,
            )
    return None


def _parts(annotation: Any) -> Iterator[Any]:
    yield annotation
    for part in getattr(annotation, "__args__", ()):
        yield from _parts(part)
