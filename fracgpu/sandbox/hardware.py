"""What a machine is made of, read from the catalog: the only facts that the sandbox shares with the rest of fracgpu.

How a GPU is cut, what a node then advertises and what a cloud refuses is not here: each front has tables of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from fracgpu.catalog.load import load
from fracgpu.catalog.models import CpuArchitecture, ProviderName
from fracgpu.catalog.models import Machine as Row


@dataclass(frozen=True, slots=True)
class Machine:
    """One machine of one cloud. `gpu` is the catalog's key of its GPU, `architecture` Kubernetes' word (amd64, arm64).

    `gpu_fraction` is below 1 where a node has a part of a GPU; None means that no source states the figure.
    """

    name: str
    gpu: str
    gpu_count: int
    gpu_fraction: float
    vcpus: int | None
    memory_gib: float | None
    architecture: str


def machine(cloud: str, name: str) -> Machine | None:
    """The GPU machine of that name, whatever its case; None when the cloud has none."""
    return _by_name(cloud).get(name.lower())


def machines(cloud: str) -> tuple[Machine, ...]:
    """All GPU machines of a cloud, each once, as the catalog orders them."""
    return tuple(_by_name(cloud).values())


@cache
def _by_name(cloud: str) -> dict[str, Machine]:
    found: dict[str, Machine] = {}
    for row in load().machines(ProviderName(cloud)):
        found.setdefault(row.name.lower(), _machine(row))
    return found


def _machine(row: Row) -> Machine:
    return Machine(
        name=row.name,
        gpu=row.gpu,
        gpu_count=row.gpu_count,
        gpu_fraction=row.gpu_fraction,
        vcpus=row.vcpus,
        memory_gib=row.memory_gib,
        architecture="arm64" if row.architecture is CpuArchitecture.ARM64 else "amd64",
    )
