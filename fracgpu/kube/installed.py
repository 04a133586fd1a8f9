"""What a cluster has of NVIDIA's parts, and which of them do not go together with its pools."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fracgpu.advertise import PluginOwner
from fracgpu.catalog.models import ProviderName
from fracgpu.errors import Finding, warning
from fracgpu.kube.pluginpods import is_plugin_set
from fracgpu.kube.promise import Promise
from fracgpu.plan import Json
from fracgpu.sharing import Mig, Strategy

CLOUDS_OWN = "kube-system"
GKE_NAME = "nvidia-gpu-device-plugin"
STRATEGY = "MIG_STRATEGY"
TOOLKIT, DRIVER = "container-toolkit", "driver"
BROKEN_TOOLKITS = re.compile(r"v?1\.(18|19)\.")


@dataclass(frozen=True, slots=True)
class Part:
    """A DaemonSet of NVIDIA's or of the cloud: where it is, the version of its image, and its plain settings."""

    namespace: str
    name: str
    image: str
    settings: Mapping[str, str]

    @property
    def version(self) -> str:
        """The image's tag; empty where it has none."""
        return self.image.rpartition("/")[2].partition("@")[0].partition(":")[2]

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" + (f" {self.version}" if self.version else "")


def plugins(daemon_sets: Sequence[Json]) -> list[Part]:
    """The device plugins."""
    return [_part(one) for one in daemon_sets if is_plugin_set(one)]


def mismatches(
    promises: Sequence[Promise], daemon_sets: Sequence[Json], config_maps: Sequence[Json]
) -> Iterator[Finding]:
    """Pairs that are known not to work, each with the fix."""
    found = plugins(daemon_sets)
    yield from _plugin_missing(promises, found)
    yield from _plugin_too_many(promises, found)
    yield from _strategies(promises, found)
    yield from _keys(promises, config_maps)
    yield from _driver(promises, daemon_sets)
    yield from _toolkit(promises, daemon_sets)


def _part(daemon_set: Json) -> Part:
    metadata = daemon_set["metadata"]
    pod = ((daemon_set.get("spec") or {}).get("template") or {}).get("spec") or {}
    first: Json = next(iter(pod.get("containers") or ()), {})
    settings = {one["name"]: one["value"] for one in first.get("env") or () if one.get("value")}
    return Part(metadata.get("namespace", ""), metadata["name"], str(first.get("image") or ""), settings)


def _plugin_missing(promises: Sequence[Promise], found: Sequence[Part]) -> Iterator[Finding]:
    needing = [one.name for one in promises if one.own_plugin]
    if needing and not found:
        message = f"{', '.join(needing)} advertise nothing: the cluster has no device plugin"
        yield warning("no-plugin", message, hint="fracgpu plugin values --chart nvidia-device-plugin")


def _plugin_too_many(promises: Sequence[Promise], found: Sequence[Part]) -> Iterator[Finding]:
    """GKE's come by machine family, as one part of the cloud; any other beside it fights for the same GPUs.

    https://cloud.google.com/kubernetes-engine/docs/how-to/gpus
    """
    own = [part for part in found if not (part.namespace == CLOUDS_OWN and part.name.startswith(GKE_NAME))]
    if own and any(one.facts.plugin is PluginOwner.CLOUD for one in promises):
        message = f"{own[0]} runs beside the device plugin of the cloud, on the same nodes"
        yield warning("second-plugin", message, hint="remove it: GKE's own plugin does MIG, time-sharing and MPS")
    elif len(own) > 1:
        message = f"{' and '.join(map(str, own))} are two device plugins; on one node they fight over the GPUs"
        yield warning("second-plugin", message, hint="keep one, or part them by node selectors")


def _strategies(promises: Sequence[Promise], found: Sequence[Part]) -> Iterator[Finding]:
    """An environment variable of the plugin stands above what its config says."""
    for part in found:
        forced = part.settings.get(STRATEGY)
        wrong = [one.name for one in promises if one.own_plugin and forced and _other_strategy(one, forced)]
        if wrong:
            message = f"{part} has {STRATEGY}={forced}, which overrides the strategy that {', '.join(wrong)} need"
            hint = 'mig.strategy "" (gpu-operator) or no migStrategy (nvidia-device-plugin) leaves it to the config'
            yield warning("strategy-overridden", message, hint=hint)


def _other_strategy(promise: Promise, forced: str) -> bool:
    cut = promise.pool.sharing.cut
    return isinstance(cut, Mig) and cut.strategy != Strategy(forced) if forced in list(Strategy) else False


def _keys(promises: Sequence[Promise], config_maps: Sequence[Json]) -> Iterator[Finding]:
    known = {key for one in config_maps for key in one.get("data") or {}}
    for promise in promises:
        if promise.key and promise.key not in known:
            message = f"the nodes of {promise.name} name the plugin config {promise.key}, which no ConfigMap has"
            yield Finding("plugin-key-missing", message, hint="fracgpu plugin apply writes it")


def _driver(promises: Sequence[Promise], daemon_sets: Sequence[Json]) -> Iterator[Finding]:
    without = [one.name for one in promises if _no_driver(one)]
    if without and not any(f"nvidia-{DRIVER}-daemonset" in one["metadata"]["name"] for one in daemon_sets):
        message = f"{', '.join(without)} are made without a driver, and no driver DaemonSet runs in the cluster"
        yield warning("no-driver", message, hint="fracgpu plugin values --chart gpu-operator installs one")


def _no_driver(promise: Promise) -> bool:
    own = {ProviderName.AKS: promise.pool.aks.driver, ProviderName.GKE: promise.pool.gke.driver}
    return own.get(promise.pool.provider) == "None"


def _toolkit(promises: Sequence[Promise], daemon_sets: Sequence[Json]) -> Iterator[Finding]:
    """https://github.com/NVIDIA/nvidia-container-toolkit/issues/1740"""
    mixed = [one.name for one in promises if _is_mixed(one)]
    for part in (_part(one) for one in daemon_sets if TOOLKIT in one["metadata"]["name"]):
        if mixed and BROKEN_TOOLKITS.match(part.version):
            message = f"{part}: this toolkit fails under MIG strategy mixed for pods without privileges ({mixed[0]})"
            yield warning("toolkit-version", message, hint="toolkit.version v1.20.0 or newer")


def _is_mixed(promise: Promise) -> bool:
    cut = promise.pool.sharing.cut
    return isinstance(cut, Mig) and cut.strategy is Strategy.MIXED
