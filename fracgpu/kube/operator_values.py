"""Values of the charts that bring NVIDIA's GPU Operator: its own, and TrueFoundry's around it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fracgpu.advertise import PluginOwner
from fracgpu.catalog.models import ProviderName
from fracgpu.errors import Finding, info, warning
from fracgpu.kube.mig_manager import cut_by_manager, cut_by_others, mig_manager
from fracgpu.kube.plugin import DEFAULT, NAME, Configs
from fracgpu.kube.promise import Promise
from fracgpu.kube.tolerations import ANY_GPU_TAINT, CONTROL_PLANE, CRITICAL, Toleration, tolerations
from fracgpu.sharing import Mig, Strategy

Values = dict[str, Any]


def gpu_operator(promises: Sequence[Promise], _: Configs) -> tuple[Values, list[Finding]]:
    """https://github.com/NVIDIA/gpu-operator/tree/main/deployments/gpu-operator"""
    made: Values = {
        **_driver(promises),
        "mig": {"strategy": _strategy(promises)},
        "devicePlugin": {"config": {"name": NAME, "default": DEFAULT}},
        "migManager": mig_manager(promises),
        "daemonsets": {"tolerations": tolerations([ANY_GPU_TAINT], promises)},
        "node-feature-discovery": {"worker": {"tolerations": tolerations([CONTROL_PLANE, ANY_GPU_TAINT], promises)}},
    }
    return made, _notes(promises)


TFY_BLOCKS = {
    ProviderName.AKS: ("azureAks", "azure-aks-gpu-operator"),
    ProviderName.EKS: ("awsEks", "aws-eks-gpu-operator"),
}
TFY_TOLERATIONS: Mapping[ProviderName, Sequence[Toleration]] = {
    ProviderName.AKS: (
        CRITICAL,
        ANY_GPU_TAINT,
        {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"},
        {
            "key": "kubernetes.azure.com/scalesetpriority",
            "operator": "Equal",
            "value": "spot",
            "effect": "NoSchedule",
        },
    ),
    ProviderName.EKS: (ANY_GPU_TAINT,),
}
TFY_OWN_KEY = "time-sliced-10"
"""A key that the chart's defaults have, with renameByDefault true."""
_FAMILY_WORDS = "p2 p3 p3dn p4d p4de p5 p5e p5en p6-b200 g3 g3s g4dn g5 g6 g6e g6f gr6 gr6f g7e"
TFY_EKS_FAMILIES = frozenset(_FAMILY_WORDS.split())
"""The instance types on which the chart lets node-feature-discovery look for GPUs (0.5.0-rc.2), by family."""


def tfy_gpu_operator(promises: Sequence[Promise], configs: Configs) -> tuple[Values, list[Finding]]:
    """https://github.com/truefoundry/infra-charts/tree/main/charts/tfy-gpu-operator

    Toolkit and CDI stay as the chart has them: they belong together there.
    """
    provider = promises[0].pool.provider
    flag, block = TFY_BLOCKS[provider]
    base = TFY_TOLERATIONS[provider]
    worker: Values = {"tolerations": tolerations([one for one in base if one is not CRITICAL], promises)}
    unlisted = _unlisted_machines(promises)
    if unlisted:
        worker["affinity"] = _every_linux_node()
    inner: Values = {
        **({"driver": {"enabled": True}} if any(map(without_driver, promises)) else {}),
        "mig": {"strategy": _strategy(promises)},
        "devicePlugin": {"config": {"name": NAME, "create": True, "default": DEFAULT, "data": configs.data()}},
        "migManager": mig_manager(promises),
        "daemonsets": {"tolerations": tolerations(base, promises)},
        "node-feature-discovery": {"worker": worker},
    }
    notes = [*_notes(promises), *_tfy_notes(configs, unlisted)]
    return {"clusterType": {flag: True}, block: inner}, notes


def _unlisted_machines(promises: Iterable[Promise]) -> list[str]:
    """EC2 types on which the chart would never look for a GPU, so that no plugin would ever start there."""
    pools = [one.pool for one in promises if one.own_plugin and one.pool.provider is ProviderName.EKS]
    names = {name for pool in pools for name in (pool.machine.name, *(pool.eks.instance_types or ()))}
    return sorted(name for name in names if name.partition(".")[0] not in TFY_EKS_FAMILIES)


def _every_linux_node() -> Values:
    term = {"matchExpressions": [{"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


def _tfy_notes(configs: Configs, unlisted: Sequence[str]) -> list[Finding]:
    notes: list[Finding] = []
    if TFY_OWN_KEY in configs.documents:
        message = f"{TFY_OWN_KEY} of the chart renames shares to nvidia.com/gpu.shared; here it keeps nvidia.com/gpu"
        hint = "pools that rely on the chart's meaning: --rename-shared names theirs time-sliced-10-renamed"
        notes.append(warning("chart-key-changed", message, hint=hint))
    if unlisted:
        message = f"the chart does not look for GPUs on {', '.join(unlisted)}; these values let it look on every node"
        notes.append(info("feature-discovery-everywhere", message))
    return notes


def without_driver(promise: Promise) -> bool:
    """AKS was told to leave the driver to others."""
    return promise.pool.provider is ProviderName.AKS and promise.pool.aks.driver == "None"


def _driver(promises: Sequence[Promise]) -> Values:
    """Who installs driver and toolkit. EKS's NVIDIA images have both; AKS installs them unless told not to, and names
    the runtime class otherwise than the operator: https://github.com/NVIDIA/gpu-operator/issues/525"""
    if promises[0].pool.provider is not ProviderName.AKS:
        return {"driver": {"enabled": False}, "toolkit": {"enabled": False}}
    if any(map(without_driver, promises)):
        return {"driver": {"enabled": True}, "toolkit": {"enabled": True}}
    runtime = {"runtimeClass": "nvidia-container-runtime"}
    return {"driver": {"enabled": False}, "toolkit": {"enabled": False}, "operator": runtime}


def _strategy(promises: Iterable[Promise]) -> str:
    """The operator's strategy stands above the config's own (an environment variable beats the file), so where pools
    differ it has to be empty.

    https://github.com/NVIDIA/k8s-device-plugin#configuring-the-nvidia-device-plugin-binary
    """
    cuts = [one.pool.sharing.cut for one in promises if one.own_plugin]
    found = {cut.strategy for cut in cuts if isinstance(cut, Mig)} or {Strategy.SINGLE}
    return found.pop().value if len(found) == 1 else ""


def _notes(promises: Sequence[Promise]) -> list[Finding]:
    notes: list[Finding] = []
    own = [one.name for one in promises if cut_by_others(one)]
    if own and any(map(cut_by_manager, promises)):
        message = f"the MIG manager would undo the cut of {', '.join(own)}, which it does not make"
        hint = "keep it off those nodes: --label nvidia.com/gpu.deploy.mig-manager=false"
        notes.append(warning("mig-manager-undoes", message, hint=hint))
    elsewhere = [one.name for one in promises if one.facts.plugin is PluginOwner.IMAGE]
    if elsewhere:
        message = f"the node image of {', '.join(elsewhere)} runs a device plugin; the operator would run a second one"
        hint = "keep the operator off those nodes: --label nvidia.com/gpu.deploy.operands=false"
        notes.append(warning("second-plugin", message, hint=hint))
    drivers = {without_driver(one) for one in promises}
    if promises[0].pool.provider is ProviderName.AKS and len(drivers) > 1:
        message = "AKS installs the driver on some of these pools and not on others; the operator installs it on all"
        notes.append(warning("two-drivers", message, hint="give all pools of the cluster the same aks.driver"))
    return notes
