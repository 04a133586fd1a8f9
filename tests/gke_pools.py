"""Pools of GKE for tests: from a spec as a user writes it to what the provider makes of it."""

from __future__ import annotations

from typing import Any

from fracgpu.catalog.load import load
from fracgpu.errors import Finding
from fracgpu.plan import Json, Resource
from fracgpu.providers import ClusterFacts, Observed, gke
from fracgpu.providers.gke.status import observed
from fracgpu.resolve import Resolution, ResolvedPool, resolve
from fracgpu.spec import NodePool

CLUSTER = {"provider": "gke", "project": "acme", "location": "us-central1", "name": "regional-prod"}
# In the sandbox a cluster called regional-* spans three zones.
ZONES = ("us-central1-a", "us-central1-b", "us-central1-c")
FACTS = ClusterFacts(zones=ZONES, version="1.35.3-gke.1389000", extra={"autopilot": False, "pools_without_gpu": 1})


def written(name: str = "pool", **spec: Any) -> NodePool:
    return NodePool.model_validate({"metadata": {"name": name}, "spec": {"cluster": CLUSTER, **spec}})


def resolution(name: str = "pool", **spec: Any) -> Resolution:
    return resolve(written(name, **spec), load())


def pool(name: str = "pool", **spec: Any) -> ResolvedPool:
    """The resolved pool; the spec must have no errors that need no cloud."""
    found = resolution(name, **spec)
    assert found.pool is not None
    assert not found.errors, found.errors
    return found.pool


def resource(of: ResolvedPool, facts: ClusterFacts | None = FACTS) -> Resource:
    (made,) = gke.desired(of, facts)
    return made


def body(facts: ClusterFacts | None = FACTS, **spec: Any) -> Json:
    return resource(pool(**spec), facts).body


def findings(facts: ClusterFacts | None = FACTS, **spec: Any) -> list[Finding]:
    """What resolution and GKE's rules find, errors and all."""
    found = resolution(**spec)
    assert found.pool is not None, found.findings
    return [*found.findings, *gke.rules(found.pool, facts)]


def seen(of: ResolvedPool, shown: Json) -> Observed:
    """The pool as a cluster that shows this body has it."""
    return observed({"status": "RUNNING", **shown}, of.cluster)
