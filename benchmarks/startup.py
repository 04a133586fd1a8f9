"""How long a person waits for an answer that needs no cloud, beside Python itself and the clouds' own CLIs."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

RUNS = 15
FRACGPU = str(Path(sys.executable).with_name("fracgpu"))
POOL = (
    "--provider",
    "gke",
    "--project",
    "my-project",
    "--location",
    "us-central1",
    "--cluster",
    "prod",
    "--mig",
    "1g.5gb",
)
OURS: tuple[tuple[str, ...], ...] = (
    ("--version",),
    ("--help",),
    ("pool", "explain", "--provider", "gke", "--mig", "1g.5gb"),
    ("pool", "create", *POOL, "--yes", "--dry-run"),
    ("catalog", "gpus"),
)
OTHERS = (("aws", "--version"), ("gcloud", "--version"), ("az", "--version"))


def rounds(commands: Sequence[tuple[str, ...]]) -> list[list[float]]:
    """Seconds of each whole process, by command; the commands take turns, so that a busy moment meets all of them."""
    seconds: list[list[float]] = [[] for _ in commands]
    for command in commands:
        _run(command)  # warms the disk cache and the bytecode
    for _ in range(RUNS):
        for command, own in zip(commands, seconds, strict=True):
            own.append(_run(command))
    return seconds


def _run(command: tuple[str, ...]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    """Print one line a command: its median, its best, and the median against the quickest of the clouds' CLIs."""
    others = [(path, *other[1:]) for other in OTHERS if (path := shutil.which(other[0]))]
    commands = [(sys.executable, "-c", "pass"), *((FRACGPU, *arguments) for arguments in OURS), *others]
    seconds = rounds(commands)
    quickest = min((statistics.median(own) for own in seconds[len(commands) - len(others) :]), default=None)
    for command, own in zip(commands, seconds, strict=True):
        median = statistics.median(own)
        against = f"{median / quickest:5.2f}" if quickest else "    -"
        print(f"{median:7.3f} s  {min(own):7.3f} s  {against}  {' '.join((Path(command[0]).name, *command[1:]))}")


if __name__ == "__main__":
    main()
