"""YAML or JSON documents -> NodePools, with the file, line and column of whatever is wrong with them.

Values are read first and alone, since that is all a valid file needs; the positions of a document are worked out only
when something in it has to be pointed at.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from fracgpu.errors import INVALID_CODES, Finding, Invalid
from fracgpu.spec import API_VERSION, NodePool

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
            node, found = _step(node, step)
            mark = found or mark
            if node is None:
                break
        mark = mark or (root and root.start_mark)
        return self.part.place(mark) if mark else None

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
    """The child of a YAML node, and the mark of where it is named."""
    kind = getattr(node, "id", None)
    if kind == "mapping":
        for key, value in node.value:
            if key.value == str(step):
                return value, key.start_mark
    elif kind == "sequence" and isinstance(step, int) and step < len(node.value):
        return node.value[step], node.value[step].start_mark
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
    for file, text in _texts(paths):
        try:
            documents += read(text, file)
        except Invalid as error:
            findings += error.findings
    if findings:
        raise Invalid(findings)
    return documents


def _texts(paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    for name in paths:
        if name == "-":
            yield "-", _decoded(sys.stdin.buffer.read(), "-")
            continue
        path = Path(name)
        files = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES) if path.is_dir() else [path]
        if not files:
            raise Invalid.one("usage", f"no .yaml, .yml or .json file in {name}", field="-f")
        for file in files:
            yield str(file), _decoded(_bytes(file), str(file))


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise Invalid.one("usage", f"cannot read {file}: {error.strerror}", field="-f") from error


def _decoded(raw: bytes, file: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid([Finding("invalid-value", f"{file} is not UTF-8 text", file=file)]) from error


def read(text: str, file: str) -> list[Document]:
    """The NodePools of one text. Raises Invalid with every finding."""
    documents: list[Document] = []
    findings: list[Finding] = []
    for value, origin in _values(text, file):
        try:
            documents.append(Document(NodePool.model_validate(value), origin))
        except ValidationError as error:
            findings += (_finding(problem, origin) for problem in error.errors(include_url=False))
        except RecursionError:
            findings.append(Finding("invalid-value", "nested too deeply", file=file))
    if not documents and not findings:
        findings.append(Finding("missing-field", f"{file} holds no NodePool", file=file, hint="kind: NodePool"))
    if findings:
        raise Invalid(findings)
    return documents


def _values(text: str, file: str) -> Iterator[tuple[Any, Origin]]:
    """Each document that should be a NodePool; lists of NodePools are taken apart, empty documents passed over."""
    import yaml  # flags need none of it

    from fracgpu.yamltext import load_parts

    try:
        for value, part in load_parts(text):
            if value is None:
                continue
            origin = Origin(file, part)
            if (
                isinstance(value, dict)
                and str(value.get("kind", "")).endswith("List")
                and isinstance(value.get("items"), list)
            ):
                for number, item in enumerate(value["items"]):
                    yield item, Origin(file, part, ("items", number))
            else:
                yield _checked(value, origin), origin
    except yaml.YAMLError as error:
        raise Invalid([_syntax(error, file)]) from error


def _checked(value: Any, origin: Origin) -> Any:
    """A document that says what it is; a missing apiVersion or kind is an error: other tools' files look alike."""
    if not isinstance(value, dict):
        raise Invalid([Finding("invalid-value", "a NodePool is a mapping", file=origin.file, hint="fracgpu schema")])
    for key, wanted in (("apiVersion", API_VERSION), ("kind", "NodePool")):
        if value.get(key) != wanted:
            came = f"{key} is {value[key]!r}" if key in value else f"{key} is missing"
            code = "invalid-value" if key in value else "missing-field"
            finding = Finding(
                code, f"{came}; this file form is {wanted}", field=key, hint=f"{key}: {wanted}", nearest=(wanted,)
            )
            raise Invalid([origin.place(finding)])
    return value


def _syntax(error: Exception, file: str) -> Finding:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "cannot be read as YAML"
    line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
    return Finding("invalid-value", f"not valid YAML: {problem}", file=file, line=line, column=column)


def _finding(problem: Any, origin: Origin) -> Finding:
    """A problem of pydantic's in our words."""
    steps = tuple(step for step in problem["loc"] if step != "[key]")
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).lstrip(".")
    finding = explain_problem(problem["type"], path, problem.get("input"), problem["msg"], problem.get("ctx") or {})
    line, column = origin.locate(steps) or (None, None)
    return finding.at(origin.file, line, column)


def explain_problem(kind: str, path: str, written: Any, text: str, context: Any) -> Finding:
    """One validation problem as a finding. `path` is the field, `written` what stood there, `text` pydantic's own
    message."""
    name = path.rsplit(".", 1)[-1]
    if kind == "extra_forbidden":
        near = tuple(difflib.get_close_matches(name, _known_keys(path), 3, 0.5))
        return Finding("unknown-key", f"unknown key {name}", field=path, nearest=near, hint=_did_you_mean(near))
    if kind == "missing":
        return Finding("missing-field", f"{path} is missing", field=path)
    if (kind == "string_type" and isinstance(written, (bool, int, float))) or (
        kind == "string_type" and hasattr(written, "isoformat")
    ):
        message = f"{path} is a text, and YAML reads {written} as a {type(written).__name__}"
        return Finding("invalid-value", message, field=path, hint=f'quote it: "{written}"')
    if kind in INVALID_CODES:
        return Finding(kind, f"{path}: {text}", field=path)
    if kind in ("enum", "literal_error"):
        words = str(context.get("expected", ""))
        near = tuple(
            difflib.get_close_matches(
                str(written), [word.strip("' ") for word in words.replace(" or ", ",").split(",")], 3, 0.4
            )
        )
        return Finding("invalid-value", f"{path} is one of {words}, not {written!r}", field=path, nearest=near)
    return Finding("invalid-value", f"{path}: {text[0].lower()}{text[1:]}", field=path)


def _did_you_mean(near: tuple[str, ...]) -> str | None:
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
