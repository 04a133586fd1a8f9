"""Azure Kubernetes Service: agent pools of Microsoft.ContainerService, cut by `gpuInstanceProfile`.

AKS installs the driver and no device plugin, so sharing is a config of the plugin that the cluster runs, named by a
node label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

from fracgpu.catalog.models import ProviderName
from fracgpu.errors import Finding
from fracgpu.plan import Resource
from fracgpu.providers import Form, Identity, Observed, Session, Support
from fracgpu.providers.access import Access
from fracgpu.providers.aks.compare import comparison, settled
from fracgpu.providers.aks.desired import KIND, desired
from fracgpu.providers.aks.facts import node_facts
from fracgpu.providers.aks.rules import rules
from fracgpu.providers.sdk import importing
from fracgpu.resolve import ClusterRef, ResolvedPool
from fracgpu.sharing import SharingKind
from fracgpu.spec import NodePool

__all__ = [
    "FORMS",
    "NAME",
    "POOL_KIND",
    "SUPPORT",
    "TITLE",
    "comparison",
    "connect",
    "desired",
    "identity",
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


def read(observed: Observed) -> tuple[NodePool, tuple[Finding, ...]]:
    """The file form of a pool, and notes on what it cannot say."""
    from fracgpu.providers.aks.file_form import read as read_pool

    return read_pool(observed)


def render(form: Form, resources: Sequence[Resource], pool: ResolvedPool) -> tuple[str, tuple[Finding, ...]]:
    """The bodies as a command or a configuration of another tool; what it cannot say is a note."""
    from fracgpu.providers.aks.forms import render as render_form

    return render_form(form, resources, pool)


def sign_in_hint() -> str:
    """The command that signs a person in."""
    from fracgpu.providers.aks.failures import SIGN_IN

    return SIGN_IN


def identity(access: Access) -> Identity:
    """Whom the cloud takes the caller for. Raises NotSignedIn, PartNotInstalled, Unreachable."""
    with _sdk():
        from fracgpu.providers.aks.session import identity as found
    return found(access)


def connect(cluster: ClusterRef, access: Access) -> Session:
    """Import the SDK and sign in. Raises NotSignedIn, PartNotInstalled, Unreachable."""
    with _sdk():
        from fracgpu.providers.aks.session import connect as open_session
    return open_session(cluster, access)


def _sdk() -> AbstractContextManager[None]:
    return importing("Azure's", ("azure", "msal"), "azure-identity azure-mgmt-containerservice")
