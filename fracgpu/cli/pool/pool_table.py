"""Pools as a table: a row a NodePool document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fracgpu.cli import output
from fracgpu.plan import Json

COLUMNS = ("NAME", "PHASE", "NODES", "MACHINE", "GPU", "SHARING", "PER NODE", "USED", "FREE", "DRIFT")
WIDE = ("CAPACITY", "MANAGED", "FLEET")
CLUSTER = "CLUSTER"


def pool_table(items: Sequence[Json], *, wide: bool = False, by_cluster: bool = False) -> None:
    """Print the table. `by_cluster` begins each row with the cluster, which a wide one ends with otherwise."""
    columns: tuple[str, ...] = (*COLUMNS, *WIDE, CLUSTER) if wide else COLUMNS
    if by_cluster:
        columns = (CLUSTER, *(name for name in columns if name != CLUSTER))
    output.table(columns, [[CELLS[name](item) for name in columns] for item in items])


def _cluster(item: Json) -> str:
    """The cluster of a pool, with what tells it from one of the same name elsewhere."""
    cluster = item["spec"]["cluster"]
    place = cluster.get("resourceGroup") or cluster.get("location") or cluster.get("region")
    return "/".join(filter(None, (cluster["provider"], place, cluster["name"])))


def _slices(item: Json, what: str) -> str | None:
    slices = item["status"].get("slices")
    return None if slices is None else _counts({resource: counts[what] for resource, counts in slices.items()})


def _counts(resources: Mapping[str, int] | None) -> str | None:
    """`gpu=7`, `mig-1g.5gb=2,mig-3g.20gb=1`; the domain is NVIDIA's for all of them."""
    if resources is None:
        return None
    return ",".join(f"{name.removeprefix('nvidia.com/')}={count}" for name, count in resources.items()) or "0"


def _drift(item: Json) -> str | None:
    """How many ways nodes differ from the promise; `no` where none does."""
    drift = item["status"].get("drift")
    if drift is None:
        return None
    return f"yes ({len(drift)})" if drift else "no"


def _sharing(item: Json) -> str:
    """What a pool does with its GPUs, in a few words: `mig 1g.5gb`, `time-slicing 10`, `mig 1g.5gb x mps 2`."""
    sharing = item["spec"].get("sharing") or {}
    words = [f"mig {_cut(sharing['mig'])}"] if sharing.get("mig") else []
    if sharing.get("timeSlicing"):
        words.append(f"time-slicing {sharing['timeSlicing']['replicas']}")
    if sharing.get("mps"):
        words.append(f"mps {sharing['mps']['replicas']}")
    return " x ".join(words) or "whole"


def _cut(mig: Json) -> str:
    layout = ",".join(f"{name}={count}" for name, count in (mig.get("layout") or {}).items())
    return mig.get("profile") or layout or "by device"


CELLS: Mapping[str, Callable[[Json], Any]] = {
    "NAME": lambda item: item["metadata"]["name"],
    "PHASE": lambda item: item["status"]["phase"],
    "NODES": lambda item: item["status"]["nodes"],
    "MACHINE": lambda item: item["spec"].get("machine"),
    "GPU": lambda item: item["spec"].get("gpu"),
    "SHARING": _sharing,
    "PER NODE": lambda item: _counts(item["status"].get("advertises")),
    "USED": lambda item: _slices(item, "used"),
    "FREE": lambda item: _slices(item, "free"),
    "DRIFT": _drift,
    "CAPACITY": lambda item: item["spec"].get("capacity"),
    "MANAGED": lambda item: item["status"]["managed"],
    "FLEET": lambda item: item["status"]["fleet"],
    CLUSTER: _cluster,
}
