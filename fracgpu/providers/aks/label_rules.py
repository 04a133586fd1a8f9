"""Labels and taints: Kubernetes' own rules and AKS's reserved words."""

from __future__ import annotations

from collections.abc import Iterator

from fracgpu.errors import Finding, warning
from fracgpu.providers import plugin_rules
from fracgpu.providers.aks.facts import DOMAIN, SPOT_TAINT
from fracgpu.providers.kubernetes_syntax import (
    RESERVED,
    SETTABLE,
    check_labels,
    check_taints,
    in_domain,
    is_reserved,
    may_be_set,
)
from fracgpu.resolve import ResolvedPool

_OWN = frozenset({"accelerator", "agentpool", "storageprofile", "storagetier"})
"""Labels without a domain that AKS sets itself (https://github.com/Azure/karpenter-provider-azure/issues/1707)."""

_LABELS = "https://learn.microsoft.com/azure/aks/use-labels"


def check(pool: ResolvedPool) -> Iterator[Finding]:
    """Every finding about labels and taints."""
    yield from check_labels(pool)
    yield from _reserved(pool)
    yield from plugin_rules.mig_label(pool)
    yield from check_taints(pool)
    yield from _taints(pool)


def _reserved(pool: ResolvedPool) -> Iterator[Finding]:
    """https://github.com/Azure/AKS/issues/2866, https://github.com/Azure/AKS/issues/4613"""
    for key in pool.labels:
        field = f"spec.labels.{key}"
        if in_domain(key, DOMAIN):
            message = f"{key}: AKS keeps labels of {DOMAIN} for itself"
            yield Finding("invalid-label", message, field=field, hint="use a domain of your own", link=_LABELS)
        elif is_reserved(key) and not may_be_set(key):
            message = f"{key}: of {' and '.join(RESERVED)} AKS takes only {' and '.join(SETTABLE)}"
            near = (f"node.kubernetes.io/{key.rpartition('/')[2]}",)
            hint = f"{near[0]}, or a domain of your own"
            yield Finding("invalid-label", message, field=field, hint=hint, nearest=near, link=_LABELS)
        elif key in _OWN:
            message = f"{key} is a label that AKS sets itself"
            yield warning("label-set-by-aks", message, field=field, hint="choose another key", link=_LABELS)


def _taints(pool: ResolvedPool) -> Iterator[Finding]:
    for taint in pool.taints:
        if not taint.value:
            hint = f"{taint.key}=present:{taint.effect}"
            message = f"the taint {taint.key} has no value; az and the autoscaler read key=value:Effect only"
            link = "https://learn.microsoft.com/azure/aks/use-node-taints"
            yield Finding("invalid-taint", message, field="spec.taints", hint=hint, nearest=(hint,), link=link)
        else:
            yield from plugin_rules.unusual_gpu_taint(taint, pool)
        if in_domain(taint.key, DOMAIN) and not (pool.spot and taint == SPOT_TAINT):
            message = f"{taint.key}: AKS keeps taints of {DOMAIN} for itself"
            hint = "leave it out: AKS adds the taint of Spot nodes itself"
            yield Finding("invalid-taint", message, field="spec.taints", hint=hint)
