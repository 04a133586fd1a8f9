"""Tags of the scale set that tell the cluster autoscaler what a node of an empty pool would offer.

Without nodes the autoscaler knows a pool by its machine type alone, so whole `nvidia.com/gpu` are all that it sees
(https://github.com/Azure/AKS/issues/5161). It reads scale-set tags of this form, in which `_` stands for `/`
(https://github.com/kubernetes/autoscaler/pull/3532), and AKS puts a pool's tags onto its scale set. That both meet on
AKS is untested, which the note beside them says.
"""

from __future__ import annotations

from fracgpu.advertise import GPU_RESOURCE, resources
from fracgpu.providers.aks.facts import node_facts
from fracgpu.resolve import ResolvedPool

PREFIX = "k8s.io_cluster-autoscaler_node-template_resources_"


def unseen(pool: ResolvedPool) -> dict[str, int]:
    """Resource -> how many a node has, of those that the autoscaler cannot see while the pool is empty."""
    if pool.nodes.min > 0 or not pool.nodes.autoscaling:
        return {}
    return {name: count for name, count in resources(pool, node_facts(pool)).items() if name != GPU_RESOURCE}


def template_tags(pool: ResolvedPool) -> dict[str, str]:
    """One tag for each resource that would not be seen; none where none are wanted."""
    if pool.aks.autoscaler_tags is False:
        return {}
    return {PREFIX + name.replace("/", "_"): str(count) for name, count in unseen(pool).items()}
