"""What became of pools, printed."""

from __future__ import annotations

import os
from pathlib import Path

from fracgpu.cli import output
from fracgpu.cli.output import Output, say_notes
from fracgpu.cli.streams import to_stderr
from fracgpu.operations.outcome import Item, Outcome, Result
from fracgpu.plan import Action

DONE = {
    Action.CREATE: "created",
    Action.UPDATE: "changed",
    Action.REPLACE: "replaced",
    Action.DELETE: "deleted",
    Action.NO_OP: "ready",
}


def show_result(result: Result, out: Output) -> None:
    """Print a Result; notes stand in the document, or on stderr where the answer is a table."""
    _tell_github(result)
    if output.write_document(out, "Result", result.to_json()):
        return
    if out is Output.NAME:
        output.write("\n".join(f"nodepool/{item.name}" for item in result.items))
        return
    for item in result.items:
        output.write(item_line(item))
    say_notes((*result.notes, *(note for item in result.items for note in item.notes)))


def item_line(item: Item) -> str:
    where = f"{item.cluster.provider.upper()} cluster {item.cluster.name}"
    said = (item.word or DONE[item.action]) if item.outcome is Outcome.DONE else item.outcome.value
    return f"nodepool/{item.name} {said} ({where})"


def _tell_github(result: Result) -> None:
    """In GitHub Actions, an annotation for each pool that failed and a table in the step's summary."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return
    for item in result.items:
        if item.error and len(result.items) > 1:
            message = item.error.message.replace("\n", "%0A")
            to_stderr(f"::error title={item.error.code}::{item.name} ({item.cluster.name}): {message}\n")
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if not summary:
        return
    rows = [f"| {one.name} | {one.cluster.name} | {one.action.value} | {one.outcome.value} |" for one in result.items]
    table = ["| pool | cluster | action | outcome |", "| --- | --- | --- | --- |", *rows, ""]
    try:
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write("\n".join(table))
    except OSError as error:  # it is the runner's file; the pools are made
        output.say(f"the step's summary cannot be written: {error.strerror}")
