"""Options that stand before or after any command, taken out of the arguments before the command is looked for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

FLAGS = {
    "--sandbox": "sandbox",
    "-v": "verbose",
    "--verbose": "verbose",
    "-q": "quiet",
    "--quiet": "quiet",
    "--no-color": "no_color",
}
OFF = ("", "0", "false", "no", "off")


def _switched_on(variable: str) -> bool:
    return os.environ.get(variable, "").strip().lower() not in OFF


@dataclass(slots=True)
class Globals:
    """What the user said about the whole run. One value a process: `GLOBALS`."""

    sandbox: bool = field(default_factory=lambda: _switched_on("FRACGPU_SANDBOX"))
    config: Path | None = None
    verbose: bool = False
    quiet: bool = False
    no_color: bool = field(default_factory=lambda: "NO_COLOR" in os.environ)
    json: bool = False
    """Errors are printed as JSON because the answer was asked for as JSON."""


GLOBALS = Globals()


def take_globals(arguments: Sequence[str]) -> list[str]:
    """Read the global options out of the arguments into GLOBALS; what is left is the command. Stops at `--`."""
    left: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--":
            return [*left, word, *words]
        if word in FLAGS:
            setattr(GLOBALS, FLAGS[word], True)
        elif word == "--config" or word.startswith("--config="):
            value = word.partition("=")[2] or next(words, "")
            GLOBALS.config = Path(value) if value else None
        else:
            left.append(word)
    GLOBALS.json = asked_for_json(left)
    return left


def asked_for_json(arguments: Sequence[str]) -> bool:
    """`-o json` in any of its spellings, looked for before parsing since a usage error must be printed as JSON too."""
    words = list(arguments)
    for index, word in enumerate(words):
        if word in ("-o", "--output") and words[index + 1 : index + 2] == ["json"]:
            return True
        if word in ("-ojson", "-o=json", "--output=json"):
            return True
    return False
