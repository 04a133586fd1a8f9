"""An agent pool as `az aks nodepool add`: https://learn.microsoft.com/cli/azure/aks/nodepool#az-aks-nodepool-add"""

from __future__ import annotations

from collections.abc import Iterator

from fracgpu.errors import Finding
from fracgpu.plan import Json
from fracgpu.providers.aks.compare import properties
from fracgpu.providers.command_line import Flag, command, pairs
from fracgpu.resolve import ResolvedPool


def az(body: Json, pool: ResolvedPool) -> tuple[str, tuple[Finding, ...]]:
    """The command; it can say all that a body has."""
    said = properties(body)
    flags = [*_where(pool), *_size(said), *_machine(said), *_spot(said), *_kubernetes(said), *_upgrades(said)]
    return command(["az", "aks", "nodepool", "add"], flags, join=" "), ()


def _where(pool: ResolvedPool) -> Iterator[Flag]:
    cluster = pool.cluster
    yield "--name", pool.name
    yield "--cluster-name", cluster.name
    yield "--resource-group", cluster.resource_group or "RESOURCE_GROUP"
    yield "--subscription", cluster.subscription


def _size(said: Json) -> Iterator[Flag]:
    yield "--node-count", str(said["count"])
    if said["enableAutoScaling"]:
        yield "--enable-cluster-autoscaler", True
        yield "--min-count", str(said["minCount"])
        yield "--max-count", str(said["maxCount"])
    yield "--zones", said.get("availabilityZones")


def _machine(said: Json) -> Iterator[Flag]:
    yield "--node-vm-size", said["vmSize"]
    yield "--gpu-instance-profile", said.get("gpuInstanceProfile")
    yield "--gpu-driver", said["gpuProfile"]["driver"].lower()
    yield "--os-type", said["osType"]
    yield "--os-sku", said["osSKU"]
    yield "--enable-fips-image", said["enableFIPS"]
    yield "--node-osdisk-size", _text(said.get("osDiskSizeGB"))
    yield "--node-osdisk-type", said.get("osDiskType")
    yield "--scale-down-mode", said["scaleDownMode"]
    yield "--crg-id", said.get("capacityReservationGroupID")


def _spot(said: Json) -> Iterator[Flag]:
    yield "--priority", said["scaleSetPriority"]
    yield "--eviction-policy", said.get("scaleSetEvictionPolicy")
    price = said.get("spotMaxPrice", -1)
    yield "--spot-max-price", None if price == -1 else str(price)


def _kubernetes(said: Json) -> Iterator[Flag]:
    yield "--mode", said["mode"]
    yield "--labels", list(pairs(said.get("nodeLabels", {}).items()))
    yield "--node-taints", ",".join(said["nodeTaints"]) or None
    yield "--tags", list(pairs(said["tags"].items()))
    yield "--kubernetes-version", said.get("orchestratorVersion")
    yield "--max-pods", _text(said.get("maxPods"))
    yield "--vnet-subnet-id", said.get("vnetSubnetID")
    yield "--pod-subnet-id", said.get("podSubnetID")


def _upgrades(said: Json) -> Iterator[Flag]:
    settings = said["upgradeSettings"]
    yield "--max-surge", settings.get("maxSurge")
    yield "--max-unavailable", settings.get("maxUnavailable")
    yield "--drain-timeout", _text(settings.get("drainTimeoutInMinutes"))
    yield "--node-soak-duration", _text(settings.get("nodeSoakDurationInMinutes"))
    yield "--undrainable-node-behavior", settings["undrainableNodeBehavior"]


def _text(number: int | None) -> str | None:
    return None if number is None else str(number)
