"""What a GPU says about itself on a node: NVML product name, memory, and the MIG instances it can be cut into.

Names and figures as printed by `nvidia-smi` and GPU Feature Discovery, a table of the sandbox's own:
https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html and
https://github.com/NVIDIA/mig-parted/blob/main/deployments/systemd/config-default.yaml.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Slice:
    """A MIG profile on one GPU. `most` is how many fit on an empty GPU; `mib` and `processors` are None if unknown."""

    most: int
    compute: int
    mib: int | None
    processors: int | None


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU model. `product` is NVML's name, `mib` its memory, `capability` the CUDA compute capability.

    `pci` has the device ids on the PCI bus, as mig-parted's filters name them.
    """

    product: str
    mib: int
    family: str
    capability: str
    slices: dict[str, Slice]
    pci: tuple[str, ...] = ()


_SEVEN = ((7, 1), (4, 1), (3, 2), (2, 3), (1, 4), (1, 7))
"""(most, compute slices) of 1g, 1g with double memory, 2g, 3g, 4g, 7g."""


def _seven(names: str, mib: tuple[int | None, ...], processors: tuple[int | None, ...]) -> dict[str, Slice]:
    """A seven-slice GPU from its six profiles; the media variant of 1g (`+me`) fits once."""
    rows = zip(names.split(), _SEVEN, mib, processors, strict=True)
    slices = {name: Slice(most, compute, memory, units) for name, (most, compute), memory, units in rows}
    first = names.split(maxsplit=1)[0]
    one = slices[first]
    return {**slices, f"{first}+me": Slice(1, 1, one.mib, one.processors)}


_AMPERE = (14, 14, 28, 42, 56, 98)
_HOPPER = (16, 26, 32, 60, 64, 132)
_UNKNOWN: tuple[int | None, ...] = (None,) * 6

_PRO_6000 = {
    **{f"1g.24gb{suffix}": Slice(most, 1, 24192, 46) for suffix, most in (("", 4), ("+gfx", 4), ("-me", 4))},
    **{f"1g.24gb{suffix}": Slice(1, 1, 24192, 46) for suffix in ("+me", "+me.all")},
    **{f"2g.48gb{suffix}": Slice(most, 2, 48512, 94) for suffix, most in (("", 2), ("+gfx", 2), ("-me", 2))},
    "2g.48gb+me.all": Slice(1, 2, 48512, 94),
    **{f"4g.96gb{suffix}": Slice(1, 4, 97280, 188) for suffix in ("", "+gfx")},
}
_A30 = {
    "1g.6gb": Slice(4, 1, 5952, 14),
    "1g.6gb+me": Slice(1, 1, 5952, 14),
    "2g.12gb": Slice(2, 2, 11968, 28),
    "2g.12gb+me": Slice(1, 2, 11968, 28),
    "4g.24gb": Slice(1, 4, 24000, 56),
}

