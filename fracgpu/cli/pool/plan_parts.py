"""A very long file planned offline by several processes: each takes some of the documents and gives back text.

Nothing differs in the answer; a file of ten thousand pools is planned in half the time. Where a document is wrong, or
it is not worth it, nobody has an answer here and the usual way gives it.
"""

from __future__ import annotations

import json
import marshal
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from fracgpu.catalog.load import load
from fracgpu.cli import output
from fracgpu.cli.output import Output
from fracgpu.cli.show_plan import change_head
from fracgpu.cli.spec_of import with_cluster
from fracgpu.cli.streams import to_stderr
from fracgpu.errors import Finding, Invalid
from fracgpu.manifest import read, texts
from fracgpu.operations.planning import Choices
from fracgpu.operations.prepare import prepare_all
from fracgpu.plan import Change, creation

WORTH = 1_000
"""Documents that a process should have, so that starting it pays."""
BORDER = "\n---"


class Piece(NamedTuple):
    """Some whole documents of a file, behind as many empty lines as stand before them there."""

    file: str
    text: str


class Answer(NamedTuple):
    """One line of text a change, a note's place and text (in JSON the text is all), and what tells the pools apart."""

    changes: list[str]
    notes: list[tuple[str, str]]
    pools: list[str]


def plan_in_parts(files: Sequence[str], choices: Choices, out: Output, *, strict: bool) -> bool:
    """Print the offline plan; False, with nothing printed, where the usual way must."""
    if out not in (Output.TABLE, Output.JSON, Output.NAME) or not hasattr(os, "fork"):
        return False
    try:
        written = texts(files) or []
    except Invalid:
        return False
    workers = min(os.cpu_count() or 1, sum(text.count(BORDER) for _, text in written) // WORTH)
    if workers < 2:
        return False
    groups = shared_out(written, workers)
    answers = in_processes([partial(answer, group, choices, out, strict=strict) for group in groups])
    pools = [pool for one in answers if one for pool in one.pools]
    if None in answers or len(set(pools)) < len(pools):
        return False
    _print([one for one in answers if one], out)
    return True


def shared_out(written: Sequence[tuple[str, str]], workers: int) -> list[list[Piece]]:
    """The documents in order, in groups of about as much text."""
    groups: list[list[Piece]] = [[] for _ in range(workers)]
    share, done = sum(len(text) for _, text in written) / workers, 0
    for file, text in written:
        for piece, size in _pieces(file, text, int(share)):
            groups[min(int(done / share), workers - 1)].append(piece)
            done += size
    return groups


def _pieces(file: str, text: str, size: int) -> Iterator[tuple[Piece, int]]:
    """Pieces of at least this many characters, and how many each has."""
    begin = line = 0
    while begin < len(text):
        border = text.find(BORDER, begin + size)
        end = len(text) if border < 0 else border + 1
        part = text[begin:end]
        yield Piece(file, "\n" * line + part), len(part)
        begin, line = end, line + part.count("\n")


def answer(pieces: Sequence[Piece], choices: Choices, out: Output, *, strict: bool) -> Answer | None:
    """The plan of some documents; None where one of them is wrong, or its cluster a guess that must be said."""
    try:
        found = [with_cluster(one) for piece in pieces for one in read(piece.text, piece.file)]
        if any(one.guessed for one in found):
            return None
        prepared = [one.marked(choices.fleet) for one in prepare_all(found, load(), strict=strict)]
    except Invalid:
        return None
    change_line, note_lines = _lines(out)
    changes = [change_line(creation(resource)) for one in prepared for resource in one.resources]
    pools = [repr((one.pool.cluster, one.pool.name)) for one in prepared]
    return Answer(changes, note_lines([note for one in prepared for note in one.notes]), pools)


def _lines(out: Output) -> tuple[Callable[[Change], str], Callable[[list[Finding]], list[tuple[str, str]]]]:
    if out is Output.JSON:
        encode = json.JSONEncoder(ensure_ascii=False).encode
        return lambda change: encode(change.to_json()), lambda notes: [("", encode(note.to_json())) for note in notes]
    line = change_head if out is Output.TABLE else lambda change: f"nodepool/{change.pool}"
    return line, lambda notes: [output.place_and_text(note) for note in notes if output.is_said(note)]


def _print(answers: Sequence[Answer], out: Output) -> None:
    changes = [line for one in answers for line in one.changes]
    notes = [note for one in answers for note in one.notes]
    if out is Output.JSON:
        output.write_lines("Plan", {"changes": changes, "notes": [text for _, text in notes]})
        return
    if out is Output.NAME:
        output.write("\n".join(dict.fromkeys(changes)))
        return
    output.write("\n".join([*changes, f"Plan: {len(changes)} to create."]))
    to_stderr("".join(line + "\n" for line in output.folded(notes)))


def in_processes(tasks: Sequence[Callable[[], Answer | None]]) -> list[Answer | None]:
    """Each task's answer: the first by this process, the others by copies of it. None for a copy that failed."""
    children = [_begun(task) for task in tasks[1:]]
    first = tasks[0]()
    return [first, *(_ended(pid, pipe) for pid, pipe in children)]


def _begun(task: Callable[[], Answer | None]) -> tuple[int, int]:
    """A copy of this process at work on a task, and the pipe into which it writes its answer."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    code = 1
    try:
        found = task()
        with os.fdopen(writing, "wb") as pipe:
            marshal.dump(tuple(found) if found else None, pipe)
        code = 0
    finally:
        os._exit(code)


def _ended(pid: int, reading: int) -> Answer | None:
    with os.fdopen(reading, "rb") as pipe:
        written = pipe.read()
    _, status = os.waitpid(pid, 0)
    found = marshal.loads(written) if status == 0 else None  # noqa: S302 - our own copy wrote it
    return Answer(*found) if found else None
