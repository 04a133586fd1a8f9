"""Tags of a node group that tell the Cluster Autoscaler what a node of the empty group would offer.

The autoscaler reads labels, taints and these tags from DescribeNodegroup since 1.28
(https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/aws/README.md), so no tag of the
auto scaling group is needed. Without them it imagines the machine's whole GPUs.
"""

from __future__ import annotations

from fracgpu.advertise import GPU_RESOURCE, resources
from fracgpu.providers.eks.facts import node_facts
from fracgpu.resolve import ResolvedPool
from fracgpu.sharing import SharingKind

PREFIX = "k8s.io/cluster-autoscaler/node-template/resources/"

ACCELERATOR = "k8s.amazonaws.com/accelerator"
"""A node with this label counts as unready until it shows nvidia.com/gpu
(https://github.com/kubernetes/autoscaler/issues/8095)."""


def offered(pool: ResolvedPool) -> dict[str, int]:
    """What a node offers that its machine does not tell, and 0 for whole GPUs that are not there. Empty for nothing.

    A part of a GPU (g6f) is one: EC2 counts none there, and so would an autoscaler
    (https://github.com/aws/karpenter-provider-aws/issues/8368).
    """
    if pool.sharing.kind is SharingKind.WHOLE and not pool.machine.fractional:
        return {}
    counts = {**resources(pool, node_facts(pool))}
    counts.setdefault(GPU_RESOURCE, 0)
    return counts


def resource_tags(pool: ResolvedPool) -> dict[str, str]:
    """One tag for each resource of a node. Empty where they say nothing new."""
    if pool.eks.autoscaler_tags is False:
        return {}
    return {PREFIX + name: str(count) for name, count in offered(pool).items()}
