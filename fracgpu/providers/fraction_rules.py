"""Machines that have a part of a GPU: what the cloud has divided cannot be divided again."""

from __future__ import annotations

from collections.abc import Iterator

from fracgpu.errors import Finding
from fracgpu.resolve import ResolvedPool
from fracgpu.sharing import Mig, Mps


def check(pool: ResolvedPool) -> Iterator[Finding]:
    """A finding for each way in which a part of a GPU would be divided."""
    if not pool.machine.fractional:
        return
    part = f"1/{round(1 / pool.machine.gpu_fraction)}"
    for name in _ways(pool):
        message = f"{pool.machine.name} has {part} of an {pool.gpu.product}, which cannot be divided again"
        hint = "choose a machine with whole GPUs, or leave the sharing out"
        yield Finding("sharing-conflict", message, field=f"spec.sharing.{name}", hint=hint)


def _ways(pool: ResolvedPool) -> Iterator[str]:
    if isinstance(pool.sharing.cut, Mig):
        yield "mig"
    if pool.sharing.share is not None:
        yield "mps" if isinstance(pool.sharing.share, Mps) else "timeSlicing"
