"""How long an offline plan of many pools takes, and how much memory: `python benchmarks/offline_plan.py [POOLS ...]`.

One file of NodePools over several clusters of each cloud, planned by the command as a user would, its answer thrown
away. Each size is measured in a process of its own; the wall time of the best of three runs counts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

SIZES = (1_000, 10_000)
FORMS = ("table", "json")
POOLS = (
    ("gke, project: p, location: us-central1-a", "a2-highgpu-1g", "{mig: {profile: 1g.5gb}}", "spot"),
    ("gke, project: p, location: us-central1-b", "g2-standard-12", "{timeSlicing: {replicas: 4}}", "on-demand"),
    ("aks, resourceGroup: g", "Standard_NC24ads_A100_v4", "{mig: {profile: 1g.10gb}}", "on-demand"),
    ("aks, resourceGroup: g", "Standard_NC4as_T4_v3", "{timeSlicing: {replicas: 10}}", "spot"),
    ("eks, region: us-east-1", "p4d.24xlarge", "{mig: {profile: 1g.5gb}}", "on-demand"),
    ("eks, region: us-east-1", "g5.xlarge", "{timeSlicing: {replicas: 10}}", "spot"),
)
POOL = """\
apiVersion: fracgpu/v1
kind: NodePool
metadata: {{name: p{number}}}
spec:
  cluster: {{provider: {cluster}, name: c{lane}}}
  machine: {machine}
  sharing: {sharing}
  nodes: {{min: 0, max: 4}}
  capacity: {capacity}
  labels: {{team: t{lane}}}
  tags: {{cost-centre: "{lane}"}}
---
"""


def pools(count: int) -> Iterator[str]:
    """Documents, a cluster for every thirty pools."""
    for number in range(count):
        cluster, machine, sharing, capacity = POOLS[number % len(POOLS)]
        said = {"cluster": cluster, "machine": machine, "sharing": sharing, "capacity": capacity}
        yield POOL.format(number=number, lane=number // 30, **said)


def measured(file: Path, form: str) -> tuple[float, float]:
    """Seconds and peak MB of one plan."""
    command = [sys.executable, "-m", "fracgpu", "pool", "plan", "--offline", "-q", "-f", str(file), "-o", form]
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        said = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"the plan failed with {process.returncode}: {said[:2000]}")
    return time.perf_counter() - began, usage.ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)


def main() -> None:
    sizes = [int(word) for word in sys.argv[1:]] or SIZES
    print(f"{'pools':>7} {'form':>6} {'seconds':>8} {'ms a pool':>10} {'peak MB':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            file = Path(folder) / f"{size}.yaml"
            file.write_text("".join(pools(size)), encoding="utf-8")
            for form in FORMS:
                seconds, peak = min(measured(file, form) for _ in range(3))
                print(f"{size:>7} {form:>6} {seconds:>8.2f} {1000 * seconds / size:>10.3f} {peak:>8.0f}")


if __name__ == "__main__":
    main()
