"""What a kubeconfig says of one cluster and its user, as kubectl reads it; what cannot be done so is refused, and never
left out. Pure.

https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fracgpu.errors import Invalid, NotSignedIn
from fracgpu.kube.access import KubeAccess

Entry = Mapping[str, Any]
CERTIFICATES = ("client-certificate", "client-key")
ASIDE = ("as", "as-uid", "as-groups", "as-user-extra")


@dataclass(frozen=True, slots=True)
class Login:
    """Where a cluster's API is, whom to believe there, and how to sign in. Files are named by absolute paths."""

    server: str
    authority_pem: str | None = None
    authority_file: str | None = None
    insecure: bool = False
    """Nobody is believed, and nobody doubted: the user's own kubeconfig says insecure-skip-tls-verify."""
    tls_name: str | None = None
    """The name that the server's certificate is held against, where it is not the address."""
    proxy: str | None = None
    user: Entry = field(default_factory=dict, repr=False)
    cluster: Entry = field(default_factory=dict, repr=False)
    """The cluster's own entry, which some credential plugins want to see."""

    def files(self) -> list[str]:
        """The files that have to be read; data in the kubeconfig itself stands above each."""
        user = self.user
        named = [self.authority_file, user.get("tokenFile")]
        named += [user.get(key) for key in CERTIFICATES if not user.get(f"{key}-data")]
        return [str(path) for path in named if path]


def login_of(access: KubeAccess) -> Login:
    """The login that an access leads to; a token stands above a kubeconfig's user, as it is fresher.

    Raises NotSignedIn for a kubeconfig that names no context, cluster or user, Invalid for what cannot be done.
    """
    if access.kubeconfig is None:
        return Login(access.server, authority_pem=access.ca_pem, user={"token": access.token} if access.token else {})
    cluster, user = _chosen(access.kubeconfig, access.context)
    if access.token:
        user = {"token": access.token}
    _refuse(cluster, user)
    data = cluster.get("certificate-authority-data")
    return Login(
        server=str(cluster.get("server") or access.server),
        authority_pem=_decoded(data, "certificate-authority-data") if data else None,
        authority_file=cluster.get("certificate-authority") if not data else None,
        insecure=bool(cluster.get("insecure-skip-tls-verify")),
        tls_name=cluster.get("tls-server-name") or None,
        proxy=cluster.get("proxy-url") or None,
        user=user,
        cluster=cluster,
    )


def _chosen(config: Entry, context: str | None) -> tuple[Entry, Entry]:
    name = context or config.get("current-context")
    contexts = _named(config, "contexts", "context")
    if not name or name not in contexts:
        raise NotSignedIn("the kubeconfig names no context", hint="kubectl config get-contexts")
    said = contexts[name]
    clusters, users = _named(config, "clusters", "cluster"), _named(config, "users", "user")
    if said.get("cluster") not in clusters:
        message = f"the kubeconfig has no cluster {said.get('cluster')}, which its context {name} names"
        raise NotSignedIn(message, hint="kubectl config get-clusters")
    return clusters[said["cluster"]], users.get(said.get("user"), {})


def _named(config: Entry, kind: str, member: str) -> dict[Any, Entry]:
    """The entries of a kind by name; the first of a name counts, as for kubectl."""
    found: dict[Any, Entry] = {}
    for one in config.get(kind) or ():
        if isinstance(one, Mapping) and isinstance(one.get(member), Mapping):
            found.setdefault(one.get("name"), one[member])
    return found


def _refuse(cluster: Entry, user: Entry) -> None:
    trusted = cluster.get("certificate-authority-data") or cluster.get("certificate-authority")
    if cluster.get("insecure-skip-tls-verify") and trusted:
        message = "the kubeconfig names an authority to believe and says insecure-skip-tls-verify beside it"
        raise Invalid.one("conflicting-fields", message, hint="take one of them out; kubectl refuses both too")
    if user.get("auth-provider"):
        name = (user["auth-provider"] or {}).get("name", "one")
        message = f"the kubeconfig signs in by the auth-provider {name}, which kubectl itself dropped in 1.26"
        hint = "az aks get-credentials, or gcloud container clusters get-credentials, writes it anew"
        raise NotSignedIn(message, hint=hint)
    aside = [key for key in ASIDE if user.get(key)]
    if aside:
        message = f"the kubeconfig acts as somebody else ({', '.join(aside)}), which fracgpu does not"
        raise Invalid.one("invalid-value", message, hint="name a context without it")


def _decoded(data: Any, key: str) -> str:
    try:
        return base64.b64decode(str(data), validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise NotSignedIn(f"{key} of the kubeconfig is no PEM in base64", hint="kubectl get nodes") from error
