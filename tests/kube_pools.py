"""Pools in the sandbox, made by the program's own operations, and the cluster's Kubernetes API beside them."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, TypeVar

from fracgpu.catalog.load import load
from fracgpu.kube.promise import Promise
from fracgpu.kube.session import Kube
from fracgpu.operations.apply import How
from fracgpu.operations.create import create
from fracgpu.operations.kube import open_kube
from fracgpu.operations.outcome import Event
from fracgpu.operations.planning import Choices
from fracgpu.operations.prepare import prepare
from fracgpu.operations.promises import of_pool
from fracgpu.operations.wait import Wait
from fracgpu.providers import Observed, Session, provider
from fracgpu.providers.access import Access
from fracgpu.resolve import ClusterRef
from fracgpu.sandbox.settings import change
from fracgpu.spec import NodePool

if TYPE_CHECKING:
    from tests.sandbox.conftest import Sandbox

T = TypeVar("T")

CLUSTERS: dict[str, dict[str, str]] = {
    "gke": {"provider": "gke", "name": "sandbox", "project": "sandbox", "location": "us-central1-a"},
    "aks": {
        "provider": "aks",
        "name": "sandbox",
        "resourceGroup": "sandbox",
        "subscription": "00000000-0000-0000-0000-000000000000",
    },
    "eks": {"provider": "eks", "name": "sandbox", "region": "us-east-1"},
}
SHARING = ("mig", "timeSlicing", "mps", "renameByDefault", "configKey")


class Clock:
    """A clock of the sandbox's: to sleep is to let its time pass."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def now(self) -> float:
        return self._sandbox.world.now()

    def sleep(self, seconds: float) -> None:
        self._sandbox.advance(seconds)


class Cloud:
    """One cloud of a sandbox, as operations meet it."""

    def __init__(self, sandbox: Sandbox, name: str) -> None:
        self.sandbox = sandbox
        self.name = name
        self.access = Access(
            sandbox=True,
            azure_endpoint=sandbox.http,
            gke_endpoint=sandbox.grpc,
            aws_endpoint=sandbox.http,
        )
        members = dict(CLUSTERS[name])
        self.cluster = ClusterRef(
            provider(name).NAME,
            members["name"],
            resource_group=members.get("resourceGroup"),
            subscription=members.get("subscription"),
            project=members.get("project"),
            location=members.get("location"),
            region=members.get("region"),
        )

    def session(self) -> Session:
        return provider(self.name).connect(self.cluster, self.access)

    def kube(self) -> Kube:
        return open_kube(self.session())

    def written(self, name: str, **spec: Any) -> NodePool:
        sharing = {key: spec.pop(key) for key in SHARING if key in spec}
        body = {"cluster": CLUSTERS[self.name], "sharing": sharing, **spec}
        return NodePool.model_validate({"metadata": {"name": name}, "spec": body})

    def wait(self, name: str, limit: float = 3600.0) -> Wait:
        return Wait.start(name, self.cluster, limit, f"fracgpu pool wait {name}", Clock(self.sandbox))

    def make(self, name: str, **spec: Any) -> tuple[Promise, Observed]:
        """A pool that is ready; its nodes have joined."""
        session = self.session()
        prepared = prepare(self.written(name, **spec), load(), facts=session.cluster_facts())
        finish(create(prepared, session, self.wait(name), Choices(), How()))
        self.sandbox.advance(600)
        seen = session.observe(name)
        assert seen is not None
        return of_pool(prepared.pool), seen

    def nodes(self, promise: Promise) -> list[str]:
        with self.kube() as kube:
            return sorted(node["metadata"]["name"] for node in kube.nodes(dict([promise.pool_label])))

    def set_node(self, name: str, **how: Any) -> None:
        """`fracgpu sandbox set node`."""
        change(self.sandbox.world, "node", {"name": name, **how})
        self.sandbox.advance(10)


def finish(work: Generator[Event, None, T]) -> T:
    """What work gives in the end."""
    try:
        while True:
            next(work)
    except StopIteration as end:
        result: T = end.value
        return result
