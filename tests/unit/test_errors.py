"""Errors: one exit code a class, one code a kind, and a document that others read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fracgpu import errors
from fracgpu.errors import Finding, FracgpuError, Internal, Invalid, Level, Throttled, info, warning

EXITS = {
    "internal": 1,
    "cannot-write": 1,
    "not-found": 3,
    "not-signed-in": 4,
    "forbidden": 4,
    "part-not-installed": 4,
    "quota": 5,
    "stock": 5,
    "slices-missing": 6,
    "timeout": 7,
    "busy": 8,
    "exists-differently": 8,
    "immutable-field": 8,
    "not-ours": 8,
    "stale-plan": 8,
    "drain-blocked": 8,
    "cloud-error": 9,
    "throttled": 9,
    "unreachable": 9,
    "pool-failed": 9,
    "partly-applied": 10,
    "interrupted": 130,
}


def leaves(kind: type[FracgpuError] = FracgpuError) -> Iterator[type[FracgpuError]]:
    """Every class that is raised as itself."""
    inner = [one for one in kind.__subclasses__() if one.__module__ == "fracgpu.errors"]
    for one in inner:
        yield from leaves(one)
    if not inner and kind is not Invalid:
        yield kind


def test_every_class_has_its_code_and_its_exit_code() -> None:
    own = {kind.code: kind.exit_code for kind in leaves()}
    assert own == EXITS


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    for kind in leaves():
        if kind.__module__ == "fracgpu.errors":
            assert kind.__name__ in (errors.__doc__ or "")


def test_an_invalid_spec_carries_every_finding_and_is_called_after_the_first() -> None:
    first = Finding("unknown-gpu", "no GPU is called a1000", field="spec.gpu", nearest=("a100-40gb",))
    error = Invalid([first, Finding("invalid-name", "too long")])
    body = error.to_json()
    assert (error.code, error.exit_code) == ("unknown-gpu", 2)
    assert (body["code"], body["exitCode"], body["field"], body["nearest"]) == (
        "unknown-gpu",
        2,
        "spec.gpu",
        ["a100-40gb"],
    )
    assert [one["code"] for one in body["errors"]] == ["unknown-gpu", "invalid-name"]


def test_an_error_of_nothing_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="at least one"):
        Invalid([])


def test_the_document_has_the_same_keys_whatever_is_known() -> None:
    full = FracgpuError("m", hint="h", field="f", nearest=["n"], detail={"requestId": "1"}).to_json()
    bare = Internal("m").to_json()
    assert full.keys() == bare.keys()
    assert {
        "code",
        "exitCode",
        "message",
        "hint",
        "field",
        "file",
        "line",
        "column",
        "nearest",
        "detail",
    } <= bare.keys()
    assert full["detail"] == {"requestId": "1"}
    assert full["errors"][0]["level"] == "error"


def test_a_throttled_call_knows_when_to_ask_again() -> None:
    error = Throttled("too many", retry_after=7.5, hint="wait")
    assert (error.retry_after, error.hint, error.exit_code) == (7.5, "wait", 9)
    assert Throttled("too many").retry_after is None


def test_notes_have_their_level() -> None:
    assert warning("zones-unknown", "m").level is Level.WARNING
    assert info("machine-chosen", "m", field="spec.machine").field == "spec.machine"


def test_a_finding_is_placed_without_losing_anything() -> None:
    placed = Finding("usage", "m", hint="h").at("a.yaml", 3, 5)
    assert (placed.file, placed.line, placed.column, placed.hint) == ("a.yaml", 3, 5, "h")
