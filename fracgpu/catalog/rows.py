"""From a table of a catalog file to a row, strictly: an unknown, missing or ill-typed key names its file and row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, TypeVar

from fracgpu.errors import Internal

RowT = TypeVar("RowT")
Table = Mapping[str, Any]


class BrokenCatalog(Internal):
    """A file under `profiles/` that does not say what a catalog file says; a bug in the data, never in a spec."""


def broken(where: str, what: str) -> BrokenCatalog:
    return BrokenCatalog(
        f"{where}: {what}", hint="Correct the file; docs/adding-a-gpu.md describes its form.", detail={"where": where}
    )


def build(row: type[RowT], table: Table, where: str, **given: Any) -> RowT:
    """Make a `row` (a dataclass) of `table`.

    `given` holds members that the caller has made already; the table may not have them. `where` (file::row) leads
    every message. Lists become tuples, and whole numbers floats where the member is a float. Raises BrokenCatalog.
    """
    form = _form(row)
    values = dict(given)
    for key, value in table.items():
        if key not in form.readers or key in given:
            raise broken(where, f"unknown key {key!r}; known are {', '.join(sorted(form.readers))}")
        values[key] = form.readers[key](value, where, key)
    missing = form.required - values.keys()
    if missing:
        raise broken(where, f"missing {', '.join(sorted(missing))}")
    return row(**values)


Reader = Callable[[Any, str, str], Any]


@dataclass(frozen=True, slots=True)
class _Form:
    """What a row's table may and must have."""

    readers: Mapping[str, Reader]
    required: frozenset[str]


_FORMS: dict[type[Any], _Form] = {}


def _form(row: type[Any]) -> _Form:
    if row not in _FORMS:
        members = fields(row)
        bare = frozenset(m.name for m in members if m.default is MISSING and m.default_factory is MISSING)
        _FORMS[row] = _Form({member.name: _reader(member) for member in members}, bare)
    return _FORMS[row]


def _reader(member: Field[Any]) -> Reader:
    """The reader of a member by its annotation, which is text because models.py defers annotations."""
    kind = str(member.type).removesuffix(" | None")
    return _READERS.get(kind, _not_from_a_file)


def _exactly(kind: type) -> Reader:
    def read(value: Any, where: str, key: str) -> Any:
        if type(value) is not kind:
            raise broken(where, f"{key} must be {kind.__name__}, not {value!r}")
        return value

    return read


def _number(value: Any, where: str, key: str) -> float:
    if type(value) not in (int, float):
        raise broken(where, f"{key} must be a number, not {value!r}")
    return float(value)


def _each(read: Reader) -> Reader:
    def read_list(value: Any, where: str, key: str) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise broken(where, f"{key} must be a list, not {value!r}")
        return tuple(read(item, where, key) for item in value)

    return read_list


def _not_from_a_file(value: Any, where: str, key: str) -> Any:
    raise broken(where, f"{key} cannot be written in a file, yet it says {value!r}")


_READERS: Mapping[str, Reader] = {
    "str": _exactly(str),
    "int": _exactly(int),
    "bool": _exactly(bool),
    "float": _number,
    "tuple[str, ...]": _each(_exactly(str)),
    "tuple[int, ...]": _each(_exactly(int)),
}
