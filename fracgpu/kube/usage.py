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
    """A pool as its cluster has it. `total` and `used` are GPU resources by name, over all of its nodes."""

    nodes: int
    total: Mapping[str, int]
    used: Mapping[str, int]
    drift: tuple[str, ...]
    """How nodes differ from what the pool promises; empty where none does."""

    @property
    def free(self) -> dict[str, int]:
        """What a pod could still get. A node that lost slices under its pods has none to give, not fewer than none."""
        return {name: max(count - self.used.get(name, 0), 0) for name, count in self.total.items()}

    def to_json(self) -> Json:
        names = dict.fromkeys((*self.total, *self.used))
        free = self.free
        return {
            name: {"total": self.total.get(name, 0), "used": self.used.get(name, 0), "free": free.get(name, 0)}
            for name in names
        }


def usage(promise: Promise, nodes: Sequence[Json], pods: Iterable[Json]) -> Usage:
    """Hold the pool's nodes and the pods of its cluster together. A pod that has ended holds nothing."""
    names = {str(node["metadata"]["name"]) for node in nodes}
    on_node: dict[str, list[Json]] = {name: [] for name in names}
    for pod in pods:
        where = (pod.get("spec") or {}).get("nodeName")
        if where in on_node and (pod.get("status") or {}).get("phase") not in OVER:
            on_node[where].append(pod)
    total: Counter[str] = Counter()
    used: Counter[str] = Counter()
    for node in nodes:
        total.update(allocatable(node))
    for pods_there in on_node.values():
        for pod in pods_there:
            used.update(requested(pod))
    found = verify(promise, nodes, on_node.__getitem__)
    return Usage(len(nodes), total, used, _drift(found))


def _drift(found: Verification) -> tuple[str, ...]:
    return tuple(one.message for one in failures(found))
