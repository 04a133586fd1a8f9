"""What NVIDIA's device plugin can and cannot do, for the clouds where the cluster runs it.

https://github.com/NVIDIA/k8s-device-plugin
"""

from __future__ import annotations

from collections.abc import Iterator

from fracgpu.errors import Finding, info, warning
from fracgpu.migconfig import LABEL as MIG_LABEL
from fracgpu.pluginkey import LABEL, config_of, key_of, meaning
from fracgpu.providers.kubernetes_syntax import VALUE_FORM, is_value
from fracgpu.resolve import ResolvedPool
from fracgpu.sharing import Mig, Mps, Strategy
from fracgpu.taints import GPU_TAINT_KEY, Taint

_PLUGIN = "https://github.com/NVIDIA/k8s-device-plugin"
_MPS_DOCS = f"{_PLUGIN}#with-cuda-mps"
_CHART_VALUES = f"{_PLUGIN}/blob/main/deployments/helm/nvidia-device-plugin/values.yaml"

PRESENT = "nvidia.com/gpu.present"
"""A node with this label needs no feature discovery to get the device plugin (its third affinity term)."""

MPS_CLIENTS = 48
MPS_CLIENTS_OLD = 16
"""The most replicas under MPS, and below compute capability 7.5 (k8s-device-plugin internal/rm/device_map.go)."""


def check(pool: ResolvedPool) -> Iterator[Finding]:
    """Every finding about the plugin: MPS's limits, and the config that it needs."""
    if isinstance(pool.sharing.share, Mps):
        yield from _mps(pool, pool.sharing.share)
    yield from _label(pool)
    yield from _key(pool)
    yield from _needed(pool)


def _mps(pool: ResolvedPool, mps: Mps) -> Iterator[Finding]:
    if isinstance(pool.sharing.cut, Mig):
        message = "NVIDIA's device plugin runs MPS on whole GPUs only, never on MIG slices"
        hint = "timeSlicing shares slices; MPS shares whole GPUs; GKE has both together"
        yield Finding("sharing-conflict", message, field="spec.sharing.mps", hint=hint, link=_MPS_DOCS)
        return
    most = most_clients(pool)
    if mps.replicas > most:
        message = f"MPS serves at most {most} clients on {pool.gpu.product}, not {mps.replicas}"
        field = "spec.sharing.mps.replicas"
        yield Finding("replicas-out-of-range", message, field=field, nearest=(str(most),), hint=f"--mps {most}")


def most_clients(pool: ResolvedPool) -> int:
    """The most replicas that the plugin takes under MPS on the pool's GPUs."""
    return MPS_CLIENTS_OLD if _older_than(pool.gpu.compute_capability, (7, 5)) else MPS_CLIENTS


def _older_than(capability: str | None, least: tuple[int, int]) -> bool:
    if capability is None:
        return False
    major, _, minor = capability.partition(".")
    return (int(major), int(minor or 0)) < least


def _label(pool: ResolvedPool) -> Iterator[Finding]:
    """The label is how the plugin is told; a label of the user's own must say the same."""
    said, key = pool.labels.get(LABEL), key_of(pool.sharing)
    if said is not None and said != key:
        message = f"the label {LABEL} says {said}, and the pool's sharing is {key or 'the plugin default'}"
        hint = "leave the label out: sharing writes it; sharing.configKey names a config of your own"
        yield Finding("conflicting-fields", message, field=f"spec.labels.{LABEL}", hint=hint)


def mig_label(pool: ResolvedPool) -> Iterator[Finding]:
    """A label by which NVIDIA's MIG manager cuts, on a pool that something else cuts or nothing does."""
    if MIG_LABEL in pool.labels:
        cut = isinstance(pool.sharing.cut, Mig)
        takes = "the cloud has cut already" if cut else "fracgpu takes for whole here"
        message = f"the label {MIG_LABEL} has a MIG manager cut the GPUs, which {takes}"
        hint = "leave the label out: --mig cuts; on EKS --backend gpu-operator does so by this label"
        yield warning("sharing-unknown", message, field=f"spec.labels.{MIG_LABEL}", hint=hint)


def unusual_gpu_taint(taint: Taint, pool: ResolvedPool) -> Iterator[Finding]:
    """NVIDIA's feature discovery, which finds the nodes for the device plugin, tolerates one value of the GPU taint."""
    if taint.key != GPU_TAINT_KEY or taint.value == "present" or PRESENT in pool.labels:
        return
    near = f"{taint.key}=present:{taint.effect}"
    message = f"node feature discovery tolerates {GPU_TAINT_KEY}=present alone, so no device plugin would start"
    hint = f"{near}, or the label {PRESENT}=true"
    yield warning("gpu-taint-unusual", message, field="spec.taints", hint=hint, nearest=(near,), link=_CHART_VALUES)


def _key(pool: ResolvedPool) -> Iterator[Finding]:
    """A key is a label's value, and never means two things: a key of ours has the meaning that its name says."""
    key = pool.sharing.config_key
    if key is not None and not is_value(key):
        message = f"{key!r} cannot be a config key, since a node label has it as its value"
        yield Finding("invalid-value", message, field="spec.sharing.configKey", hint=f"a key is {VALUE_FORM}")
        return
    means = meaning(key) if key is not None else None
    if means is not None and means != config_of(pool.sharing) and pool.sharing.share is not None:
        own = config_of(pool.sharing).key
        message = f"the config key {key} means something else than the pool's sharing, whose key is {own}"
        yield Finding("conflicting-fields", message, field="spec.sharing.configKey", hint="choose another name")


def _needed(pool: ResolvedPool) -> Iterator[Finding]:
    key = key_of(pool.sharing)
    if key:
        message = f"the device plugin needs a config {key}; without it the nodes advertise nothing"
        hint = "fracgpu plugin apply, with the same flags or file, writes it"
        yield info("plugin-config-needed", message, field="spec.sharing", hint=hint, link=_PLUGIN, detail={"key": key})
    elif isinstance(pool.sharing.cut, Mig) and pool.sharing.cut.strategy is Strategy.SINGLE:
        message = "slices are nvidia.com/gpu only where the device plugin runs with migStrategy single"
        hint = "fracgpu plugin values --chart nvidia-device-plugin has the setting"
        yield info("device-plugin-needed", message, field="spec.sharing.mig.strategy", hint=hint, link=_PLUGIN)
