"""Kubernetes versions, AMI types and AMI releases of the sandbox's EKS."""

from __future__ import annotations

import hashlib
import re

VERSION = "1.34"
LAST_FOR_AL2 = "1.32"
VERSIONS = ("1.31", "1.32", "1.33", "1.34")

DEFAULT_AMI_TYPE = "AL2023_x86_64_STANDARD"
"""What EKS takes when no AMI type is sent: the plain image for x86-64, whatever the instance type."""

AMI_TYPES = (
    "AL2_x86_64",
    "AL2_x86_64_GPU",
    "AL2_ARM_64",
    "CUSTOM",
    "BOTTLEROCKET_ARM_64",
    "BOTTLEROCKET_x86_64",
    "BOTTLEROCKET_ARM_64_FIPS",
    "BOTTLEROCKET_x86_64_FIPS",
    "BOTTLEROCKET_ARM_64_NVIDIA",
    "BOTTLEROCKET_x86_64_NVIDIA",
    "BOTTLEROCKET_ARM_64_NVIDIA_FIPS",
    "BOTTLEROCKET_x86_64_NVIDIA_FIPS",
    "WINDOWS_CORE_2019_x86_64",
    "WINDOWS_FULL_2019_x86_64",
    "WINDOWS_CORE_2022_x86_64",
    "WINDOWS_FULL_2022_x86_64",
    "WINDOWS_CORE_2025_x86_64",
    "WINDOWS_FULL_2025_x86_64",
    "AL2023_x86_64_STANDARD",
    "AL2023_ARM_64_STANDARD",
    "AL2023_x86_64_NEURON",
    "AL2023_x86_64_NVIDIA",
    "AL2023_ARM_64_NVIDIA",
)


def architecture(ami_type: str) -> str:
    """`arm64` or `x86_64`; what EC2 calls the architecture that AMIs of that type are for."""
    return "arm64" if "ARM_64" in ami_type else "x86_64"


def for_gpus(ami_type: str) -> bool:
    """Whether AMIs of that type are for NVIDIA GPUs alone."""
    return "NVIDIA" in ami_type or ami_type == "AL2_x86_64_GPU"


def release(ami_type: str, version: str) -> str:
    """The newest AMI release of that type for a Kubernetes version."""
    if ami_type.startswith("BOTTLEROCKET"):
        return "1.57.0-6c2a0f31"
    return f"{version}.{re.sub(r'.*[.]', '', version)[-1]}-20261107"


def image(region: str, ami_type: str) -> str:
    """The AMI id of the newest release in a region."""
    return "ami-0" + hashlib.sha256(f"{region}/{ami_type}".encode()).hexdigest()[:16]
