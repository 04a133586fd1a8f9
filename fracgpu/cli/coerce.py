"""Texts of the command line -> values of plain types.

typer builds a pydantic TypeAdapter for every option of a command, given or not: 42 of them for `pool create`, a tenth
of the time of a dry run. Strings, numbers, paths, enums and lists of strings need none.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

from fracgpu.errors import Invalid
from fracgpu.nearest import nearest_words


class Plain:
    """Stands where typer would put its own coercion (`coerce` is what typer calls)."""

    def __init__(self, read: Callable[[str], Any], wanted: str) -> None:
        self.read = read
        self.wanted = wanted

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:  # noqa: ARG002
        """The value, or values, as the parameter's type. Raises Invalid."""
        if param.multiple or param.nargs == -1:
            return [self._one(item, param) for item in value or ()] or (None if param.default is None else ())
        return None if value is None else self._one(value, param)

    def _one(self, value: Any, param: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self.read(value)
        except (ValueError, KeyError) as error:
            flag, number = _flag(param), re.match(r"\d+", value)
            hint = f"{flag} {number[0]}" if number and self.read is int else None
            raise Invalid.one("usage", f"{flag} {value!r} is not {self.wanted}", field=flag, hint=hint) from error


class Choice(Plain):
    """One of an enum's words, whatever its case."""

    def __init__(self, kind: type[Enum]) -> None:
        self.words = {str(one.value): one for one in kind}
        super().__init__(self._pick, f"one of {', '.join(self.words)}")

    def _pick(self, text: str) -> Enum:
        return self.words.get(text) or self.words[text.lower()]

    def _one(self, value: Any, param: Any) -> Any:
        if isinstance(value, Enum) or value in self.words or str(value).lower() in self.words:
            return value if isinstance(value, Enum) else self._pick(value)
        near = nearest_words(str(value), self.words, cutoff=0.6) or tuple(self.words)
        message = f"{_flag(param)} {value!r} is not {self.wanted}"
        raise Invalid.one("usage", message, field=_flag(param), nearest=near)


def _flag(param: Any) -> str:
    long = [name for name in param.opts if name.startswith("--")]
    return str(long[0] if long else param.opts[0])


PLAIN: dict[Any, Plain] = {
    str: Plain(str, "a text"),
    list[str]: Plain(str, "a text"),
    int: Plain(int, "a whole number"),
    float: Plain(float, "a number"),
    Path: Plain(Path, "a path"),
    bool: Plain({"true": True, "false": False}.__getitem__, "true or false"),
}


class Light:
    """Mixed into a command or group: its parameters, its --help among them, are coerced plainly."""

    params: list[Any]

    def get_params(self, ctx: Any) -> list[Any]:
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        lighten(found)
        return found

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """What typer does not say of its errors, their command, is added to them."""
        try:
            return super().parse_args(ctx, args)  # type: ignore[misc, no-any-return]
        except Exception as error:
            if getattr(error, "ctx", ctx) is None:
                error.ctx = ctx  # type: ignore[attr-defined]
            raise


def lighten(parameters: list[Any]) -> None:
    """Give parameters of plain types a plain coercion; others keep typer's own."""
    for one in parameters:
        kind = getattr(getattr(one, "type_descriptor", None), "annotation", None)
        if kind in PLAIN:
            one._runtime_param = PLAIN[kind]
        elif isinstance(kind, type) and issubclass(kind, Enum):
            one._runtime_param = Choice(kind)
