"""Helm values for the charts that bring NVIDIA's device plugin, fitted to a cluster's pools.

Lists replace a chart's own in Helm, so those here begin with what the chart has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from fracgpu import migconfig
from fracgpu.advertise import PluginOwner, toleration
from fracgpu.catalog.models import ProviderName
from fracgpu.errors import Finding, Invalid, info, warning
from fracgpu.kube.names import checked
from fracgpu.kube.plugin import DEFAULT, NAME, Configs
from fracgpu.kube.promise import Promise
from fracgpu.sharing import Backend, Mig, Strategy

Values = dict[str, Any]
Toleration = dict[str, str]

MIG_CONFIG_NAME = "fracgpu-mig-parted"
MIG_CONFIG_KEY = "config.yaml"
"""The key that mig-manager reads (https://github.com/NVIDIA/gpu-operator, values.yaml, migManager.config)."""

ANY_GPU_TAINT = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
CRITICAL = {"key": "CriticalAddonsOnly", "operator": "Exists"}
CONTROL_PLANE = {
    "key": "node-role.kubernetes.io/control-plane",
    "operator": "Equal",
    "value": "",
    "effect": "NoSchedule",
}


class Chart(StrEnum):
    DEVICE_PLUGIN = "nvidia-device-plugin"
    GPU_OPERATOR = "gpu-operator"
    TFY_GPU_OPERATOR = "tfy-gpu-operator"


def values(chart: Chart, promises: Sequence[Promise], configs: Configs) -> tuple[Values, tuple[Finding, ...]]:
    """The chart's values for the pools of one cluster, and notes; empty where none of them needs a plugin.

    Raises Invalid where the pools are of several clouds, since a chart is installed in one cluster.
    """
    if not any(one.own_plugin for one in promises):
        return {}, configs.notes
    clouds = {one.pool.provider for one in promises}
    if len(clouds) > 1:
        message = f"these pools are of {', '.join(sorted(clouds))}, and a chart is installed in one cluster"
        raise Invalid.one("usage", message, hint="give the pools of one cluster")
    made, notes = BUILDERS[chart](promises, configs)
    return made, (*configs.notes, *notes)


def mig_document(promises: Iterable[Promise]) -> dict[str, Any] | None:
    """mig-parted's file for the pools that NVIDIA's MIG manager cuts; None where it cuts none."""
    cuts = [(one.pool.gpu, one.pool.sharing.cut) for one in promises if _cut_by_manager(one)]
    found = [(gpu, cut) for gpu, cut in cuts if isinstance(cut, Mig)]
    return migconfig.config_document(found) if found else None


def mig_config_map(document: Mapping[str, Any], namespace: str) -> dict[str, Any]:
    """mig-parted's file as the ConfigMap that `migManager.config.name` names. Raises Invalid for the namespace."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": MIG_CONFIG_NAME,
            "namespace": checked(namespace, "--namespace"),
            "labels": {"app.kubernetes.io/managed-by": "fracgpu"},
        },
        "data": {MIG_CONFIG_KEY: _yaml(document)},
    }


def _device_plugin(promises: Sequence[Promise], _: Configs) -> tuple[Values, list[Finding]]:
    """https://github.com/NVIDIA/k8s-device-plugin/tree/main/deployments/helm/nvidia-device-plugin"""
    made: Values = {
        "config": {"name": NAME, "default": DEFAULT},
        "gfd": {"enabled": True},
        "tolerations": _tolerations([CRITICAL, ANY_GPU_TAINT], promises),
        "nfd": {"worker": {"tolerations": _tolerations([ANY_GPU_TAINT], promises)}},
    }
    elsewhere = _other_plugins(promises)
    if elsewhere:
        made["affinity"] = _affinity(elsewhere)
    by_hand = [one.name for one in promises if _cut_by_manager(one)]
    notes = [_no_manager(by_hand)] if by_hand else []
    return made, notes


def _gpu_operator(promises: Sequence[Promise], _: Configs) -> tuple[Values, list[Finding]]:
    """https://github.com/NVIDIA/gpu-operator/tree/main/deployments/gpu-operator"""
    made: Values = {
        **_driver(promises),
        "mig": {"strategy": _strategy(promises)},
        "devicePlugin": {"config": {"name": NAME, "default": DEFAULT}},
        "migManager": _mig_manager(promises),
        "daemonsets": {"tolerations": _tolerations([ANY_GPU_TAINT], promises)},
        "node-feature-discovery": {
            "worker": {"tolerations": _tolerations([CONTROL_PLANE, ANY_GPU_TAINT], promises)},
        },
    }
    return made, _operator_notes(promises)


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


def _tfy(promises: Sequence[Promise], configs: Configs) -> tuple[Values, list[Finding]]:
    """https://github.com/truefoundry/infra-charts/tree/main/charts/tfy-gpu-operator

    Driver, toolkit and CDI stay as the chart has them: they belong together there.
    """
    provider = promises[0].pool.provider
    flag, block = TFY_BLOCKS[provider]
    base = TFY_TOLERATIONS[provider]
    inner: Values = {
        "mig": {"strategy": _strategy(promises)},
        "devicePlugin": {"config": {"name": NAME, "create": True, "default": DEFAULT, "data": configs.data()}},
        "migManager": _mig_manager(promises),
        "daemonsets": {"tolerations": _tolerations(base, promises)},
        "node-feature-discovery": {
            "worker": {"tolerations": _tolerations([one for one in base if one is not CRITICAL], promises)},
        },
    }
    notes = _operator_notes(promises)
    if TFY_OWN_KEY in configs.documents:
        message = f"{TFY_OWN_KEY} of the chart renames shares to nvidia.com/gpu.shared; here it keeps nvidia.com/gpu"
        hint = "pools that rely on the chart's meaning: --rename-shared names theirs time-sliced-10-renamed"
        notes.append(warning("chart-key-changed", message, hint=hint))
    return {"clusterType": {flag: True}, block: inner}, notes


Builder = Callable[[Sequence[Promise], Configs], tuple[Values, list[Finding]]]
BUILDERS: Mapping[Chart, Builder] = {
    Chart.DEVICE_PLUGIN: _device_plugin,
    Chart.GPU_OPERATOR: _gpu_operator,
    Chart.TFY_GPU_OPERATOR: _tfy,
}


def _tolerations(base: Iterable[Toleration], promises: Iterable[Promise]) -> list[Toleration]:
    """The chart's own and one for each taint of the pools that they do not cover."""
    found = [dict(one) for one in base]
    for promise in promises:
        for taint in promise.facts.taints if promise.own_plugin else ():
            wanted = toleration(taint)
            if not any(_covers(one, wanted) for one in found):
                found.append(wanted)
    return found


def _covers(one: Toleration, wanted: Toleration) -> bool:
    same_key = one["key"] == wanted["key"] and one.get("effect") in (None, wanted["effect"])
    return same_key and (one["operator"] == "Exists" or one.get("value") == wanted.get("value"))


def _other_plugins(promises: Iterable[Promise]) -> list[Promise]:
    return [one for one in promises if one.facts.plugin is PluginOwner.IMAGE]


def _affinity(elsewhere: Sequence[Promise]) -> Values:
    """The chart's own ways to find GPU nodes, without the pools whose node image runs a plugin already."""
    key = elsewhere[0].pool_label[0]
    away = {"key": key, "operator": "NotIn", "values": sorted(one.name for one in elsewhere)}
    signs = (
        ("feature.node.kubernetes.io/pci-10de.present", "true"),
        ("feature.node.kubernetes.io/cpu-model.vendor_id", "NVIDIA"),
        ("nvidia.com/gpu.present", "true"),
    )
    terms = [{"matchExpressions": [{"key": sign, "operator": "In", "values": [value]}, away]} for sign, value in signs]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def _driver(promises: Sequence[Promise]) -> Values:
    """Who installs driver and toolkit. EKS's NVIDIA images have both; AKS installs them unless told not to, and names
    the runtime class otherwise than the operator: https://github.com/NVIDIA/gpu-operator/issues/525"""
    if promises[0].pool.provider is not ProviderName.AKS:
        return {"driver": {"enabled": False}, "toolkit": {"enabled": False}}
    if any(_without_driver(one) for one in promises):
        return {"driver": {"enabled": True}, "toolkit": {"enabled": True}}
    runtime = {"runtimeClass": "nvidia-container-runtime"}
    return {"driver": {"enabled": False}, "toolkit": {"enabled": False}, "operator": runtime}


def _without_driver(promise: Promise) -> bool:
    return promise.pool.aks.driver == "None"


def _strategy(promises: Iterable[Promise]) -> str:
    """The operator's strategy stands above the config's own (an environment variable beats the file), so where pools
    differ it has to be empty.

    https://github.com/NVIDIA/k8s-device-plugin#configuring-the-nvidia-device-plugin-binary
    """
    cuts = [one.pool.sharing.cut for one in promises if one.own_plugin]
    found = {cut.strategy for cut in cuts if isinstance(cut, Mig)} or {Strategy.SINGLE}
    return found.pop().value if len(found) == 1 else ""


def _mig_manager(promises: Sequence[Promise]) -> Values:
    """On where it cuts a pool. Elsewhere off: it sets nodes without `nvidia.com/mig.config` to all-disabled, and so
    would undo what the cloud or the boot script has cut."""
    cut = [one for one in promises if _cut_by_manager(one)]
    if not cut:
        return {"enabled": False}
    made: Values = {"enabled": True}
    if any(one.pool.gpu.reboots_for_mig for one in cut):
        # https://github.com/NVIDIA/gpu-operator/issues/1606
        made["env"] = [{"name": "WITH_REBOOT", "value": "true"}]
    document = mig_document(cut)
    if document and any(map(migconfig.is_custom, document["mig-configs"])):
        data = {MIG_CONFIG_KEY: _yaml(document)}
        made["config"] = {"name": MIG_CONFIG_NAME, "create": True, "default": migconfig.DISABLED, "data": data}
    return made


def _cut_by_manager(promise: Promise) -> bool:
    return promise.pool.backend is Backend.GPU_OPERATOR and isinstance(promise.pool.sharing.cut, Mig)


def _cut_by_others(promise: Promise) -> bool:
    return promise.own_plugin and isinstance(promise.pool.sharing.cut, Mig) and not _cut_by_manager(promise)


def _operator_notes(promises: Sequence[Promise]) -> list[Finding]:
    notes: list[Finding] = []
    own = [one.name for one in promises if _cut_by_others(one)]
    if own and any(map(_cut_by_manager, promises)):
        message = f"the MIG manager would undo the cut of {', '.join(own)}, which it does not make"
        hint = "keep it off those nodes: --label nvidia.com/gpu.deploy.mig-manager=false"
        notes.append(warning("mig-manager-undoes", message, hint=hint))
    elsewhere = [one.name for one in _other_plugins(promises)]
    if elsewhere:
        message = f"the node image of {', '.join(elsewhere)} runs a device plugin; the operator would run a second one"
        hint = "keep the operator off those nodes: --label nvidia.com/gpu.deploy.operands=false"
        notes.append(warning("second-plugin", message, hint=hint))
    drivers = {_without_driver(one) for one in promises}
    if promises[0].pool.provider is ProviderName.AKS and len(drivers) > 1:
        message = "AKS installs the driver on some of these pools and not on others; the operator installs it on all"
        notes.append(warning("two-drivers", message, hint="give all pools of the cluster the same aks.driver"))
    return notes


def _no_manager(names: Sequence[str]) -> Finding:
    message = f"{', '.join(names)} is cut by NVIDIA's MIG manager, which this chart does not bring"
    return info("mig-manager-needed", message, hint="fracgpu plugin values --chart gpu-operator")


def _yaml(document: Mapping[str, Any]) -> str:
    import yaml

    return str(yaml.safe_dump(dict(document), sort_keys=False))
