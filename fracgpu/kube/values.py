"""Helm values for the charts that bring NVIDIA's device plugin, fitted to a cluster's pools.

Lists replace a chart's own in Helm, so those here begin with what the chart has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from fracgpu.advertise import PluginOwner
from fracgpu.errors import Finding, Invalid, info, warning
from fracgpu.kube.mig_manager import cut_by_manager
from fracgpu.kube.operator_values import Values, gpu_operator, tfy_gpu_operator, without_driver
from fracgpu.kube.plugin import DEFAULT, NAME, Configs
from fracgpu.kube.promise import Promise
from fracgpu.kube.tolerations import ANY_GPU_TAINT, CRITICAL, tolerations
from fracgpu.sharing import Mig


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
    beside = () if chart is Chart.TFY_GPU_OPERATOR else (_config_map_beside(chart),)
    return made, (*configs.notes, *notes, *beside)


def _config_map_beside(chart: Chart) -> Finding:
    """Pods of the chart do not start before a ConfigMap that they mount is there."""
    message = f"{chart} mounts the ConfigMap {NAME}, which has to be in the namespace that it is installed in"
    return info("plugin-config-needed", message, hint="fracgpu plugin apply --namespace NAMESPACE writes it")


def _device_plugin(promises: Sequence[Promise], _: Configs) -> tuple[Values, list[Finding]]:
    """https://github.com/NVIDIA/k8s-device-plugin/tree/main/deployments/helm/nvidia-device-plugin"""
    made: Values = {
        "config": {"name": NAME, "default": DEFAULT},
        "gfd": {"enabled": True},
        "tolerations": tolerations([CRITICAL, ANY_GPU_TAINT], promises),
        "nfd": {"worker": {"tolerations": tolerations([ANY_GPU_TAINT], promises)}},
    }
    if any(one.own_plugin and isinstance(one.pool.sharing.cut, Mig) for one in promises):
        # Toolkits 1.18 and 1.19, which node images bring, keep a plugin without privileges from reading MIG devices.
        # https://github.com/NVIDIA/nvidia-container-toolkit/issues/1740
        made["securityContext"] = {"privileged": True}
    elsewhere = [one for one in promises if one.facts.plugin is PluginOwner.IMAGE]
    if elsewhere:
        made["affinity"] = _affinity(elsewhere)
    return made, _not_in_chart(promises)


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


def _not_in_chart(promises: Sequence[Promise]) -> list[Finding]:
    """What pools need besides the plugin, and only the operator's chart brings."""
    notes: list[Finding] = []
    instead = "fracgpu plugin values --chart gpu-operator"
    by_manager = [one.name for one in promises if cut_by_manager(one)]
    if by_manager:
        message = f"{', '.join(by_manager)} is cut by NVIDIA's MIG manager, which this chart does not bring"
        notes.append(info("mig-manager-needed", message, hint=instead))
    bare = [one.name for one in promises if without_driver(one)]
    if bare:
        message = f"{', '.join(bare)} is made without a driver, which this chart does not bring"
        notes.append(warning("no-driver", message, hint=instead))
    return notes


Builder = Callable[[Sequence[Promise], Configs], tuple[Values, list[Finding]]]
BUILDERS: Mapping[Chart, Builder] = {
    Chart.DEVICE_PLUGIN: _device_plugin,
    Chart.GPU_OPERATOR: gpu_operator,
    Chart.TFY_GPU_OPERATOR: tfy_gpu_operator,
}
