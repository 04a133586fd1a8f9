"""Which Amazon Machine Image a node group gets: always said, because EKS's own choice has no NVIDIA driver.

https://github.com/awslabs/amazon-eks-ami/issues/1817
"""

from __future__ import annotations

from fracgpu.resolve import ResolvedPool
from fracgpu.sharing import Backend

CUSTOM = "CUSTOM"
"""An image of the user's own, named in a launch template of the user's own."""

RETIRED = ("AL2_x86_64", "AL2_x86_64_GPU", "AL2_ARM_64")
"""No images since 2025-11-26: https://docs.aws.amazon.com/eks/latest/userguide/eks-ami-deprecation-faqs.html"""

WITHOUT_DRIVER = (
    "BOTTLEROCKET_ARM_64",
    "BOTTLEROCKET_x86_64",
    "BOTTLEROCKET_ARM_64_FIPS",
    "BOTTLEROCKET_x86_64_FIPS",
    "AL2023_x86_64_STANDARD",
    "AL2023_ARM_64_STANDARD",
    "AL2023_x86_64_NEURON",
    "WINDOWS_CORE_2019_x86_64",
    "WINDOWS_FULL_2019_x86_64",
    "WINDOWS_CORE_2022_x86_64",
    "WINDOWS_FULL_2022_x86_64",
    "WINDOWS_CORE_2025_x86_64",
    "WINDOWS_FULL_2025_x86_64",
)
WITH_DRIVER = (
    "AL2023_x86_64_NVIDIA",
    "AL2023_ARM_64_NVIDIA",
    "BOTTLEROCKET_x86_64_NVIDIA",
    "BOTTLEROCKET_ARM_64_NVIDIA",
    "BOTTLEROCKET_x86_64_NVIDIA_FIPS",
    "BOTTLEROCKET_ARM_64_NVIDIA_FIPS",
)
"""https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html"""


def family(backend: Backend | None) -> str:
    """How the AMI types of a backend begin."""
    return "BOTTLEROCKET" if backend is Backend.BOTTLEROCKET else "AL2023"


def derived(pool: ResolvedPool) -> str | None:
    """The AMI type that follows from machine and backend; None where that machine has none of the kind."""
    return derived_for(pool.machine.ami_types, pool.backend)


def derived_for(ami_types: tuple[str, ...], backend: Backend | None) -> str | None:
    return next((name for name in ami_types if name.startswith(family(backend))), None)


def ami_type(pool: ResolvedPool) -> str | None:
    """What the pool is sent with: as said, else derived."""
    return pool.eks.ami_type or derived(pool)


def is_arm(name: str) -> bool:
    return "_ARM_64" in name
