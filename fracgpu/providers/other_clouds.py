"""Options of other clouds on a pool: they would be dropped in silence, so they are refused."""

from __future__ import annotations

from collections.abc import Iterator

from fracgpu.errors import Finding
from fracgpu.resolve import ResolvedPool
from fracgpu.spec import AksOptions, EksOptions, GkeOptions


def check(pool: ResolvedPool) -> Iterator[Finding]:
    """A finding for each cloud but the pool's own whose options are set."""
    said = {"aks": pool.aks != AksOptions(), "gke": pool.gke != GkeOptions(), "eks": pool.eks != EksOptions()}
    for name, any_said in said.items():
        if any_said and name != pool.provider.value:
            message = f"options of {name.upper()} on a pool of {pool.provider.upper()}"
            hint = f"leave {name} out; options of this cloud stand under {pool.provider}"
            yield Finding("conflicting-fields", message, field=f"spec.{name}", hint=hint)
