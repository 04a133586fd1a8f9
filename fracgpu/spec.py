"""NodePoolSpec as the user writes it.

The models only know shapes: which keys exist and what type each has. What the values mean together is in `spec_rules`;
what they mean for a GPU or a cloud comes later, in `resolve` and the clouds' `rules`.
"""

# No `from __future__ import annotations`: pydantic would have to evaluate each annotation anew whenever this is loaded.
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, NoReturn

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, Strict, model_serializer
from pydantic_core import PydanticCustomError

from fracgpu.nearest import nearest_words
from fracgpu.sharing import Backend, Strategy

API_VERSION = "fracgpu/v1"
GPU_TAINT_KEY = "nvidia.com/gpu"
MARK_KEYS = ("fracgpu-managed", "fracgpu-cluster", "fracgpu-pool", "fracgpu-fleet")
"""Tags that say whose a pool is; written by fracgpu, not for users to set."""

LARGEST = 2**31 - 1
"""The clouds and Kubernetes count in 32 bits."""


def _counted(code: str) -> AfterValidator:
    """Refuses numbers that nobody can count to."""

    def check_size(number: int) -> int:
        if abs(number) > LARGEST:
            raise PydanticCustomError(code, "no number here may be above {largest}", {"largest": str(LARGEST)})
        return number

    return AfterValidator(check_size)


Int = Annotated[int, Strict(), _counted("invalid-value")]
Replicas = Annotated[int, Strict(), _counted("replicas-out-of-range")]
NodeCount = Annotated[int, Strict(), _counted("nodes-out-of-range")]
Bool = Annotated[bool, Strict()]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class Capacity(StrEnum):
    ON_DEMAND = "on-demand"
    SPOT = "spot"
    RESERVED = "reserved"


class TaintEffect(StrEnum):
    """In Kubernetes' words; the clouds' own spellings are made in their `desired`."""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


