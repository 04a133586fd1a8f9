"""Many pools over many clusters of three clouds, applied at once in the sandbox.

`python benchmarks/engine.py [SIZE ...]`

A size is POOLSxCLUSTERS. The sandbox runs in a process of its own and takes two seconds for every operation, so a
cluster cannot be done before the sum of its own pools' operations (`own sum`). `alone` is what one cluster of the
slowest cloud takes by itself, in the same command; `wall` what all take together, and the ratio is the one over the
other. Every time is a whole process's, the start of Python and the import of the SDKs included. `requests` are those
that reached the sandbox, a pool. The clusters are there before, since a plan has looked at them; a second run finds
all as wanted (`again`).
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

from fracgpu.sandbox import known_names, process
from fracgpu.sandbox.client import Control

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


def single(folder: Path, each: int) -> Iterator[Path]:
    """A file of one cluster's pools, for each cloud."""
    for cloud, machine in zip(CLUSTERS, MACHINES, strict=True):
        file = folder / f"{machine}.yaml"
        said = {"cluster": cloud.format(number="alone"), "machine": machine}
        file.write_text("".join(POOL.format(number=number, **said) for number in range(each)), encoding="utf-8")
        yield file


class Counted:
    """How many requests reach the sandbox: faults that do nothing count their calls."""

    def __init__(self, environment: dict[str, str]) -> None:
        os.environ.update(environment)
        running = process.find()
        assert running is not None
        self.control = Control(running)
        for cloud in ("aks", "gke", "eks"):
            for call in sorted(known_names.calls(cloud)):
                self.control.add_fault(cloud, call, times=1_000_000)

    def requests(self) -> int:
        return sum(fault["seen"] for fault in self.control.faults())


def ours(environment: dict[str, str], *words: str) -> None:
    command = [sys.executable, "-m", "fracgpu", *words]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main() -> None:
    heads = f"{'own sum':>8} {'alone':>6} {'wall':>7} {'ratio':>6} {'requests':>9} {'peak MB':>8} {'again':>7}"
    print(f"{'pools':>6} {'clusters':>8} {heads}  outcomes")
    for size in sys.argv[1:] or SIZES:
        count, clusters = map(int, size.split("x"))
        with tempfile.TemporaryDirectory() as folder:
            here = {"XDG_RUNTIME_DIR": folder, "XDG_STATE_HOME": folder}
            environment = {**os.environ, **here}
            file = Path(folder) / "pools.yaml"
            file.write_text("".join(pools(count, clusters)), encoding="utf-8")
            ours(environment, "sandbox", "start")
            try:
                ours(environment, "--sandbox", "pool", "plan", "-f", str(file))
                each = count // clusters
                alone = max(applied(one, environment).seconds for one in single(Path(folder), each))
                counted = Counted(here)
                first = applied(file, environment)
                requests = counted.requests() / count
                second = applied(file, environment)
            finally:
                ours(environment, "sandbox", "stop")
        own = SECONDS * -(-count // clusters)
        times = f"{own:>8.1f} {alone:>6.2f} {first.seconds:>7.2f} {first.seconds / alone:>6.2f}"
        figures = f"{times} {requests:>9.1f} {first.peak_mb:>8.0f} {second.seconds:>7.2f}"
        print(f"{count:>6} {clusters:>8} {figures}  {first.outcomes}, then {second.outcomes}")


if __name__ == "__main__":
    main()
