"""What a cluster does by itself: nodes join, DaemonSets follow, plugins advertise, pods are placed and run.

A `Life` is settled before every answer and whenever a watch looks: its controllers run in turn on what was written
since, and on what has become due, until nothing changes any more. There is no thread of its own: what came due while
nobody looked is made up for in order, each step at the time when it was due.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from fracgpu.sandbox.kubernetes import resources
from fracgpu.sandbox.kubernetes.kinds import Kinds
from fracgpu.sandbox.kubernetes.resources import Resource
from fracgpu.sandbox.kubernetes.store import Key, Store
from fracgpu.sandbox.world import Cloud, Cluster, Json, NodeShape, World

EVENTS = 5000
"""Events kept; a real server forgets them after an hour."""

LONG_AGO = 60.0
"""Seconds: what a cluster has when its life begins has been there for so long, and has come to rest."""

NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
OPERATOR_NAMESPACE = "gpu-operator"


@dataclass(slots=True)
class Machine:
    """One node as the cloud knows it. `ready_at` is on the world's clock; `plugin` belongs to device_plugin."""

    node: str
    pool: str
    index: int
    shape: NodeShape
    ready_at: float
    ready: bool = False
    advertised: dict[str, int] = field(default_factory=dict)
    one_share: frozenset[str] = frozenset()
    """Resources of which a container may take one only."""
    plugin: object = None


@dataclass(slots=True)
class Batch:
    """What happened since the last round: keys written to by kind, whether pools or settings changed."""

    written: dict[Resource, set[Key]]
    pools: bool
    settings: bool

    def keys(self, resource: Resource) -> set[Key]:
        return self.written.get(resource, set())


class Life:
    """The objects of one cluster and the state of its controllers. All calls are made with `World.lock` held."""

    def __init__(self, world: World, cluster: Cluster) -> None:
        self.world = world
        self.cluster = cluster
        self.store = Store(world.number)
        self.kinds = Kinds()
        self.machines: dict[str, Machine] = {}
        self.pools: dict[str, object] = {}
        self.daemon_pods: dict[Key, str] = {}
        """The node of every pod that a DaemonSet made."""
        self.unplaced: set[Key] = set()
        """Pods that the scheduler has found no node for."""
        self.waiting: set[Key] = set()
        """Pods on nodes that are not ready."""
        self.due: dict[Key, float] = {}
        """When a pod takes its next step: starts, or ends."""
        self.placed: set[str] = set()
        """What `sandbox set` has put into this cluster so far."""
        self.store.lag = LONG_AGO
        self.dirty_at: float | None = world.now() - LONG_AGO
        self._clock = self.dirty_at
        self._alarms: set[float] = set()
        self._settings = ""
        self._found()

    @property
    def operator(self) -> bool:
        """Whether the NVIDIA GPU Operator is installed: by default on the clouds that bring no plugin of their own."""
        if self.cluster.cloud is Cloud.GKE:
            return False
        setting = self.world.settings.get("plugin", {})
        name = "~".join((str(self.cluster.cloud), *self.cluster.path))
        return bool(setting.get(name, setting.get(str(self.cluster.cloud))) != "absent")

    @property
    def moment(self) -> float:
        """The time, in seconds, that small things take: a node's kubelet to come up, a pod to start."""
        return min(1.0, self.world.operation_seconds / 2)

    def now(self) -> float:
        """The time of the step that is being made; never ahead of the world's."""
        return self._clock

    def wake_at(self, time: float) -> None:
        """Ask to be run again at that time."""
        self._alarms.add(time)

    def pools_changed(self) -> None:
        if self.dirty_at is None:
            self.dirty_at = self.world.now()

    def batch(self) -> Batch | None:
        """What there is to do at the earliest time at which there is something; None when all is done."""
        present = self.world.now()
        settings = json.dumps(self.world.settings, sort_keys=True) if self.world.settings else ""
        changed, self._settings = settings != self._settings, settings
        if not (self.store.touched or changed):
            dirty = [] if self.dirty_at is None else [self.dirty_at]
            due = [time for time in (*self._alarms, *dirty) if time <= present]
            self._clock = max(self._clock, min(due)) if due else present
            if not due:
                self.store.lag = 0.0
                return None
        self.store.lag = present - self._clock
        self._alarms = {time for time in self._alarms if time > self._clock}
        pools = self.dirty_at is not None and self.dirty_at <= self._clock
        written, self.store.touched = self.store.touched, {}
        return Batch(written, pools, changed)

    def _found(self) -> None:
        names = (*NAMESPACES, *((OPERATOR_NAMESPACE,) if self.operator else ()))
        for name in names:
            self.store.create(resources.NAMESPACES, namespace(name))
            account = {"metadata": {"name": "default", "namespace": name}}
            self.store.create(resources.SERVICE_ACCOUNTS, account)

    def event(self, about: Json, reason: str, message: str, *, warning: bool = False, by: str) -> None:
        """Record an event about an object; the same one again only counts up."""
        metadata = about["metadata"]
        namespace = metadata.get("namespace") or "default"
        involved = {"kind": about["kind"], "name": metadata["name"], "uid": metadata.get("uid", "")}
        involved |= {"apiVersion": about["apiVersion"]}
        if "namespace" in metadata:
            involved["namespace"] = metadata["namespace"]
        number = abs(hash((metadata.get("uid"), reason, message))) % 16**16
        key = Key(namespace, f"{metadata['name']}.{number:016x}")
        before, when = self.store.find(resources.EVENTS, key), self.store.stamp()
        if before:
            self.store.replace(resources.EVENTS, {**before, "count": before["count"] + 1, "lastTimestamp": when})
            return
        events = self.store.entries(resources.EVENTS)
        if len(events) >= EVENTS:
            self.store.delete(resources.EVENTS, next(iter(events))[0])
        self.store.create(
            resources.EVENTS,
            {
                "metadata": {"name": key.name, "namespace": namespace},
                "involvedObject": involved,
                "reason": reason,
                "message": message,
                "source": {"component": by},
                "firstTimestamp": when,
                "lastTimestamp": when,
                "count": 1,
                "type": "Warning" if warning else "Normal",
                "eventTime": None,
                "reportingComponent": by,
                "reportingInstance": "",
            },
        )


Controller = Callable[[Life, Batch], None]


def namespace(name: str) -> Json:
    """A namespace as the API server completes it."""
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    }


def of(world: World, cluster: Cluster) -> Life:
    """The life of a cluster, begun on first sight."""
    if cluster.kubernetes is None:
        cluster.kubernetes = Life(world, cluster)
    life: Life = cluster.kubernetes
    return life


def with_conditions(conditions: Iterable[Json], *new: Json, when: str) -> list[Json]:
    """The conditions with those of the new types replaced; a transition time is kept where the status is the same."""
    found = {condition["type"]: condition for condition in conditions}
    for condition in new:
        before = found.get(condition["type"])
        same = before is not None and before["status"] == condition["status"]
        since = before.get("lastTransitionTime") if same and before else None
        found[condition["type"]] = {**condition, "lastTransitionTime": since or when}
    return list(found.values())
