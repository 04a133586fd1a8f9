"""Azure's machine sizes as AKS sees them: GPU, MIG profiles, zones, quota family.

The tables are the sandbox's own. What `gpuInstanceProfile` cuts is read off AKS's node bootstrap,
Azure/AgentBaker@06836ee `mig-partition.sh` (profile ids 19, 14, 9, 5, 0 on every GPU of the node); families and
products off Azure/karpenter-provider-azure@352646f, `pkg/utils/supported-gpus.yaml` and
`pkg/providers/instancetype/known_skus.yaml`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache

from fracgpu.sandbox import hardware

LOCATION = "eastus"
"""Every sandbox cluster is here."""

ZONES = ("1", "2", "3")

Slices = dict[str, dict[str, int]]
"""gpuInstanceProfile -> what it cuts each GPU into."""


def _cut(one: str, two: str, three: str, four: str, seven: str) -> Slices:
    return {"MIG1g": {one: 7}, "MIG2g": {two: 3}, "MIG3g": {three: 2}, "MIG4g": {four: 1}, "MIG7g": {seven: 1}}


_A100_40 = _cut("1g.5gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb")
_EIGHTY = _cut("1g.10gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")
_H100_NVL = _cut("1g.12gb", "2g.24gb", "3g.47gb", "4g.47gb", "7g.94gb")
_H200 = _cut("1g.18gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb")


@dataclass(frozen=True, slots=True)
class _Kind:
    """What sizes of one pattern have in common. `driver`: which of NVIDIA's drivers it needs (cuda, grid)."""

    pattern: str
    family: str
    product: str
    slices: Slices = field(default_factory=dict)
    driver: str = "cuda"


_KINDS = (
    _Kind(r"nc\d+ads_a100_v4", "StandardNCADSA100v4Family", "NVIDIA-A100-80GB-PCIe", _EIGHTY),
    _Kind(r"nd96asr_v4", "Standard NDASv4_A100 Family", "NVIDIA-A100-SXM4-40GB", _A100_40),
    _Kind(r"nd96amsr_a100_v4", "standard NDAMSv4_A100Family", "NVIDIA-A100-SXM4-80GB", _EIGHTY),
    _Kind(r"nc\d+adi?s_h100_v5", "StandardNCadsH100v5Family", "NVIDIA-H100-NVL", _H100_NVL),
    _Kind(r"ncc\d+ads_h100_v5", "StandardNCCads2023Family", "NVIDIA-H100-NVL"),
    _Kind(r"nd96isr_h100_v5", "standardNDSH100v5Family", "NVIDIA-H100-80GB-HBM3", _EIGHTY),
    _Kind(r"nd96isr_h200_v5", "standardNDISRH200V5Family", "NVIDIA-H200", _H200),
    _Kind(r"nd128isr_ndr_gb200_v6", "standardNDISRGB200V6NDRFamily", "NVIDIA-GB200"),
    _Kind(r"nd128isr_gb300_v6", "standardNDISRGB300V6Family", "NVIDIA-GB300"),
    _Kind(
        r"nc\d+l?ds_xl_rtxpro6000bse_v6",
        "StandardNCdsRTXPRO6000BSEv6XLFamily",
        "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition",
        driver="grid",
    ),
    _Kind(r"nv\d+adm?s_a10_v5", "StandardNVADSA10v5Family", "NVIDIA-A10", driver="grid"),
    _Kind(r"nc\d+ads_a10_v4", "StandardNCADSA10v4Family", "NVIDIA-A10", driver="grid"),
    _Kind(r"nc\d+as_t4_v3", "Standard NCASv3_T4 Family", "Tesla-T4"),
)

_CACHED_GIB = {"standard_nc24ads_a100_v4": 256, "standard_d4ds_v5": 100, "standard_d8ds_v5": 200}
"""Local cache by size, where known: an OS disk that fits in it is ephemeral unless the caller says otherwise."""

_GENERAL = re.compile(r"standard_([def])(\d+)(a?)(d?)(l?)s_v(\d)", re.IGNORECASE)
_GENERAL_MEMORY = {"d": 4, "e": 8, "f": 2}
_GENERAL_SIZES = (2, 4, 8, 16, 32, 48, 64, 96)
_OLD = {"standard_ds2_v2": (2, 7), "standard_ds3_v2": (4, 14), "standard_b2ms": (2, 8), "standard_b4ms": (4, 16)}


@dataclass(frozen=True, slots=True)
class Size:
    """One VM size. `product` is None without a GPU; `slices` is empty where AKS's profiles cut nothing."""

    name: str
    family: str
    vcpus: int
    memory_gib: float
    gpus: int = 0
    product: str | None = None
    slices: Slices = field(default_factory=dict)
    driver: str = "cuda"
    architecture: str = "amd64"
    cached_gib: int = 0

    @property
    def gpu(self) -> bool:
        return self.product is not None


def size(name: str) -> Size | None:
    """The VM size of that name, whatever its case; None when Azure has none."""
    return _gpu_sizes().get(name.lower()) or _general(name)


def offered_sizes() -> tuple[Size, ...]:
    """What the region lists: every GPU size and a few general ones."""
    names = ("Standard_D2s_v5", "Standard_D4s_v5", "Standard_D8s_v5", "Standard_D4ds_v5", "Standard_E4s_v5")
    general = tuple(found for name in names if (found := size(name)))
    return tuple(_gpu_sizes().values()) + general


@cache
def _gpu_sizes() -> dict[str, Size]:
    found = (_gpu_size(machine) for machine in hardware.machines("aks"))
    return {size.name.lower(): size for size in found if size}


def _gpu_size(machine: hardware.Machine) -> Size | None:
    plain = machine.name.lower().removeprefix("standard_")
    kind = next((kind for kind in _KINDS if re.fullmatch(kind.pattern, plain)), None)
    if kind is None:
        return None
    return Size(
        name=machine.name,
        family=kind.family,
        vcpus=machine.vcpus or 0,
        memory_gib=machine.memory_gib or 0,
        gpus=machine.gpu_count,
        product=kind.product,
        slices=kind.slices,
        driver=kind.driver,
        architecture=machine.architecture,
        cached_gib=_CACHED_GIB.get(machine.name.lower(), 0),
    )


def _general(name: str) -> Size | None:
    if name.lower() in _OLD:
        vcpus, memory = _OLD[name.lower()]
        return Size(name, "standardDSv2Family", vcpus, memory)
    match = _GENERAL.fullmatch(name)
    if match is None or int(match[2]) not in _GENERAL_SIZES:
        return None
    letter, vcpus = match[1].lower(), int(match[2])
    family = f"standard{letter.upper()}{match[3]}{match[4]}{match[5]}Sv{match[6]}Family".replace("aS", "AS")
    cached = _CACHED_GIB.get(name.lower(), 0)
    return Size(name, family, vcpus, vcpus * _GENERAL_MEMORY[letter], cached_gib=cached)
