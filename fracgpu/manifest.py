"""YAML or JSON documents -> NodePools, with the file, line and column of whatever is wrong with them.

Values are read first and alone, since that is all a valid file needs; the positions of a document are worked out only
when something in it has to be pointed at.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from fracgpu.errors import Finding, Invalid
from fracgpu.mistakes import explain_problem, shown
from fracgpu.spec import API_VERSION, NodePool
from fracgpu.textfile import read_text

if TYPE_CHECKING:
    from fracgpu.yamltext import Part

SUFFIXES = (".yaml", ".yml", ".json")


@dataclass(frozen=True)
class Origin:
    """Where a NodePool was written: the file (`-` is standard input), and which part of it; "" and None for flags."""

    file: str
    part: Part | None = None
    inside: tuple[str | int, ...] = ()
    """The path to the NodePool inside the document, where it is an item of a list."""

    def locate(self, path: Sequence[str | int]) -> tuple[int, int] | None:
        """Line and column, from 1, of the deepest part of `path` that was written."""
        if self.part is None:
            return None
        root = node = self.part.root
        mark = None
        for step in (*self.inside, *path):
            key, node = _step(node, step)
            mark = key.start_mark if key is not None else mark
            if node is None:
                break
        mark = mark or (root and root.start_mark)
        return self.part.place(mark) if mark else None

    def written(self, path: Sequence[str | int], *, key: bool = False) -> str | None:
        """The word that stands at `path`, or names it, before YAML made a value of it; None where there is none."""
        named = node = self.part.root if self.part else None
        for step in (*self.inside, *path):
            named, node = _step(node, step)
        word: Any = named if key else node
        return str(word.value) if getattr(word, "id", None) == "scalar" else None

    def place_roughly(self, finding: Finding) -> Finding:
        """The finding with its file and the line where its document begins: cheap, for notes on thousands of pools."""
        return finding if finding.file else finding.at(self.file, self.part.line + 1 if self.part else None, None)

    def place(self, finding: Finding) -> Finding:
        """The finding with its file, line and column."""
        if finding.file or finding.field is None:
            return finding if finding.file else finding.at(self.file, None, None)
        line, column = self.locate(_split(finding.field)) or (None, None)
        return finding.at(self.file, line, column)


def _step(node: Any, step: str | int) -> tuple[Any, Any]:
    """What names a child of a YAML node (its key; in a list itself), and the child."""
    kind = getattr(node, "id", None)
    if kind == "mapping":
        from fracgpu.yamltext import is_key

        return next((pair for pair in node.value if is_key(pair[0], step)), (None, None))
    if kind == "sequence" and isinstance(step, int) and step < len(node.value):
        return node.value[step], node.value[step]
    return None, None


def _split(field_path: str) -> list[str | int]:
    """`spec.taints[0].key` as steps. A label's key may hold dots: everything after `labels.` or `tags.` is one step."""
    for owner in ("spec.labels.", "spec.tags.", "spec.sharing.mig.layout."):
        if field_path.startswith(owner):
            return [*owner.rstrip(".").split("."), field_path[len(owner) :]]
    steps: list[str | int] = []
    for part in field_path.split("."):
        name, *indexes = part.split("[")
        steps.append(name)
        steps.extend(int(index.rstrip("]")) for index in indexes if index.rstrip("]").isdecimal())
    return steps


def document_of(pool: NodePool) -> dict[str, Any]:
    """The pool as a document of plain data, in the file form's order, with nothing in it that says nothing."""
    body: dict[str, Any] = pool.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {key: _without_empty(value) for key, value in body.items() if key in ("apiVersion", "kind") or value}


def _without_empty(value: Any) -> Any:
    """The value without empty mappings and lists at any key; items of lists stay, since their place has a meaning."""
    if not isinstance(value, dict):
        return value
    inner = {key: _without_empty(one) for key, one in value.items()}
    return {key: one for key, one in inner.items() if one not in ({}, [])}


@dataclass(frozen=True)
class Document:
    """One NodePool, and where it stands."""

    pool: NodePool
    origin: Origin
    guessed: bool = False
    """Its cluster is known only from the kubectl context: a person is asked, a script needs --yes."""


def read_paths(paths: Iterable[str]) -> list[Document]:
    """All NodePools of files, folders (every .yaml, .yml and .json in them) and `-`, in order.

    Raises Invalid with every finding of every document.
    """
    documents: list[Document] = []
    findings: list[Finding] = []
    for name in paths:
        try:
            files = _files(name)
        except Invalid as error:
            findings += error.findings
            continue
        for file in files:
            try:
                documents += read(_text(file), file)
            except Invalid as error:
                findings += error.findings
    if findings:
        raise Invalid(findings)
    return documents


LONGEST_PATH = 300
HINT = "-f FILE, a folder, or - for standard input"


def texts(paths: Iterable[str]) -> list[tuple[str, str]] | None:
    """The files that these paths mean, each with its text; None where one of them can be read once only."""
    files = [file for name in paths for file in _files(name)]
    if not all(Path(file).is_file() for file in files):
        return None
    return [(file, _text(file)) for file in files]


