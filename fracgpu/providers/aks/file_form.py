"""From an existing agent pool to the file form, ours or not, such that planning it changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fracgpu.catalog import query
from fracgpu.catalog.load import load
from fracgpu.catalog.models import Machine, ProviderName
from fracgpu.errors import Finding, warning
from fracgpu.plan import Json
from fracgpu.pluginkey import LABEL, meaning
from fracgpu.providers import Observed
from fracgpu.providers.aks.compare import is_spot, properties, settled
from fracgpu.providers.aks.template import template_tags
from fracgpu.providers.aks.unsaid import UNSAID
from fracgpu.providers.file_members import (
    nodes,
    sharing_of,
    some,
    taints,
    unknown_key,
    unless,
    unsaid,
    without_autoscaler_tags,
)
from fracgpu.resolve import resolve
from fracgpu.spec import NodePool
from fracgpu.taints import read_taint


def read(observed: Observed) -> tuple[NodePool, tuple[Finding, ...]]:
    """The file form of a pool, and notes on what it cannot say."""
    pool = properties(settled(observed.resources[-1]).body)
    machine = _machine(pool)
    labels = dict(pool.get("nodeLabels", {}))
    spec: Json = {
        "cluster": observed.cluster.to_json(),
        "gpu": machine.gpu if machine else None,
        "machine": machine.name if machine else _size(pool),
        "sharing": sharing_of(labels.pop(LABEL, None), _mig(pool, machine), machine),
        "nodes": _nodes(pool),
        "capacity": _capacity(pool),
        "disk": some({"sizeGb": pool.get("osDiskSizeGB")}),
        "zones": pool.get("availabilityZones"),
        "labels": labels,
        "tags": pool.get("tags"),
        **taints(read_taint(text) for text in pool.get("nodeTaints", ())),
        "aks": some(_options(pool, properties(observed.body))),
    }
    written = _without_autoscaler_tags({"metadata": {"name": observed.name}, "spec": some(spec)})
    return NodePool.model_validate(written), tuple(_notes(observed, machine))


def _size(pool: Json) -> Any:
    """The machine type; a pool of several has them elsewhere, and the first stands for all."""
    scale = pool.get("virtualMachinesProfile", {}).get("scale", {})
    rows = [*scale.get("manual", ()), *scale.get("autoscale", ())]
    return pool.get("vmSize") or next((row.get("size") for row in rows), None)


def _machine(pool: Json) -> Machine | None:
    return next(iter(query.find_machine(load(), ProviderName.AKS, _size(pool) or "")), None)


def _mig(pool: Json, machine: Machine | None) -> Json:
    value = pool.get("gpuInstanceProfile")
    return {"profile": _profile(value, machine)} if value else {}


def _profile(value: str, machine: Machine | None) -> str:
    profiles = load().gpu(machine.gpu).profiles if machine else ()
    return next((profile.name for profile in profiles if profile.aks == value), value)


def _nodes(pool: Json) -> Json:
    count: int = pool["count"]
    scaled = pool["enableAutoScaling"]
    return nodes(pool.get("minCount", 0), pool.get("maxCount", 0), count) if scaled else {"count": count}


def _capacity(pool: Json) -> str | None:
    if is_spot(pool):
        return "spot"
    return "reserved" if pool.get("capacityReservationGroupID") else None


def _options(pool: Json, raw: Json) -> Json:
    spot = is_spot(pool)
    return {
        "osSku": unless(pool["osSKU"], "Ubuntu"),
        "mode": unless(pool["mode"], "User"),
        "evictionPolicy": unless(pool["scaleSetEvictionPolicy"], "Delete") if spot else None,
        "spotMaxPrice": unless(pool["spotMaxPrice"], -1) if spot else None,
        "scaleDownMode": unless(pool["scaleDownMode"], "Delete"),
        "driver": unless(pool["gpuProfile"]["driver"], "Install"),
        "diskType": pool.get("osDiskType"),
        "maxPods": pool.get("maxPods"),
        "subnetId": pool.get("vnetSubnetID"),
        "podSubnetId": pool.get("podSubnetID"),
        "version": _version(raw),
        "fips": unless(pool["enableFIPS"], False),
        "reservation": pool.get("capacityReservationGroupID"),
        "upgradeSettings": some(_upgrades(pool)),
    }


def _version(raw: Json) -> str | None:
    """A version that was asked for: where nobody asks, AKS writes down the whole one that the nodes have."""
    asked: str | None = raw.get("orchestratorVersion")
    return None if asked == raw.get("currentOrchestratorVersion") else asked


UPGRADE_DEFAULTS = {
    "maxSurge": "10%",
    "maxUnavailable": "0",
    "drainTimeoutInMinutes": 30,
    "nodeSoakDurationInMinutes": 0,
    "undrainableNodeBehavior": "Schedule",
}


def _upgrades(pool: Json) -> Json:
    said = pool["upgradeSettings"]
    return {name: unless(said.get(name), usual) for name, usual in UPGRADE_DEFAULTS.items()}


def _without_autoscaler_tags(written: Json) -> Json:
    pool = resolve(NodePool.model_validate(written), load()).pool
    return without_autoscaler_tags(written, "aks", template_tags(pool) if pool else {})


def _notes(observed: Observed, machine: Machine | None) -> Iterator[Finding]:
    pool = properties(observed.body)
    if machine is None:
        message = f"{observed.name} has no GPU that the catalog knows; fracgpu makes GPU pools"
        yield warning("no-gpu", message, field="spec.machine")
    key = (pool.get("nodeLabels") or {}).get(LABEL)
    if key is not None and meaning(key) is None:
        yield unknown_key(key)
    yield from unsaid(pool, UNSAID)
