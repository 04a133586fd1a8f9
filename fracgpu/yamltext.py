"""YAML text -> plain data: safe, by libyaml where it is there, strict about keys that stand twice, and fast.

PyYAML's own construction takes half of the time of a large file. Here plain scalars are resolved once each, since a
file of many pools says the same words again and again, and maps, sequences and texts are built in one pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import yaml

SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
TEXT, MAP, SEQUENCE, MERGE = (f"tag:yaml.org,2002:{kind}" for kind in ("str", "map", "seq", "merge"))
MOST_WORDS = 50_000
MOST_NODES = 100_000
"""What one document may grow to when its aliases are written out: far above any pool, far below a YAML bomb."""
DEEPEST = 100
"""Levels of nesting: far above any pool, and low enough for whatever walks through the data afterwards."""


class Loader(SafeLoader):  # type: ignore[misc]
    """A SafeLoader that remembers what plain words resolve to."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self.words: dict[str, str] = {}
        self.built: dict[int, Any] = {}
        self.aliased = False
        self.depth = 0

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        if kind is not yaml.ScalarNode or not implicit[0]:
            return super().resolve(kind, value, implicit)
        tag = self.words.get(value)
        if tag is None:
            tag = super().resolve(kind, value, implicit)
            if len(self.words) < MOST_WORDS:
                self.words[value] = tag
        return tag

    def build(self, node: Any) -> Any:
        """The value of a node. Raises yaml.YAMLError for a key that stands twice and for an alias inside itself."""
        match node.tag:
            case "tag:yaml.org,2002:str":
                return node.value
            case "tag:yaml.org,2002:map" | "tag:yaml.org,2002:seq":
                return self._collection(node)
            case "tag:yaml.org,2002:value":  # `=`, for which PyYAML has a tag and no constructor
                return node.value
            case _:
                return self._constructed(node)

    def _constructed(self, node: Any) -> Any:
        """The value of a number, a date and the like."""
        try:
            return self.construct_object(node, deep=True)
        except (ValueError, OverflowError) as error:
            kind = "a date" if node.tag.endswith("timestamp") else "a number"
            problem = f"{str(node.value)[:60]} looks like {kind} and is none; quote it if it is a text"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from error

    def _collection(self, node: Any) -> Any:
        if id(node) in self.built:
            self.aliased = True
            if self.built[id(node)] is None:
                raise yaml.constructor.ConstructorError(
                    None, None, "an alias stands inside what it names", node.start_mark
                )
            return self.built[id(node)]
        self.depth += 1
        if self.depth > DEEPEST:
            raise _too_deep(node)
        self.built[id(node)] = None
        value = self._mapping(node) if node.tag == MAP else [self.build(item) for item in node.value]
        self.built[id(node)] = value
        self.depth -= 1
        return value

    def _mapping(self, node: Any) -> dict[Any, Any]:
        if any(key.tag == MERGE for key, _ in node.value):
            self.flatten_mapping(node)
        mapping: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = key_node.value if key_node.tag == TEXT else self.build(key_node)
            try:
                twice = key in mapping
            except TypeError as error:
                raise yaml.constructor.ConstructorError(None, None, "a key is a text", key_node.start_mark) from error
            if twice:
                raise yaml.constructor.ConstructorError(None, None, f"the key {key} stands twice", key_node.start_mark)
            mapping[key] = value_node.value if value_node.tag == TEXT else self.build(value_node)
        return mapping


@dataclass(frozen=True)
class Part:
    """Where one document stands in a text: from and to which character, and the line and column of its start (from
    0)."""

    text: str = field(repr=False)
    begin: int
    end: int
    line: int
    column: int

    @cached_property
    def root(self) -> Any:
        """The document's nodes, with marks that count from its start; None for an empty one."""
        try:
            return yaml.compose(" " * self.column + self.text[self.begin : self.end], Loader)
        except yaml.YAMLError:  # it needs a %TAG that stands before it
            return None

    def place(self, mark: Any) -> tuple[int, int]:
        """Line and column, from 1, of a mark of `root`."""
        return self.line + mark.line + 1, mark.column + 1


def load_all(text: str) -> Iterator[Any]:
    """The documents of a text, empty ones as None. Raises yaml.YAMLError with the place where it stands."""
    return (value for value, _ in load_parts(text))


def load_parts(text: str) -> Iterator[tuple[Any, Part]]:
    """The documents of a text, each with where it stands."""
    loader = Loader(text)
    try:
        while loader.check_node():
            node = loader.get_node()
            loader.built.clear()
            loader.aliased = False
            loader.depth = 0
            value = loader.build(node)
            if loader.aliased:
                _bounded(node)
            start, end = node.start_mark, node.end_mark
            yield value, Part(text, start.index, end.index, start.line, start.column)
    finally:
        loader.dispose()


def _bounded(root: Any) -> None:
    """Raises yaml.YAMLError for a document that is too much, or too deep, with its aliases written out."""
    try:
        size, depth = _extent(root, {})
    except RecursionError:  # a chain of aliases as long as the file
        raise _too_deep(root) from None
    if size > MOST_NODES:
        raise yaml.constructor.ConstructorError(None, None, "its aliases grow beyond any pool", root.start_mark)
    if depth > DEEPEST:
        raise _too_deep(root)


def _extent(node: Any, known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """Nodes and levels under a node with every alias written out."""
    if id(node) not in known:
        inner = node.value if isinstance(node, yaml.SequenceNode) else ()
        if isinstance(node, yaml.MappingNode):
            inner = [part for pair in node.value for part in pair]
        parts = [_extent(part, known) for part in inner]
        known[id(node)] = 1 + sum(size for size, _ in parts), 1 + max((depth for _, depth in parts), default=0)
    return known[id(node)]


def _too_deep(node: Any) -> yaml.YAMLError:
    return yaml.constructor.ConstructorError(None, None, f"nested deeper than {DEEPEST} levels", node.start_mark)


def is_key(node: Any, step: str | int) -> bool:
    """Whether a node names `step` in a mapping: `yes` is the key True, which is spelled in no other way than it was."""
    if node.value == str(step):
        return True
    if node.tag == TEXT or not isinstance(node, yaml.ScalarNode):
        return False
    loader = Loader("")
    try:
        value = loader.build(node)
    except yaml.YAMLError:
        return False
    finally:
        loader.dispose()
    return step in (value, str(value), repr(value))


UNPRINTABLE = yaml.reader.Reader.NON_PRINTABLE


def problem_of(error: Exception, text: str) -> tuple[str, tuple[int, int] | None]:
    """What is wrong with a text that is no YAML, and its line and column from 1."""
    mark = getattr(error, "problem_mark", None)
    if mark is not None:
        return getattr(error, "problem", None) or "cannot be read", (mark.line + 1, mark.column + 1)
    found = UNPRINTABLE.search(text)
    if found is None:
        return " ".join(str(error).split()), None
    lines = text[: found.start()].split("\n")
    return f"the character U+{ord(found[0]):04X} may not stand in it", (len(lines), len(lines[-1]) + 1)
