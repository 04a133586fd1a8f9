"""What the nodes of a managed node group are: from the group, its launch template and EC2's instance type."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fracgpu.sandbox.eks import bottlerocket
from fracgpu.sandbox.eks.cards import Card, card
from fracgpu.sandbox.eks.userdata import NotCut, cut_by, decode, scripts
from fracgpu.sandbox.world import Cluster, Json, NodeShape, Pool

EFFECTS = {
    "NO_SCHEDULE": "NoSchedule",
    "NO_EXECUTE": "NoExecute",
    "PREFER_NO_SCHEDULE": "PreferNoSchedule",
}
DRIVER_MISSING = "the AMI has no NVIDIA driver: could not load NVML library: libnvidia-ml.so.1"
"""What a plain AMI on a GPU type looks like: https://github.com/awslabs/amazon-eks-ami/issues/1817."""


def shape(cluster: Cluster, pool: Pool) -> NodeShape:
    """What a node of that group is and shows; `Pool.extra["machine"]` is EC2's row for its instance type."""
    machine: dict[str, Any] = pool.extra["machine"]
    whole = NodeShape(
        machine=machine["name"],
        gpu_product="",
        gpu_count=0,
        vcpus=machine["vcpus"],
        memory_gib=machine["memory_gib"],
        architecture="arm64" if "arm64" in machine["architectures"] else "amd64",
        labels=_labels(cluster, pool, machine["name"]),
        taints=[_taint(taint) for taint in pool.body.get("taints", [])],
        zones=pool.zones,
    )
    if not machine["gpus"]:
        return whole
    return _with_gpus(whole, pool, card(machine["gpu"], machine["gpu_mib"]), machine["gpus"])


def never_joins(pool: Pool) -> str | None:
    """Why nodes of that group fail at boot, in words; None where they come up."""
    machine: dict[str, Any] = pool.extra["machine"]
    if not pool.body["amiType"].startswith("BOTTLEROCKET") or not machine["gpus"]:
        return None
    try:
        settings = bottlerocket.parse(decode(pool.extra["template"].get("UserData")))
        bottlerocket.advertised(settings, card(machine["gpu"], machine["gpu_mib"]), machine["gpus"])
    except bottlerocket.NeverJoins as error:
        return str(error)
    return None


def _with_gpus(node: NodeShape, pool: Pool, of: Card, gpus: int) -> NodeShape:
    ami = pool.body["amiType"]
    node = replace(node, gpu_product=of.product, gpu_count=gpus)
    if "NVIDIA" not in ami and ami not in ("AL2_x86_64_GPU", "CUSTOM"):
        return replace(node, broken=DRIVER_MISSING)
    user_data = decode(pool.extra["template"].get("UserData"))
    if ami.startswith("BOTTLEROCKET"):
        try:
            shown = bottlerocket.advertised(bottlerocket.parse(user_data), of, gpus)
        except bottlerocket.NeverJoins as error:
            return replace(node, broken=f"the node never joins: {error}")
        return replace(node, slices=shown.slices, allocatable=shown.allocatable, one_share=shown.one_share)
    return _cut_at_boot(node, of, user_data)


def _cut_at_boot(node: NodeShape, of: Card, user_data: str) -> NodeShape:
    """An Amazon Linux node whose script cut it before the kubelet started; mig-manager comes later and is not here."""
    try:
        cuts = [cut_by(script, of, node.gpu_count) for script in scripts(user_data)]
    except NotCut as error:
        return replace(node, broken=str(error))
    return replace(node, slices=next((cut for cut in cuts if cut is not None), ()))


def _labels(cluster: Cluster, pool: Pool, machine: str) -> dict[str, str]:
    template: Json = pool.body.get("launchTemplate", {})
    sources = {
        "eks.amazonaws.com/sourceLaunchTemplateId": template.get("id"),
        "eks.amazonaws.com/sourceLaunchTemplateVersion": template.get("version"),
    }
    return {
        **pool.body.get("labels", {}),
        "eks.amazonaws.com/nodegroup": pool.name,
        "eks.amazonaws.com/capacityType": pool.body["capacityType"],
        "eks.amazonaws.com/nodegroup-image": pool.extra["image"],
        **{name: value for name, value in sources.items() if value},
        "node.kubernetes.io/instance-type": machine,
        "topology.kubernetes.io/region": cluster.path[0],
    }


def _taint(taint: Json) -> dict[str, str]:
    return {"key": taint["key"], "value": taint.get("value", ""), "effect": EFFECTS[taint["effect"]]}
