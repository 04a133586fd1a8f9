"""Node counts on AKS, and what an empty pool hides from the autoscaler and from us."""

from __future__ import annotations

from collections.abc import Iterator

from fracgpu.errors import Finding, info, warning
from fracgpu.providers.aks.template import template_tags, unseen
from fracgpu.resolve import ResolvedPool

MOST = 1000
"""Nodes of a pool: https://learn.microsoft.com/azure/aks/quotas-skus-regions"""


def check(pool: ResolvedPool) -> Iterator[Finding]:
    """Bounds by mode, and notes on pools that begin without nodes."""
    nodes = pool.nodes
    name = "max" if nodes.autoscaling else "count"
    if nodes.max > MOST:
        message = f"a pool has at most {MOST} nodes, not {nodes.max}"
        yield Finding("nodes-out-of-range", message, field=f"spec.nodes.{name}", nearest=(str(MOST),))
    name = "min" if nodes.autoscaling else "count"
    if pool.aks.mode == "System" and min(nodes.min, nodes.count) < 1:
        message = "a System pool always has a node"
        hint = "--min 1, or --set aks.mode=User" if nodes.autoscaling else "--nodes 1, or --set aks.mode=User"
        link = "https://learn.microsoft.com/azure/aks/use-system-pools"
        yield Finding("nodes-out-of-range", message, field=f"spec.nodes.{name}", nearest=("1",), hint=hint, link=link)
    yield from _blind(pool)
    if nodes.autoscaling and nodes.min == 0 and nodes.max == 1:
        message = "with max 1 the autoscaler has refused the first node of some pools as one too many"
        link = "https://github.com/Azure/AKS/issues/1565"
        yield info("max-one-from-zero", message, field="spec.nodes.max", hint="--max 2 if it happens", link=link)
    if nodes.count == 0:
        message = "a pool that begins without nodes proves neither quota, stock nor price; the first node will"
        link = "https://github.com/Azure/AKS/issues/4404"
        hint = "--nodes 1 asks for a machine at once"
        yield info("capacity-unproven-at-zero", message, field="spec.nodes.count", hint=hint, link=link)


def _blind(pool: ResolvedPool) -> Iterator[Finding]:
    names = unseen(pool)
    if not names:
        return
    tags = template_tags(pool)
    told = "the pool carries tags that should tell it, which is untested on AKS" if tags else "no tags are to tell it"
    message = (
        f"while the pool is empty the autoscaler knows only of nvidia.com/gpu, and pods ask for {' and '.join(names)}: "
        f"{told}"
    )
    hint = "--min 1, or strategy single without renaming"
    link = "https://github.com/Azure/AKS/issues/5161"
    yield warning(
        "scale-from-zero-blind",
        message,
        field="spec.nodes.min",
        hint=hint,
        link=link,
        detail={"tags": tags},
    )
