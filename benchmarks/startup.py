"""How long a person waits for an answer that needs no cloud, beside Python itself and the clouds' own CLIs."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import time
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
OTHERS = (("aws", "--version"), ("gcloud", "--version"), ("az", "--version"), ("kubectl", "version", "--client"))


def median_seconds(command: tuple[str, ...]) -> float:
    """The median over RUNS of the whole process, after one run that warms the disk cache and the bytecode."""
    _run(command)
    return statistics.median(_run(command) for _ in range(RUNS))


def _run(command: tuple[str, ...]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    """Print one line a command."""
    commands: list[tuple[str, ...]] = [(sys.executable, "-c", "pass")]
    commands += [(FRACGPU, *arguments) for arguments in OURS]
    commands += [(path, *other[1:]) for other in OTHERS if (path := shutil.which(other[0]))]
    for command in commands:
        print(f"{median_seconds(command):7.3f} s  {' '.join((Path(command[0]).name, *command[1:]))}")


if __name__ == "__main__":
    main()
