"""What the nodes of an AKS pool show: AKS's labels and taints. The device plugin is the cluster's own."""

from __future__ import annotations

from fracgpu.advertise import NodeFacts, PluginOwner
from fracgpu.providers.plugin_facts import config_label, max_per_container
from fracgpu.resolve import ResolvedPool
from fracgpu.taints import Taint, TaintEffect

DOMAIN = "kubernetes.azure.com"
AGENT_POOL = f"{DOMAIN}/agentpool"
SPOT_KEY = f"{DOMAIN}/scalesetpriority"
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
        max_per_container=max_per_container(pool.sharing.share),
    )


def _labels(pool: ResolvedPool) -> dict[str, str]:
    return {
        **pool.labels,
        **config_label(pool.sharing),
        "agentpool": pool.name,
        AGENT_POOL: pool.name,
        "accelerator": "nvidia",
        f"{DOMAIN}/accelerator": "nvidia",
        f"{DOMAIN}/mode": (pool.aks.mode or "User").lower(),
        **({SPOT_KEY: "spot"} if pool.spot else {}),
    }


def _taints(pool: ResolvedPool) -> tuple[Taint, ...]:
    return (*own_taints(pool), SPOT_TAINT) if pool.spot else pool.taints


def own_taints(pool: ResolvedPool) -> tuple[Taint, ...]:
    """The pool's taints without the one that AKS adds itself, which some write all the same."""
    return tuple(taint for taint in pool.taints if not (pool.spot and taint == SPOT_TAINT))
