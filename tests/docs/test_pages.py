"""What the documentation shows is what really comes: every console block is run, every other command is read."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docs.console import FENCE, ROOT, pages, replayed
from fracgpu.cli.app import build
from fracgpu.cli.globals import take_globals

DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SHOWN = re.compile(r"\$\((?P<inner>fracgpu [^)|]*)|(?:^|^\$ |run: |- |then )(?P<command>fracgpu .*)")
INLINE = re.compile(r"`(?:fracgpu )?(?P<command>(?:pool|plugin|workload|catalog|sandbox|convert|config) [a-z][^`]*)`")
LINK = re.compile(r"\]\((?!https?://|mailto:)(?P<path>[^)#\s]*)(?:#(?P<anchor>[^)\s]*))?\)")


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", pages(), ids=_name)
def test_shows_what_really_comes(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert replayed(text) == text


def _commands(page: Path) -> Iterator[list[str]]:
    """The fracgpu commands of a page, in its fences and in its text, without what a shell does with them."""
    text = page.read_text(encoding="utf-8")
    for found in INLINE.finditer(FENCE.sub("", text)):
        yield _words(f"fracgpu {found['command']}")
    for fence in FENCE.finditer(text):
        if fence["kind"] not in ("sh", "console", "yaml"):
            continue
        for line in fence["body"].replace("\\\n", " ").splitlines():
            for found in SHOWN.finditer(line):
                yield _words(found["inner"] or found["command"])


def _words(line: str) -> list[str]:
    """The words after fracgpu, up to where the shell's own begin."""
    return shlex.split(re.split(r" (?:[|>;&]|2>)", line)[0], comments=True)[1:]


def _command(words: list[str]) -> tuple[Any, list[str]]:
    """Typer's command of these words, and what is left for it. Fails the test for a command that does not exist."""
    from typer.main import get_command

    command: Any = get_command(build())
    left = take_globals(words)
    while left and hasattr(command, "list_commands"):
        name = left.pop(0)
        found = command.get_command(None, name)
        assert found is not None, f"there is no command {name} in: fracgpu {' '.join(words)}"
        command = found
    return command, left


@pytest.mark.parametrize("page", DOCUMENTS, ids=_name)
def test_commands_and_options_exist(page: Path) -> None:
    for words in _commands(page):
        command, left = _command(words)
        known = {name for one in command.params for name in (*one.opts, *one.secondary_opts)} | {"--help", "--version"}
        own = left[: left.index("--")] if "--" in left else left
        unknown = [word for word in own if word.startswith("--") and word.partition("=")[0] not in known]
        assert not unknown, f"fracgpu {' '.join(words)} has no {', '.join(unknown)}"


def _anchors(page: Path) -> set[str]:
    """The anchors that GitHub makes of a page's headings."""
    lines = page.read_text(encoding="utf-8").splitlines()
    titles = [line.lstrip("#").strip().lower() for line in lines if line.startswith("#")]
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", DOCUMENTS, ids=_name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.finditer(page.read_text(encoding="utf-8")):
        target = (page.parent / link["path"]).resolve() if link["path"] else page
        assert target.exists(), f"{link[0]} leads nowhere"
        if link["anchor"]:
            assert link["anchor"] in _anchors(target), f"{link[0]}: no such heading"
