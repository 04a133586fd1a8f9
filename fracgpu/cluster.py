"""Which cluster: as a user writes it, and as its cloud finds it."""

from __future__ import annotations

from dataclasses import dataclass

from fracgpu.catalog.models import ProviderName
from fracgpu.errors import Finding
from fracgpu.model import camel
from fracgpu.spec import Cluster

PLACEHOLDER = "CLUSTER"
"""Stands for a cluster where none is needed: `explain`, `render`, `catalog`."""
ANY = "-"
"""Stands for every cluster, resource group or location of an account, where all are asked for; no cloud has such a
name."""


@dataclass(frozen=True, slots=True)
class ClusterRef:
    """A cluster as its cloud finds it. AKS: resource_group, subscription; GKE: project, location; EKS: region."""

    provider: ProviderName
    name: str
    resource_group: str | None = None
    subscription: str | None = None
    project: str | None = None
    location: str | None = None
    region: str | None = None

    def to_json(self) -> dict[str, str]:
        """The members that are known, as the file form spells them."""
        members = {
            "provider": self.provider.value,
            "name": self.name,
            "resourceGroup": self.resource_group,
            "subscription": self.subscription,
            "project": self.project,
            "location": self.location,
            "region": self.region,
        }
        return {key: value for key, value in members.items() if value is not None}


NEEDED = {ProviderName.AKS: ("resource_group",), ProviderName.GKE: ("location",), ProviderName.EKS: ()}
"""Coordinates without which a cluster cannot be found, beside its name. The cloud's own defaults fill the others."""
FOREIGN = {
    ProviderName.AKS: ("project", "location", "region"),
    ProviderName.GKE: ("resource_group", "subscription", "region"),
    ProviderName.EKS: ("resource_group", "subscription", "project", "location"),
}


MISSING = {
    "name": "--cluster NAME",
    "resource_group": "--resource-group NAME",
    "location": "--location PLACE, a region or a zone as us-central1",
}


def _provider_hint(given: Cluster) -> str:
    """The clouds that have all the words that were said of the cluster, where any was said but its name."""
    said = {name for name, value in given if value is not None and name != "name"}
    clouds = [cloud for cloud, foreign in FOREIGN.items() if not said & set(foreign)]
    if said and len(clouds) == 1:
        return f"--provider {clouds[0]}, whose {' and '.join(map(camel, sorted(said)))} that is"
    return "--provider aks, gke or eks; --sandbox to try it without an account"


def account(given: Cluster) -> Cluster:
    """A stand-in for every cluster of the account that is named, within its location or resource group where it names
    one."""
    wide: dict[str, str] = {"name": ANY}
    if given.provider == "aks":
        wide["resource_group"] = given.resource_group or ANY
    if given.provider == "gke":
        wide["location"] = given.location or ANY
    return given.model_copy(update=wide)


def cluster_ref(given: Cluster, findings: list[Finding], *, placeholder: bool = False) -> ClusterRef | None:
    """The cluster that was named; None, and findings, where it is incomplete."""
    if given.provider is None:
        hint = _provider_hint(given)
        findings.append(Finding("missing-field", "no cloud is named", field="spec.cluster.provider", hint=hint))
        return None
    provider = ProviderName(given.provider)
    for name in FOREIGN[provider]:
        if getattr(given, name) is not None:
            key = camel(name)
            message = f"{key} is not part of a cluster of {provider.upper()}"
            findings.append(Finding("conflicting-fields", message, field=f"spec.cluster.{key}", hint="leave it out"))
    missing = [] if placeholder else [name for name in ("name", *NEEDED[provider]) if getattr(given, name) is None]
    for name in missing:
        key = camel(name)
        message = f"cluster.{key} is missing"
        findings.append(Finding("missing-field", message, field=f"spec.cluster.{key}", hint=MISSING[name]))
    if missing:
        return None
    coordinates = (given.resource_group, given.subscription, given.project, given.location, given.region)
    return ClusterRef(provider, given.name or PLACEHOLDER, *coordinates)
