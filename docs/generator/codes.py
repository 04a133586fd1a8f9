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
SAYS_NOTE = frozenset({"info", "warning"})


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
    """Every note code with its level, as the program's source says them."""
    found: dict[str, set[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        if "sandbox" in path.relative_to(PACKAGE).parts:
            continue
        for level, name in _notes_in(ast.parse(path.read_text(encoding="utf-8"))):
            found.setdefault(name, set()).add(level)
    return {name: " or ".join(sorted(levels)) for name, levels in sorted(found.items())}


def _notes_in(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SAYS_NOTE and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield node.func.id, first.value


def words(kind: str) -> dict[str, Words]:
    """The words of each code of a kind, `error` or `note`."""
    written = tomllib.loads(WORDS.read_text(encoding="utf-8"))
    return {key: Words(**row) for key, row in written[kind].items()}


def without_words() -> list[str]:
    """The codes of the program about which codes.toml says nothing."""
    return [f"{kind} {name}" for kind, found in _known() for name in found if name not in words(kind)]


def without_code() -> list[str]:
    """What codes.toml explains and the program never says."""
    return [f"{kind} {name}" for kind, found in _known() for name in words(kind) if name not in found]


def _known() -> tuple[tuple[str, Collection[str]], ...]:
    return ("error", error_codes()), ("note", note_codes())


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
    """Every note code."""
    said = words("note")
    lead = (
        "A note says what is worth knowing and stops nothing; `--strict` makes an error of every warning "
        "(`warnings-as-errors`). Notes go to stderr, and into `notes` of a JSON answer."
    )
    found = {name: level.replace("info", "note") for name, level in note_codes().items()}
    rows = [[level, code(name), said[name].means, said[name].do] for name, level in found.items()]
    return page("Notes", "the source and docs/generator/codes.toml", lead, table(("level", *COLUMNS[1:]), rows))
