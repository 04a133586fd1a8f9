"""Names on EKS and EC2: of node groups, and of the launch templates that fracgpu makes beside them."""

from __future__ import annotations

import hashlib
import re

from fracgpu.providers import MANAGED
from fracgpu.resolve import ResolvedPool

NODEGROUP = "eks.nodegroup"
LAUNCH_TEMPLATE = "ec2.launchTemplate"

CLUSTER_TAG = "fracgpu-cluster"
POOL_TAG = "fracgpu-pool"

GROUP_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
"""https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html"""

_LONGEST_TEMPLATE = 128
"""https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateLaunchTemplate.html"""
_NOT_IN_TEMPLATE = re.compile(r"[^A-Za-z0-9()./_-]")


def template_name(cluster: str, pool: str) -> str:
    """The launch template of a pool: `fracgpu-<cluster>-<pool>`, its tail a hash where that is no name for EC2."""
    plain = f"fracgpu-{cluster}-{pool}"
    name = _NOT_IN_TEMPLATE.sub("-", plain)
    if name == plain and len(name) <= _LONGEST_TEMPLATE:
        return name
    digest = hashlib.sha256(f"{cluster}/{pool}".encode()).hexdigest()[:10]
    return f"{name[: _LONGEST_TEMPLATE - len(digest) - 1]}-{digest}"


def template_tags(cluster: str, pool: str) -> dict[str, str]:
    """The tags by which a template is known as the pool's own; it is deleted only where all three match."""
    return {MANAGED: "true", CLUSTER_TAG: cluster, POOL_TAG: pool}


def own_template(pool: ResolvedPool) -> str:
    return template_name(pool.cluster.name, pool.name)


def nearest_group_name(name: str) -> str:
    """The legal node group name most like this one."""
    plain = re.sub(r"[^A-Za-z0-9_]+", "-", name).lstrip("-_")[:63].rstrip("-")
    return plain or "gpu"