def _files(name: str) -> list[str]:
    """The files that a path of -f means: itself, or those of a folder, but for hidden ones."""
    if name == "-":
        return [name]
    if not name:
        raise Invalid.one("usage", "-f names no file", field="-f", hint=HINT)
    try:
        if not stat.S_ISDIR(Path(name).stat().st_mode):
            return [name]
        files = sorted(_inside(name))
    except (OSError, ValueError) as error:
        raise Invalid([_unreadable(name, error)]) from error
    if not files:
        raise Invalid.one("usage", f"no .yaml, .yml or .json file in {name}", field="-f", hint=HINT)
    return [str(file) for file in files]


def _inside(folder: str) -> Iterator[Path]:
    """Pipes and the like are passed over, since reading one may never end. Raises OSError for a folder that is shut."""
    for place, folders, files in os.walk(folder, onerror=_raise):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            path = Path(place, name)
            wanted = path.suffix.lower() in SUFFIXES and not name.startswith(".")
            if wanted and (path.is_file() or not path.exists()):
                yield path


def _raise(error: OSError) -> None:
    raise error


def _text(name: str) -> str:
    """The text of a file or of standard input. Raises Invalid."""
    try:
        return read_text(name)
    except UnicodeDecodeError as error:
        message, hint = f"{name} is not UTF-8 text", "save it as UTF-8"
        raise Invalid([Finding("invalid-value", message, file=name, hint=hint)]) from error
    except (OSError, ValueError) as error:
        raise Invalid([_unreadable(name, error)]) from error


def _unreadable(name: str, error: Exception) -> Finding:
    reason = getattr(error, "strerror", None) or error
    path = str(getattr(error, "filename", None) or name)
    return Finding(
        "usage", f"cannot read {path if len(path) < LONGEST_PATH else shown(path)}: {reason}", field="-f", hint=HINT
    )


def read(text: str, file: str) -> list[Document]:
    """The NodePools of one text. Raises Invalid with every finding."""
    import yaml  # flags need none of it

    documents: list[Document] = []
    findings: list[Finding] = []
    try:
        for value, origin in _values(text, file):
            try:
                pool = NodePool.model_validate(value if origin.inside else _checked(value, origin))
                documents.append(Document(pool, origin))
            except Invalid as error:
                findings += error.findings
            except ValidationError as error:
                findings += (_finding(problem, origin) for problem in error.errors(include_url=False))
    except yaml.YAMLError as error:
        findings.append(_syntax(error, text, file))
    if not documents and not findings:
        findings.append(Finding("missing-field", f"{file} holds no NodePool", file=file, hint="kind: NodePool"))
    if findings:
        raise Invalid(sorted(findings, key=lambda one: (one.line or 0, one.column or 0)))
    return documents


def _values(text: str, file: str) -> Iterator[tuple[Any, Origin]]:
    """Each document that should be a NodePool; lists of NodePools are taken apart, empty documents passed over."""
    from fracgpu.yamltext import load_parts

    for value, part in load_parts(text):
        if value is None:
            continue
        if (
            isinstance(value, dict)
            and str(value.get("kind", "")).endswith("List")
            and isinstance(value.get("items"), list)
        ):
            for number, item in enumerate(value["items"]):
                yield item, Origin(file, part, ("items", number))
        else:
            yield value, Origin(file, part)


def _checked(value: Any, origin: Origin) -> Any:
    """A document that says what it is; a missing apiVersion or kind is an error: other tools' files look alike."""
    if not isinstance(value, dict):
        line, column = origin.locate(()) or (None, None)
        finding = Finding("invalid-value", "a NodePool is a mapping", hint="fracgpu schema")
        raise Invalid([finding.at(origin.file, line, column)])
    for key, wanted in (("apiVersion", API_VERSION), ("kind", "NodePool")):
        if value.get(key) != wanted:
            came = f"{key} is {shown(repr(value[key]))}" if key in value else f"{key} is missing"
            code = "invalid-value" if key in value else "missing-field"
            finding = Finding(
                code, f"{came}; this file form is {wanted}", field=key, hint=f"{key}: {wanted}", nearest=(wanted,)
            )
            raise Invalid([origin.place(finding)])
    return value


def _syntax(error: Exception, text: str, file: str) -> Finding:
    from fracgpu.yamltext import problem_of

    problem, place = problem_of(error, text)
    line, column = place or (None, None)
    tab = place is not None and text.split("\n")[place[0] - 1][place[1] - 1 : place[1]] == "\t"
    hint = "indent with spaces, not with tabs" if tab else None
    return Finding("invalid-value", f"not valid YAML: {problem}", file=file, line=line, column=column, hint=hint)


def _finding(problem: Any, origin: Origin) -> Finding:
    """A problem of pydantic's in our words."""
    steps = tuple(step for step in problem["loc"] if step != "[key]")
    raw = origin.written(steps, key="[key]" in problem["loc"])
    named = (*steps[:-1], raw) if raw and "[key]" in problem["loc"] else steps
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in named).lstrip(".")
    context = problem.get("ctx") or {}
    finding = explain_problem(problem["type"], path, problem.get("input"), problem["msg"], context, raw)
    line, column = origin.locate(steps) or (None, None)
    return finding.at(origin.file, line, column)
