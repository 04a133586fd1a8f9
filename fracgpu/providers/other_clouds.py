"""What only another cloud has, on a pool: it would be dropped in silence, so it is refused."""

from __future__ import annotations

from collections.abc import Iterator

from fracgpu.catalog.models import ProviderName
from fracgpu.errors import Finding
from fracgpu.options import EksOptions
from fracgpu.resolve import NO_AKS, NO_EKS, NO_GKE, ResolvedPool


def check(pool: ResolvedPool) -> Iterator[Finding]:
    """A finding for each cloud but the pool's own whose options are set, and one for a backend, which only EKS has."""
    options = (("aks", pool.aks, NO_AKS), ("gke", pool.gke, NO_GKE), ("eks", _without_backend(pool), NO_EKS))
    said = {name: given is not none and given != none for name, given, none in options}
    for name, any_said in said.items():
        if any_said and name != pool.provider.value:
            message = f"options of {name.upper()} on a pool of {pool.provider.upper()}"
            hint = f"leave {name} out; options of this cloud stand under {pool.provider}"
            yield Finding("conflicting-fields", message, field=f"spec.{name}", hint=hint)
    if pool.backend is not None and pool.provider is not ProviderName.EKS:
        message = f"{pool.provider.upper()} has one way to cut and share GPUs; {pool.backend} is one of EKS's backends"
        field = "spec.eks.backend" if pool.eks.backend else "spec.sharing.mig.backend"
        yield Finding("not-expressible", message, field=field, hint="leave the backend out")


def _without_backend(pool: ResolvedPool) -> EksOptions:
    """The backend is a flag of its own, so it is spoken of by itself."""
    return pool.eks.model_copy(update={"backend": None}) if pool.eks.backend else pool.eks
