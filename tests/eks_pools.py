"""Pools of EKS for tests: from a spec as a user writes it to what the provider makes of it."""

from __future__ import annotations

from typing import Any

from fracgpu.catalog.load import load
from fracgpu.errors import Finding
from fracgpu.plan import Json, Resource
from fracgpu.providers import ClusterFacts, Observed, eks
from fracgpu.providers.eks.status import observed
from fracgpu.resolve import Resolution, ResolvedPool, resolve
from fracgpu.spec import NodePool

CLUSTER = {"provider": "eks", "region": "us-east-1", "name": "ml-prod"}
ROLE = "arn:aws:iam::111122223333:role/EKSGpuNodeRole"
SUBNETS = ("subnet-0aaaaaaaaaaaaaaa1", "subnet-0bbbbbbbbbbbbbbb2")
ZONES = {SUBNETS[0]: "us-east-1a", SUBNETS[1]: "us-east-1b"}
FACTS = ClusterFacts(
    zones=("us-east-1a", "us-east-1b"),
    version="1.34",
    subnets=SUBNETS,
    node_role=ROLE,
    extra={"subnetZones": ZONES, "autoMode": False},
)


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


def resources(facts: ClusterFacts | None = FACTS, **spec: Any) -> tuple[Resource, ...]:
    return eks.desired(pool(**spec), facts)


def body(facts: ClusterFacts | None = FACTS, **spec: Any) -> Json:
    """The body of the node group."""
    return resources(facts, **spec)[-1].body


def template(**spec: Any) -> Resource:
    """The launch template of a pool that has one."""
    made, _ = resources(**spec)
    return made


def findings(facts: ClusterFacts | None = FACTS, **spec: Any) -> list[Finding]:
    """What resolution and EKS's rules find, errors and all."""
    found = resolution(**spec)
    assert found.pool is not None, found.findings
    return [*found.findings, *eks.rules(found.pool, facts)]


def shown(of: tuple[Resource, ...], version: str = "3") -> Observed:
    """The pool as an account has it in which these bodies were sent: with everything that AWS adds."""
    body = {
        "diskSize": 20,
        "updateConfig": {"maxUnavailable": 1},
        **of[-1].body,
        "nodegroupArn": "arn:aws:eks:us-east-1:111122223333:nodegroup/ml-prod/pool/0",
        "createdAt": "2026-01-01T00:00:00+00:00",
        "modifiedAt": "2026-01-01T00:00:00+00:00",
        "status": "ACTIVE",
        "version": of[-1].body.get("version", "1.34"),
        "releaseVersion": of[-1].body.get("releaseVersion", "1.34.1-20260101"),
        "resources": {"autoScalingGroups": [{"name": "eks-pool-0"}]},
        "health": {"issues": []},
    }
    if "launchTemplate" in body:
        body.pop("diskSize")
        said = body["launchTemplate"]
        number = said["version"] if said.get("version", "<new>") != "<new>" else version
        body["launchTemplate"] = {"id": "lt-0123456789abcdef0", "name": "by-id", **said, "version": number}
    return observed(body, of[-1].cluster, of[0] if len(of) == 2 else None)
