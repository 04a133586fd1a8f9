"""Terraform's configuration language, as much of it as a resource needs: attributes, maps, lists and blocks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_IDENTIFIER = re.compile(r"[A-Za-z_][-A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Block:
    """A block without labels inside another, such as `autoscaling { ... }`; a sequence of them repeats it."""

    members: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Expression:
    """Written as it stands: a reference such as `var.project`."""

    text: str


def resource(kind: str, name: str, members: Mapping[str, Any]) -> str:
    """A resource as `terraform fmt` would leave it. Members that are None are left out."""
    return _named(f'resource "{kind}" "{identifier(name)}"', members)


def data(kind: str, name: str, members: Mapping[str, Any]) -> str:
    """A data source: what Terraform looks up when it runs."""
    return _named(f'data "{kind}" "{identifier(name)}"', members)


def variable(name: str, description: str) -> str:
    """The declaration of a text that whoever applies the configuration has to give."""
    return _named(f'variable "{identifier(name)}"', {"type": Expression("string"), "description": description})


def _named(head: str, members: Mapping[str, Any]) -> str:
    return "\n".join([f"{head} {{", *_body(members, 1), "}"]) + "\n"


def identifier(name: str) -> str:
    """A name that Terraform takes for a resource."""
    plain = re.sub(r"[^-A-Za-z0-9_]", "_", name)
    return plain if _IDENTIFIER.fullmatch(plain) else f"_{plain}"


def _body(members: Mapping[str, Any], depth: int) -> Iterator[str]:
    """Attributes with their equals signs in line, then blocks, as `terraform fmt` has them."""
    said = {key: value for key, value in members.items() if value is not None}
    attributes = {key: value for key, value in said.items() if not _blocks(value)}
    yield from _attributes(attributes, depth)
    pad = "  " * depth
    for key, value in said.items():
        for number, block in enumerate(_blocks(value)):
            if attributes or number or key != next(iter(said)):
                yield ""
            yield f"{pad}{key} {{"
            yield from _body(block.members, depth + 1)
            yield f"{pad}}}"


def _blocks(value: Any) -> Sequence[Block]:
    if isinstance(value, Block):
        return (value,)
    if isinstance(value, (list, tuple)) and value and all(isinstance(one, Block) for one in value):
        return value
    return ()


def _attributes(members: Mapping[str, Any], depth: int) -> Iterator[str]:
    """Runs of one-line attributes are aligned; one of several lines ends a run."""
    pad = "  " * depth
    texts = {key: _value(value, depth) for key, value in members.items()}
    for run in _runs(texts):
        width = max(map(len, run))
        for key, text in run.items():
            yield f"{pad}{key}{' ' * (width - len(key))} = {text}"


def _runs(texts: Mapping[str, str]) -> Iterator[dict[str, str]]:
    run: dict[str, str] = {}
    for key, text in texts.items():
        if "\n" in text:
            if run:
                yield run
            yield {key: text}
            run = {}
        else:
            run[key] = text
    if run:
        yield run


def _value(value: Any, depth: int) -> str:
    if isinstance(value, Expression):
        return value.text
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, Mapping):
        return _map(value, depth)
    if isinstance(value, (list, tuple)):
        return _list(value, depth)
    return quoted(str(value))


def _map(value: Mapping[str, Any], depth: int) -> str:
    keys = {key: key if _IDENTIFIER.fullmatch(key) else quoted(key) for key in value}
    inner = {keys[key]: one for key, one in value.items()}
    lines = _attributes(inner, depth + 1)
    return "\n".join(["{", *lines, "  " * depth + "}"]) if value else "{}"


def _list(value: Sequence[Any], depth: int) -> str:
    items = [_value(one, depth + 1) for one in value]
    short = f"[{', '.join(items)}]"
    if len(short) <= 80 and "\n" not in short:
        return short
    pad = "  " * (depth + 1)
    return "\n".join(["[", *(f"{pad}{item}," for item in items), "  " * depth + "]"])


def quoted(text: str) -> str:
    """A text as a literal: no template in it is evaluated."""
    return json.dumps(text, ensure_ascii=False).replace("${", "$${").replace("%{", "%%{")
