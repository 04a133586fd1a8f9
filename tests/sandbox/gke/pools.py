"""Node pools that the tests of GKE's front send, and calls that several of them make."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CLUSTER = "projects/sandbox/locations/us-central1/clusters/regional-sandbox"
ZONAL = "projects/sandbox/locations/us-central1-a/clusters/zonal"
LOCATION = "projects/sandbox/locations/us-central1"

DATA = Path(__file__).parent / "data"


def a100(name: str = "p", **more: Any) -> dict[str, Any]:
    """A pool of one A100 a node; `partition` and `sharing` go to the accelerator, `config` adds to the node config."""
    gpu: dict[str, Any] = {"accelerator_count": 1, "accelerator_type": "nvidia-tesla-a100"}
    if partition := more.pop("partition", None):
        gpu["gpu_partition_size"] = partition
    if sharing := more.pop("sharing", None):
        gpu["gpu_sharing_config"] = {"gpu_sharing_strategy": sharing[0], "max_shared_clients_per_gpu": sharing[1]}
    gpu |= more.pop("gpu", {})
    config = {"machine_type": "a2-highgpu-1g", "accelerators": [gpu], **more.pop("config", {})}
    return {"name": name, "config": config, "initial_node_count": 1, **more}


def create(client: Any, pool: dict[str, Any], parent: str = CLUSTER) -> Any:
    return client.create_node_pool(parent=parent, node_pool=pool)


def read(client: Any, name: str = "p", cluster: str = CLUSTER) -> Any:
    return client.get_node_pool(name=f"{cluster}/nodePools/{name}")


def operation(client: Any, started: Any, location: str = LOCATION) -> Any:
    return client.get_operation(name=f"{location}/operations/{started.name}")


def recorded(name: str) -> dict[str, Any]:
    """What gcloud 528 put on the wire for such a pool."""
    body: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text())
    return body
