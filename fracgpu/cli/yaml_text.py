"""Plain data -> YAML: block style, in the order given, what looks like something else quoted.

Written here because loading PyYAML costs more than printing a plan with it, and its dumper is slow. Whatever this
writes, a YAML 1.1 or 1.2 reader reads back as the same data.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

PLAIN = re.compile(r"[A-Za-z_/](?:[\w./@+=%()~^-]|:(?=[^\s:])|[,;] ?(?=\w)| (?=[\w(/.-]))*", re.ASCII)
"""A text that needs no quotes, unless it is one of the words of YAML. It begins with a letter or a slash."""
MEASURE = re.compile(r"(?!0o)\d+[g-su-wG-SU-W][\w.+-]*|\d+\.\d+[g-su-wG-SU-W][\w.+-]*", re.ASCII)
"""`1g.5gb` and its like: digits first, and a letter that no number or date has. 0o7 is a number of YAML 1.2."""
WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def to_yaml(value: Any) -> str:
    """The data as one YAML document. Mappings, lists, texts, numbers, booleans and None."""
    return "".join(line + "\n" for line in _lines(value))


def _lines(value: Any) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _member(f"{_scalar(key)}:", inner)
    elif isinstance(value, list | tuple) and value:
        for inner in value:
            yield from _item(inner)
    elif isinstance(value, str) and _is_block(value):
        yield from _block("", value)
    else:
        yield _scalar(value)


def _member(head: str, value: Any) -> Iterator[str]:
    """A key and its value: on one line, or the value beneath, a list as far to the left as its key."""
    if isinstance(value, list | tuple) and value:
        yield head
        yield from _lines(value)
    elif isinstance(value, dict) and value:
        yield head
        yield from ("  " + line for line in _lines(value))
    elif isinstance(value, str) and _is_block(value):
        yield from _block(f"{head} ", value)
    else:
        yield f"{head} {_scalar(value)}"


def _item(value: Any) -> Iterator[str]:
    if isinstance(value, str) and _is_block(value):
        yield from _block("- ", value)
        return
    marker = "- "
    for line in _lines(value):
        yield marker + line
        marker = "  "


def _is_block(text: str) -> bool:
    """Whether a text of several lines can stand as it is, which is how a person wants to read it."""
    return "\n" in text and text[0] not in " \n\t" and not UNPRINTABLE.search(text) and not text.endswith("\n\n")


def _block(head: str, text: str) -> Iterator[str]:
    yield f"{head}|" if text.endswith("\n") else f"{head}|-"
    yield from (f"  {line}" if line else "" for line in text.removesuffix("\n").split("\n"))


def _scalar(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return _text(str(value))
        case float():
            return _float(value)
        case int():
            return str(int(value))
        case dict():
            return "{}"
        case list() | tuple():
            return "[]"
        case _:
            raise TypeError(f"{type(value).__name__} is not plain data")


def _text(text: str) -> str:
    if MEASURE.fullmatch(text) or (PLAIN.fullmatch(text) and text.lower() not in WORDS):
        return text
    if "\n" in text or "\t" in text or UNPRINTABLE.search(text):
        return UNPRINTABLE.sub(_escape, json.dumps(text, ensure_ascii=False))
    return "'" + text.replace("'", "''") + "'"


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def _float(value: float) -> str:
    """A reader of YAML 1.1 takes a number without a dot for a text: 1e+16 is 1.0e+16."""
    if math.isinf(value) or math.isnan(value):
        return str(value).replace("inf", ".inf").replace("nan", ".nan")
    text = repr(value)
    return text if "." in text else text.replace("e", ".0e")
