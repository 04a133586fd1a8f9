"""What a cluster autoscaler believes that a new node of a pool without nodes would have.

It matters where a pool may sink to zero: a pod that asks for what the autoscaler does not know of waits for ever.

- EKS: what DescribeNodegroup tells: labels, taints (those with a value only), `.../node-template/resources/...` tags,
  and the machine's whole GPUs, of which a fractional machine has none:
  https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/aws/aws_manager.go
- AKS: the VM size's GPUs as `nvidia.com/gpu`, whatever MIG or a plugin make of them, and the pool's tags with `_` for
  the slash; taints that read `key=value`; the GPU label for a list of sizes that ends with the A100:
  https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/azure/azure_template.go
- GKE: its autoscaler is told everything by GKE itself.
"""

from __future__ import annotations

from collections.abc import Iterable

from fracgpu.sandbox.kubernetes.quantity import number
from fracgpu.sandbox.world import Cloud, Json, NodeShape, Pool

GPU = "nvidia.com/gpu"
EKS_TAG = "k8s.io/cluster-autoscaler/node-template/resources/"
AKS_TAG = "k8s.io_cluster-autoscaler_node-template_resources_"
AKS_GPU_LABELS = ("accelerator", "kubernetes.azure.com/accelerator")
AKS_PREDICTED = ("A100", "T4", "V100")
"""The GPUs of whose machines the AKS autoscaler's list knows."""

_EKS_UNKNOWN = ("eks.amazonaws.com/nodegroup-image", "eks.amazonaws.com/sourceLaunchTemplate")
"""Labels that only the node itself shows."""


def believes(pool: Pool, shape: NodeShape) -> Json:
    """`{"labels", "taints", "resources"}` by the rules of the pool's cloud; `shape` is what its nodes really are."""
    match pool.cloud:
        case Cloud.AKS:
            return _belief(shape, _aks_labels(shape), _valued(shape), _aks_resources(pool, shape))
        case Cloud.EKS:
            return _belief(shape, _eks_labels(pool, shape), _valued(shape), _eks_resources(pool, shape))
        case Cloud.GKE:
            told = shape.allocatable
            return _belief(shape, shape.labels, shape.taints, told if told is not None else _whole(shape.gpu_count))


def summary(belief: Json) -> str:
    """A belief in a few words: `cpu=12 nvidia.com/gpu=1, taints nvidia.com/gpu=present:NoSchedule`."""
    resources = " ".join(f"{name}={count}" for name, count in belief["resources"].items())
    taints = " ".join("{key}={value}:{effect}".format(**{"value": "", **taint}) for taint in belief["taints"])
    return f"{resources}, taints {taints}" if taints else resources


def _belief(shape: NodeShape, labels: Json, taints: Iterable[Json], resources: Json) -> Json:
    return {"labels": labels, "taints": list(taints), "resources": {"cpu": shape.vcpus, **resources}}


def _whole(gpus: int) -> dict[str, int]:
    return {GPU: gpus} if gpus else {}


def _valued(shape: NodeShape) -> list[Json]:
    return [taint for taint in shape.taints if taint.get("value")]


def _aks_labels(shape: NodeShape) -> Json:
    predicted = any(name in shape.gpu_product for name in AKS_PREDICTED)
    return {name: value for name, value in shape.labels.items() if predicted or name not in AKS_GPU_LABELS}


def _aks_resources(pool: Pool, shape: NodeShape) -> dict[str, int]:
    found = _tagged(pool.body.get("tags"), AKS_TAG)
    return _whole(shape.gpu_count) | {name.replace("_", "/").replace("~2", "/"): n for name, n in found.items()}


def _eks_labels(pool: Pool, shape: NodeShape) -> Json:
    """Beside the group's own labels some that no node has, by the names that DescribeNodegroup has for them."""
    body = pool.body
    made_up = {"diskSize": body.get("diskSize"), "amiType": body.get("amiType"), "k8sVersion": body.get("version")}
    known = {name: value for name, value in shape.labels.items() if not name.startswith(_EKS_UNKNOWN)}
    return {name: str(value) for name, value in made_up.items() if value} | known


def _eks_resources(pool: Pool, shape: NodeShape) -> dict[str, int]:
    machine: Json = pool.extra.get("machine") or {}
    whole = int(machine.get("whole_gpus", shape.gpu_count))
    gpus = {GPU: whole} if shape.gpu_count else {}
    return gpus | _tagged(pool.body.get("tags"), EKS_TAG)


def _tagged(tags: Json | None, prefix: str) -> dict[str, int]:
    """Resources that tags name; a value that is no quantity counts for nothing."""
    found: dict[str, int] = {}
    for name, value in (tags or {}).items():
        if not name.startswith(prefix) or name == prefix:
            continue
        try:
            found[name.removeprefix(prefix)] = int(number(value))
        except ValueError:
            continue
    return found
