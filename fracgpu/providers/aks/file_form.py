"""From an existing agent pool to the file form, ours or not, such that planning it changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fracgpu.catalog import query
from fracgpu.catalog.load import load
from fracgpu.catalog.models import Machine, ProviderName
from fracgpu.errors import Finding, info, warning
from fracgpu.plan import Json
from fracgpu.pluginkey import LABEL, PluginConfig, meaning
from fracgpu.providers import Observed
from fracgpu.providers.aks.compare import is_spot, properties, settled
from fracgpu.providers.aks.template import PREFIX, template_tags
from fracgpu.providers.aks.unsaid import unsaid
from fracgpu.resolve import resolve
from fracgpu.sharing import Mps
from fracgpu.spec import GPU_TAINT, GPU_TAINT_KEY, NodePool, read_taint


def read(observed: Observed) -> tuple[NodePool, tuple[Finding, ...]]:
    """The file form of a pool, and notes on what it cannot say."""
    pool = properties(settled(observed.resources[-1]).body)
    machine = _machine(pool)
    labels = dict(pool.get("nodeLabels", {}))
    spec: Json = {
        "cluster": observed.cluster.to_json(),
        "gpu": machine.gpu if machine else None,
        "machine": machine.name if machine else _size(pool),
        "sharing": _sharing(pool, machine, labels.pop(LABEL, None)),
        "nodes": _nodes(pool),
        "capacity": _capacity(pool),
        "disk": _some({"sizeGb": pool.get("osDiskSizeGB")}),
        "zones": pool.get("availabilityZones"),
        "labels": labels,
        "tags": pool.get("tags"),
        **_taints(pool),
        "aks": _some(_options(pool, properties(observed.body))),
    }
    written = _without_template_tags({"metadata": {"name": observed.name}, "spec": _some(spec)})
    return NodePool.model_validate(written), tuple(_notes(observed, machine))


def _some(members: Json) -> Json:
    return {key: value for key, value in members.items() if value not in (None, [], {})}


def _size(pool: Json) -> Any:
    """The machine type; a pool of several has them elsewhere, and the first stands for all."""
    scale = pool.get("virtualMachinesProfile", {}).get("scale", {})
    rows = [*scale.get("manual", ()), *scale.get("autoscale", ())]
    return pool.get("vmSize") or next((row.get("size") for row in rows), None)


def _machine(pool: Json) -> Machine | None:
    return next(iter(query.find_machine(load(), ProviderName.AKS, _size(pool) or "")), None)


def _sharing(pool: Json, machine: Machine | None, key: str | None) -> Json:
    """The cut from the pool, and the share from what the config key of the device plugin means."""
    sharing: Json = {}
    value = pool.get("gpuInstanceProfile")
    if value:
        sharing["mig"] = {"profile": _profile(value, machine)}
    if key is None:
        return sharing
    config = meaning(key)
    if config is None or not _sayable(config, cut=bool(value), machine=machine):
        return {**sharing, "configKey": key}
    if config.mixed:
        sharing["mig"]["strategy"] = "mixed"
    return sharing | _share(config)


def _sayable(config: PluginConfig, *, cut: bool, machine: Machine | None) -> bool:
    """Whether the rules would take what a key means; where not, the key is exported as a name like any other."""
    if config.mixed and not cut:
        return False
    share = config.share
    if share is None:
        return True
    return share.replicas > 1 and not (cut and isinstance(share, Mps)) and not (machine and machine.fractional)


def _profile(value: str, machine: Machine | None) -> str:
    profiles = load().gpu(machine.gpu).profiles if machine else ()
    return next((profile.name for profile in profiles if profile.aks == value), value)


def _share(config: PluginConfig) -> Json:
    share = config.share
    if share is None:
        return {}
    renamed = {"renameByDefault": True} if share.rename else {}
    if isinstance(share, Mps):
        return {"mps": {"replicas": share.replicas}, **renamed}
    one = {"failRequestsGreaterThanOne": True} if share.one_per_container else {}
    return {"timeSlicing": {"replicas": share.replicas, **one}, **renamed}


def _nodes(pool: Json) -> Json:
    """Under autoscaling the count is told only where it is not min, and never outside the limits."""
    count = pool["count"]
    if not pool["enableAutoScaling"]:
        return {"count": count}
    low, high = pool.get("minCount", 0), pool.get("maxCount", 0)
    if low == high:
        return {"count": low}
    count = min(max(count, low), high)
    return _some({"min": low, "max": high, "count": count if count != low else None})


def _capacity(pool: Json) -> str | None:
    if is_spot(pool):
        return "spot"
    return "reserved" if pool.get("capacityReservationGroupID") else None


def _taints(pool: Json) -> Json:
    """The user's taints; the GPU taint is told by its absence."""
    taints = [read_taint(text) for text in pool.get("nodeTaints", ())]
    key, value, effect = GPU_TAINT
    ours = {"key": key, "value": value, "effect": effect.value}
    keys = [taint["key"] for taint in taints]
    if keys.count(GPU_TAINT_KEY) == 1 and ours in taints:
        taints.remove(ours)
    return {"taints": taints, "gpuTaint": None if GPU_TAINT_KEY in keys else False}


def _options(pool: Json, raw: Json) -> Json:
    spot = is_spot(pool)
    return {
        "osSku": _unless(pool["osSKU"], "Ubuntu"),
        "mode": _unless(pool["mode"], "User"),
        "evictionPolicy": _unless(pool["scaleSetEvictionPolicy"], "Delete") if spot else None,
        "spotMaxPrice": _unless(pool["spotMaxPrice"], -1) if spot else None,
        "scaleDownMode": _unless(pool["scaleDownMode"], "Delete"),
        "driver": _unless(pool["gpuProfile"]["driver"], "Install"),
        "diskType": pool.get("osDiskType"),
        "maxPods": pool.get("maxPods"),
        "subnetId": pool.get("vnetSubnetID"),
        "podSubnetId": pool.get("podSubnetID"),
        "version": _version(raw),
        "fips": _unless(pool["enableFIPS"], False),
        "reservation": pool.get("capacityReservationGroupID"),
        "upgradeSettings": _some(_upgrades(pool)),
    }


def _unless(value: Any, usual: Any) -> Any:
    return None if value == usual else value


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
    return {name: _unless(said.get(name), usual) for name, usual in UPGRADE_DEFAULTS.items()}


def _without_template_tags(written: Json) -> Json:
    """Tags for the autoscaler that fracgpu would write itself are no part of the file."""
    have = written["spec"].get("tags", {})
    if not any(key.startswith(PREFIX) for key in have):
        return written
    pool = resolve(NodePool.model_validate(written), load()).pool
    own = template_tags(pool) if pool else {}
    kept = {key: value for key, value in have.items() if own.get(key) != value}
    return {**written, "spec": _some({**written["spec"], "tags": kept})}


def _notes(observed: Observed, machine: Machine | None) -> Iterator[Finding]:
    pool = properties(observed.body)
    if machine is None:
        message = f"{observed.name} has no GPU that the catalog knows; fracgpu makes GPU pools"
        yield warning("no-gpu", message, field="spec.machine")
    key = pool.get("nodeLabels", {}).get(LABEL) if pool.get("nodeLabels") else None
    if key is not None and meaning(key) is None:
        message = f"the config key {key} is not one of fracgpu's: what it shares is in the plugin's ConfigMap alone"
        yield info("config-key-unknown", message, field="spec.sharing.configKey")
    for member, words in unsaid(pool):
        message = f"the file form cannot say {words} ({member}); a pool made anew would not have it"
        yield info("not-in-file-form", message, detail={"member": member})
