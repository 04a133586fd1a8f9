"""What is asked of the cluster itself: that it is there, its version and region, the way to its Kubernetes API."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import PurePath
from typing import Any

from fracgpu.cluster import ANY
from fracgpu.errors import CloudError, FracgpuError, NotFound
from fracgpu.providers import ClusterFacts, Inventory, KubeAccess
from fracgpu.providers.aks.session.arm import Arm
from fracgpu.resolve import ClusterRef


class ClusterView:
    """One cluster, by resource group and name."""

    def __init__(self, arm: Arm, cluster: ClusterRef) -> None:
        self._arm = arm
        self._cluster = cluster
        self._location: str | None = None

    def get(self) -> Any:
        """The SDK's model of the cluster. Raises NotFound with the clusters that exist."""
        with self.missing(), self._arm.calling("ManagedClusters_Get"):
            model = self._arm.clusters().get(self._cluster.resource_group, self._cluster.name)
        self._location = model.location
        return model

    def location(self) -> str:
        """The region, in Azure's short form (eastus)."""
        return self._location or str(self.get().location)

    @contextmanager
    def missing(self) -> Iterator[None]:
        """NotFound means the cluster, and names those that there are."""
        try:
            yield
        except NotFound as error:
            raise self._not_found(error) from error

    def _not_found(self, error: NotFound) -> NotFound:
        own = self._cluster
        others = self._others()
        message = f"there is no AKS cluster {own.name} in resource group {own.resource_group}"
        known = ", ".join(f"{name} ({group})" for group, name in others[:5])
        hint = f"clusters of the subscription: {known}" if known else "az aks list"
        near = tuple(dict.fromkeys(name for _, name in others))[:5]
        return NotFound(message, hint=hint, field="spec.cluster.name", nearest=near, detail=error.detail)

    def _others(self) -> list[tuple[str, str]]:
        """Resource group and name of the subscription's clusters, those of the same group or name first."""
        own = self._cluster
        try:
            with self._arm.calling("ManagedClusters_List"):
                found = [(_group(model.id), str(model.name)) for model in self._arm.clusters().list()]
        except FracgpuError:  # the first error is the one to tell
            return []
        group = (own.resource_group or "").lower()
        return sorted(found, key=lambda pair: (pair[0].lower() != group, pair[1] != own.name, pair))

    def inventory(self) -> Inventory:
        """The subscription's clusters, or those of the resource group."""
        own, clusters = self._cluster, self._arm.clusters()
        if own.resource_group in (None, ANY):
            with self._arm.calling("ManagedClusters_List"):
                found = [(_group(model.id), str(model.name)) for model in clusters.list()]
        else:
            with self._arm.calling("ManagedClusters_ListByResourceGroup"):
                models = clusters.list_by_resource_group(own.resource_group)
                found = [(str(own.resource_group), str(model.name)) for model in models]
        refs = (
            ClusterRef(own.provider, name, resource_group=group, subscription=own.subscription) for group, name in found
        )
        return Inventory(tuple(refs))

    def facts(self) -> ClusterFacts:
        model = self.get()
        return ClusterFacts(
            version=model.current_kubernetes_version or model.kubernetes_version,
            extra={"location": model.location, "node_resource_group": model.node_resource_group},
        )

    def kube_access(self) -> KubeAccess:
        """The user's kubeconfig. With Entra ID it has kubelogin get a token; the identity that asks Azure for all else
        gets it here, so that kubelogin need not be there.

        https://azure.github.io/kubelogin/concepts/aks.html
        """
        import yaml

        with self.missing(), self._arm.calling("ManagedClusters_ListClusterUserCredentials"):
            own = self._cluster
            answer = self._arm.clusters().list_cluster_user_credentials(own.resource_group, own.name, format="exec")
        first = next(iter(answer.kubeconfigs or ()), None)
        if first is None or not first.value:
            raise CloudError("AKS gave no kubeconfig for this cluster", hint="az aks get-credentials")
        config = yaml.safe_load(bytes(first.value))
        cluster = config["clusters"][0]["cluster"]
        authority = cluster.get("certificate-authority-data")
        server = entra_server(config)
        token, expires = self._arm.token(f"{server}/.default") if server else (None, None)
        return KubeAccess(
            server=cluster["server"],
            ca_pem=base64.b64decode(authority).decode() if authority else None,
            token=token,
            expires=expires,
            kubeconfig=config,
            context=config.get("current-context"),
        )


def entra_server(config: Any) -> str | None:
    """The Entra application of the API servers, where the user signs in by kubelogin and with a bearer token."""
    for one in config.get("users") or ():
        said = (one.get("user") or {}).get("exec") or {}
        words = [str(word) for word in said.get("args") or ()]
        if PurePath(str(said.get("command") or "")).stem == "kubelogin" and "--pop-enabled" not in words:
            after = dict(pairwise(words))
            return after.get("--server-id")
    return None


def _group(id: str | None) -> str:
    parts = (id or "").split("/")
    return parts[4] if len(parts) > 4 else ""
