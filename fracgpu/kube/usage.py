"""What the nodes of a pool have to give, and how much of it pods hold. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fracgpu.kube.occupants import OVER, requested
from fracgpu.kube.promise import Promise
from fracgpu.kube.verify import Verification, allocatable, failures, verify
from fracgpu.plan import Json


@dataclass(frozen=True, slots=True)
class Usage:
    """A pool as its cluster has it. `total`, `used` and `free` are GPU resources by name, over all of its nodes."""

    nodes: int
    total: Mapping[str, int]
    used: Mapping[str, int]
    free: Mapping[str, int]
    """What pods could still get: nothing of a node that takes none now, or that lost slices under its pods."""
    drift: tuple[str, ...]
    """How nodes differ from what the pool promises; empty where none does."""

    def to_json(self) -> Json:
        names = dict.fromkeys((*self.total, *self.used))
        return {
            name: {"total": self.total.get(name, 0), "used": self.used.get(name, 0), "free": self.free.get(name, 0)}
            for name in names
        }


def usage(promise: Promise, nodes: Sequence[Json], pods: Iterable[Json]) -> Usage:
    """Hold the pool's nodes and the pods of its cluster together. A pod that has ended holds nothing."""
    on_node: dict[str, list[Json]] = {str(node["metadata"]["name"]): [] for node in nodes}
    for pod in pods:
        where = (pod.get("spec") or {}).get("nodeName")
        if where in on_node and (pod.get("status") or {}).get("phase") not in OVER:
            on_node[where].append(pod)
    total: Counter[str] = Counter()
    used: Counter[str] = Counter()
    free: Counter[str] = Counter()
    for node in nodes:
        there, held = Counter(allocatable(node)), Counter[str]()
        for pod in on_node[str(node["metadata"]["name"])]:
            held.update(requested(pod))
        total.update(there)
        used.update(held)
        free.update(there - held if takes_pods(node) else {})
    found = verify(promise, nodes, on_node.__getitem__)
    return Usage(len(nodes), total, used, free, _drift(found))


def takes_pods(node: Json) -> bool:
    """Ready, and not cordoned."""
    conditions = (node.get("status") or {}).get("conditions") or ()
    ready = any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions)
    return ready and not (node.get("spec") or {}).get("unschedulable")


def _drift(found: Verification) -> tuple[str, ...]:
    return tuple(one.message for one in failures(found))
