"""Run what the documentation shows, and hold what it shows against what really comes.

    python docs/console.py [--check] [PAGE ...]

A page's ```console blocks are run in order, in a folder and home of their own: each line that begins with `$ ` is a
command, what follows is what it printed. A fence after `<!-- file: NAME -->` is written to NAME first. Without --check
the outputs that differ are written anew. Lines that nobody should run (a real account) stand in ```sh fences.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
FENCE = re.compile(
    r"^(?:<!-- file: (?P<file>\S+) -->\n)?^```(?P<kind>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
PROGRESS = re.compile(r"^\S+: .* \((\d+m)?\d+s\)\n?", re.MULTILINE)
RANDOM = ((re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"), (re.compile(r"-\d{8}-vmss"), "-ID-vmss"))


@dataclass(slots=True)
class Call:
    """A command as shown, over one or more lines, and the output shown below it."""

    lines: list[str]
    output: list[str] = field(default_factory=list)

    @property
    def command(self) -> str:
        return "\n".join(self.lines)

    def text(self) -> str:
        first, *more = self.lines
        return "\n".join([f"$ {first}", *more, *self.output])


def calls(body: str) -> Iterator[Call]:
    """The calls of a ```console fence. A command goes on where its line ends in a backslash."""
    call: Call | None = None
    for line in body.splitlines():
        if line.startswith("$ "):
            if call:
                yield call
            call = Call([line[2:]])
        elif call is None:
            raise ValueError(f"a console block begins with $, not {line!r}")
        elif not call.output and call.lines[-1].endswith("\\"):
            call.lines.append(line)
        else:
            call.output.append(line)
    if call:
        yield call


def pages() -> list[Path]:
    """Every page with a ```console fence."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if "```console\n" in page.read_text(encoding="utf-8")]


def steady(text: str) -> str:
    """The text without what differs from run to run: ports, ids, and when progress was looked at."""
    text = PROGRESS.sub("", text)
    for pattern, word in RANDOM:
        text = pattern.sub(word, text)
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


class Shell:
    """A person's shell with an empty home, in an empty folder. Remembers how the last command ended."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.folder.mkdir()
        self._last = 0
        home, runtime = folder / "home", folder / "run"
        home.mkdir(mode=0o700)
        runtime.mkdir(mode=0o700)
        path = os.pathsep.join((str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"))
        fixed = {"PATH": path, "LANG": "C.UTF-8", "TZ": "UTC", "COLUMNS": "100", "TERM": "dumb"}
        self._environment = {
            **fixed,
            "HOME": str(home),
            "XDG_RUNTIME_DIR": str(runtime),
            "AWS_EC2_METADATA_DISABLED": "1",
        }

    def run(self, command: str) -> str:
        """What a command prints, on both streams as they come."""
        script = f"(exit {self._last})\n{command}"
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self._last = done.returncode
        return done.stdout

    def begin(self) -> None:
        """A sandbox whose operations take no time worth waiting for."""
        self.run("fracgpu sandbox start && fracgpu sandbox set operation-seconds 0.2")

    def end(self) -> None:
        self.run("fracgpu sandbox stop")


def replayed(text: str) -> str:
    """The page with the outputs that its commands really have; those that differ in volatile parts alone are kept."""
    simulated = any("sandbox" in fence["body"] for fence in FENCE.finditer(text) if fence["kind"] == "console")
    with tempfile.TemporaryDirectory() as folder:
        shell = Shell(Path(folder))
        try:
            if simulated:
                shell.begin()
            return FENCE.sub(lambda match: _fence(match, shell), text)
        finally:
            if simulated:
                shell.end()


def _fence(match: re.Match[str], shell: Shell) -> str:
    if match["file"]:
        path = shell.folder / match["file"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(match["body"], encoding="utf-8")
    if match["kind"] != "console":
        return match[0]
    shown = list(calls(match["body"]))
    for call in shown:
        real = shell.run(call.command)
        if steady(real) != steady("\n".join(call.output)):
            call.output = [line.rstrip() for line in real.strip("\n").splitlines()]
    body = "\n".join(call.text() for call in shown)
    return match[0].replace(match["body"], f"{body}\n")


def main(arguments: list[str]) -> int:
    """0 when every page shows what really comes; 1 with --check where one does not."""
    check = "--check" in arguments
    named = [Path(one).resolve() for one in arguments if one != "--check"]
    wrong = 0
    for page in named or pages():
        text = page.read_text(encoding="utf-8")
        real = replayed(text)
        if real == text:
            continue
        wrong += 1
        print(f"{'differs' if check else 'wrote'}: {page.relative_to(ROOT)}")
        if not check:
            page.write_text(real, encoding="utf-8")
    return 1 if check and wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
