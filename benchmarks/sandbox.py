"""How fast the sandbox answers with two hundred pools and a thousand nodes in one cluster, and what memory it takes.

A process of its own, in a folder of its own, asked over HTTP as a cloud's client would; the median of many calls.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from fracgpu.sandbox.client import Control
from fracgpu.sandbox.folder import Endpoints

POOLS, NODES_EACH, CALLS = 200, 5, 30
CLUSTER = "/v1/projects/sandbox/locations/us-central1/clusters/sandbox"
KUBERNETES = "/k8s/gke/sandbox~us-central1~sandbox/api/v1"
GPU = {"acceleratorType": "nvidia-tesla-a100", "acceleratorCount": "1", "gpuPartitionSize": "1g.5gb"}
EKS = "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/eks/aws4_request"


class Client:
    """One connection that is kept open."""

    def __init__(self, http: str) -> None:
        self._connection = HTTPConnection(urlsplit(http).netloc, timeout=120)

    def __call__(self, method: str, path: str, body: Any = None, authorization: str = "Bearer sandbox") -> bytes:
        headers = {"Authorization": authorization, "Content-Type": "application/json"}
        self._connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = self._connection.getresponse()
        text = response.read()
        if response.status >= 300:
            raise SystemExit(f"{method} {path}: {response.status} {text.decode()}")
        return text


def mebibytes(pid: int) -> float:
    """Resident memory of a process."""
    said = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return int(said.stdout) / 1024


def milliseconds(call: Callable[[], object]) -> float:
    """The median over CALLS."""
    taken = []
    for _ in range(CALLS):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken) * 1000


def pool(name: str) -> dict[str, Any]:
    """A pool of A100s cut into slices."""
    config = {"machineType": "a2-highgpu-1g", "accelerators": [GPU]}
    return {"name": name, "initialNodeCount": NODES_EACH, "locations": ["us-central1-a"], "config": config}


def report(endpoints: Endpoints) -> None:
    """Print one line a figure."""
    control, call = Control(endpoints, timeout=120), Client(endpoints.http)
    print(f"{mebibytes(endpoints.pid):8.0f} MiB  at first, with the Kubernetes API")
    call("GET", "/clusters", authorization=EKS)
    call("GET", "/clusters/sandbox", authorization=EKS)
    print(f"{mebibytes(endpoints.pid):8.0f} MiB  with EC2, IAM and STS, which moto answers")
    control.set("operation-seconds", seconds=0)
    made = milliseconds_each(lambda number: call("POST", f"{CLUSTER}/nodePools", {"nodePool": pool(f"p{number}")}))
    nodes = json.loads(call("GET", f"{KUBERNETES}/nodes"))["items"]
    print(f"{mebibytes(endpoints.pid):8.0f} MiB  with {POOLS} pools and {len(nodes)} nodes")
    name = nodes[0]["metadata"]["name"]
    one_pool = f"{KUBERNETES}/nodes?labelSelector=cloud.google.com/gke-nodepool=p7"
    maps = f"{KUBERNETES}/namespaces/default/configmaps"
    call("POST", maps, {"metadata": {"name": "one"}})
    print(f"{mebibytes(endpoints.pid):8.0f} MiB  with the fields of Kubernetes' kinds, read on the first write")
    rows: dict[str, Callable[[], object]] = {
        "a pool": lambda: call("GET", f"{CLUSTER}/nodePools/p7"),
        "all pools": lambda: call("GET", f"{CLUSTER}/nodePools"),
        "a node": lambda: call("GET", f"{KUBERNETES}/nodes/{name}"),
        "the nodes of a pool": lambda: call("GET", one_pool),
        "all nodes": lambda: call("GET", f"{KUBERNETES}/nodes"),
        "a ConfigMap written": lambda: call(
            "PUT", f"{maps}/one", {"metadata": {"name": "one"}, "data": {"at": str(time.time())}}
        ),
        "status of everything": control.status,
    }
    print(f"{made:8.1f} ms   a pool made")
    for what, row in rows.items():
        print(f"{milliseconds(row):8.1f} ms   {what}")


def milliseconds_each(make: Callable[[int], object]) -> float:
    """The median over as many pools as are made."""
    taken = []
    for number in range(POOLS):
        start = time.perf_counter()
        make(number)
        taken.append(time.perf_counter() - start)
    return statistics.median(taken) * 1000


def main() -> None:
    """Measure a sandbox that nobody else uses."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["XDG_RUNTIME_DIR"] = home
        from fracgpu.sandbox import process

        start = time.perf_counter()
        endpoints = process.start()
        print(f"{time.perf_counter() - start:8.1f} s    until it answers")
        try:
            report(endpoints)
        finally:
            process.stop()


if __name__ == "__main__":
    main()
