"""What a cluster autoscaler believes that a new node of a pool without nodes would have.

It matters where a pool may sink to zero: a pod that asks for what the autoscaler does not know of waits for ever.

- EKS: labels, taints (those with a value only) and `k8s.io/cluster-autoscaler/node-template/resources/...` tags of
  DescribeNodegroup, the machine's whole GPUs otherwise:
  https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/aws/aws_manager.go
- AKS: the VM size's GPUs as `nvidia.com/gpu`, whatever MIG or a plugin make of them, and the pool's tags with `_` for
  the slash:
  https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/azure/azure_template.go
- GKE: its autoscaler is told everything by GKE itself.
"""

from __future__ import annotations

from fracgpu.sandbox.world import Cloud, Json, NodeShape, Pool

GPU = "nvidia.com/gpu"
EKS_TAG = "k8s.io/cluster-autoscaler/node-template/resources/"
AKS_TAG = "k8s.io_cluster-autoscaler_node-template_resources_"


def believes(pool: Pool, shape: NodeShape) -> Json:
    """`{"labels", "taints", "resources"}` by the rules of the pool's cloud; `shape` is what its nodes really are."""
    gpus = {GPU: shape.gpu_count} if shape.gpu_count else {}
    taints, resources = shape.taints, gpus
    match pool.cloud:
        case Cloud.AKS:
            resources = gpus | _tagged(pool.body.get("tags"), AKS_TAG, slash="_")
        case Cloud.EKS:
            taints = [taint for taint in shape.taints if taint.get("value")]
            resources = gpus | _tagged(pool.body.get("tags"), EKS_TAG)
        case Cloud.GKE:
            resources = gpus if shape.allocatable is None else shape.allocatable
    return {"labels": shape.labels, "taints": taints, "resources": {"cpu": shape.vcpus, **resources}}


def _tagged(tags: Json | None, prefix: str, slash: str = "/") -> dict[str, int]:
    """Resources that tags name; `slash` is what stands for `/` in a tag of that cloud."""
    found: dict[str, int] = {}
    for name, value in (tags or {}).items():
        if name.startswith(prefix) and str(value).isdecimal():
            found[name.removeprefix(prefix).replace(slash, "/", 1)] = int(value)
    return found
