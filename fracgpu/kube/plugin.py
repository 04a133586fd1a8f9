"""The device plugin's ConfigMap: every config that a node label of the cluster names, in the plugin's own schema."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fracgpu import pluginkey
from fracgpu.advertise import GPU_RESOURCE, PluginOwner
from fracgpu.errors import Finding, Invalid, info
from fracgpu.kube.names import checked
from fracgpu.kube.promise import Promise
from fracgpu.pluginkey import PluginConfig

NAME = "fracgpu-device-plugin"
NAMESPACE = "gpu-operator"
MANAGED_BY = "app.kubernetes.io/managed-by"
MANAGER = "fracgpu"
"""The mark on Kubernetes objects, and the field manager of what we apply."""

DEFAULT = "default"
# Nodes without the label get the config of this name: the chart falls back to it (strategy `named`), and the GPU
# Operator to the one that `devicePlugin.config.default` names. Without it a ConfigMap of one key would share the GPUs
# of every node, since the chart's next fallback is the only config there is.
# https://github.com/NVIDIA/k8s-device-plugin/blob/main/cmd/config-manager/main.go


@dataclass(frozen=True, slots=True)
class Configs:
    """Plugin config by key, `default` first, and what is worth knowing; empty where no pool needs any."""

    documents: Mapping[str, Mapping[str, Any]]
    notes: tuple[Finding, ...] = ()

    def data(self) -> dict[str, str]:
        """The ConfigMap's data: each document as YAML text."""
        import yaml

        return {key: yaml.safe_dump(dict(body), sort_keys=False) for key, body in self.documents.items()}


def gather(promises: Iterable[Promise], there: Container[str] = ()) -> Configs:
    """Every config that the pools' labels name. `there` are keys that the cluster has already, whoever wrote them: one
    of those that nothing here explains is left to its owner.

    Raises Invalid: `plugin-key-missing` for a key that nothing explains, `sharing-conflict` for one with two meanings.
    """
    known = list(promises)
    notes = tuple(_not_needed(one) for one in known if not one.own_plugin)
    needing = [one for one in known if one.own_plugin and not _of_others(one, there)]
    if not needing:
        return Configs({}, notes)
    meanings = _meanings(needing)
    documents = {DEFAULT: pluginkey.document(PluginConfig())}
    for key, config in sorted(meanings.items()):
        documents[key] = pluginkey.document(config, _shared(config, [one for one in needing if one.key == key]))
    return Configs(documents, notes)


def config_map(configs: Configs, namespace: str = NAMESPACE) -> dict[str, Any]:
    """The ConfigMap as it is applied. Raises Invalid for a namespace that Kubernetes does not take."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": NAME, "namespace": checked(namespace, "--namespace"), "labels": {MANAGED_BY: MANAGER}},
        "data": configs.data(),
    }


def _meanings(promises: Sequence[Promise]) -> dict[str, PluginConfig]:
    found: dict[str, tuple[PluginConfig, str]] = {}
    findings: list[Finding] = []
    for promise in promises:
        key = promise.key
        if key is None:
            continue
        config = _meaning(promise, key)
        if config is None:
            findings.append(_unexplained(promise, key))
            continue
        first, whose = found.setdefault(key, (config, promise.name))
        if first != config or _taken(key, config):
            findings.append(_two_meanings(key, promise, whose))
    if findings:
        raise Invalid(findings)
    return {key: config for key, (config, _) in found.items()}


def _of_others(promise: Promise, there: Container[str]) -> bool:
    key = promise.key
    return key is not None and key in there and _meaning(promise, key) is None


def _meaning(promise: Promise, key: str) -> PluginConfig | None:
    """What a pool means by its key: what it shares, where that is the key's reason, else what the name says."""
    sharing = promise.pool.sharing
    config = pluginkey.config_of(sharing)
    if pluginkey.key_of(sharing) == key and config.key is not None:
        return config
    return pluginkey.meaning(key)


def _taken(key: str, config: PluginConfig) -> bool:
    """The key is one of our own names, or the default's, and stands for something else."""
    return key == DEFAULT or pluginkey.meaning(key) not in (None, config)


def _shared(config: PluginConfig, promises: Iterable[Promise]) -> tuple[str, ...]:
    """What a config shares: whole GPUs, and under strategy mixed each slice that a pool with this key is cut into."""
    if not config.mixed:
        return (GPU_RESOURCE,)
    slices = {profile.resource for one in promises for profile in one.pool.profiles().values()}
    return (GPU_RESOURCE, *sorted(slices))


def _unexplained(promise: Promise, key: str) -> Finding:
    message = f"the nodes of {promise.name} are labelled {pluginkey.LABEL}={key}, and nothing says what {key} means"
    hint = "say in a file what the pool shares (sharing.timeSlicing or sharing.mps) beside sharing.configKey"
    return Finding("plugin-key-missing", message, field="spec.sharing.configKey", hint=hint, detail={"key": key})


def _two_meanings(key: str, promise: Promise, other: str) -> Finding:
    whose = f"{other} and {promise.name}" if other != promise.name else promise.name
    reserved = f"; {key} has a meaning of its own" if _taken(key, pluginkey.config_of(promise.pool.sharing)) else ""
    message = f"the plugin config {key} would mean two things ({whose}{reserved})"
    hint = "give one of them another name with sharing.configKey, or none at all"
    return Finding("sharing-conflict", message, field="spec.sharing.configKey", hint=hint, detail={"key": key})


def _not_needed(promise: Promise) -> Finding:
    who = "GKE" if promise.facts.plugin is PluginOwner.CLOUD else "the node image"
    return info("plugin-not-needed", f"{promise.name} needs no plugin config: {who} runs the device plugin there")
