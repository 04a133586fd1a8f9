"""The device plugin on every GPU node: which config it runs with, and what it therefore advertises.

A plugin reads its ConfigMap when it starts and when its node's label changes, not when the ConfigMap does
(https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-sharing.html): after an edit, restart the pods.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from fracgpu.sandbox.kubernetes import resources
from fracgpu.sandbox.kubernetes.controllers import gfd, mig_manager
from fracgpu.sandbox.kubernetes.controllers.daemonsets import pod_key
from fracgpu.sandbox.kubernetes.controllers.gpus import find
from fracgpu.sandbox.kubernetes.controllers.kubelet import crash_loop, running
from fracgpu.sandbox.kubernetes.controllers.operator import PLUGIN, PLUGIN_NAMES
from fracgpu.sandbox.kubernetes.controllers.plugin_config import ConfigError, PluginConfig, parse
from fracgpu.sandbox.kubernetes.life import OPERATOR_NAMESPACE, Batch, Life, Machine
from fracgpu.sandbox.kubernetes.store import Key
from fracgpu.sandbox.world import Cuts, Json

CONFIG_LABEL = "nvidia.com/device-plugin.config"
GPU = "nvidia.com/gpu"
CONFIG_MAP = "fracgpu-device-plugin"
CONFIG_MAP_ANNOTATION = "sandbox/config-map"
"""On the plugin's DaemonSet: the ConfigMap that it mounts, where it is not the usual one."""

DEFAULT_STRATEGY = "single"
"""`mig.strategy` of the GPU Operator's chart, which reaches the plugin as a flag that a config may override."""


@dataclass(frozen=True, slots=True)
class Started:
    """What a plugin started with. `error` says why it did not; then it tries again whenever something changes."""

    pod: str
    label: str | None
    mig_label: str | None
    config: PluginConfig
    error: str | None = None


def run(life: Life, batch: Batch) -> None:
    maps = any(key.namespace == OPERATOR_NAMESPACE for key in batch.keys(resources.CONFIG_MAPS))
    changed = {key.name for key in batch.keys(resources.NODES)}
    for key in batch.keys(resources.PODS):
        if any(key.name.startswith(name) and key.namespace == where for name, where in PLUGIN_NAMES.items()):
            pod = life.store.find(resources.PODS, key)
            changed |= {pod["spec"]["nodeName"]} if pod else set()
    for machine in life.machines.values():
        failed = isinstance(machine.plugin, Started) and machine.plugin.error is not None
        if machine.shape.gpu_count and machine.ready and (machine.node in changed or (maps and failed)):
            _serve(life, machine)


def _serve(life: Life, machine: Machine) -> None:
    node = life.store.find(resources.NODES, Key("", machine.node))
    if node is None:
        return
    pod = _pod_on(life, machine)
    if machine.shape.allocatable is not None:
        if pod is not None or not _plugin_is_a_pod(node):
            _advertise(life, machine, dict(machine.shape.allocatable), {})
    elif pod is not None:
        _start(life, machine, node, pod)


def _plugin_is_a_pod(node: Json) -> bool:
    """GKE's is; Bottlerocket's is a service of the host."""
    return "cloud.google.com/gke-accelerator" in node["metadata"]["labels"]


def _pod_on(life: Life, machine: Machine) -> Json | None:
    """The plugin's pod on that node, once it has started (even if it crashes)."""
    for name, where in PLUGIN_NAMES.items():
        owner = life.store.find(resources.DAEMON_SETS, Key(where, name))
        pod = life.store.find(resources.PODS, pod_key(owner, machine.node)) if owner else None
        if pod is not None and pod["status"].get("startTime"):
            return pod
    return None


def _start(life: Life, machine: Machine, node: Json, pod: Json) -> None:
    labels = node["metadata"]["labels"]
    wanted = (pod["metadata"]["uid"], labels.get(CONFIG_LABEL), labels.get(mig_manager.LABEL))
    before = machine.plugin
    if isinstance(before, Started) and (before.pod, before.label, before.mig_label) == wanted and not before.error:
        return
    cuts, state = mig_manager.cut(life, machine, labels.get(mig_manager.LABEL))
    try:
        config = _read(life, wanted[1])
        strategy = config.mig_strategy or DEFAULT_STRATEGY
        counts = _counts(machine, cuts, strategy, config)
    except ConfigError as error:
        machine.plugin = Started(*wanted, PluginConfig(), str(error))
        _advertise(life, machine, {}, state)
        crash_loop(life, pod, "config-manager-init", str(error))
        return
    machine.plugin = Started(*wanted, config)
    machine.one_share = frozenset(config.replicas) if config.one_share else frozenset()
    shape = machine.shape
    found = gfd.labels(find(shape.gpu_product), shape.gpu_count, cuts, strategy, config, shape.machine)
    running(life, pod)
    _advertise(life, machine, counts, found | state)


