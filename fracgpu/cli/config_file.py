"""The configuration files, the user's own and a folder's: where they are, and what stands in them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from fracgpu.cli import output
from fracgpu.cli.globals import GLOBALS
from fracgpu.errors import Finding, Invalid
from fracgpu.nearest import nearest_words
from fracgpu.textfile import read_text

KEYS = ("cluster", "endpoints")
EXAMPLE = "cluster: {provider: gke, ...}"


def user_file() -> Path:
    """The user's own configuration: --config, else FRACGPU_CONFIG, else XDG's place; the null device without a home."""
    if named := _named_file():
        return named[0]
    base = Path(os.environ.get("XDG_CONFIG_HOME") or "")
    try:
        # A relative one would let the folder decide: https://specifications.freedesktop.org/basedir/latest/
        folder = base if base.is_absolute() else Path.home() / ".config"
    except RuntimeError:
        return Path(os.devnull)
    return folder / "fracgpu" / "config.yaml"


def _named_file() -> tuple[Path, str] | None:
    """The file that the user named, and where."""
    if GLOBALS.config:
        return GLOBALS.config, "--config"
    named = os.environ.get("FRACGPU_CONFIG")
    return (Path(named), "FRACGPU_CONFIG") if named else None


def document(path: Path) -> dict[str, Any]:
    """A configuration file as a mapping; empty where there is none. Raises Invalid for one that cannot be read."""
    text = _text(path)
    if text is None:
        return {}
    import yaml

    from fracgpu.yamltext import load_all, problem_of

    try:
        value = next(load_all(text), None)
    except yaml.YAMLError as error:
        problem, place = problem_of(error, text)
        line, column = place or (None, None)
        message = f"not valid YAML: {problem}"
        raise Invalid(
            [Finding("invalid-value", message, file=str(path), line=line, column=column, hint=EXAMPLE)]
        ) from error
    if value is not None and not isinstance(value, dict):
        raise Invalid.one("invalid-value", f"{path} is not a mapping", field=str(path), hint=EXAMPLE)
    return value or {}


def _text(path: Path) -> str | None:
    """The text of a file; None where there is none. One that was named has to be there."""
    named = _named_file()
    field = named[1] if named and named[0] == path else str(path)
    try:
        if path.is_file():
            return read_text(path)
        wanted = named and named[0] == path and not path.is_char_device()
    except UnicodeDecodeError as error:
        raise Invalid.one("invalid-value", f"{path} is not UTF-8 text", field=field, hint="save it as UTF-8") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Invalid.one(
            "invalid-value", f"{path} cannot be read: {reason}", field=field, hint="--config FILE"
        ) from error
    if wanted:
        what = "is not a file" if path.exists() else "does not exist"
        raise Invalid.one("usage", f"{path} {what}", field=field, hint=f"{field} names your configuration file")
    return None


def cluster_in(path: Path) -> dict[str, Any] | None:
    """The `cluster` of a configuration file. A NodePool that happens to lie there has none at its top."""
    whole = document(path)
    value = whole.get("cluster")
    if value is not None and not isinstance(value, dict):
        message = f"cluster in {path} is not a mapping"
        raise Invalid.one("invalid-value", message, field="cluster", hint=EXAMPLE)
    for key in whole:
        near = nearest_words(str(key), KEYS, 1, 0.7)
        if near and key not in KEYS:
            output.say(f"{key} in {path} is not read; did you mean {near[0]}?")
    return value or None
