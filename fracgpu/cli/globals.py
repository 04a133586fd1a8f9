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
    no_color: bool = field(default_factory=lambda: bool(os.environ.get("NO_COLOR")))
    json: bool = False
    """Errors are printed as JSON because the answer was asked for as JSON."""


GLOBALS = Globals()


TOOLS = ("az", "gcloud", "aws")


def take_globals(arguments: Sequence[str]) -> list[str]:
    """Read the global options out of the arguments into GLOBALS; what is left is the command.

    Stops at `--`, and where `convert` is given a command, whose flags are not ours. Raises Invalid.
    """
    GLOBALS.json = asked_for_json(arguments)
    left: list[str] = []
    words = list(arguments)
    while words:
        word = words.pop(0)
        if word == "--" or (left[:1] == ["convert"] and _foreign(word)):
            left += [word, *words]
            words = []
        elif word in FLAGS:
            setattr(GLOBALS, FLAGS[word], True)
        elif word == "--config":
            GLOBALS.config = _file(words.pop(0) if words else "")
        elif word.startswith("--config="):
            GLOBALS.config = _file(word.removeprefix("--config="))
        else:
            left.append(word)
    return left


def _foreign(word: str) -> bool:
    return word in TOOLS or " " in word


def _file(name: str) -> Path:
    if not name:
        from fracgpu.errors import Invalid

        raise Invalid.one("usage", "--config needs a file", field="--config", hint="--config FILE")
    return Path(name)


def asked_for_json(arguments: Sequence[str]) -> bool:
    """`-o json` in any of its spellings, looked for before parsing since a usage error must be printed as JSON too."""
    words = list(arguments)
    words = words[: words.index("--")] if "--" in words else words
    for index, word in enumerate(words):
        if word in ("-o", "--output") and words[index + 1 : index + 2] == ["json"]:
            return True
        if word in ("-ojson", "-o=json", "--output=json"):
            return True
    return False
