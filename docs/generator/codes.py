"""errors.md and notes.md: every code of the program, what it means and what to do about it.

Which codes there are, and their exit codes, is read from the program; the words are in codes.toml.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import fracgpu
from docs.generator.markdown import code, page, table
from fracgpu.errors import INVALID_CODES, FracgpuError, Invalid

WORDS = Path(__file__).with_name("codes.toml")
PACKAGE = Path(fracgpu.__file__).parent
MAKERS = {"info": "info", "warning": "warning", "Finding": ""}
"""Calls that make a finding, with the level that they give it; a Finding says its level itself, else it is an error."""
NOTE_LEVELS = ("info", "warning")


@dataclass(frozen=True, slots=True)
class Words:
    """What the table says of a code."""

    means: str
    do: str


def error_codes() -> dict[str, int]:
    """Every error code with its exit code."""
    found = dict.fromkeys(INVALID_CODES, Invalid.exit_code)
    for kind in _subclasses(FracgpuError):
        if isinstance(vars(kind).get("code"), str):
            found[vars(kind)["code"]] = kind.exit_code
    return {FracgpuError.code: FracgpuError.exit_code, **found}


def _subclasses(kind: type[FracgpuError]) -> Iterator[type[FracgpuError]]:
    for one in kind.__subclasses__():
        yield one
        yield from _subclasses(one)


def note_codes() -> dict[str, str]:
    """Every note code with its level."""
    found: dict[str, set[str]] = {}
    for level, name in _said():
        if level in NOTE_LEVELS:
            found.setdefault(name, set()).add(level)
    return {name: " or ".join(sorted(levels)) for name, levels in sorted(found.items())}


def problem_codes() -> list[str]:
    """What verification finds wrong with a node or pool: findings that are no error of the program's own."""
    errors = error_codes()
    return sorted({name for level, name in _said() if level not in NOTE_LEVELS and name not in errors})


def _said() -> Iterator[tuple[str, str]]:
    """The level and code of every finding that the program's source makes."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if "sandbox" not in path.relative_to(PACKAGE).parts:
            yield from _said_in(ast.parse(path.read_text(encoding="utf-8")))


def _said_in(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            code, *rest = node.args
            if node.func.id in MAKERS and isinstance(code, ast.Constant) and isinstance(code.value, str):
                levels = [one.attr.lower() for one in rest if isinstance(one, ast.Attribute)]
                yield MAKERS[node.func.id] or next(iter(levels), "error"), code.value


def words(kind: str) -> dict[str, Words]:
    """The words of each code of a kind: `error`, `note` or `problem`."""
    written = tomllib.loads(WORDS.read_text(encoding="utf-8"))
    return {key: Words(**row) for key, row in written[kind].items()}


def note_words() -> dict[str, Words]:
    """The words of notes. An error code that is a warning elsewhere means the same there."""
    return {**words("error"), **words("note")}


def without_words() -> list[str]:
    """The codes of the program about which codes.toml says nothing."""
    said = {"error": words("error"), "note": note_words(), "problem": words("problem")}
    return [f"{kind} {name}" for kind, found in _known() for name in found if name not in said[kind]]


def without_code() -> list[str]:
    """What codes.toml explains and the program never says."""
    return [f"{kind} {name}" for kind, found in _known() for name in words(kind) if name not in found]


def _known() -> tuple[tuple[str, Collection[str]], ...]:
    return ("error", error_codes()), ("note", note_codes()), ("problem", problem_codes())


def errors() -> str:
    """Every error code by its exit code."""
    said = words("error")
    found = sorted(error_codes().items(), key=lambda pair: (pair[1], list(said).index(pair[0])))
    lead = (
        "An error goes to stderr, once; with `-o json` as one JSON document with `code`, `exitCode`, `message`, "
        "`hint`, `field`, `file`, `line`, `column`, `nearest`, `detail` and all findings in `errors`. Exit 0 is "
        "done or unchanged, 20 means that changes are pending (only with `--detailed-exitcode`)."
    )
    rows = [[exit_code, code(name), said[name].means, said[name].do] for name, exit_code in found]
    return page("Errors", "fracgpu/errors.py and docs/generator/codes.toml", lead, table(COLUMNS, rows))


COLUMNS = ("exit", "code", "means", "what to do")


def notes() -> str:
    """Every note code, then every problem code."""
    said, wrong = note_words(), words("problem")
    lead = (
        "A note says what is worth knowing and stops nothing; `--strict` makes an error of every warning "
        "(`warnings-as-errors`). Notes go to stderr, and into `notes` of a JSON answer."
    )
    found = {name: level.replace("info", "note") for name, level in note_codes().items()}
    rows = [[level, code(name), said[name].means, said[name].do] for name, level in found.items()]
    problems = [[code(name), wrong[name].means, wrong[name].do] for name in problem_codes()]
    return page(
        "Notes",
        "the source and docs/generator/codes.toml",
        lead,
        table(("level", *COLUMNS[1:]), rows),
        "## Problems of nodes",
        PROBLEMS,
        table(COLUMNS[1:], problems),
    )


PROBLEMS = """\
What `pool verify` finds wrong; with `-o json` in `problems` of a node. The command then ends in `slices-missing`,
exit 6."""
