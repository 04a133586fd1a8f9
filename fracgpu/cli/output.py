"""What is printed, and where: the answer on stdout, everything else on stderr. All of rich is behind this module."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer

from fracgpu.cli import yaml_text
from fracgpu.cli.globals import GLOBALS
from fracgpu.cli.streams import spells_all, to_stderr, to_stdout
from fracgpu.errors import Finding, FracgpuError, Invalid, Level


class Output(StrEnum):
    """Forms of an answer. `svg` exists where there is a picture."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"
    SVG = "svg"


def _form(forms: str) -> Any:
    return typer.Option("-o", "--output", help=forms, metavar="FORM", show_default=False)


OutputOption = Annotated[Output, _form("table, json, yaml or name")]
TableOption = Annotated[Output, _form("table, json or yaml")]
WideOption = Annotated[Output, _form("table, wide, json, yaml or name")]
DocumentOption = Annotated[Output, _form("yaml, json, table or name")]
ManifestOption = Annotated[Output, _form("yaml, json or name")]
TextOption = Annotated[Output, _form("json or yaml: the text and its notes in one document")]
DrawnOption = Annotated[Output, _form("table, wide (with pictures), json, yaml, name or svg")]
PictureOption = Annotated[Output, _form("table, json, yaml, name or svg")]
"""What `-o` takes, by what a command has to show. Every command takes every word: `wide` is a table where nothing is
left to show."""


def document(kind: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """An answer with its head: apiVersion, kind, and `sandbox` where the sandbox gave it."""
    from fracgpu.spec import API_VERSION

    head: dict[str, Any] = {"apiVersion": API_VERSION, "kind": kind}
    if GLOBALS.sandbox:
        head["sandbox"] = True
    return {**head, **body}


def write(text: str) -> None:
    """Text to stdout, ending in one newline. A reader that has gone away (`| head`) is no error."""
    to_stdout(text if text.endswith("\n") else text + "\n")


LONG = 500
"""Members of a list beyond which each stands on one line: nobody reads them, and indenting takes most of the time."""


def write_json(value: Any) -> None:
    write(json_text(value))


def json_text(value: Any) -> str:
    """Indented JSON; the items of a long list at the top, one a line."""
    if not isinstance(value, Mapping) or all(not isinstance(one, list) or len(one) < LONG for one in value.values()):
        return json.dumps(value, indent=2, ensure_ascii=False)
    members = [f"  {json.dumps(key)}: {_member(one)}" for key, one in value.items()]
    return "{\n" + ",\n".join(members) + "\n}"


def _member(value: Any) -> str:
    if not isinstance(value, list) or len(value) < LONG:
        return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n  ")
    return _one_a_line(map(json.JSONEncoder(ensure_ascii=False).encode, value))


def _one_a_line(items: Iterable[str]) -> str:
    return "[\n    " + ",\n    ".join(items) + "\n  ]"


def write_lines(kind: str, lists: Mapping[str, Sequence[str]]) -> None:
    """A JSON document of lists whose items are JSON already, as `write_json` would have it."""
    head = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in document(kind, {}).items()]
    members = [f"  {json.dumps(key)}: {_encoded(items)}" for key, items in lists.items()]
    write("{\n" + ",\n".join([*head, *members]) + "\n}")


def _encoded(items: Sequence[str]) -> str:
    return _one_a_line(items) if len(items) >= LONG else _member([json.loads(item) for item in items])


to_yaml = yaml_text.to_yaml


def write_document(output: Output, kind: str, body: Mapping[str, Any], *, picture: bool = False) -> bool:
    """Print a document as JSON or YAML; False where another form was asked for.

    Raises Invalid for a picture where there is none.
    """
    match output:
        case Output.JSON:
            write_json(document(kind, body))
        case Output.YAML:
            write(to_yaml(document(kind, body)))
        case Output.SVG if not picture:
            message = "there is no picture of this"
            hint = "-o svg is for: catalog layouts, catalog profiles, pool explain"
            raise Invalid.one("usage", message, field="--output", hint=hint)
        case _:
            return False
    return True


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A plain table: columns as wide as their longest cell, nothing cut off when piped."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max([len(name), *(len(row[index]) for row in cells)]) for index, name in enumerate(columns)]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in ([*columns], *cells)
    ]
    if colour(sys.stdout):
        lines[0] = f"\x1b[1m{lines[0]}\x1b[0m"
    write("\n".join(lines))


