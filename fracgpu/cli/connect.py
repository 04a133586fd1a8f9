"""From a cluster as named to a signed-in session."""

from __future__ import annotations

import threading
from functools import cache
from typing import cast

from fracgpu.catalog.models import ProviderName
from fracgpu.cli.cluster_sources import cluster_of, names_something
from fracgpu.cli.consent import confirm_guess
from fracgpu.cli.endpoints import access, by_kubeconfig
from fracgpu.cli.kubectl_context import access_by_context
from fracgpu.cli.quickstart import begin_long_work
from fracgpu.cluster import account
from fracgpu.errors import Finding, Invalid, NotFound
from fracgpu.kube.access import KubeAccess
from fracgpu.providers import Identity, Session, provider
from fracgpu.providers.access import Access
from fracgpu.resolve import ClusterRef, cluster_ref
from fracgpu.spec import Cluster

_LOCK = threading.Lock()


def connect(cluster: ClusterRef) -> Session:
    """A session with the cluster's cloud. Raises NotSignedIn, PartNotInstalled, Unreachable.

    Called by many threads at once: how the clouds are reached is found out once, and a package is imported once.
    """
    with _LOCK:
        begin_long_work()
        way = _access()
        cloud = provider(cluster.provider)
    session = cloud.connect(cluster, way)
    return cast(Session, _Borrowed(session, cluster)) if by_kubeconfig() else session


GET_CREDENTIALS = {
    ProviderName.AKS: "az aks get-credentials",
    ProviderName.GKE: "gcloud container clusters get-credentials",
    ProviderName.EKS: "aws eks update-kubeconfig",
}


class _Borrowed:
    """A session in all but its way to the Kubernetes API: the context of the user's kubeconfig that names the
    cluster."""

    def __init__(self, session: Session, cluster: ClusterRef) -> None:
        self._session, self._cluster = session, cluster

    def kube_access(self) -> KubeAccess:
        cluster = self._cluster
        found = access_by_context(cluster)
        if found is None:
            title = cluster.provider.upper()
            message = f"the kubeconfig has no context whose names mean the {title} cluster {cluster.name}"
            raise NotFound(message, hint=GET_CREDENTIALS[cluster.provider])
        return found

    def __getattr__(self, name: str) -> object:
        return getattr(self._session, name)


def identity(name: ProviderName) -> Identity:
    """Whom a cloud takes the caller for. Raises NotSignedIn, PartNotInstalled, Unreachable."""
    with _LOCK:
        begin_long_work()
        way = _access()
        cloud = provider(name)
    return cloud.identity(way)


@cache
def _access() -> Access:
    return access()


def named_account(flags: Cluster, *, yes: bool = False) -> ClusterRef:
    """The account that is meant, by a stand-in for all of its clusters: of flags that narrow it down everything counts,
    of what else names a cluster the account alone. Raises Invalid."""
    if flags.name is not None:
        message = "--all-clusters lists every cluster, and --cluster names one"
        raise Invalid.one("conflicting-fields", message, field="--cluster", hint="leave one of them out")
    sourced = cluster_of(flags)
    if sourced.guessed:
        confirm_guess(sourced.cluster, yes=yes)
    said = names_something(flags)
    narrow = {"resource_group": flags.resource_group, "location": flags.location} if said else {}
    findings: list[Finding] = []
    wide = sourced.cluster.model_copy(update={"resource_group": None, "location": None, **narrow})
    found = cluster_ref(account(wide), findings)
    if found is None:
        raise Invalid(findings)
    return found


def named_cluster(flags: Cluster, *, yes: bool = False) -> ClusterRef:
    """The cluster that a command without a spec is about. Raises Invalid where none is known or consent is missing."""
    sourced = cluster_of(flags)
    if sourced.guessed:
        confirm_guess(sourced.cluster, yes=yes)
    findings: list[Finding] = []
    found = cluster_ref(sourced.cluster, findings)
    if found is None:
        raise Invalid(findings)
    return found
