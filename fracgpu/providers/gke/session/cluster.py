"""What is asked of the cluster itself: that it is there, its zones and version, the way to its Kubernetes API."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fracgpu.cluster import ANY
from fracgpu.errors import Finding, FracgpuError, NotFound, warning
from fracgpu.plan import Json
from fracgpu.providers import ClusterFacts, Inventory, KubeAccess
from fracgpu.providers.gke.session.api import Api
from fracgpu.providers.gke.session.channel import Tokens
from fracgpu.resolve import ClusterRef, ResolvedPool


class ClusterView:
    """One cluster, by its full name. `plain`: its Kubernetes API speaks http (the sandbox's)."""

    def __init__(self, api: Api, cluster: ClusterRef, tokens: Tokens, *, plain: bool) -> None:
        self._api = api
        self._cluster = cluster
        self._tokens = tokens
        self._plain = plain
        self.name = f"projects/{cluster.project}/locations/{cluster.location}/clusters/{cluster.name}"

    def pool_name(self, pool: str) -> str:
        return f"{self.name}/nodePools/{pool}"

    def get(self) -> Json:
        """The cluster. Raises NotFound with the clusters of the project that exist."""
        with self.missing():
            return self._api.read("GetCluster", {"name": self.name})

    @contextmanager
    def missing(self) -> Iterator[None]:
        """NotFound means the cluster, and names those that there are."""
        try:
            yield
        except NotFound as error:
            raise self._not_found(error) from error

    def _not_found(self, error: NotFound) -> NotFound:
        others = self._others()
        where = f"{self._cluster.location} of project {self._cluster.project}"
        message = f"there is no GKE cluster {self._cluster.name} in {where}"
        hint = f"clusters there are: {', '.join(others)}" if others else "gcloud container clusters list"
        near = dict.fromkeys(one.partition(" ")[0] for one in others)
        return NotFound(message, hint=hint, field="spec.cluster.name", nearest=tuple(near)[:5], detail=error.detail)

    def _others(self) -> tuple[str, ...]:
        """Name and location of the project's clusters, those of the same name or location first."""
        try:
            answer = self._listed(ANY)
        except FracgpuError:  # the first error is the one to tell
            return ()
        own = self._cluster
        found = [(one["name"], one.get("location", "")) for one in answer.get("clusters", ())]
        found.sort(key=lambda pair: (pair[0] != own.name, pair[1] != own.location, pair))
        return tuple(f"{name} ({location})" for name, location in found)

    def _listed(self, location: str) -> Json:
        return self._api.read("ListClusters", {"parent": f"projects/{self._cluster.project}/locations/{location}"})

    def inventory(self) -> Inventory:
        """The project's clusters. Zones of which Google knows nothing right now are a note."""
        own = self._cluster
        answer = self._listed(own.location or ANY)
        found = tuple(
            ClusterRef(own.provider, one["name"], project=own.project, location=one.get("location"))
            for one in answer.get("clusters", ())
        )
        silent = answer.get("missingZones", ())
        message = f"Google does not say what clusters there are in {', '.join(silent)}"
        return Inventory(found, (warning("clusters-unknown", message, hint="try again later"),) if silent else ())

    def facts(self) -> ClusterFacts:
        body = self.get()
        without = sum(1 for pool in body.get("nodePools", ()) if not pool.get("config", {}).get("accelerators"))
        return ClusterFacts(
            zones=tuple(sorted(body.get("locations", ()))),
            version=body.get("currentMasterVersion"),
            extra={"autopilot": bool(body.get("autopilot", {}).get("enabled")), "pools_without_gpu": without},
        )

    def kube_access(self) -> KubeAccess:
        body = self.get()
        token, expires = self._tokens()
        name = name_from_outside(body)
        if name:  # its certificate is one that everybody believes
            return KubeAccess(server=f"https://{name}", token=token, expires=expires)
        scheme = "http" if self._plain else "https"
        authority = body.get("masterAuth", {}).get("clusterCaCertificate")
        return KubeAccess(
            server=f"{scheme}://{body['endpoint']}",
            ca_pem=base64.b64decode(authority).decode() if authority and not self._plain else None,
            token=token,
            expires=expires,
        )

    def preflight(self, pool: ResolvedPool) -> tuple[Finding, ...]:
        """What the location does not offer: a version, an image."""
        said = pool.gke
        if not said.version and not said.image_type:
            return ()
        parent = f"projects/{self._cluster.project}/locations/{self._cluster.location}"
        offered = self._api.read("GetServerConfig", {"name": parent})
        checks = (
            ("version", said.version, tuple(offered.get("validNodeVersions", ()))),
            ("imageType", said.image_type, tuple(offered.get("validImageTypes", ()))),
        )
        return tuple(_not_offered(name, word, known) for name, word, known in checks if _unknown(word, known))


def name_from_outside(cluster: dict[str, Any]) -> str | None:
    """The DNS name of a control plane whose address is private, where it may be used from anywhere.

    https://cloud.google.com/kubernetes-engine/docs/concepts/network-isolation#dns-based_endpoint
    """
    endpoints = cluster.get("controlPlaneEndpointsConfig", {})
    by_address, by_name = endpoints.get("ipEndpointsConfig", {}), endpoints.get("dnsEndpointConfig", {})
    public = by_address.get("enabled", True) and by_address.get("enablePublicEndpoint", True)
    private = cluster.get("privateClusterConfig", {}).get("enablePrivateEndpoint", False)
    if (public and not private) or not by_name.get("allowExternalTraffic"):
        return None
    return by_name.get("endpoint") or None


def _unknown(word: str | None, known: tuple[str, ...]) -> bool:
    return bool(word and known and not any(one.upper().startswith(word.upper()) for one in known))


def _not_offered(name: str, word: str | None, known: tuple[str, ...]) -> Finding:
    message = f"{word} is not offered where the cluster is"
    return Finding("invalid-value", message, field=f"spec.gke.{name}", hint=f"such as {known[0]}", nearest=known[:3])
