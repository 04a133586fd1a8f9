"""What exists in the sandbox: clusters, their pools, operations in flight, and the clock.

The fronts (`aks`, `gke`, `eks`) speak a cloud's protocol and keep that cloud's own JSON in `Pool.body`; the
Kubernetes front turns every pool into nodes. All of them share one `World`, hold `World.lock` while they touch it, and
call `World.settle()` first, so that time passes in one place only.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from fracgpu.sandbox.faults import Faults
from fracgpu.sandbox.tls import Identity

Json = dict[str, Any]

KEPT_OPERATIONS = 300
"""Operations of a cluster that are done and still known; a cloud forgets them after some weeks."""

Cuts = tuple[dict[str, int], ...]
"""What each GPU of a node is cut into (profile -> count, empty for a whole one); () where all of them are whole."""


class Cloud(StrEnum):
    AKS = "aks"
    GKE = "gke"
    EKS = "eks"


DEFAULT_CLUSTERS: tuple[tuple[Cloud, tuple[str, ...]], ...] = (
    (Cloud.GKE, ("sandbox", "us-central1", "sandbox")),
    (Cloud.AKS, ("00000000-0000-0000-0000-000000000000", "sandbox", "sandbox")),
    (Cloud.EKS, ("us-east-1", "sandbox")),
)
"""What is there before anybody asks, so that a command that names no cluster has one."""


@dataclass(slots=True)
class Pool:
    """One node pool as its cloud keeps it.

    `body` is the pool in the cloud's own JSON (ARM `properties`, a GKE NodePool, an EKS Nodegroup), `state` the cloud's
    own word for where it is in its life, `size` the nodes that the cloud has made so far (not the number asked for).
    """

    cloud: Cloud
    name: str
    body: Json
    state: str
    size: int = 0
    zones: tuple[str, ...] = ()
    incarnation: int = 0
    extra: Json = field(default_factory=dict)
    """What a front must remember of the pool and its API does not show."""


@dataclass(slots=True)
class Operation:
    """Work in flight on a cluster or on one of its pools; `finish` runs once, when `ends` has passed."""

    id: str
    kind: str
    cluster: Cluster
    pool: str | None
    started: float
    ends: float
    finish: Callable[[Operation], None]
    done: bool = False
    error: Json | None = None
    outcome: str | None = None
    detail: Json = field(default_factory=dict)


@dataclass(slots=True)
class Cluster:
    """A cluster of a cloud.

    `path` names it there: AKS (subscription, group, name), GKE (project, location, name), EKS (region, name).
    """

    cloud: Cloud
    path: tuple[str, ...]
    pools: dict[str, Pool] = field(default_factory=dict)
    operations: dict[str, Operation] = field(default_factory=dict)
    kubernetes: Any = None
    """The cluster's Kubernetes objects; owned by `sandbox/kubernetes`."""
    extra: Json = field(default_factory=dict)
    """What a front must remember of the cluster itself."""

    @property
    def name(self) -> str:
        return self.path[-1]

    def running(self) -> Iterator[Operation]:
        return (operation for operation in self.operations.values() if not operation.done)


@dataclass(frozen=True, slots=True)
class NodeShape:
    """What the nodes of a pool are, read from the pool's body alone (and, on EKS, from its launch template).

    `allocatable` is set where the cloud's own plugin advertises the GPUs (GKE, Bottlerocket); None means that a
    simulated device plugin reads its ConfigMap from the cluster's Kubernetes API.
    """

    machine: str
    gpu_product: str
    gpu_count: int
    vcpus: int
    memory_gib: float
    architecture: str
    labels: dict[str, str]
    taints: list[dict[str, str]]
    slices: Cuts = ()
    allocatable: dict[str, int] | None = None
    one_share: bool = False
    """The plugin behind `allocatable` refuses a container that asks for more than one share."""
    zones: tuple[str, ...] = ()
    broken: str | None = None
    """Why such a node never joins or never advertises, in words; None for a sound one."""

    @property
    def devices(self) -> int:
        """GPUs that are whole, and the slices of those that are cut."""
        return sum(sum(cut.values()) or 1 for cut in self.slices) or self.gpu_count


