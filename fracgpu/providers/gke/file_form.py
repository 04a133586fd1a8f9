"""From an existing node pool to the file form, ours or not, such that planning it changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fracgpu.catalog import query
from fracgpu.catalog.load import load
from fracgpu.catalog.models import Machine, ProviderName
from fracgpu.errors import Finding, info, warning
from fracgpu.plan import Json
from fracgpu.providers import Observed
from fracgpu.providers.file_members import nodes, some, taints, unsaid
from fracgpu.providers.gke.compare import settled
from fracgpu.providers.gke.desired import EFFECTS, SCOPES, default_driver_version
from fracgpu.providers.gke.unsaid import UNSAID
from fracgpu.spec import NodePool


def read(observed: Observed) -> tuple[NodePool, tuple[Finding, ...]]:
    """The file form of a pool, and notes on what it cannot say."""
    body = settled(observed.resources[-1]).body
    config = body["config"]
    machine = _machine(config)
    gpu = next(iter(config.get("accelerators", ())), None)
    spec: Json = {
        "cluster": observed.cluster.to_json(),
        "machine": config.get("machineType"),
        "gpu": machine.gpu if machine else (gpu or {}).get("acceleratorType"),
        "sharing": _sharing(gpu, machine) if gpu else None,
        "nodes": _nodes(body),
        "capacity": _capacity(config),
        "disk": some({"sizeGb": config.get("diskSizeGb")}),
        "zones": _zones(body, observed.cluster.location),
        "labels": config.get("labels"),
        "tags": config.get("resourceLabels"),
        **taints(_taints(config)),
        "gke": some(_options(body, gpu, machine)),
    }
    written = {"metadata": {"name": observed.name}, "spec": some(spec)}
    return NodePool.model_validate(written), tuple(_notes(observed, gpu))


def _machine(config: Json) -> Machine | None:
    """The catalog's row, by the accelerator where machines take several."""
    rows = query.find_machine(load(), ProviderName.GKE, config.get("machineType", ""))
    kinds = {accelerator.get("acceleratorType") for accelerator in config.get("accelerators", ())}
    return next((row for row in rows if row.accelerator in kinds), rows[0] if rows and not rows[0].accessory else None)


def _sharing(gpu: Json, machine: Machine | None) -> Json:
    sharing: Json = {}
    size = gpu.get("gpuPartitionSize")
    if size:
        sharing["mig"] = {"profile": _profile(size, machine)}
    config = gpu.get("gpuSharingConfig", {})
    clients = int(config.get("maxSharedClientsPerGpu", 0))
    name = {"TIME_SHARING": "timeSlicing", "MPS": "mps"}.get(config.get("gpuSharingStrategy", ""))
    if name and clients:
        sharing[name] = {"replicas": clients}
    return sharing


def _profile(size: str, machine: Machine | None) -> str:
    profiles = load().gpu(machine.gpu).profiles if machine else ()
    return next((profile.name for profile in profiles if profile.gke == size), size)


def _nodes(body: Json) -> Json:
    """Totals."""
    first: int = body["initialNodeCount"] * (len(body.get("locations", ())) or 1)
    scaling = body.get("autoscaling")
    if not scaling:
        return {"count": first}
    return nodes(scaling["totalMinNodeCount"], scaling.get("totalMaxNodeCount", 0), first)


def _capacity(config: Json) -> str | None:
    if config.get("spot"):
        return "spot"
    return "reserved" if "reservationAffinity" in config else None


def _zones(body: Json, location: str | None) -> list[str] | None:
    zones = body.get("locations")
    return None if zones == [location] else zones


def _taints(config: Json) -> Iterator[Json]:
    words = {native: effect.value for effect, native in EFFECTS.items()}
    for taint in config.get("taints", ()):
        if taint.get("effect") in words:
            yield {"key": taint["key"], "value": taint.get("value", ""), "effect": words[taint["effect"]]}


def _options(body: Json, gpu: Json | None, machine: Machine | None) -> Json:
    config, management = body["config"], body["management"]
    upgrades = body["upgradeSettings"]
    scopes = config.get("oauthScopes", [])
    return {
        **_driver(gpu, machine),
        "acceleratorCount": _count(gpu, machine),
        "diskType": config.get("diskType"),
        "imageType": config.get("imageType"),
        "locationPolicy": _location_policy(body),
        "networkTags": config.get("tags"),
        "serviceAccount": None if config.get("serviceAccount") == "default" else config.get("serviceAccount"),
        "oauthScopes": None if scopes == sorted(SCOPES) else scopes,
        "reservation": next(iter(config.get("reservationAffinity", {}).get("values", ())), None),
        "autoUpgrade": None if management["autoUpgrade"] else False,
        "autoRepair": None if management["autoRepair"] else False,
        "maxSurge": None if upgrades["maxSurge"] == 1 else upgrades["maxSurge"],
        "maxUnavailable": upgrades["maxUnavailable"] or None,
        "maxPods": _max_pods(body),
        "gvnic": config.get("gvnic", {}).get("enabled"),
    }


def _max_pods(body: Json) -> int | None:
    """110 is what GKE gives a pool of which nothing is said."""
    pods = int(body.get("maxPodsConstraint", {}).get("maxPodsPerNode", 110))
    return None if pods == 110 else pods


def _driver(gpu: Json | None, machine: Machine | None) -> Json:
    version = gpu["gpuDriverInstallationConfig"].get("gpuDriverVersion") if gpu else None
    if version == "INSTALLATION_DISABLED":
        return {"driver": "None"}
    usual = default_driver_version(load().gpu(machine.gpu).architecture if machine else None)
    return {"driverVersion": version if version in ("DEFAULT", "LATEST") and version != usual else None}


def _count(gpu: Json | None, machine: Machine | None) -> int | None:
    count = int(gpu.get("acceleratorCount", 0)) if gpu else 0
    return count if machine and machine.accessory and count != machine.gpu_count else None


def _location_policy(body: Json) -> Any:
    usual = "ANY" if body["config"].get("spot") else "BALANCED"
    policy = body.get("autoscaling", {}).get("locationPolicy", usual)
    return None if policy == usual else policy


def _notes(observed: Observed, gpu: Json | None) -> Iterator[Finding]:
    body = observed.body
    if gpu is None:
        message = f"{observed.name} has no GPU; fracgpu makes GPU pools"
        yield warning("no-gpu", message, field="spec.machine")
    yield from unsaid(body, UNSAID)
    scaling = body.get("autoscaling", {})
    if scaling.get("enabled") and "maxNodeCount" in scaling and len(body.get("locations", ())) > 1:
        message = "the autoscaler's limits are per zone there; here they are totals"
        yield info("limits-in-totals", message, field="spec.nodes")
