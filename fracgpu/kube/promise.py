"""What a pool promises its cluster: the pool, and what its cloud adds to its nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fracgpu import pluginkey
from fracgpu.advertise import NodeFacts, PluginOwner, resources
from fracgpu.catalog.models import ProviderName
from fracgpu.resolve import ResolvedPool

POOL_LABELS: Mapping[ProviderName, str] = {
    ProviderName.AKS: "kubernetes.azure.com/agentpool",
    ProviderName.GKE: "cloud.google.com/gke-nodepool",
    ProviderName.EKS: "eks.amazonaws.com/nodegroup",
}
"""The label by which each cloud says which pool a node is of."""


@dataclass(frozen=True, slots=True)
class Promise:
    """A pool as its cluster will see it."""

    pool: ResolvedPool
    facts: NodeFacts

    @property
    def name(self) -> str:
        return self.pool.name

    @property
    def resources(self) -> dict[str, int]:
        """Extended resource -> how many each node will have allocatable."""
        return resources(self.pool, self.facts)

    @property
    def own_plugin(self) -> bool:
        """Whoever runs the cluster installs the device plugin; False where the cloud or the node image brings one."""
        return self.facts.plugin is PluginOwner.CLUSTER

    @property
    def key(self) -> str | None:
        """The plugin config that its nodes' label names."""
        return self.facts.labels.get(pluginkey.LABEL) if self.own_plugin else None

    @property
    def pool_label(self) -> tuple[str, str]:
        """The label that exactly its nodes carry."""
        return POOL_LABELS[self.pool.provider], self.pool.name
