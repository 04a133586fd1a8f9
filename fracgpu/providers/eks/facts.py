"""What the nodes of an EKS managed node group show: EKS's labels, and the pool's own labels and taints."""

from __future__ import annotations

from fracgpu.advertise import NodeFacts, PluginOwner
from fracgpu.migconfig import LABEL as MIG_LABEL
from fracgpu.migconfig import config_name
from fracgpu.providers.plugin_facts import config_label, max_per_container
from fracgpu.resolve import ResolvedPool
from fracgpu.sharing import Backend, Mig
from fracgpu.spec import Capacity
from fracgpu.taints import Taint, TaintEffect

NODEGROUP_LABEL = "eks.amazonaws.com/nodegroup"
CAPACITY_LABEL = "eks.amazonaws.com/capacityType"
INSTANCE_LABEL = "node.kubernetes.io/instance-type"
ZONE_LABEL = "topology.kubernetes.io/zone"
REGION_LABEL = "topology.kubernetes.io/region"

STARTUP_TAINT = Taint.of("fracgpu.dev/mig-pending", "true", TaintEffect.NO_SCHEDULE)
"""Keeps pods off a node of the gpu-operator backend until its GPUs are cut; `fracgpu plugin mig-taint` prints what then
takes it off."""


def node_facts(pool: ResolvedPool) -> NodeFacts:
    """Labels, taints, selector and limits. EKS itself taints no node, Spot or not."""
    return NodeFacts(
        labels={**labels(pool), **_added(pool)},
        taints=pool.taints,
        startup_taints=startup_taints(pool),
        selector={NODEGROUP_LABEL: pool.name},
        plugin=PluginOwner.IMAGE if pool.backend is Backend.BOTTLEROCKET else PluginOwner.CLUSTER,
        max_per_container=max_per_container(pool.sharing.share),
    )


def labels(pool: ResolvedPool) -> dict[str, str]:
    """The labels that the group is made with: the user's, and those that device plugin and MIG manager look for."""
    own = dict(pool.labels)
    if pool.backend is not Backend.BOTTLEROCKET:
        own |= config_label(pool.sharing)
    if pool.backend is Backend.GPU_OPERATOR and isinstance(pool.sharing.cut, Mig):
        own[MIG_LABEL] = config_name(pool.gpu, pool.sharing.cut)
    return own


def taints(pool: ResolvedPool) -> tuple[Taint, ...]:
    """The taints that the group is made with."""
    return (*pool.taints, *startup_taints(pool))


def startup_taints(pool: ResolvedPool) -> tuple[Taint, ...]:
    """Those that nodes lose when they are cut."""
    return (STARTUP_TAINT,) if pool.eks.startup_taint and pool.backend is Backend.GPU_OPERATOR else ()


def capacity_type(pool: ResolvedPool) -> str:
    match pool.capacity:
        case Capacity.ON_DEMAND:
            return "ON_DEMAND"
        case Capacity.SPOT:
            return "SPOT"
        case Capacity.RESERVED:
            return "CAPACITY_BLOCK" if capacity_block(pool) else "ON_DEMAND"


def capacity_block(pool: ResolvedPool) -> bool:
    """Whether the reservation is a capacity block: as said, else where the machine is sold in no other way."""
    if pool.capacity is not Capacity.RESERVED:
        return False
    said = pool.eks.capacity_block
    return not pool.machine.on_demand if said is None else said


def _added(pool: ResolvedPool) -> dict[str, str]:
    added = {NODEGROUP_LABEL: pool.name, CAPACITY_LABEL: capacity_type(pool)}
    if len(instance_types(pool)) == 1:
        added[INSTANCE_LABEL] = pool.machine.name
    if pool.cluster.region:
        added[REGION_LABEL] = pool.cluster.region
    if len(pool.zones) == 1:
        added[ZONE_LABEL] = pool.zones[0]
    return added


def instance_types(pool: ResolvedPool) -> tuple[str, ...]:
    """The types that the group may have, in the order in which they are tried; else the pool's machine."""
    return tuple(pool.eks.instance_types or (pool.machine.name,))
