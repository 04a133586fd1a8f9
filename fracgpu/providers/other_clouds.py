"""Options of other clouds on a pool: they would be dropped in silence, so they are refused."""

from __future__ import annotations

from collections.abc import Iterator

from fracgpu.errors import Finding
from fracgpu.resolve import NO_AKS, NO_EKS, NO_GKE, ResolvedPool


def check(pool: ResolvedPool) -> Iterator[Finding]:
    """A finding for each cloud but the pool's own whose options are set."""
    said = {"aks": pool.aks != NO_AKS, "gke": pool.gke != NO_GKE, "eks": pool.eks != NO_EKS}
    for name, any_said in said.items():
        if any_said and name != pool.provider.value:
            message = f"options of {name.upper()} on a pool of {pool.provider.upper()}"
            hint = f"leave {name} out; options of this cloud stand under {pool.provider}"
            yield Finding("conflicting-fields", message, field=f"spec.{name}", hint=hint)