def _read(life: Life, key: str | None) -> PluginConfig:
    """The config that the node's label names; the plugin's defaults without a label (the operator's `empty` fallback).

    Wording: https://github.com/NVIDIA/k8s-device-plugin/blob/main/cmd/config-manager/main.go
    """
    if key is None:
        return PluginConfig()
    owner = life.store.find(resources.DAEMON_SETS, Key(OPERATOR_NAMESPACE, PLUGIN))
    annotations = (owner or {"metadata": {}})["metadata"].get("annotations") or {}
    name = annotations.get(CONFIG_MAP_ANNOTATION, CONFIG_MAP)
    found = life.store.find(resources.CONFIG_MAPS, Key(OPERATOR_NAMESPACE, name))
    if found is None or not found.get("data"):
        raise ConfigError("no configuration files available")
    if key not in found["data"]:
        raise ConfigError(f"specified config {key} does not exist")
    return parse(found["data"][key])


def _counts(machine: Machine, cuts: Cuts, strategy: str, config: PluginConfig) -> dict[str, int]:
    """Devices by resource, shares included; raises ConfigError where the plugin refuses to start."""
    if machine.shape.broken:
        raise ConfigError(machine.shape.broken)
    if any(cuts) and config.sharing == "mps":
        raise ConfigError("sharing.mps is not supported for MIG devices")
    devices = _devices(machine.shape.gpu_count, cuts, strategy)
    return dict(_shares(name, count, config) for name, count in devices.items())


def _devices(gpus: int, cuts: Cuts, strategy: str) -> Counter[str]:
    """https://github.com/NVIDIA/k8s-device-plugin/tree/main/internal/rm"""
    if not any(cuts) or strategy == "none":
        # Strategy none still advertises a GPU that is cut, though nothing can run on it whole.
        return Counter({GPU: gpus})
    whole = sum(not cut for cut in cuts)
    if strategy == "single":
        if whole:
            raise ConfigError("all devices on the node must be configured with the same migEnabled value")
        if len({name for cut in cuts for name in cut}) > 1:
            raise ConfigError("invalid MIG configuration: more than one MIG device type present on node")
        return Counter({GPU: sum(sum(cut.values()) for cut in cuts)})
    devices = Counter({GPU: whole} if whole else {})
    for cut in cuts:
        devices.update({f"nvidia.com/mig-{name.replace('+', '.')}": count for name, count in cut.items()})
    return devices


def _shares(name: str, count: int, config: PluginConfig) -> tuple[str, int]:
    replicas = config.replicas.get(name)
    if replicas is None:
        return name, count
    return (f"{name}.shared" if config.rename else name), count * replicas


def _advertise(life: Life, machine: Machine, counts: dict[str, int], labels: dict[str, str]) -> None:
    """Put the devices into the node's status and the labels on it, in place of what this plugin said before."""
    node = life.store.get(resources.NODES, Key("", machine.node))
    setting = life.world.settings.get("node", {}).get(machine.node) or {}
    texts = {name: str(count) for name, count in counts.items()}
    status = dict(node["status"])
    for part, extra in (("capacity", {}), ("allocatable", setting.get("allocatable", {}))):
        kept = {name: value for name, value in status[part].items() if name not in machine.advertised}
        status[part] = kept | texts | {name: str(count) for name, count in extra.items()}
    machine.advertised = counts
    stale = {name for name in node["metadata"]["labels"] if _found_by_gfd(name)}
    kept = {name: value for name, value in node["metadata"]["labels"].items() if name not in stale}
    metadata = {**node["metadata"], "labels": kept | labels | setting.get("labels", {})}
    life.store.replace(resources.NODES, {**node, "metadata": metadata, "status": status})


_GFD = ("nvidia.com/cuda.", "nvidia.com/gpu.", "nvidia.com/mig", "nvidia.com/mps.", "nvidia.com/vgpu.")
_NOT_GFD = ("nvidia.com/gpu.deploy.", "nvidia.com/gpu.present")


def _found_by_gfd(label: str) -> bool:
    return label.startswith(_GFD) and not label.startswith(_NOT_GFD) and label != mig_manager.LABEL