def camel(name: str) -> str:
    """A name of the code as the file form spells it."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


class Model(BaseModel):
    """camelCase in files, snake_case in code, no unknown keys, no changes after reading; built when first used."""

    model_config = ConfigDict(
        alias_generator=camel, populate_by_name=True, extra="forbid", frozen=True, defer_build=True, strict=False
    )


class Taint(Model):
    """A node taint. In files a text `key=value:Effect`; a mapping is read too."""

    key: str
    value: str = ""
    effect: TaintEffect

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}"

    @classmethod
    def of(cls, key: str, value: str, effect: TaintEffect) -> "Taint":
        """A taint of parts that are known to be right; nothing is validated."""
        return cls.model_construct(key=key, value=value, effect=effect)

    @model_serializer
    def as_text(self) -> str:
        """As a file has it."""
        return str(self)


GPU_TAINT = ("nvidia.com/gpu", "present", TaintEffect.NO_SCHEDULE)
"""On every GPU pool unless the user says no. The value is `present` because the device-plugin chart's node feature
discovery tolerates that value only (https://github.com/NVIDIA/k8s-device-plugin, values.yaml)."""

TAINT_TEXT = re.compile(r"(?P<key>[^=:\s]+)(=(?P<value>[^=:\s]*))?:(?P<effect>\w+)")


def read_effect(written: str) -> str | None:
    """An effect in Kubernetes' words, from those or a cloud's (NO_SCHEDULE); None where it is neither."""
    effects = {effect.lower(): effect.value for effect in TaintEffect}
    return effects.get(written.lower().replace("_", ""))


def read_taint(written: Any) -> Any:
    """`key=value:Effect` as a mapping; a mapping and a Taint are passed on."""
    if isinstance(written, Mapping):
        effect = read_effect(str(written.get("effect")))
        return {**written, "effect": effect} if effect else written
    if not isinstance(written, str):
        return written if isinstance(written, Taint) else _no_taint(written)
    match = TAINT_TEXT.fullmatch(written)
    effect = match and read_effect(match["effect"])
    if not match or not effect:
        return _no_taint(written)
    return {"key": match["key"], "value": match["value"] or "", "effect": effect}


def _no_taint(written: Any) -> NoReturn:
    head, _, effect = str(written).partition(":")
    close = nearest_words(effect, TaintEffect, 1, 0.3) or [TaintEffect.NO_SCHEDULE]
    pair = head if "=" in head else f"{head}=present"
    near = f"{pair}:{close[0]}"
    raise PydanticCustomError(
        "invalid-taint",
        "{written} is not a taint; write key=value:Effect with one of {words}",
        {
            "written": repr(written)[:80],
            "words": ", ".join(TaintEffect),
            "nearest": (near,) if isinstance(written, str) and TAINT_TEXT.fullmatch(near) else (),
        },
    )


PROVIDER_WORDS = {"azure": "aks", "gcp": "gke", "google": "gke", "aws": "eks", "amazon": "eks"}


def read_word(written: Any) -> Any:
    """Words are read whatever their case, and a provider also by its company's name."""
    if not isinstance(written, str):
        return written
    word = written.strip().lower()
    return PROVIDER_WORDS.get(word, word)


def not_empty(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("invalid-value", "must not be empty", {"hint": "leave it out, or say what it is"})
    return text


Text = Annotated[str, AfterValidator(not_empty)]


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


class AksUpgradeSettings(Model):
    max_surge: Text | None = None
    max_unavailable: Text | None = None
    drain_timeout_in_minutes: Int | None = None
    node_soak_duration_in_minutes: Int | None = None
    undrainable_node_behavior: Literal["Cordon", "Schedule"] | None = None


class AksOptions(Model):
    """What only AKS has; names and values are those of its AgentPool API.

    `autoscalerTags: false` leaves out the tags that tell the cluster autoscaler what the nodes of an empty pool would
    offer.
    """

    os_sku: Text | None = None
    mode: Literal["System", "User"] | None = None
    eviction_policy: Literal["Delete", "Deallocate"] | None = None
    scale_down_mode: Literal["Delete", "Deallocate"] | None = None
    spot_max_price: Number | None = None
    driver: Literal["Install", "None"] | None = None
    disk_type: Literal["Managed", "Ephemeral"] | None = None
    max_pods: Int | None = None
    subnet_id: Text | None = None
    pod_subnet_id: Text | None = None
    version: Text | None = None
    fips: Bool | None = None
    reservation: Text | None = None
    upgrade_settings: AksUpgradeSettings | None = None
    autoscaler_tags: Bool | None = None


class GkeOptions(Model):
    """What only GKE has. `accelerator_count` is for machines whose GPUs are attached (N1)."""

    accelerator_count: Int | None = None
    driver: Literal["Install", "None"] | None = None
    driver_version: Literal["DEFAULT", "LATEST"] | None = None
    disk_type: Text | None = None
    image_type: Text | None = None
    location_policy: Literal["BALANCED", "ANY"] | None = None
    network_tags: list[Text] | None = None
    service_account: Text | None = None
    oauth_scopes: list[Text] | None = None
    reservation: Text | None = None
    auto_upgrade: Bool | None = None
    auto_repair: Bool | None = None
    max_surge: Int | None = None
    max_unavailable: Int | None = None
    max_pods: Int | None = None
    version: Text | None = None
    gvnic: Bool | None = None


class EksUpdateConfig(Model):
    max_unavailable: Int | None = None
    max_unavailable_percentage: Int | None = None
    update_strategy: Literal["DEFAULT", "MINIMAL"] | None = None


class TemplateSays(StrEnum):
    """What a launch template of the user's own says in the pool's place."""

    SHARING = "sharing"
    MACHINE = "machine"


class EksLaunchTemplate(Model):
    """A launch template of the user's own; never changed by fracgpu.

    `says` lists what of the pool's spec the template brings itself: `sharing` by its user data, `machine` by its
    InstanceType. It is held against the template before anything is sent.
    """

    name: Text | None = None
    id: Text | None = None
    version: Text | None = None
    says: list[TemplateSays] | None = None


class EksOptions(Model):
    """What only EKS has; names and values are those of CreateNodegroup, and some are ours.

    `backend` says who cuts and shares. `capacityBlock` tells a reservation of that kind from an On-Demand one.
    `startupTaint` keeps pods off a node until its GPUs are cut. `autoscalerTags: false` leaves out the tags that tell
    the Cluster Autoscaler what the nodes of an empty group would offer.
    """

    backend: Backend | None = None
    ami_type: Text | None = None
    node_role: Text | None = None
    subnets: list[Text] | None = None
    instance_types: list[Text] | None = None
    update_config: EksUpdateConfig | None = None
    node_repair_config: dict[str, Any] | None = None
    launch_template: EksLaunchTemplate | None = None
    reservation: Text | None = None
    disk_type: Text | None = None
    version: Text | None = None
    release_version: Text | None = None
    startup_taint: Bool | None = None
    capacity_block: Bool | None = None
    placement_group: Text | None = None
    autoscaler_tags: Bool | None = None


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
