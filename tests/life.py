"""Pools brought through their life against the sandbox, with the operations that the command line uses.

Time is the sandbox's own: a wait pushes its clock instead of sleeping, so an operation of a minute takes no time.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from fracgpu.catalog.load import load
from fracgpu.kube.verify import Verification
from fracgpu.manifest import Document, Origin, document_of
from fracgpu.operations.apply import How, apply
from fracgpu.operations.create import create
from fracgpu.operations.delete import delete, deletion_of
from fracgpu.operations.listing import found
from fracgpu.operations.outcome import Event, Item
from fracgpu.operations.planning import Choices, PoolPlan, plan_pool
from fracgpu.operations.prepare import Prepared, prepare
from fracgpu.operations.revise import Edit, revision
from fracgpu.operations.scale import scaled
from fracgpu.operations.update import overlaid
from fracgpu.operations.verify import verify
from fracgpu.operations.wait import Wait, asked
from fracgpu.operations.waiting import Goal, wait_for
from fracgpu.providers import Observed, Session, provider
from fracgpu.providers.access import Access
from fracgpu.resolve import ClusterRef, cluster_ref
from fracgpu.sandbox.faults import Fault, Faults
from fracgpu.sandbox.world import Cloud
from fracgpu.spec import NodePool
from tests.sandbox.conftest import Sandbox

T = TypeVar("T")
MINUTE = 60.0
HOUR = 60 * MINUTE
NAME = "gpu"
CLUSTERS: dict[str, dict[str, str]] = {
    "gke": {"provider": "gke", "name": "prod", "project": "p", "location": "us-central1-a"},
    "aks": {"provider": "aks", "name": "prod", "resourceGroup": "g", "subscription": "s"},
    "eks": {"provider": "eks", "name": "prod", "region": "us-east-1"},
}
MACHINES = {"gke": "g2-standard-4", "aks": "Standard_NC4as_T4_v3", "eks": "g5.xlarge"}
CLOUDS = tuple(CLUSTERS)
AS_DECLARED, TO_THE_END = Choices(), How()


def spec(cloud: str, name: str = NAME, cluster: str = "prod", **members: Any) -> NodePool:
    """A small pool of the cloud, in the file form; members replace those of its spec."""
    body: dict[str, Any] = {
        "cluster": {**CLUSTERS[cloud], "name": cluster},
        "machine": MACHINES[cloud],
        "sharing": {"timeSlicing": {"replicas": 4}},
        "nodes": {"count": 1},
        "labels": {"team": "vision"},
        **members,
    }
    return NodePool.model_validate({"metadata": {"name": name}, "spec": body})


def document(pool: NodePool) -> Document:
    return Document(pool, Origin(""))


class PushedClock:
    """A clock whose sleeper pushes the sandbox's time forward."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.slept: list[float] = []
        self._lock = threading.Lock()

    def now(self) -> float:
        return self.sandbox.world.now()

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.slept.append(seconds)
            self.sandbox.advance(seconds)


