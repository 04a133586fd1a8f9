"""What the machine, its operating system, its driver and its disk allow on AKS."""

from __future__ import annotations

from collections.abc import Iterator

from fracgpu.errors import Finding, info, warning
from fracgpu.nearest import nearest_words
from fracgpu.providers.aks.desired import os_sku
from fracgpu.resolve import ResolvedPool
from fracgpu.sharing import Mig

_GPU_DOCS = "https://learn.microsoft.com/azure/aks/use-nvidia-gpu"
_MIG_DOCS = "https://learn.microsoft.com/azure/aks/gpu-multi-instance"

FAMILIES = {
    "Ubuntu": "Ubuntu",
    "Ubuntu2204": "Ubuntu",
    "Ubuntu2404": "Ubuntu",
    "AzureLinux": "AzureLinux",
    "AzureLinux3": "AzureLinux",
    "AzureContainerLinux": "AzureContainerLinux",
    "CBLMariner": "AzureLinux",
    "Windows2019": "Windows",
    "Windows2022": "Windows",
    "Windows2025": "Windows",
}
"""osSKU of Microsoft.ContainerService 2026-08-01, and the family by which support for a machine is told."""

DISK = (30, 2048)
PODS = (10, 250)
"""https://learn.microsoft.com/cli/azure/aks/nodepool, https://learn.microsoft.com/azure/aks/quotas-skus-regions"""


def check(pool: ResolvedPool) -> Iterator[Finding]:
    """Every finding about operating system, driver, disk and pods."""
    yield from _system(pool)
    yield from _driver(pool)
    low, high = DISK
    if pool.disk_gb is not None and not low <= pool.disk_gb <= high:
        near = str(min(max(pool.disk_gb, low), high))
        message = f"an OS disk has {low} to {high} GB, not {pool.disk_gb}"
        yield Finding("invalid-value", message, field="spec.disk.sizeGb", nearest=(near,), hint=f"--disk-gb {near}")
    low, high = PODS
    if pool.aks.max_pods is not None and not low <= pool.aks.max_pods <= high:
        near = str(min(max(pool.aks.max_pods, low), high))
        message = f"a node has {low} to {high} pods, not {pool.aks.max_pods}"
        yield Finding("invalid-value", message, field="spec.aks.maxPods", nearest=(near,), hint=f"aks.maxPods={near}")


def _system(pool: ResolvedPool) -> Iterator[Finding]:
    sku = os_sku(pool)
    field = "spec.aks.osSku"
    family = FAMILIES.get(sku)
    if family is None:
        lower = {name.lower(): name for name in FAMILIES}
        near = tuple(lower[name] for name in nearest_words(sku.lower(), lower)) or ("Ubuntu",)
        message = f"{sku!r} is no operating system of AKS: {', '.join(FAMILIES)}"
        yield Finding("invalid-value", message, field=field, nearest=near, hint=f"--set aks.osSku={near[0]}")
    elif pool.machine.os and family not in pool.machine.os:
        message = (
            f"AKS has no GPU driver for {sku} on {pool.machine.name}; it has one for {' and '.join(pool.machine.os)}"
        )
        hint = f"--set aks.osSku={pool.machine.os[0]}"
        yield Finding("not-expressible", message, field=field, nearest=pool.machine.os, hint=hint, link=_GPU_DOCS)
    elif family == "AzureContainerLinux":
        message = f"AKS documents no NVIDIA support on {sku}"
        yield warning("os-without-gpu", message, field=field, hint="--set aks.osSku=Ubuntu", link=_GPU_DOCS)
    elif family == "AzureLinux" and isinstance(pool.sharing.cut, Mig):
        message = (
            "on Azure Linux a device plugin sees MIG slices only with NVIDIA_MIG_MONITOR_DEVICES=all in its DaemonSet"
        )
        yield warning("azure-linux-mig", message, field=field, hint="--set aks.osSku=Ubuntu", link=_MIG_DOCS)


def _driver(pool: ResolvedPool) -> Iterator[Finding]:
    if pool.aks.driver != "None":
        return
    field = "spec.aks.driver"
    if "driver None" in (pool.machine.note or ""):
        link = "https://github.com/Azure/AKS/issues/5860"
        yield warning("driver-none-needs-grid", str(pool.machine.note), field=field, hint="leave it out", link=link)
    message = (
        "AKS installs no driver; until something else does, the nodes have no nvidia.com/gpu, and such nodes can keep "
        "the autoscaler from scaling any pool of the cluster"
    )
    link = "https://github.com/kubernetes/autoscaler/issues/10301"
    yield info("driver-none", message, field=field, hint="install the GPU Operator", link=link)
