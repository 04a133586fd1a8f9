"""`fracgpu convert`: a command of az, gcloud or aws -> NodePool YAML."""

from __future__ import annotations

from typing import Annotated

import typer

from fracgpu.cli import output
from fracgpu.cli.lazy import takes_flags_of_others
from fracgpu.cli.output import ManifestOption, Output, say_notes
from fracgpu.convert import convert as converted
from fracgpu.errors import Invalid
from fracgpu.manifest import document_of
from fracgpu.textfile import read_text

WORDS_HELP = "The command after --, as words or as one quoted line; - reads it from standard input"


@takes_flags_of_others
def convert(
    words: Annotated[list[str], typer.Argument(metavar="COMMAND...", help=WORDS_HELP, show_default=False)],
    out: ManifestOption = Output.YAML,
) -> None:
    """The NodePool that a command of az, gcloud or aws would make; what became of each flag is a note."""
    conversion = converted([_standard_input()] if words == ["-"] else words)
    document = document_of(conversion.pool)
    body = {key: value for key, value in document.items() if key not in ("apiVersion", "kind")}
    match out:
        case Output.JSON:
            notes = [note.to_json() for note in conversion.notes]
            output.write_json({**output.document("NodePool", body), "notes": notes})
            return
        case Output.NAME:
            output.write(f"nodepool/{conversion.pool.metadata.name}")
        case _:
            output.write(output.to_yaml(output.document("NodePool", body)))
    say_notes(conversion.notes)


def _standard_input() -> str:
    try:
        return read_text("-")
    except (OSError, ValueError) as error:
        raise Invalid.one("usage", f"standard input cannot be read: {error}", hint="a command in UTF-8") from error
