"""What an agent pool can have and the file form has no word for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fracgpu.plan import Json

_WORDS: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
    ("type", "another kind of pool than a scale set", ("VirtualMachineScaleSets",)),
    ("workloadRuntime", "a workload runtime", ("OCIContainer",)),
    ("kubeletDiskType", "a disk of its own for the kubelet", ("OS",)),
    ("podIPAllocationMode", "how pods get addresses", ("DynamicIndividual",)),
    ("messageOfTheDay", "a message of the day", ()),
    ("enableNodePublicIP", "public addresses of nodes", (False,)),
    ("nodePublicIPPrefixID", "a prefix for public addresses", ()),
    ("enableEncryptionAtHost", "encryption at the host", (False,)),
    ("enableUltraSSD", "ultra disks", (False,)),
    ("proximityPlacementGroupID", "a proximity placement group", ()),
    ("hostGroupID", "a dedicated host group", ()),
    ("creationData", "a snapshot to start from", ()),
    ("kubeletConfig", "kubelet settings", ()),
    ("linuxOSConfig", "Linux settings", ()),
    ("windowsProfile", "Windows settings", ()),
    ("networkProfile", "network settings of nodes", ()),
    ("gatewayProfile", "a gateway", ()),
    ("artifactStreamingProfile", "artifact streaming", ()),
    ("virtualMachinesProfile", "several machine types", ()),
    ("localDNSProfile", "a DNS of the node's own", ()),
    ("securityProfile.enableVTPM", "a virtual TPM", (False,)),
    ("securityProfile.enableSecureBoot", "secure boot", (False,)),
    ("securityProfile.sshAccess", "who may use SSH", ("LocalUser",)),
    ("gpuProfile.nvidia.managementMode", "managed GPUs", ("Unmanaged",)),
    ("powerState.code", "a pool that is stopped", ("Running",)),
)
"""Member, what it is in words, and the values that say nothing."""


def unsaid(pool: Json) -> Iterator[tuple[str, str]]:
    """Member and words of everything in a pool's properties that a file cannot say."""
    for member, words, usual in _WORDS:
        value: Any = pool
        for name in member.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        if value not in (None, [], {}, "") and not any(value is one or value == one for one in usual):
            yield member, words
