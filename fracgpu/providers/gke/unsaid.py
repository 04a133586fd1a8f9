"""What a node pool can have and the file form has no word for.

Not here: `networkConfig.enablePrivateNodes` and `workloadMetadataConfig.mode=GKE_METADATA`, which a pool made anew gets
from its cluster just the same.
"""

from __future__ import annotations

from fracgpu.providers.file_members import Unsaid

KUBELET = (
    "allowedUnsafeSysctls",
    "containerLogMaxFiles",
    "containerLogMaxSize",
    "cpuCfsQuota",
    "cpuCfsQuotaPeriod",
    "cpuManagerPolicy",
    "crashLoopBackOff",
    "evictionMaxPodGracePeriodSeconds",
    "evictionMinimumReclaim",
    "evictionSoft",
    "evictionSoftGracePeriod",
    "imageGcHighThresholdPercent",
    "imageGcLowThresholdPercent",
    "imageMaximumGcAge",
    "imageMinimumGcAge",
    "memoryManager",
    "podPidsLimit",
    "shutdownGracePeriodCriticalPodsSeconds",
    "shutdownGracePeriodSeconds",
    "singleProcessOomKill",
    "topologyManager",
)
"""Kubelet settings; not the read-only port and parallel pulls, which GKE fills in for every pool."""
UNSAID = (
    Unsaid("config.preemptible", "preemptible machines (Spot is what replaced them)"),
    Unsaid("config.flexStart", "flex-start"),
    Unsaid("config.maxRunDuration", "a longest run"),
    Unsaid("config.consolidationDelay", "a delay of consolidation"),
    Unsaid("config.localSsdCount", "local SSDs"),
    Unsaid("config.ephemeralStorageLocalSsdConfig", "local SSDs for ephemeral storage"),
    Unsaid("config.localNvmeSsdBlockConfig", "local SSDs as block devices"),
    Unsaid("config.localSsdEncryptionMode", "how local SSDs are encrypted", ("STANDARD_ENCRYPTION",)),
    Unsaid("config.bootDisk.provisionedIops", "operations per second of the boot disk"),
    Unsaid("config.bootDisk.provisionedThroughput", "throughput of the boot disk"),
    Unsaid("config.bootDiskKmsKey", "a key for the boot disk"),
    Unsaid("config.secondaryBootDisks", "secondary boot disks"),
    Unsaid("config.secondaryBootDiskUpdateStrategy", "how secondary boot disks are updated"),
    Unsaid("config.storagePools", "storage pools"),
    Unsaid("config.minCpuPlatform", "a least CPU platform"),
    Unsaid("config.advancedMachineFeatures", "advanced machine features", ({"enableNestedVirtualization": False},)),
    Unsaid("config.nodeGroup", "a sole-tenant node group"),
    Unsaid("config.soleTenantConfig", "sole tenancy"),
    Unsaid(
        "config.reservationAffinity.consumeReservationType",
        "any matching reservation",
        ("NO_RESERVATION", "SPECIFIC_RESERVATION", "UNSPECIFIED"),
    ),
    Unsaid("config.confidentialNodes", "confidential nodes"),
    Unsaid("config.enableConfidentialStorage", "confidential storage", (False,)),
    Unsaid("config.shieldedInstanceConfig.enableSecureBoot", "secure boot", (False,)),
    Unsaid("config.sandboxConfig", "GKE Sandbox"),
    Unsaid(
        "config.workloadMetadataConfig.mode", "the metadata server that pods see", ("GKE_METADATA", "MODE_UNSPECIFIED")
    ),
    Unsaid("config.metadata", "metadata of the instances", ({"disable-legacy-endpoints": "true"},)),
    Unsaid("config.resourceManagerTags", "Resource Manager tags"),
    Unsaid("config.linuxNodeConfig", "Linux settings"),
    Unsaid("config.windowsNodeConfig", "Windows settings"),
    *(Unsaid(f"config.kubeletConfig.{name}", "kubelet settings") for name in KUBELET),
    Unsaid("config.containerdConfig", "containerd settings"),
    Unsaid("config.gcfsConfig.enabled", "image streaming", (False,)),
    Unsaid("config.fastSocket.enabled", "NCCL Fast Socket", (False,)),
    Unsaid(
        "config.loggingConfig.variantConfig.variant", "a logging agent of its own", ("DEFAULT", "VARIANT_UNSPECIFIED")
    ),
    Unsaid("config.gpuDirectConfig", "GPUDirect"),
    Unsaid("config.taintConfig", "how taints are kept"),
    Unsaid("config.nodeImageConfig", "an image of one's own"),
    Unsaid("placementPolicy", "a placement policy"),
    Unsaid("queuedProvisioning", "queued provisioning", ({"enabled": False},)),
    Unsaid("bestEffortProvisioning", "best-effort provisioning", ({"enabled": False},)),
    Unsaid("networkConfig.additionalNodeNetworkConfigs", "further networks of nodes"),
    Unsaid("networkConfig.additionalPodNetworkConfigs", "further networks of pods"),
    Unsaid("networkConfig.networkPerformanceConfig", "a network bandwidth tier"),
    Unsaid("networkConfig.networkTierConfig", "a network tier"),
    Unsaid("networkConfig.acceleratorNetworkProfile", "a network profile for accelerators"),
    Unsaid(
        "networkConfig.podCidrOverprovisionConfig.disable", "whether more pod addresses are kept than needed", (False,)
    ),
    Unsaid("nodeDrainConfig", "how nodes are drained"),
    Unsaid("maintenancePolicy", "a maintenance policy"),
    Unsaid(
        "upgradeSettings.strategy", "blue-green and other upgrades", ("SURGE", "NODE_POOL_UPDATE_STRATEGY_UNSPECIFIED")
    ),
)