def ended(work: Generator[Event, None, T]) -> T:
    """Run work to its end and give what it returns."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


@dataclass
class Hand:
    """Somebody who works on the pools of one cluster; every hand is as good as a process of its own."""

    sandbox: Sandbox
    cloud: str
    cluster: str = "prod"
    limit: float = 6 * HOUR
    session: Session = field(init=False)
    clock: PushedClock = field(init=False)

    def __post_init__(self) -> None:
        self.clock = PushedClock(self.sandbox)
        self.session = provider(self.cloud).connect(self.ref, access(self.sandbox))

    @property
    def ref(self) -> ClusterRef:
        ref = cluster_ref(spec(self.cloud, cluster=self.cluster).spec.cluster, [])
        assert ref is not None
        return ref

    def wait(self, name: str = NAME) -> Wait:
        return Wait.start(name, self.ref, self.limit, f"fracgpu pool wait {name}", self.clock)

    def prepared(self, pool: NodePool) -> Prepared:
        return prepare(pool, load(), facts=self.session.cluster_facts())

    def create(self, pool: NodePool, choices: Choices = AS_DECLARED, how: How = TO_THE_END) -> Item:
        return ended(create(self.prepared(pool), self.session, self.wait(_name(pool)), choices, how))

    def plan(self, pool: NodePool, choices: Choices = AS_DECLARED) -> PoolPlan:
        return plan_pool(self.prepared(pool), self.session.observe(_name(pool)), choices)

    def apply(self, pool: NodePool, choices: Choices = AS_DECLARED, how: How = TO_THE_END) -> Item:
        return ended(apply(self.plan(pool, choices), self.session, self.wait(_name(pool)), choices, how))

    def revise(self, edit: Edit, name: str = NAME) -> Item:
        planned = revision(self.found(name), edit, load(), self.session.cluster_facts()).plan()
        return ended(apply(planned, self.session, self.wait(name), Choices(not_ours=True), How()))

    def scale(self, count: int | None = None, low: int | None = None, high: int | None = None) -> Item:
        return self.revise(scaled(count, low, high))

    def update(self, **said: Any) -> Item:
        return self.revise(overlaid(said, {}, NodePool.model_validate))

    def delete(self, name: str = NAME) -> Item:
        planned = deletion_of(self.session, self.ref, name, clock=self.clock)
        return ended(delete(planned, self.session, self.wait(name), How()))

    def waits(self, goal: Goal = Goal.READY, name: str = NAME) -> Item:
        return ended(wait_for(self.session, self.wait(name), goal))

    def verify(self, name: str = NAME) -> Verification:
        return verify(self.session, self.found(name), load())

    def found(self, name: str = NAME) -> Observed:
        return found(self.session, name, self.clock)

    def pools(self) -> Sequence[Observed]:
        return asked(self.session.list, self.clock)

    def observe(self, name: str = NAME) -> Observed | None:
        return self.session.observe(name)

    def read(self, name: str = NAME) -> dict[str, Any]:
        """The spec of the pool as exported."""
        written, _ = provider(self.cloud).read(self.found(name))
        spec: dict[str, Any] = document_of(written)["spec"]
        return spec

    def ours(self) -> list[str]:
        """The names of the cluster's pools that carry the mark."""
        return [pool.name for pool in self.session.list() if pool.ours]

    def operations(self, name: str = NAME) -> int:
        """How many operations on the pool the cloud has ever begun."""
        clusters = [cluster for cluster in self.sandbox.world.clusters.values() if cluster.name == self.cluster]
        return sum(one.pool == name for cluster in clusters for one in cluster.operations.values())


def _name(pool: NodePool) -> str:
    assert pool.metadata.name is not None
    return pool.metadata.name


def access(sandbox: Sandbox) -> Access:
    """The way to a sandbox, with the clients that all hands on it have in common, since they take long to make."""
    return replace(_ACCESS.setdefault(sandbox, _access(sandbox)), _answers={}, _locks={})


_ACCESS: WeakKeyDictionary[Sandbox, Access] = WeakKeyDictionary()


def _access(sandbox: Sandbox) -> Access:
    return Access(
        sandbox=True,
        azure_endpoint=sandbox.http,
        gke_endpoint=sandbox.grpc,
        aws_endpoint=sandbox.http,
    )


def fail(sandbox: Sandbox, cloud: str, call: str, **how: Any) -> None:
    """Set a fault."""
    sandbox.world.faults.add(Cloud(cloud), call, **how)


class Severed(Faults):
    """The faults of a world that a program is cut off from for good, in the `nth` thing that it wants changed.

    As for a program that is ended by force: nothing that it would have done afterwards happens. The change itself is
    carried out (`done`) or is not. Without `nth` all goes well, and `changes` are the calls that change something.
    """

    def __init__(self, nth: int | None = None, *, done: bool = False) -> None:
        super().__init__()
        self.changes: list[str] = []
        self.cut = False
        self._nth = nth
        self._done = done

    def take(self, cloud: str, call: str) -> Fault | None:
        if not self.cut and READING.search(call) is None:
            self.changes.append(call)
            if len(self.changes) == self._nth:
                self.cut = True
                return Fault(0, cloud, call, drop=True, status=None if self._done else 503)
        return Fault(0, cloud, call, drop=True, status=503) if self.cut else super().take(cloud, call)


READING = re.compile(r"(^|_)(Get|List|Describe)|^(list|get|read) ")


class Weather(Faults):
    """The faults of a world that come and go with its time: `at` says what befalls a call that only looks."""

    def __init__(self, sandbox: Sandbox, at: Callable[[float], dict[str, Any] | None]) -> None:
        super().__init__()
        self.met = 0
        self._began = sandbox.world.now()
        self._now = sandbox.world.now
        self._at = at

    def take(self, cloud: str, call: str) -> Fault | None:
        how = self._at(self._now() - self._began) if READING.search(call) else None
        if how is None:
            return super().take(cloud, call)
        self.met += 1
        return Fault(0, cloud, call, **how)
