"""Google Kubernetes Engine: node pools of google.container.v1, cut and shared by fields of their own.

GKE runs its own device plugin, so sharing needs no label and no ConfigMap, and every slice or share is an
nvidia.com/gpu that a pod tells from others by node labels.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

from fracgpu.catalog.models import ProviderName
from fracgpu.errors import Finding
from fracgpu.plan import Resource
from fracgpu.providers import Form, Identity, Observed, Session, Support
from fracgpu.providers.access import Access
from fracgpu.providers.gke.compare import comparison, settled
from fracgpu.providers.gke.desired import KIND, desired
from fracgpu.providers.gke.facts import node_facts
from fracgpu.providers.gke.rules import rules
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

NAME = ProviderName.GKE
TITLE = "Google Kubernetes Engine"
POOL_KIND = KIND

_DOCS = "https://cloud.google.com/kubernetes-engine/docs"

SUPPORT: Mapping[SharingKind, Support] = {
    SharingKind.WHOLE: Support(True, "`accelerators`", f"{_DOCS}/how-to/gpus"),
    SharingKind.MIG: Support(True, "`gpuPartitionSize`: one size for all GPUs of a pool", f"{_DOCS}/how-to/gpus-multi"),
    SharingKind.MIG_LAYOUT: Support(False, "a pool has a single partition size", f"{_DOCS}/how-to/gpus-multi"),
    SharingKind.TIME_SLICING: Support(
        True, "`gpuSharingConfig` TIME_SHARING, 2 to 48 clients", f"{_DOCS}/concepts/timesharing-gpus"
    ),
    SharingKind.MPS: Support(True, "`gpuSharingConfig` MPS, 2 to 48 clients", f"{_DOCS}/how-to/nvidia-mps-gpus"),
    SharingKind.MIG_TIME_SLICING: Support(
        True, "both fields; clients are per slice", f"{_DOCS}/concepts/timesharing-gpus"
    ),
    SharingKind.MIG_MPS: Support(True, "both fields; clients are per slice", f"{_DOCS}/how-to/nvidia-mps-gpus"),
}

FORMS: Mapping[Form, str] = {
    Form.GCLOUD: "gcloud container node-pools create",
    Form.TERRAFORM: "google_container_node_pool of hashicorp/google",
}


def read(observed: Observed) -> tuple[NodePool, tuple[Finding, ...]]:
    """The file form of a pool, and notes on what it cannot say."""
    from fracgpu.providers.gke.file_form import read as read_pool

    return read_pool(observed)


def render(form: Form, resources: Sequence[Resource], pool: ResolvedPool) -> tuple[str, tuple[Finding, ...]]:
    """The bodies as a command or a configuration of another tool; what it cannot say is a note."""
    from fracgpu.providers.gke.forms import render as render_form

    return render_form(form, resources, pool)


def sign_in_hint() -> str:
    """The command that signs a person in."""
    from fracgpu.providers.gke.failures import SIGN_IN

    return SIGN_IN


def identity(access: Access) -> Identity:
    """Whom the cloud takes the caller for. Raises NotSignedIn, PartNotInstalled, Unreachable."""
    with _sdk():
        from fracgpu.providers.gke.session import identity as found
    return found(access)


def connect(cluster: ClusterRef, access: Access) -> Session:
    """Import the SDK and sign in. Raises NotSignedIn, PartNotInstalled, Unreachable."""
    with _sdk():
        from fracgpu.providers.gke.session import connect as open_session
    return open_session(cluster, access)


def _sdk() -> AbstractContextManager[None]:
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # read at import; gRPC's core writes to stderr, which is ours
    return importing("Google's", ("google", "grpc"), "google-cloud-container")
