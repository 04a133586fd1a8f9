"""A node pool as `google_container_node_pool` of hashicorp/google.

https://registry.terraform.io/providers/hashicorp/google/latest/docs/resources/container_node_pool
"""

from __future__ import annotations

from typing import Any

from fracgpu.errors import Finding, info
from fracgpu.plan import Json
from fracgpu.providers.hcl import Block, Expression, resource
from fracgpu.resolve import ResolvedPool

_RECREATES = "https://github.com/GoogleCloudPlatform/magic-modules/pull/18493"


def terraform(body: Json, pool: ResolvedPool) -> tuple[str, tuple[Finding, ...]]:
    """The resource, and how Terraform differs."""
    scaling = body.get("autoscaling", {})
    constraint = body.get("maxPodsConstraint", {})
    text = resource(
        "google_container_node_pool",
        body["name"],
        {
            "name": body["name"],
            "cluster": pool.cluster.name,
            "project": pool.cluster.project,
            "location": pool.cluster.location or "LOCATION",
            "node_locations": body.get("locations"),
            "initial_node_count" if scaling.get("enabled") else "node_count": body["initialNodeCount"],
            "max_pods_per_node": int(constraint["maxPodsPerNode"]) if constraint else None,
            "version": body.get("version"),
            "autoscaling": _autoscaling(scaling) if scaling.get("enabled") else None,
            "management": _management(body["management"]),
            "upgrade_settings": _upgrades(body["upgradeSettings"]),
            "node_config": Block(_config(body["config"])),
            "lifecycle": _lifecycle(body) if scaling.get("enabled") else None,
        },
    )
    return text, tuple(_notes())


def _notes() -> list[Finding]:
    message = "Terraform makes the pool anew where taints, sharing or driver change; fracgpu changes them in place"
    return [info("form-recreates", message, link=_RECREATES)]


def _autoscaling(scaling: Json) -> Block:
    return Block(
        {
            "total_min_node_count": scaling["totalMinNodeCount"],
            "total_max_node_count": scaling["totalMaxNodeCount"],
            "location_policy": scaling.get("locationPolicy"),
        }
    )


def _management(management: Json) -> Block:
    return Block({"auto_repair": management["autoRepair"], "auto_upgrade": management["autoUpgrade"]})


def _upgrades(upgrades: Json) -> Block:
    return Block({"max_surge": upgrades["maxSurge"], "max_unavailable": upgrades.get("maxUnavailable", 0)})


def _lifecycle(_: Json) -> Block:
    """A count that an autoscaler has moved would make the pool anew."""
    return Block({"ignore_changes": [Expression("initial_node_count")]})


def _config(config: Json) -> dict[str, Any]:
    gvnic = config.get("gvnic")
    return {
        "machine_type": config["machineType"],
        "spot": config.get("spot"),
        "disk_size_gb": config.get("diskSizeGb"),
        "disk_type": config.get("diskType"),
        "image_type": config.get("imageType"),
        "service_account": config.get("serviceAccount"),
        "oauth_scopes": config["oauthScopes"],
        "tags": config.get("tags"),
        "labels": config.get("labels"),
        "resource_labels": config.get("resourceLabels"),
        "metadata": config.get("metadata"),
        "guest_accelerator": [_accelerator(one) for one in config["accelerators"]],
        "taint": [_taint(one) for one in config.get("taints", ())] or None,
        "reservation_affinity": _affinity(config.get("reservationAffinity")),
        "gvnic": Block({"enabled": gvnic["enabled"]}) if gvnic else None,
    }


def _accelerator(accelerator: Json) -> Block:
    sharing = accelerator.get("gpuSharingConfig")
    driver = accelerator["gpuDriverInstallationConfig"]["gpuDriverVersion"]
    return Block(
        {
            "type": accelerator["acceleratorType"],
            "count": int(accelerator["acceleratorCount"]),
            "gpu_partition_size": accelerator.get("gpuPartitionSize"),
            "gpu_sharing_config": _sharing(sharing) if sharing else None,
            "gpu_driver_installation_config": Block({"gpu_driver_version": driver}),
        }
    )


def _sharing(sharing: Json) -> Block:
    return Block(
        {
            "gpu_sharing_strategy": sharing["gpuSharingStrategy"],
            "max_shared_clients_per_gpu": int(sharing["maxSharedClientsPerGpu"]),
        }
    )


def _taint(taint: Json) -> Block:
    return Block({"key": taint["key"], "value": taint.get("value", ""), "effect": taint["effect"]})


def _affinity(affinity: Json | None) -> Block | None:
    if not affinity:
        return None
    return Block(
        {
            "consume_reservation_type": affinity["consumeReservationType"],
            "key": affinity["key"],
            "values": affinity["values"],
        }
    )
