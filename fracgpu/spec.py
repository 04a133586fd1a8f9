"""NodePoolSpec as the user writes it.

The models only know shapes: which keys exist and what type each has. What the values mean together is in `spec_rules`;
what they mean for a GPU or a cloud comes later, in `resolve` and the clouds' `rules`.
"""

# No `from __future__ import annotations`: pydantic would have to evaluate each annotation anew whenever this is loaded.
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from fracgpu.model import Bool, Int, Model, NodeCount, Replicas, Text
from fracgpu.options import AksOptions, EksOptions, GkeOptions
from fracgpu.sharing import Backend, Strategy
from fracgpu.taints import Taint, read_taint

API_VERSION = "fracgpu/v1"
MARK_KEYS = ("fracgpu-managed", "fracgpu-cluster", "fracgpu-pool", "fracgpu-fleet")
"""Tags that say whose a pool is; written by fracgpu, not for users to set."""


class Capacity(StrEnum):
    ON_DEMAND = "on-demand"
    SPOT = "spot"
    RESERVED = "reserved"


PROVIDER_WORDS = {"azure": "aks", "gcp": "gke", "google": "gke", "aws": "eks", "amazon": "eks"}


def read_word(written: Any) -> Any:
    """Words are read whatever their case, and a provider also by its company's name."""
    if not isinstance(written, str):
        return written
    word = written.strip().lower()
    return PROVIDER_WORDS.get(word, word)


def said(written: Any) -> Any:
    """A section with nothing in it, as a comment leaves one behind, says nothing."""
    return {} if written is None else written


SECTION = BeforeValidator(said)
ProviderWord = Annotated[Literal["aks", "gke", "eks"], BeforeValidator(read_word)]


class Cluster(Model):
    """Which cluster. AKS: resourceGroup, subscription; GKE: project, location; EKS: region."""

    provider: ProviderWord | None = None
    name: Text | None = None
    resource_group: Text | None = None
    subscription: Text | None = None
    project: Text | None = None
    location: Text | None = None
    region: Text | None = None


class MigSpec(Model):
    """One of `profile` (every GPU is cut into as many as it holds), `layout` (each GPU alike) and `devices` (each GPU
    its own)."""

    profile: Text | None = None
    layout: dict[str, Int] | None = None
    devices: list[dict[str, Int] | None] | None = None
    strategy: Strategy | None = None
    backend: Backend | None = None


class TimeSlicingSpec(Model):
    """`replicas` shares of each GPU, or of each slice beside `mig`."""

    replicas: Replicas
    fail_requests_greater_than_one: Bool | None = None


class MpsSpec(Model):
    replicas: Replicas


class SharingSpec(Model):
    mig: MigSpec | None = None
    time_slicing: TimeSlicingSpec | None = None
    mps: MpsSpec | None = None
    rename_by_default: Bool | None = None
    config_key: Text | None = None


class NodesSpec(Model):
    """Totals over all zones."""

    count: NodeCount | None = None
    min: NodeCount | None = None
    max: NodeCount | None = None


class DiskSpec(Model):
    size_gb: Int | None = None


# What is left out of a spec is made without being validated, so that reading one pool builds one validator.


class NodePoolSpec(Model):
    """One node pool, as a person means it."""

    cluster: Annotated[Cluster, SECTION] = Field(default_factory=Cluster.model_construct)
    gpu: Text | None = None
    machine: Text | None = None
    sharing: Annotated[SharingSpec, SECTION] = Field(default_factory=SharingSpec.model_construct)
    nodes: Annotated[NodesSpec, SECTION] = Field(default_factory=NodesSpec.model_construct)
    capacity: Capacity | None = None
    disk: Annotated[DiskSpec, SECTION] = Field(default_factory=DiskSpec.model_construct)
    zones: list[Text] | None = None
    labels: dict[str, str] | None = None
    taints: list[Annotated[Taint, BeforeValidator(read_taint, json_schema_input_type=str | Taint)]] | None = None
    tags: dict[str, str] | None = None
    gpu_taint: Bool | None = None
    aks: AksOptions | None = None
    gke: GkeOptions | None = None
    eks: EksOptions | None = None


class Metadata(Model):
    name: Text | None = None


class NodePool(Model):
    """The file form: one document. `status` and `sandbox` are what `show` prints beside it; neither is read back."""

    api_version: Literal["fracgpu/v1"] = "fracgpu/v1"
    kind: Literal["NodePool"] = "NodePool"
    metadata: Annotated[Metadata, SECTION] = Field(default_factory=Metadata.model_construct)
    spec: Annotated[NodePoolSpec, SECTION]
    status: dict[str, Any] | None = None
    sandbox: Bool | None = None
