"""What became of pools, printed."""

from __future__ import annotations

from fracgpu.cli import output
from fracgpu.cli.output import Output, say_notes
from fracgpu.operations.outcome import Item, Result


def show_result(result: Result, out: Output) -> None:
    """Print a Result; notes stand in the document, or on stderr where the answer is a table."""
    if output.write_document(out, "Result", result.to_json()):
        return
    if out is Output.NAME:
        output.write("\n".join(f"nodepool/{item.name}" for item in result.items))
        return
    for item in result.items:
        output.write(_line(item))
    say_notes((*result.notes, *(note for item in result.items for note in item.notes)))


def _line(item: Item) -> str:
    where = f"{item.cluster.provider.upper()} cluster {item.cluster.name}"
    said = (
        item.outcome.value
        if item.outcome.value != "done"
        else {"create": "created", "delete": "deleted"}.get(item.action.value, "done")
    )
    return f"nodepool/{item.name} {said} ({where})"
