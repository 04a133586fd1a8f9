"""Amazon Elastic Kubernetes Service: managed node groups, and the launch templates that cut and share their GPUs.

EKS itself knows nothing of fractions, so a pool has a backend that does it: Bottlerocket by settings, a script before
the kubelet, the GPU Operator, or NVIDIA's device plugin in the cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

from fracgpu.catalog.models import ProviderName
from fracgpu.errors import Finding
from fracgpu.plan import Resource
from fracgpu.providers import Form, Identity, Observed, Session, Support
from fracgpu.providers.access import Access
from fracgpu.providers.eks.compare import comparison, settled
from fracgpu.providers.eks.desired import KIND, desired
from fracgpu.providers.eks.facts import node_facts
from fracgpu.providers.eks.rules import rules
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

NAME = ProviderName.EKS
TITLE = "Amazon Elastic Kubernetes Service"
POOL_KIND = KIND

_PLUGIN = "https://github.com/NVIDIA/k8s-device-plugin"
_BOTTLEROCKET = "https://bottlerocket.dev/en/os/latest/#/api/settings/kubelet-device-plugins/"

SUPPORT: Mapping[SharingKind, Support] = {
    SharingKind.WHOLE: Support(True, "an NVIDIA AMI type, chosen for the machine", _PLUGIN),
    SharingKind.MIG: Support(
        True, "Bottlerocket settings, a script in the user data, or the GPU Operator (`eks.backend`)", _BOTTLEROCKET
    ),
    SharingKind.MIG_LAYOUT: Support(True, "a script in the user data, or the GPU Operator", _PLUGIN),
    SharingKind.TIME_SLICING: Support(True, "a device-plugin config, or Bottlerocket settings", _PLUGIN),
    SharingKind.MPS: Support(True, "a device-plugin config, or Bottlerocket settings", f"{_PLUGIN}#with-cuda-mps"),
    SharingKind.MIG_TIME_SLICING: Support(True, "both, on every backend that cuts", _BOTTLEROCKET),
    SharingKind.MIG_MPS: Support(False, "neither device plugin runs MPS on MIG slices", f"{_PLUGIN}#with-cuda-mps"),
}

FORMS: Mapping[Form, str] = {
    Form.AWS: "aws eks create-nodegroup",
    Form.EKSCTL: "managedNodeGroups of eksctl's ClusterConfig",
    Form.KARPENTER: "EC2NodeClass, NodePool and NodeOverlay of Karpenter",
    Form.TERRAFORM: "aws_eks_node_group of hashicorp/aws",
}


def read(observed: Observed) -> tuple[NodePool, tuple[Finding, ...]]:
    """The file form of a pool, and notes on what it cannot say."""
    from fracgpu.providers.eks.file_form import read as read_pool

    return read_pool(observed)


def render(form: Form, resources: Sequence[Resource], pool: ResolvedPool) -> tuple[str, tuple[Finding, ...]]:
    """The bodies as a command or a configuration of another tool; what it cannot say is a note."""
    from fracgpu.providers.eks.forms import render as render_form

    return render_form(form, resources, pool)


def sign_in_hint() -> str:
    """The command that signs a person in."""
    from fracgpu.providers.eks.failures import SIGN_IN

    return SIGN_IN


def identity(access: Access) -> Identity:
    """Whom the cloud takes the caller for. Raises NotSignedIn, PartNotInstalled, Unreachable."""
    with _sdk():
        from fracgpu.providers.eks.session import identity as found
    return found(access)


def connect(cluster: ClusterRef, access: Access) -> Session:
    """Import the SDK and sign in. Raises NotSignedIn, PartNotInstalled, Unreachable."""
    with _sdk():
        from fracgpu.providers.eks.session import connect as open_session
    return open_session(cluster, access)


def _sdk() -> AbstractContextManager[None]:
    return importing("AWS's", ("boto",), "boto3")
