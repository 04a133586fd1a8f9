"""Azure Kubernetes Service: agent pools of Microsoft.ContainerService, cut by `gpuInstanceProfile`.

AKS installs the driver and no device plugin, so sharing is a config of the plugin that the cluster runs, named by a
node label.
"""

from __future__ import annotations

from collections.abc import Mapping

from fracgpu.catalog.models import ProviderName
from fracgpu.providers import Form, Session, Support
from fracgpu.providers.access import Access
from fracgpu.providers.aks.compare import comparison, settled
from fracgpu.providers.aks.desired import KIND, desired
from fracgpu.providers.aks.facts import node_facts
from fracgpu.providers.aks.forms import render
from fracgpu.providers.aks.read import read
from fracgpu.providers.aks.rules import rules
from fracgpu.resolve import ClusterRef
from fracgpu.sharing import SharingKind

__all__ = [
    "FORMS",
    "NAME",
    "POOL_KIND",
    "SUPPORT",
    "TITLE",
    "comparison",
    "connect",
    "desired",
    "node_facts",
    "read",
    "render",
    "rules",
    "settled",
    "sign_in_hint",
]

NAME = ProviderName.AKS
TITLE = "Azure Kubernetes Service"
POOL_KIND = KIND

_MIG = "https://learn.microsoft.com/azure/aks/gpu-multi-instance"
_PLUGIN = "https://github.com/NVIDIA/k8s-device-plugin"
_KEY = "the node label `nvidia.com/device-plugin.config` and a config of the cluster's device plugin"

SUPPORT: Mapping[SharingKind, Support] = {
    SharingKind.WHOLE: Support(True, "the VM size", "https://learn.microsoft.com/azure/aks/use-nvidia-gpu"),
    SharingKind.MIG: Support(True, "`gpuInstanceProfile`: MIG1g, 2g, 3g, 4g or 7g on every GPU of a pool", _MIG),
    SharingKind.MIG_LAYOUT: Support(False, "a pool has a single `gpuInstanceProfile`", _MIG),
    SharingKind.TIME_SLICING: Support(True, _KEY, f"{_PLUGIN}#with-cuda-time-slicing"),
    SharingKind.MPS: Support(True, _KEY, f"{_PLUGIN}#with-cuda-mps"),
    SharingKind.MIG_TIME_SLICING: Support(True, f"`gpuInstanceProfile`, {_KEY}", f"{_PLUGIN}#with-cuda-time-slicing"),
    SharingKind.MIG_MPS: Support(
        False, "NVIDIA's device plugin runs MPS on whole GPUs only", f"{_PLUGIN}#with-cuda-mps"
    ),
}

FORMS: Mapping[Form, str] = {
    Form.AZ: "az aks nodepool add",
    Form.TERRAFORM: "azurerm_kubernetes_cluster_node_pool of hashicorp/azurerm",
}


def sign_in_hint() -> str:
    """The command that signs a person in."""
    return "az login"


def connect(cluster: ClusterRef, access: Access) -> Session:
    """Import the SDK and sign in. Raises NotSignedIn, PartNotInstalled, Unreachable."""
    from fracgpu.providers.aks.session import connect as open_session

    return open_session(cluster, access)
