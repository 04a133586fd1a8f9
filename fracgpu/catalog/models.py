"""The rows of the catalog: GPUs, their MIG profiles, and the machines that carry them.

Every row is a value read from `profiles/`; None means that no source states the fact. Memory is in GiB where a name
ends in `_gib`, in MiB in `_mib`, and in the vendor's round GB in `_gb`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class ProviderName(StrEnum):
    """The three clouds, by the name of their Kubernetes service."""

    AKS = "aks"
    GKE = "gke"
    EKS = "eks"


class CpuArchitecture(StrEnum):
    X86_64 = "x86_64"
    ARM64 = "arm64"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a fact is from: a short key used by rows, and the public place (URL or owner/repo@commit path)."""

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Placements:
    """Where instances of a profile may start on the GPU's placement grid, and how many units each covers.

    As printed by `nvidia-smi mig -lgipp`. `verified` is False where they are inferred from a GPU of the same die: a
    hint, never a proof.
    """

    starts: tuple[int, ...]
    size: int
    verified: bool = True


@dataclass(frozen=True, slots=True)
class Engines:
    """Hardware engines of one GPU instance; None where unknown."""

    copy: int | None = None
    nvdec: int | None = None
    nvenc: int | None = None
    jpeg: int | None = None
    ofa: int | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """One MIG profile of one GPU. The key is (gpu, name): the same name means another slice on another GPU."""

    gpu: str
    name: str
    compute_slices: int
    max_per_gpu: int
    attributes: tuple[str, ...] = ()
    memory_slices: int | None = None
    profile_id: int | None = None
    memory_gib: float | None = None
    memory_mib: int | None = None
    sm_count: int | None = None
    engines: Engines | None = None
    placements: Placements | None = None
    other_names: tuple[str, ...] = ()
    """What other drivers call the same profile (7g.79gb for 7g.80gb, 1g.24gb for GB200's 1g.23gb)."""
    mig_parted_config: str | None = None
    aks: str | None = None
    """The value of AKS `gpuInstanceProfile` that makes this slice on this GPU; None where AKS cannot."""
    gke: str | None = None
    """The value of GKE `gpuPartitionSize`; None where GKE's partitioner or plugin does not know it for this GPU."""
    bottlerocket: str | None = None
    """The value of Bottlerocket's `mig.profile.<key>`; None where it cannot be said there."""
    min_driver_branch: str | None = None
    note: str | None = None
    sources: tuple[str, ...] = ()

    @property
    def resource(self) -> str:
        """The extended resource under strategy `mixed`: "+" becomes ".", "-me" stays (k8s-device-plugin)."""
        return f"nvidia.com/mig-{self.name.replace('+', '.')}"

    @property
    def plain(self) -> bool:
        """Without attributes such as +me, +gfx or -me."""
        return not self.attributes


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU model. `profiles` is empty, and slices None, on a GPU without MIG."""

    key: str
    product: str
    architecture: str
    memory_gb: float
    compute_capability: str | None = None
    aliases: tuple[str, ...] = ()
    memory_mib: int | None = None
    compute_slices: int | None = None
    memory_slices: int | None = None
    placement_units: int | None = None
    max_instances: int | None = None
    min_driver: str | None = None
    pci_device_ids: tuple[str, ...] = ()
    placement_evidence: str | None = None
    reboots_for_mig: bool = False
    """Turning MIG on needs a GPU reset, on a cloud VM a reboot (Ampere)."""
    gke_accelerator: str | None = None
    bottlerocket_key: str | None = None
    profiles: tuple[Profile, ...] = ()
    notes: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    geometries: tuple[tuple[tuple[str, int], ...], ...] = field(default=(), repr=False)

    @property
    def mig(self) -> bool:
        return bool(self.profiles)

    @property
    def memory_gib(self) -> float:
        """Memory that the driver reports, else the vendor's round figure (which vendors count in GiB)."""
        return self.memory_mib / 1024 if self.memory_mib else float(self.memory_gb)


@dataclass(frozen=True, slots=True)
class Machine:
    """One machine type of one cloud.

    `gpu_fraction` is below 1 where the cloud sells a part of a GPU (the node shows one device of `gpu_memory_gib`).
    `gpu_counts` lists what may be attached on machines whose GPUs are chosen (GKE N1); elsewhere it is `(gpu_count,)`.
    """

    provider: ProviderName
    name: str
    gpu: str
    gpu_count: int
    vcpus: int | None
    memory_gib: float | None
    gpu_fraction: float = 1.0
    gpu_counts: tuple[int, ...] = ()
    gpu_memory_gib: float | None = None
    """Memory of the device a node shows where it is a part of the GPU; None: the whole GPU's."""
    architecture: CpuArchitecture = CpuArchitecture.X86_64
    mig: bool = False
    """This cloud can cut the GPUs of this machine into MIG slices (by whatever way it has)."""
    mig_reason: str | None = None
    """Why not, where the GPU could be cut and this cloud or machine does not do it."""
    accessory: bool = False
    """The GPU is attached to a general machine (GKE N1) rather than part of it."""
    accelerator: str | None = None
    """GKE's accelerator type."""
    min_version: str | None = None
    os: tuple[str, ...] = ()
    """Operating systems that the cloud supports on it; empty: no restriction known."""
    quota: str | None = None
    """The cloud's own name of the quota that this machine counts against."""
    ami_types: tuple[str, ...] = ()
    """EKS AMI types with the driver for this machine, best first."""
    on_demand: bool = True
    note: str | None = None
    sources: tuple[str, ...] = ()

    @property
    def fractional(self) -> bool:
        return self.gpu_fraction < 1
