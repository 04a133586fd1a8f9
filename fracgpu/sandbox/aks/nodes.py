"""What the nodes of an AKS pool are, read from the pool alone."""

from __future__ import annotations

from fracgpu.sandbox.aks import rules, sizes
from fracgpu.sandbox.aks.sizes import Size
from fracgpu.sandbox.world import Cluster, Json, NodeShape, Pool


def shape(cluster: Cluster, pool: Pool) -> NodeShape:
    """The nodes' machine, labels and taints; a device plugin of the cluster's own advertises the GPUs (or does not)."""
    body = pool.body
    size = sizes.size(body["vmSize"])
    if size is None:
        raise LookupError(body["vmSize"])
    cut = size.slices.get(body.get("gpuInstanceProfile", ""))
    return NodeShape(
        machine=body["vmSize"],
        gpu_product=size.product or "",
        gpu_count=size.gpus,
        vcpus=size.vcpus,
        memory_gib=size.memory_gib,
        architecture=size.architecture,
        labels=_labels(cluster, pool, size),
        taints=[_taint(taint) for taint in body["nodeTaints"]],
        slices=(dict(cut),) * size.gpus if cut else (),
        zones=pool.zones,
        broken=_broken(body, size),
    )


def _labels(cluster: Cluster, pool: Pool, size: Size) -> dict[str, str]:
    # https://learn.microsoft.com/azure/aks/use-labels
    body = pool.body
    spot = {"kubernetes.azure.com/priority": "spot"} if rules.is_spot(body) else {}
    gpu = {"kubernetes.azure.com/accelerator": "nvidia", "accelerator": "nvidia"} if size.gpu else {}
    return {
        "agentpool": pool.name,
        "kubernetes.azure.com/agentpool": pool.name,
        "kubernetes.azure.com/cluster": "MC_{}_{}_{}".format(*cluster.path[1:], sizes.LOCATION),
        "kubernetes.azure.com/mode": body["mode"].lower(),
        "kubernetes.azure.com/os-sku": body.get("osSKU", ""),
        "kubernetes.azure.com/role": "agent",
        "kubernetes.azure.com/node-image-version": body["nodeImageVersion"],
        "node.kubernetes.io/instance-type": body["vmSize"],
        "topology.kubernetes.io/region": sizes.LOCATION,
        **spot,
        **gpu,
        **body["nodeLabels"],
    }


def _taint(text: str) -> dict[str, str]:
    pair, _, effect = text.rpartition(":")
    key, _, value = pair.partition("=")
    return {"key": key, "value": value, "effect": effect} if value else {"key": key, "effect": effect}


def _broken(body: Json, size: Size) -> str | None:
    profile = body.get("gpuInstanceProfile")
    driver = body.get("gpuProfile", {}).get("driver")
    if not size.gpu:
        return None
    if profile and driver == "None":
        return "nothing cuts the GPU: mig-partition needs the driver that gpuProfile.driver None leaves out"
    if profile and profile not in size.slices:
        return f"{profile} is no profile of the GPUs of {size.name}"
    # https://github.com/Azure/AKS/issues/5860
    if driver == "None" and size.driver == "grid":
        return f"{size.name} needs the licensed GRID driver, which only AKS installs"
    return None
