"""What only one cloud has: the fields under `aks`, `gke` and `eks` of the file form."""

# No `from __future__ import annotations`: pydantic would have to evaluate each annotation anew whenever this is loaded.
from enum import StrEnum
from typing import Any, Literal

from fracgpu.model import Bool, Int, Model, Number, Text
from fracgpu.sharing import Backend


class AksUpgradeSettings(Model):
    max_surge: Text | None = None
    max_unavailable: Text | None = None
    drain_timeout_in_minutes: Int | None = None
    node_soak_duration_in_minutes: Int | None = None
    undrainable_node_behavior: Literal["Cordon", "Schedule"] | None = None


class AksOptions(Model):
    """What only AKS has; names and values are those of its AgentPool API.

    `autoscalerTags: false` leaves out the tags that tell the cluster autoscaler what the nodes of an empty pool would
    offer.
    """

    os_sku: Text | None = None
    mode: Literal["System", "User"] | None = None
    eviction_policy: Literal["Delete", "Deallocate"] | None = None
    scale_down_mode: Literal["Delete", "Deallocate"] | None = None
    spot_max_price: Number | None = None
    driver: Literal["Install", "None"] | None = None
    disk_type: Literal["Managed", "Ephemeral"] | None = None
    max_pods: Int | None = None
    subnet_id: Text | None = None
    pod_subnet_id: Text | None = None
    version: Text | None = None
    fips: Bool | None = None
    reservation: Text | None = None
    upgrade_settings: AksUpgradeSettings | None = None
    autoscaler_tags: Bool | None = None


class GkeOptions(Model):
    """What only GKE has. `accelerator_count` is for machines whose GPUs are attached (N1)."""

    accelerator_count: Int | None = None
    driver: Literal["Install", "None"] | None = None
    driver_version: Literal["DEFAULT", "LATEST"] | None = None
    disk_type: Text | None = None
    image_type: Text | None = None
    location_policy: Literal["BALANCED", "ANY"] | None = None
    network_tags: list[Text] | None = None
    service_account: Text | None = None
    oauth_scopes: list[Text] | None = None
    reservation: Text | None = None
    auto_upgrade: Bool | None = None
    auto_repair: Bool | None = None
    max_surge: Int | None = None
    max_unavailable: Int | None = None
    max_pods: Int | None = None
    version: Text | None = None
    gvnic: Bool | None = None


class EksUpdateConfig(Model):
    max_unavailable: Int | None = None
    max_unavailable_percentage: Int | None = None
    update_strategy: Literal["DEFAULT", "MINIMAL"] | None = None


class TemplateSays(StrEnum):
    """What a launch template of the user's own says in the pool's place."""

    SHARING = "sharing"
    MACHINE = "machine"


class EksLaunchTemplate(Model):
    """A launch template of the user's own; never changed by fracgpu.

    `says` lists what of the pool's spec the template brings itself: `sharing` by its user data, `machine` by its
    InstanceType. It is held against the template before anything is sent.
    """

    name: Text | None = None
    id: Text | None = None
    version: Text | None = None
    says: list[TemplateSays] | None = None


class EksOptions(Model):
    """What only EKS has; names and values are those of CreateNodegroup, and some are ours.

    `backend` says who cuts and shares. `capacityBlock` tells a reservation of that kind from an On-Demand one.
    `startupTaint` keeps pods off a node until its GPUs are cut. `autoscalerTags: false` leaves out the tags that tell
    the Cluster Autoscaler what the nodes of an empty group would offer.
    """

    backend: Backend | None = None
    ami_type: Text | None = None
    node_role: Text | None = None
    subnets: list[Text] | None = None
    instance_types: list[Text] | None = None
    update_config: EksUpdateConfig | None = None
    node_repair_config: dict[str, Any] | None = None
    launch_template: EksLaunchTemplate | None = None
    reservation: Text | None = None
    disk_type: Text | None = None
    version: Text | None = None
    release_version: Text | None = None
    startup_taint: Bool | None = None
    capacity_block: Bool | None = None
    placement_group: Text | None = None
    autoscaler_tags: Bool | None = None
