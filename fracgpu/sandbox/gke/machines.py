"""What a GKE machine type is: its accelerator, GPUs, vCPUs and memory."""

from __future__ import annotations

from dataclasses import dataclass

from fracgpu.sandbox.gke import tables
from fracgpu.sandbox.hardware import machine as hardware


@dataclass(frozen=True, slots=True)
class MachineType:
    """A machine type of Compute Engine. `gpus` is 0 where GPUs are not a part of it (N1 may be given some)."""

    name: str
    vcpus: float
    memory_gib: float
    accelerator: str | None = None
    gpus: int = 0
    fraction: float = 1.0

    @property
    def series(self) -> str:
        return self.name.split("-", 1)[0]

    @property
    def architecture(self) -> str:
        return "arm64" if self.series in tables.ARM_SERIES else "amd64"

    @property
    def takes_gpus(self) -> bool:
        """N1 machines, and only they, are given GPUs of the caller's choice (not those with a shared core)."""
        return self.series == "n1"


def machine_type(name: str) -> MachineType | None:
    """The machine type of that name; None when Compute Engine has no such machine."""
    built_in = tables.BUILT_IN.get("-".join(name.split("-")[:2]))
    if built_in is None:
        return _general(name)
    row = hardware("gke", name)
    if row is None or row.name != name:
        return None
    return MachineType(name, row.vcpus or 0, row.memory_gib or 0, built_in, row.gpu_count, row.gpu_fraction)


def _general(name: str) -> MachineType | None:
    if name in tables.SMALL:
        vcpus, memory = tables.SMALL[name]
        return MachineType(name, vcpus, memory)
    series, _, rest = name.partition("-")
    variant, _, size = rest.partition("-")
    per_vcpu = tables.GENERAL.get(series, {}).get(variant)
    if per_vcpu is None or not size.isdecimal() or int(size) not in tables.SIZES:
        return None
    return MachineType(name, int(size), int(size) * per_vcpu)
