"""What GKE knows of accelerators: which machine carries which, how each may be cut, what its plugin then shows.

These tables are the sandbox's own and share nothing with the catalog that fracgpu plans from, so that neither can hide
the other's mistake. Partition sizes: GoogleCloudPlatform/container-engine-accelerators@992db812
`partition_gpu/partition_gpu.go` (what is cut) and `pkg/gpu/nvidia/mig/mig.go` (what the device plugin accepts).
Machines: https://cloud.google.com/compute/docs/gpus
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One GPU as GKE names it. `partitions`: size -> what the plugin shows for each GPU so cut; `metric`: its quota."""

    product: str
    metric: str
    partitions: Mapping[str, int] = field(default_factory=dict)
    n1_counts: Mapping[int, int] = field(default_factory=dict)
    """GPUs that an N1 machine may have -> the most vCPUs it may have with them; empty: never on N1."""


_EIGHTY = {"1g.10gb": 7, "2g.20gb": 3, "3g.40gb": 2, "4g.40gb": 0, "7g.80gb": 1}
"""4g.40gb (and 4g.20gb below) is in the partitioner's table, not in the plugin's: the GPU is cut, nothing is shown."""

ACCELERATORS: Mapping[str, Accelerator] = {
    "nvidia-tesla-a100": Accelerator(
        "NVIDIA-A100-SXM4-40GB",
        "NVIDIA_A100_GPUS",
        {"1g.5gb": 7, "2g.10gb": 3, "3g.20gb": 2, "4g.20gb": 0, "7g.40gb": 1},
    ),
    "nvidia-a100-80gb": Accelerator("NVIDIA-A100-SXM4-80GB", "NVIDIA_A100_80GB_GPUS", _EIGHTY),
    "nvidia-h100-80gb": Accelerator("NVIDIA-H100-80GB-HBM3", "NVIDIA_H100_GPUS", {**_EIGHTY, "1g.20gb": 4}),
    "nvidia-h100-mega-80gb": Accelerator("NVIDIA-H100-80GB-HBM3", "NVIDIA_H100_MEGA_GPUS", {**_EIGHTY, "1g.20gb": 4}),
    "nvidia-h200-141gb": Accelerator(
        "NVIDIA-H200",
        "NVIDIA_H200_GPUS",
        {"1g.18gb": 7, "1g.35gb": 4, "2g.35gb": 3, "3g.71gb": 2, "4g.71gb": 1, "7g.141gb": 1},
    ),
    "nvidia-b200": Accelerator(
        "NVIDIA-B200",
        "NVIDIA_B200_GPUS",
        {"1g.23gb": 7, "1g.45gb": 4, "2g.45gb": 3, "3g.90gb": 2, "4g.90gb": 1, "7g.180gb": 1},
    ),
    "nvidia-gb200": Accelerator(
        "NVIDIA-GB200",
        "NVIDIA_GB200_GPUS",
        {"1g.23gb": 7, "1g.47gb": 4, "2g.47gb": 3, "3g.93gb": 2, "4g.93gb": 1, "7g.186gb": 1},
    ),
    "nvidia-gb300": Accelerator("NVIDIA-GB300", "NVIDIA_GB300_GPUS"),
    "nvidia-rtx-pro-6000": Accelerator(
        "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition",
        "NVIDIA_RTX_PRO_6000_GPUS",
        {
            "1g.24gb": 4,
            "1g.24gb+me": 1,
            "1g.24gb+gfx": 4,
            "1g.24gb+me.all": 1,
            "1g.24gb-me": 4,
            "2g.48gb": 2,
            "2g.48gb+gfx": 2,
            "2g.48gb+me.all": 1,
            "2g.48gb-me": 2,
            "4g.96gb": 1,
            "4g.96gb+gfx": 1,
        },
    ),
    "nvidia-l4": Accelerator("NVIDIA-L4", "NVIDIA_L4_GPUS"),
    "nvidia-tesla-t4": Accelerator("Tesla-T4", "NVIDIA_T4_GPUS", n1_counts={1: 48, 2: 48, 4: 96}),
    "nvidia-tesla-p4": Accelerator("Tesla-P4", "NVIDIA_P4_GPUS", n1_counts={1: 24, 2: 48, 4: 96}),
    "nvidia-tesla-v100": Accelerator(
        "Tesla-V100-SXM2-16GB", "NVIDIA_V100_GPUS", n1_counts={1: 12, 2: 24, 4: 48, 8: 96}
    ),
    "nvidia-tesla-p100": Accelerator("Tesla-P100-PCIE-16GB", "NVIDIA_P100_GPUS", n1_counts={1: 16, 2: 32, 4: 96}),
}

_OF_GPUS = frozenset(f"{kind}{one.metric}" for one in ACCELERATORS.values() for kind in ("", "PREEMPTIBLE_"))
METRICS = frozenset(("CPUS", "GPUS_ALL_REGIONS")) | _OF_GPUS
"""The quotas that are counted."""

BUILT_IN: Mapping[str, str] = {
    "a2-highgpu": "nvidia-tesla-a100",
    "a2-megagpu": "nvidia-tesla-a100",
    "a2-ultragpu": "nvidia-a100-80gb",
    "a3-highgpu": "nvidia-h100-80gb",
    "a3-edgegpu": "nvidia-h100-80gb",
    "a3-megagpu": "nvidia-h100-mega-80gb",
    "a3-ultragpu": "nvidia-h200-141gb",
    "a4-highgpu": "nvidia-b200",
    "a4x-highgpu": "nvidia-gb200",
    "a4x-maxgpu": "nvidia-gb300",
    "g2-standard": "nvidia-l4",
    "g4-standard": "nvidia-rtx-pro-6000",
}
"""Machine family -> the accelerator that is a fixed part of it."""

GENERAL: Mapping[str, Mapping[str, float]] = {
    "e2": {"standard": 4, "highmem": 8, "highcpu": 1},
    "n1": {"standard": 3.75, "highmem": 6.5, "highcpu": 0.9},
    "n2": {"standard": 4, "highmem": 8, "highcpu": 1},
    "n2d": {"standard": 4, "highmem": 8, "highcpu": 1},
    "n4": {"standard": 4, "highmem": 8, "highcpu": 2},
    "c2": {"standard": 4},
    "c2d": {"standard": 4, "highmem": 8, "highcpu": 2},
    "c3": {"standard": 4, "highmem": 8, "highcpu": 2},
    "c3d": {"standard": 4, "highmem": 8, "highcpu": 2},
    "c4": {"standard": 3.75, "highmem": 7.75, "highcpu": 2},
    "t2d": {"standard": 4},
    "t2a": {"standard": 4},
    "c4a": {"standard": 4, "highmem": 8, "highcpu": 2},
}
"""Series without GPUs of their own -> variant -> GB of memory for each vCPU."""

SMALL: Mapping[str, tuple[float, float]] = {
    "e2-micro": (2, 1),
    "e2-small": (2, 2),
    "e2-medium": (2, 4),
    "g1-small": (1, 1.7),
}
"""Shared-core machines: vCPUs, GB of memory."""

ARM_SERIES = frozenset({"t2a", "c4a", "a4x"})

SIZES = frozenset({1, 2, 4, 8, 16, 22, 30, 32, 44, 48, 60, 64, 72, 80, 88, 90, 96, 112, 128, 176, 180, 224, 360})
"""vCPUs that machines of the general series come with."""