class NoSuchCluster(LookupError):
    """The name begins with `missing-`, the one kind of cluster that the sandbox does not have."""


class World:
    """All state of one sandbox. `now` is seconds on a monotonic clock, replaced in tests."""

    def __init__(self, *, operation_seconds: float = 2.0, now: Callable[[], float] = time.monotonic) -> None:
        self.lock = threading.RLock()
        self.changed = threading.Condition(self.lock)
        self.now = now
        self.operation_seconds = operation_seconds
        self.faults = Faults()
        self.settings: Json = {}
        self.tls = Identity()
        self.http = ""
        """Where the sandbox answers over HTTP (`http://127.0.0.1:port`); set by the server."""
        self.clusters: dict[tuple[Cloud, tuple[str, ...]], Cluster] = {}
        self.shapes: dict[Cloud, Callable[[Cluster, Pool], NodeShape]] = {}
        self.founders: dict[Cloud, Callable[[Cluster], None]] = {}
        """What a cloud puts into a cluster the moment it is first seen (its system pool); set by the front's `app`."""
        self.on_change: list[Callable[[Cluster], None]] = []
        self.on_reset: list[Callable[[], None]] = []
        self.on_tick: list[Callable[[], None]] = []
        """What has to happen soon after it is due, though nobody looks; called with the lock held."""
        self._numbers = itertools.count(1)

    def number(self) -> int:
        """The next of an ever-growing sequence; ids, etags and resource versions are made of it."""
        return next(self._numbers)

    def cluster(self, cloud: Cloud, *path: str) -> Cluster:
        """The cluster of that name, made on first sight. Raises NoSuchCluster for names that begin with `missing-`."""
        if path[-1].startswith("missing-"):
            raise NoSuchCluster(path[-1])
        key = (cloud, path)
        if key not in self.clusters:
            self.clusters[key] = Cluster(cloud, path)
            if cloud in self.founders:
                self.founders[cloud](self.clusters[key])
            self.touch(self.clusters[key])
        return self.clusters[key]

    def begin(
        self,
        cluster: Cluster,
        kind: str,
        pool: str | None,
        finish: Callable[[Operation], None],
        *,
        id: str | None = None,
        outcome: str | None = None,
    ) -> Operation:
        """Start an operation that takes `operation_seconds`; outcome `endless` (a fault) never ends."""
        start = self.now()
        ends = float("inf") if outcome == "endless" else start + self.operation_seconds
        operation = Operation(id or f"op-{self.number()}", kind, cluster, pool, start, ends, finish, outcome=outcome)
        cluster.operations[operation.id] = operation
        for old in [known.id for known in cluster.operations.values() if known.done][:-KEPT_OPERATIONS]:
            del cluster.operations[old]
        return operation

    def settle(self) -> None:
        """Finish every operation whose time has come. Called by every front before it answers, and by a ticker."""
        with self.lock:
            for cluster in list(self.clusters.values()):
                due = [operation for operation in cluster.running() if operation.ends <= self.now()]
                for operation in due:
                    operation.done = True
                    operation.finish(operation)
                if due:
                    self.touch(cluster)

    def pass_time(self) -> None:
        """What the ticker does: finish operations and let the fronts follow."""
        with self.lock:
            self.settle()
            for callback in self.on_tick:
                callback()

    def touch(self, cluster: Cluster) -> None:
        """Say that a cluster's pools changed: its nodes are made anew and watchers wake."""
        with self.lock:
            for callback in self.on_change:
                callback(cluster)
            self.changed.notify_all()

    def reset(self) -> None:
        """Forget everything but the settings."""
        with self.lock:
            self.clusters.clear()
            self.faults.clear()
            for callback in self.on_reset:
                callback()
            self.changed.notify_all()
