"""Many pools over many clusters of three clouds, applied at once in the sandbox.

`python benchmarks/engine.py [SIZE ...]`

A size is POOLSxCLUSTERS. The sandbox runs in a process of its own and takes two seconds for every operation, so a
cluster cannot be done before the sum of its own pools' operations: `ratio` is the whole run's wall time, the start of
Python and the import of three SDKs included, over that sum for the longest cluster. `requests` are those that reached
the sandbox, a pool; the second run finds everything as wanted.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SIZES = ("120x24", "1200x240")
SECONDS = 2.0
CLUSTERS = (
    "{{provider: gke, project: p, location: us-central1-a, name: c{number}}}",
    "{{provider: aks, resourceGroup: g, subscription: s, name: c{number}}}",
    "{{provider: eks, region: us-east-1, name: c{number}}}",
)
MACHINES = ("g2-standard-4", "Standard_NC4as_T4_v3", "g5.xlarge")
POOL = """\
apiVersion: fracgpu/v1
kind: NodePool
metadata: {{name: p{number}}}
spec:
  cluster: {cluster}
  machine: {machine}
  sharing: {{timeSlicing: {{replicas: 4}}}}
  nodes: {{count: 1}}
---
"""


@dataclass(frozen=True)
class Measured:
    seconds: float
    peak_mb: float
    outcomes: dict[str, int]


def pools(count: int, clusters: int) -> Iterator[str]:
    for number in range(count):
        lane = number % clusters
        cloud = lane % len(CLUSTERS)
        yield POOL.format(number=number, cluster=CLUSTERS[cloud].format(number=lane), machine=MACHINES[cloud])


def applied(file: Path, environment: dict[str, str]) -> Measured:
    """One run of the command, as a user types it."""
    command = [sys.executable, "-m", "fracgpu", "--sandbox", "-q", "pool", "apply", "-f", str(file), "-o", "json"]
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - began
    outcomes: dict[str, int] = {}
    for item in json.loads(said)["items"]:
        outcomes[item["outcome"]] = outcomes.get(item["outcome"], 0) + 1
    return Measured(seconds, usage.ru_maxrss / (1024 if sys.platform == "linux" else 1024**2), outcomes)


def sandbox(environment: dict[str, str], *words: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "fracgpu", "sandbox", *words, "-o", "json"]
    answer = subprocess.run(command, env=environment, check=True, capture_output=True).stdout
    found: dict[str, Any] = json.loads(answer or b"{}")
    return found


def main() -> None:
    print(f"{'pools':>6} {'clusters':>8} {'own sum':>8} {'wall':>7} {'ratio':>6} {'peak MB':>8} {'again':>7}  outcomes")
    for size in sys.argv[1:] or SIZES:
        count, clusters = map(int, size.split("x"))
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "XDG_RUNTIME_DIR": folder, "XDG_STATE_HOME": folder}
            file = Path(folder) / "pools.yaml"
            file.write_text("".join(pools(count, clusters)), encoding="utf-8")
            subprocess.run([sys.executable, "-m", "fracgpu", "sandbox", "start"], env=environment, check=True)
            try:
                first, second = applied(file, environment), applied(file, environment)
            finally:
                subprocess.run([sys.executable, "-m", "fracgpu", "sandbox", "stop"], env=environment, check=True)
        own = SECONDS * -(-count // clusters)
        figures = f"{own:>8.1f} {first.seconds:>7.2f} {first.seconds / own:>6.2f} {first.peak_mb:>8.0f}"
        print(f"{count:>6} {clusters:>8} {figures} {second.seconds:>7.2f}  {first.outcomes} then {second.outcomes}")


if __name__ == "__main__":
    main()