GPUS: dict[str, Gpu] = {
    "a30-24gb": Gpu("NVIDIA A30", 24576, "ampere", "8.0", _A30, pci=("20B7",)),
    "a100-40gb": Gpu(
        "NVIDIA A100-SXM4-40GB",
        40960,
        "ampere",
        "8.0",
        _seven("1g.5gb 1g.10gb 2g.10gb 3g.20gb 4g.20gb 7g.40gb", (4864, 9856, 9856, 19968, 19968, 40192), _AMPERE),
        pci=(
            "20B0",
            "20B1",
            "20F1",
        ),
    ),
    "a100-80gb": Gpu(
        "NVIDIA A100-SXM4-80GB",
        81920,
        "ampere",
        "8.0",
        _seven("1g.10gb 1g.20gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb", (9856, 19968, 19968, 40192, 40192, 80384), _AMPERE),
        pci=(
            "20B2",
            "20B5",
            "20F3",
        ),
    ),
    "h100-80gb-sxm": Gpu(
        "NVIDIA H100 80GB HBM3",
        81559,
        "hopper",
        "9.0",
        _seven("1g.10gb 1g.20gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb", (9984, 20096, 20096, 40320, 40448, 81152), _HOPPER),
        pci=("2330",),
    ),
    "h100-80gb-pcie": Gpu(
        "NVIDIA H100 PCIe",
        81559,
        "hopper",
        "9.0",
        _seven(
            "1g.10gb 1g.20gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb",
            (9856, 19968, 19968, 40192, 40192, 80896),
            (14, 14, 30, 46, 62, 114),
        ),
        pci=("2331",),
    ),
    "h100-94gb-nvl": Gpu(
        "NVIDIA H100 NVL",
        95830,
        "hopper",
        "9.0",
        _seven("1g.12gb 1g.24gb 2g.24gb 3g.47gb 4g.47gb 7g.94gb", (11008, 22144, 22144, 47488, 47488, 95360), _HOPPER),
        pci=("2321",),
    ),
    "h200-141gb-sxm": Gpu(
        "NVIDIA H200",
        143771,
        "hopper",
        "9.0",
        _seven(
            "1g.18gb 1g.35gb 2g.35gb 3g.71gb 4g.71gb 7g.141gb", (16384, 33024, 33024, 71168, 71168, 143104), _HOPPER
        ),
        pci=("2335",),
    ),
    "b200-180gb": Gpu(
        "NVIDIA B200",
        183359,
        "blackwell",
        "10.0",
        _seven(
            "1g.23gb 1g.45gb 2g.45gb 3g.90gb 4g.90gb 7g.180gb",
            (20992, 45312, 45312, None, None, None),
            (18, 30, 36, None, None, None),
        ),
        pci=("2901",),
    ),
    "gb200-186gb": Gpu(
        "NVIDIA GB200",
        189471,
        "blackwell",
        "10.0",
        _seven(
            "1g.23gb 1g.47gb 2g.47gb 3g.93gb 4g.93gb 7g.186gb",
            (22528, 46592, 46592, None, None, None),
            (18, 32, 38, None, None, None),
        ),
        pci=("2941",),
    ),
    "b300-269gb": Gpu(
        "NVIDIA B300 SXM6 AC",
        275040,
        "blackwell",
        "10.3",
        _seven("1g.34gb 1g.67gb 2g.67gb 3g.135gb 4g.135gb 7g.269gb", _UNKNOWN, _UNKNOWN),
        pci=("3182",),
    ),
    "gb300-278gb": Gpu(
        "NVIDIA GB300",
        284208,
        "blackwell",
        "10.3",
        _seven("1g.35gb 1g.70gb 2g.70gb 3g.139gb 4g.139gb 7g.278gb", _UNKNOWN, _UNKNOWN),
        pci=(
            "31C2",
            "31C3",
        ),
    ),
    "rtx-pro-6000-blackwell-96gb": Gpu(
        "NVIDIA RTX PRO 6000 Blackwell Server Edition", 97887, "blackwell", "12.0", _PRO_6000, pci=("2BB5",)
    ),
    "rtx-pro-4500-blackwell-32gb": Gpu("NVIDIA RTX PRO 4500 Blackwell Server Edition", 32623, "blackwell", "12.0", {}),
    "a10-24gb": Gpu("NVIDIA A10", 23028, "ampere", "8.6", {}),
    "a10g-24gb": Gpu("NVIDIA A10G", 23028, "ampere", "8.6", {}),
    "l4-24gb": Gpu("NVIDIA L4", 23034, "ada-lovelace", "8.9", {}),
    "l40s-48gb": Gpu("NVIDIA L40S", 46068, "ada-lovelace", "8.9", {}),
    "t4-16gb": Gpu("Tesla T4", 15360, "turing", "7.5", {}),
    "t4g-16gb": Gpu("NVIDIA T4G", 15360, "turing", "7.5", {}),
    "v100-16gb": Gpu("Tesla V100-SXM2-16GB", 16384, "volta", "7.0", {}),
    "v100-32gb": Gpu("Tesla V100-SXM2-32GB", 32768, "volta", "7.0", {}),
    "p100-16gb": Gpu("Tesla P100-PCIE-16GB", 16384, "pascal", "6.0", {}),
    "p4-8gb": Gpu("Tesla P4", 7680, "pascal", "6.1", {}),
}

OTHER_NAMES = {
    "NVIDIA A100-PCIE-40GB": "a100-40gb",
    "NVIDIA A100 80GB PCIe": "a100-80gb",
    "NVIDIA H100 80GB PCIe": "h100-80gb-pcie",
}
"""Products that are like another of the table in all that it says."""


def _plain(name: str) -> str:
    """A name without the difference between NVML's spaces and a label's dashes."""
    return name.replace(" ", "-").lower()


_BY_PRODUCT = {_plain(gpu.product): gpu for gpu in GPUS.values()}
_BY_PRODUCT |= {_plain(name): replace(GPUS[key], product=name) for name, key in OTHER_NAMES.items()}


def find(name: str) -> Gpu:
    """The GPU of that NVML name, product label or catalog key; one without MIG for a name that the table lacks."""
    return GPUS.get(name) or _BY_PRODUCT.get(_plain(name)) or Gpu(name, 16384, "unknown", "8.0", {})
