"""What only another cloud has, on a pool: it would be dropped in silence, so it is refused."""

from __future__ import annotations

from collections.abc import Iterator

from fracgpu.catalog.models import ProviderName
from fracgpu.errors import Finding
from fracgpu.resolve import NO_AKS, NO_EKS, NO_GKE, ResolvedPool


def check(pool: ResolvedPool) -> Iterator[Finding]:
    """A finding for each cloud but the pool's own whose options are set, and one for a backend, which only EKS has."""
    options = (("aks", pool.aks, NO_AKS), ("gke", pool.gke, NO_GKE), ("eks", pool.eks, NO_EKS))
    said = {name: given is not none and given != none for name, given, none in options}
    for name, any_said in said.items():
        if any_said and name != pool.provider.value:
            message = f"options of {name.upper()} on a pool of {pool.provider.upper()}"
            hint = f"leave {name} out; options of this cloud stand under {pool.provider}"
            yield Finding("conflicting-fields", message, field=f"spec.{name}", hint=hint)
    if pool.backend is not None and pool.provider is not ProviderName.EKS and pool.eks.backend is None:
        message = f"{pool.provider.upper()} has one way to cut GPUs, and {pool.backend} is one of EKS's"
        yield Finding("not-expressible", message, field="spec.sharing.mig.backend", hint="leave the backend out")
