"""An agent pool as `azurerm_kubernetes_cluster_node_pool` of hashicorp/azurerm, version 4.43 or newer.

https://registry.terraform.io/providers/hashicorp/azurerm/latest/docs/resources/kubernetes_cluster_node_pool
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fracgpu.errors import Finding, info
from fracgpu.plan import Json
from fracgpu.providers.aks.compare import is_spot, properties
from fracgpu.providers.aks.facts import SPOT_KEY, SPOT_TAINT
from fracgpu.providers.hcl import Block, Expression, resource
from fracgpu.resolve import ResolvedPool

_CHURN = "https://github.com/hashicorp/terraform-provider-azurerm/issues/25615"
_DRIVER = "https://github.com/hashicorp/terraform-provider-azurerm/issues/30990"

_ATTRIBUTES = {
    "vmSize": "vm_size",
    "count": "node_count",
    "enableAutoScaling": "auto_scaling_enabled",
    "minCount": "min_count",
    "maxCount": "max_count",
    "availabilityZones": "zones",
    "gpuInstanceProfile": "gpu_instance",
    "osType": "os_type",
    "osSKU": "os_sku",
    "osDiskSizeGB": "os_disk_size_gb",
    "osDiskType": "os_disk_type",
    "enableFIPS": "fips_enabled",
    "scaleDownMode": "scale_down_mode",
    "scaleSetPriority": "priority",
    "scaleSetEvictionPolicy": "eviction_policy",
    "spotMaxPrice": "spot_max_price",
    "mode": "mode",
    "maxPods": "max_pods",
    "orchestratorVersion": "orchestrator_version",
    "vnetSubnetID": "vnet_subnet_id",
    "podSubnetID": "pod_subnet_id",
    "capacityReservationGroupID": "capacity_reservation_group_id",
    "tags": "tags",
}
"""Members that have an attribute of their own. Others are made below, or are false here and there by default."""

_UPGRADES = {
    "maxSurge": "max_surge",
    "maxUnavailable": "max_unavailable",
    "drainTimeoutInMinutes": "drain_timeout_in_minutes",
    "nodeSoakDurationInMinutes": "node_soak_duration_in_minutes",
    "undrainableNodeBehavior": "undrainable_node_behavior",
}


def terraform(body: Json, pool: ResolvedPool) -> tuple[str, tuple[Finding, ...]]:
    """The resource, and what it cannot say."""
    said = properties(body)
    members: dict[str, Any] = {"name": pool.name, "kubernetes_cluster_id": cluster_id(pool)}
    members |= {name: said.get(member) for member, name in _ATTRIBUTES.items()}
    members |= {
        "gpu_driver": said["gpuProfile"]["driver"],
        "node_labels": _labels(said),
        "node_taints": _taints(said),
        "upgrade_settings": _upgrades(said),
        "lifecycle": Block({"ignore_changes": [Expression("node_count")]}) if said["enableAutoScaling"] else None,
    }
    return resource("azurerm_kubernetes_cluster_node_pool", pool.name, members), tuple(_notes(said))


def cluster_id(pool: ResolvedPool) -> str:
    cluster = pool.cluster
    subscription, group = cluster.subscription or "SUBSCRIPTION", cluster.resource_group or "RESOURCE_GROUP"
    provider = "Microsoft.ContainerService/managedClusters"
    return f"/subscriptions/{subscription}/resourceGroups/{group}/providers/{provider}/{cluster.name}"


def _labels(said: Json) -> dict[str, str] | None:
    """Spot's own label is written, since Terraform would take it off again at every run."""
    labels = {**said.get("nodeLabels", {}), **({SPOT_KEY: "spot"} if is_spot(said) else {})}
    return labels or None


def _taints(said: Json) -> list[str] | None:
    return [*said["nodeTaints"], *([str(SPOT_TAINT)] if is_spot(said) else [])] or None


def _upgrades(said: Json) -> Block | None:
    """A surge or what may be unavailable must be said in the block, so that Spot pools, which take no surge, have none
    (https://github.com/hashicorp/terraform-provider-azurerm/issues/29318)."""
    settings = said["upgradeSettings"]
    if is_spot(said):
        return None
    surge = {} if "maxUnavailable" in settings else {"max_surge": "10%"}
    return Block(surge | {name: settings[key] for key, name in _UPGRADES.items() if key in settings})


def _notes(said: Json) -> Iterator[Finding]:
    if is_spot(said):
        message = "the label and taint that AKS adds to Spot nodes are written out, or Terraform would see a change"
        yield info("form-spot-written", message, link=_CHURN)
        settings = {key for key, value in said["upgradeSettings"].items() if value != "Schedule"}
        if settings:
            message = f"upgrade settings cannot be said of a Spot pool in Terraform: {', '.join(sorted(settings))}"
            yield info("form-gap", message, field="spec.aks.upgradeSettings")
    message = "some versions of the provider see a change where gpu_driver was not written, and make the pool anew"
    yield info("form-driver-written", message, link=_DRIVER)
