"""Pools of AKS for tests: from a spec as a user writes it to what the provider makes of it."""

from __future__ import annotations

from typing import Any

from fracgpu.catalog.load import load
from fracgpu.errors import Finding
from fracgpu.plan import Change, Json, Resource, change_of
from fracgpu.providers import Observed, aks
from fracgpu.providers.aks.status import observed
from fracgpu.resolve import Resolution, ResolvedPool, resolve
from fracgpu.spec import NodePool

CLUSTER = {"provider": "aks", "resourceGroup": "ml", "name": "prod"}
A100 = "Standard_NC24ads_A100_v4"
A100_MIG: Json = {"machine": A100, "sharing": {"mig": {"profile": "1g.10gb"}}}


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


def resource(of: ResolvedPool) -> Resource:
    (made,) = aks.desired(of, None)
    return made


def properties(name: str = "pool", **spec: Any) -> Json:
    found: Json = resource(pool(name, **spec)).body["properties"]
    return found


def findings(name: str = "pool", **spec: Any) -> list[Finding]:
    """What resolution and AKS's rules find, errors and all."""
    found = resolution(name, **spec)
    assert found.pool is not None, found.findings
    return [*found.findings, *aks.rules(found.pool, None)]


def seen(of: ResolvedPool, shown: Json) -> Observed:
    """The pool as a cluster that shows these properties has it."""
    return observed({"name": of.name, "properties": {"provisioningState": "Succeeded", **shown}}, of.cluster)


def planned(wanted: ResolvedPool, there: Observed) -> Change:
    """What it takes to make the pool that is there into the one that is wanted."""
    made = resource(wanted)
    return change_of(made, aks.settled(there.resources[-1]), aks.comparison(made.kind), there.tag)
