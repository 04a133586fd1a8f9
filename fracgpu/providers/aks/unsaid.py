"""What an agent pool can have and the file form has no word for."""

from __future__ import annotations

from fracgpu.providers.file_members import Unsaid

UNSAID = (
    Unsaid("type", "another kind of pool than a scale set", ("VirtualMachineScaleSets",)),
    Unsaid("workloadRuntime", "a workload runtime", ("OCIContainer",)),
    Unsaid("kubeletDiskType", "a disk of its own for the kubelet", ("OS",)),
    Unsaid("podIPAllocationMode", "how pods get addresses", ("DynamicIndividual",)),
    Unsaid("messageOfTheDay", "a message of the day"),
    Unsaid("enableNodePublicIP", "public addresses of nodes", (False,)),
    Unsaid("nodePublicIPPrefixID", "a prefix for public addresses"),
    Unsaid("enableEncryptionAtHost", "encryption at the host", (False,)),
    Unsaid("enableUltraSSD", "ultra disks", (False,)),
    Unsaid("proximityPlacementGroupID", "a proximity placement group"),
    Unsaid("hostGroupID", "a dedicated host group"),
    Unsaid("creationData", "a snapshot to start from"),
    Unsaid("kubeletConfig", "kubelet settings"),
    Unsaid("linuxOSConfig", "Linux settings"),
    Unsaid("windowsProfile", "Windows settings"),
    Unsaid("networkProfile", "network settings of nodes"),
    Unsaid("gatewayProfile", "a gateway"),
    Unsaid("artifactStreamingProfile", "artifact streaming"),
    Unsaid("virtualMachinesProfile", "several machine types"),
    Unsaid("localDNSProfile", "a DNS of the node's own"),
    Unsaid("securityProfile.enableVTPM", "a virtual TPM", (False,)),
    Unsaid("securityProfile.enableSecureBoot", "secure boot", (False,)),
    Unsaid("securityProfile.sshAccess", "who may use SSH", ("LocalUser",)),
    Unsaid("gpuProfile.nvidia.managementMode", "managed GPUs", ("Unmanaged",)),
    Unsaid("powerState.code", "a pool that is stopped", ("Running",)),
)