def render(thing: Any) -> None:
    """Something of rich's to stdout: as wide as the terminal, 100 columns when piped."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else 100
    system: Any = "auto" if colour(sys.stdout) else None
    console = Console(file=sys.stdout, color_system=system, width=width, highlight=False)
    with console.capture() as captured:
        console.print(thing)
    write(captured.get())


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return printable(str(value))


def printable(text: str) -> str:
    """Text of one line that no terminal and no CI runner would obey."""
    return text if text.isprintable() else " ".join("".join(map(_shown, text)).split("\n"))


def _shown(letter: str) -> str:
    return letter if letter.isprintable() or letter == "\n" else letter.encode("unicode_escape").decode()


def colour(stream: Any) -> bool:
    """Colour only for a person: a terminal, no NO_COLOR, no --no-color, no dumb terminal."""
    return bool(stream.isatty()) and not GLOBALS.no_color and os.environ.get("TERM") != "dumb"


def say(text: str) -> None:
    """A line on stderr, unless -q."""
    if not GLOBALS.quiet:
        to_stderr(text + "\n")


GLYPHS = {Level.ERROR: ("error", "31"), Level.WARNING: ("warning", "33"), Level.INFO: ("note", "36")}


def painted(text: str, code: str, stream: Any = None) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if colour(stream or sys.stderr) else text


def finding_text(finding: Finding) -> str:
    """A finding for a person: where, what, which would be right, what to do."""
    return placed(*place_and_text(finding))


def placed(place: str, text: str) -> str:
    return f"{place}: {text}" if place else text


def place_and_text(finding: Finding) -> tuple[str, str]:
    """Where a finding is, and the rest of it for a person."""
    word, code = GLYPHS[finding.level]
    place = ":".join(str(part) for part in (finding.file, finding.line, finding.column) if part)
    lines = [f"{painted(word, code)} {finding.code}: {printable(finding.message)}"]
    if finding.nearest and not any(value in (finding.hint or "") for value in finding.nearest):
        lines.append(f"  nearest: {printable(', '.join(finding.nearest))}")
    if finding.hint:
        lines.append(f"  hint: {printable(finding.hint)}")
    if finding.link and GLOBALS.verbose:
        lines.append(f"  see: {finding.link}")
    return printable(place), "\n".join(lines)


def say_notes(notes: Sequence[Finding]) -> None:
    """Notes on stderr: warnings always, the rest unless -q; what is true of many pools is said once."""
    for text in folded(place_and_text(note) for note in notes if is_said(note)):
        to_stderr(text + "\n")


PLACES = 5
"""How many of the places of one note a person is shown."""


def folded(notes: Iterable[tuple[str, str]]) -> list[str]:
    """Each text once, in order of first mention, with the places that it is true of."""
    places: dict[str, list[str]] = {}
    for place, text in notes:
        places.setdefault(text, []).append(place)
    return [placed(at[0], text) + _also(at[1:PLACES], len(at)) for text, at in places.items()]


def _also(others: Sequence[str], count: int) -> str:
    shown = ", ".join(dict.fromkeys(place for place in others if place))
    more = f" and {count - PLACES} more" if count > PLACES else ""
    return f"\n  also: {shown}{more}" if shown else ""


def is_said(note: Finding) -> bool:
    return note.level is Level.WARNING or not GLOBALS.quiet


def say_error(error: FracgpuError) -> None:
    """An error, once: as JSON where the answer was asked for as JSON, else for a person."""
    if GLOBALS.json:
        plain = not spells_all(sys.stderr)
        to_stderr(json.dumps(document("Error", error.to_json()), indent=2, ensure_ascii=plain) + "\n")
        return
    for finding in error.findings:
        to_stderr(finding_text(finding) + "\n")
        if os.environ.get("GITHUB_ACTIONS") == "true" and finding.file:
            place = f"file={printable(finding.file)},line={finding.line or 1},col={finding.column or 1}"
            to_stderr(f"::error {place},title={finding.code}::{printable(finding.message)}\n")
