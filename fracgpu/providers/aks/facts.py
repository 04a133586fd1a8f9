"""What the nodes of an AKS pool show: AKS's labels and taints. The device plugin is the cluster's own."""

from __future__ import annotations

from typing import assert_never

from fracgpu.advertise import NodeFacts, PluginOwner
from fracgpu.pluginkey import LABEL, key_of
from fracgpu.resolve import ResolvedPool
from fracgpu.sharing import Mps, TimeSlicing
from fracgpu.spec import Taint, TaintEffect

_PREFIX = "kubernetes.azure.com"
AGENT_POOL = f"{_PREFIX}/agentpool"
SPOT_KEY = f"{_PREFIX}/scalesetpriority"
SPOT_TAINT = Taint.of(SPOT_KEY, "spot", TaintEffect.NO_SCHEDULE)
"""Label and taint of Spot nodes, added by the service: https://learn.microsoft.com/azure/aks/spot-node-pool"""


def node_facts(pool: ResolvedPool) -> NodeFacts:
    """Labels, taints, selector and limits. Labels: https://learn.microsoft.com/azure/aks/use-labels

    The selector is the pool's own name, which the autoscaler knows of an empty pool too; it does not know `accelerator`
    of machines newer than A100 (kubernetes/autoscaler cluster-autoscaler/cloudprovider/azure, NvidiaEnabledSKUs).
    """
    return NodeFacts(
        labels=_labels(pool),
        taints=_taints(pool),
        selector={AGENT_POOL: pool.name},
        plugin=PluginOwner.CLUSTER,
        max_per_container=_max_per_container(pool),
    )


def _labels(pool: ResolvedPool) -> dict[str, str]:
    key = key_of(pool.sharing)
    return {
        **pool.labels,
        **({LABEL: key} if key else {}),
        "agentpool": pool.name,
        AGENT_POOL: pool.name,
        "accelerator": "nvidia",
        f"{_PREFIX}/accelerator": "nvidia",
        f"{_PREFIX}/mode": (pool.aks.mode or "User").lower(),
        **({SPOT_KEY: "spot"} if pool.spot else {}),
    }


def _taints(pool: ResolvedPool) -> tuple[Taint, ...]:
    return (*own_taints(pool), SPOT_TAINT) if pool.spot else pool.taints


def own_taints(pool: ResolvedPool) -> tuple[Taint, ...]:
    """The pool's taints without the one that AKS adds itself, which some write all the same."""
    return tuple(taint for taint in pool.taints if not (pool.spot and taint == SPOT_TAINT))


def _max_per_container(pool: ResolvedPool) -> int | None:
    """NVIDIA's plugin gives a container as many shares as it asks for, unless told otherwise, and one under MPS
    (k8s-device-plugin forces failRequestsGreaterThanOne there up to v0.19, and defaults to it since)."""
    match pool.sharing.share:
        case None:
            return None
        case TimeSlicing(one_per_container=one):
            return 1 if one else None
        case Mps():
            return 1
    assert_never(pool.sharing.share)
