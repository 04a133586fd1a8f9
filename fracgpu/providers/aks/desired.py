"""From a pool to the agent pool that Azure Resource Manager is sent, `{"properties": {...}}`.

What az adds and the SDK does not is said here (mode, type, the explicit falses), and so is the driver, which az leaves
to the service. Taints and zones are in one order, so that the order in which they were written is never a difference.
"""

from __future__ import annotations

from typing import Any

from fracgpu.plan import Json, Resource
from fracgpu.providers import MANAGED, ClusterFacts
from fracgpu.providers.aks.facts import own_taints
from fracgpu.providers.aks.template import template_tags
from fracgpu.providers.plugin_facts import config_label
from fracgpu.resolve import ResolvedPool
from fracgpu.sharing import Mig

KIND = "aks.agentPool"


def desired(pool: ResolvedPool, facts: ClusterFacts | None) -> tuple[Resource, ...]:  # noqa: ARG001 - see Provider
    """The one resource of an AKS pool; nothing in it depends on the cluster."""
    properties: Json = {
        "vmSize": pool.machine.name,
        "osType": os_type(pool),
        "osSKU": os_sku(pool),
        "enableNodePublicIP": False,
        **_counts(pool),
        **_capacity(pool),
        "tags": tags(pool),
        **_said(nodeLabels=labels(pool)),
        "nodeTaints": sorted(map(str, own_taints(pool))),
        **_said(osDiskSizeGB=pool.disk_gb, osDiskType=disk_type(pool)),
        "upgradeSettings": _upgrades(pool),
        "type": "VirtualMachineScaleSets",
        "enableEncryptionAtHost": False,
        "enableUltraSSD": False,
        "enableFIPS": bool(pool.aks.fips),
        **_said(availabilityZones=sorted(pool.zones)),
        "mode": pool.aks.mode or "User",
        "scaleDownMode": pool.aks.scale_down_mode or "Delete",
        **_said(gpuInstanceProfile=instance_profile(pool)),
        "gpuProfile": {"driver": pool.aks.driver or "Install"},
        **_options(pool),
    }
    return (Resource(KIND, pool.name, pool.name, pool.cluster, {"properties": properties}),)


def _said(**members: Any) -> Json:
    return {name: value for name, value in members.items() if value not in (None, [], {})}


def _counts(pool: ResolvedPool) -> Json:
    nodes = pool.nodes
    limits = {"minCount": nodes.min, "maxCount": nodes.max} if nodes.autoscaling else {}
    return {"count": nodes.count, "enableAutoScaling": nodes.autoscaling, **limits}


def _capacity(pool: ResolvedPool) -> Json:
    if not pool.spot:
        return {"scaleSetPriority": "Regular"}
    price = pool.aks.spot_max_price
    return {
        "scaleSetPriority": "Spot",
        "scaleSetEvictionPolicy": pool.aks.eviction_policy or "Delete",
        "spotMaxPrice": -1 if price is None else price,
    }


def _upgrades(pool: ResolvedPool) -> Json:
    """No surge of our own: the service's default is 10%, and Spot pools take none
    (https://github.com/hashicorp/terraform-provider-azurerm/issues/29318)."""
    said = pool.aks.upgrade_settings
    settings = said.model_dump(by_alias=True, exclude_none=True) if said else {}
    return {"undrainableNodeBehavior": "Schedule", **settings}


def _options(pool: ResolvedPool) -> Json:
    said = pool.aks
    return _said(
        maxPods=said.max_pods,
        vnetSubnetID=said.subnet_id,
        podSubnetID=said.pod_subnet_id,
        orchestratorVersion=said.version,
        capacityReservationGroupID=said.reservation,
    )


def os_sku(pool: ResolvedPool) -> str:
    return pool.aks.os_sku or "Ubuntu"


def os_type(pool: ResolvedPool) -> str:
    return "Windows" if os_sku(pool).lower().startswith("windows") else "Linux"


def deallocates(pool: ResolvedPool) -> bool:
    """Whether nodes are stopped and kept rather than deleted, by the autoscaler or by an eviction."""
    return pool.aks.scale_down_mode == "Deallocate" or (pool.spot and pool.aks.eviction_policy == "Deallocate")


def disk_type(pool: ResolvedPool) -> str | None:
    """As said; Managed where nodes are stopped: an ephemeral disk, the service's own choice, does not survive that
    (https://learn.microsoft.com/azure/aks/scale-down-mode)."""
    return pool.aks.disk_type or ("Managed" if deallocates(pool) else None)


def instance_profile(pool: ResolvedPool) -> str | None:
    """AKS's word for what every GPU is cut into; the profile's own name where AKS has none, which `rules` refuses."""
    if not isinstance(pool.sharing.cut, Mig):
        return None
    profile = next(iter(pool.profiles().values()), None)
    return (profile.aks or profile.name) if profile else None


def labels(pool: ResolvedPool) -> dict[str, str]:
    """The user's labels, and the one that names the device plugin's config."""
    return {**pool.labels, **config_label(pool.sharing)}


def tags(pool: ResolvedPool) -> dict[str, str]:
    return {**template_tags(pool), **pool.tags, MANAGED: "true"}
