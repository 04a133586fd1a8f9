"""What a cluster has of NVIDIA's parts, and which of them do not go together with its pools."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fracgpu.advertise import PluginOwner
from fracgpu.catalog.models import ProviderName
from fracgpu.errors import Finding, warning
from fracgpu.kube.plugin import NAME
from fracgpu.kube.pluginpods import is_plugin_set
from fracgpu.kube.promise import Promise
from fracgpu.plan import Json
from fracgpu.sharing import Mig, Mps, Strategy

CLOUDS_OWN = "kube-system"
GKE_NAME = "nvidia-gpu-device-plugin"
STRATEGY = "MIG_STRATEGY"
TOOLKIT = "container-toolkit"
CHART = "helm.sh/chart"
CHARTS = re.compile(r"(\S*gpu-operator|nvidia-device-plugin)-v?\d")
BROKEN_TOOLKITS = re.compile(r"v?1\.(18|19)\.")


@dataclass(frozen=True, slots=True)
class Part:
    """A DaemonSet of NVIDIA's or of the cloud: where it is, the version of its image, and its plain settings."""

    namespace: str
    name: str
    image: str
    settings: Mapping[str, str]
    config_maps: frozenset[str] = frozenset()
    """The ConfigMaps that its pods mount."""
    privileged: bool = False

    @property
    def version(self) -> str:
        """The image's tag; empty where it has none."""
        return self.image.rpartition("/")[2].partition("@")[0].partition(":")[2]

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" + (f" {self.version}" if self.version else "")


def plugins(daemon_sets: Sequence[Json]) -> list[Part]:
    """The device plugins."""
    return [_part(one) for one in daemon_sets if is_plugin_set(one)]


def charts(daemon_sets: Sequence[Json]) -> list[str]:
    """The Helm charts that NVIDIA's DaemonSets come from, with their versions: `gpu-operator-v26.7.0`."""
    labels = [(one["metadata"].get("labels") or {}).get(CHART, "") for one in daemon_sets]
    return sorted({label for label in labels if CHARTS.match(label)})


def mismatches(
    promises: Sequence[Promise], daemon_sets: Sequence[Json], config_maps: Sequence[Json]
) -> Iterator[Finding]:
    """Pairs that are known not to work, each with the fix."""
    found = plugins(daemon_sets)
    yield from _plugin_missing(promises, found)
    yield from _plugin_too_many(promises, found)
    yield from _strategies(promises, found)
    yield from _keys(promises, found, config_maps)
    yield from _driver(promises, daemon_sets)
    yield from _toolkit(promises, daemon_sets)
    yield from _plugin_too_old(promises, found)


def _part(daemon_set: Json) -> Part:
    metadata = daemon_set["metadata"]
    pod = ((daemon_set.get("spec") or {}).get("template") or {}).get("spec") or {}
    first: Json = next(iter(pod.get("containers") or ()), {})
    settings = {one["name"]: one["value"] for one in first.get("env") or () if one.get("value")}
    mounted = {(one.get("configMap") or {}).get("name") for one in pod.get("volumes") or ()} - {None}
    privileged = any((one.get("securityContext") or {}).get("privileged") for one in pod.get("containers") or ())
    image = str(first.get("image") or "")
    return Part(
        metadata.get("namespace", ""), metadata["name"], image, settings, frozenset(map(str, mounted)), privileged
    )


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


def _keys(promises: Sequence[Promise], found: Sequence[Part], config_maps: Sequence[Json]) -> Iterator[Finding]:
    known = config_keys(found, config_maps)
    where = ", ".join(f"{part.namespace}/{name}" for part in found for name in sorted(part.config_maps))
    for promise in promises:
        if promise.key and promise.key not in known:
            lacking = f"of those that the plugin mounts ({where}) none has" if where else "no ConfigMap has"
            message = f"the nodes of {promise.name} name the plugin config {promise.key}, which {lacking}"
            hint = "fracgpu plugin apply writes it"
            if where and NAME not in where:
                hint = f"{hint} into {NAME}; tell the chart that name (fracgpu plugin values)"
            yield Finding("plugin-key-missing", message, hint=hint)


def config_keys(found: Sequence[Part], config_maps: Sequence[Json]) -> set[str]:
    """The configs that nodes can name: keys of the ConfigMaps that plugins mount, or of all where no plugin says."""
    mounted = {(part.namespace, name) for part in found for name in part.config_maps}
    return {
        key
        for one in config_maps
        if not mounted or (one["metadata"].get("namespace"), one["metadata"]["name"]) in mounted
        for key in one.get("data") or {}
    }


def _driver(promises: Sequence[Promise], daemon_sets: Sequence[Json]) -> Iterator[Finding]:
    without = [one for one in promises if _no_driver(one)]
    there = any(DRIVER_SETS.search(one["metadata"]["name"]) for one in daemon_sets)
    if without and not there:
        names = ", ".join(one.name for one in without)
        message = f"{names} are made without a driver, and no driver DaemonSet runs in the cluster"
        by_google = without[0].pool.provider is ProviderName.GKE
        hint = GOOGLES_INSTALLER if by_google else "fracgpu plugin values --chart gpu-operator installs one"
        yield warning("no-driver", message, hint=hint)


DRIVER_SETS = re.compile(r"nvidia-(?!dra-)(\w+-)*driver\b")
"""The operator's, of either kind (nvidia-driver-daemonset, nvidia-gpu-driver-OS), and Google's installer.
No GPU runs by the DRA driver."""
GOOGLES_INSTALLER = "Google's installer: https://cloud.google.com/kubernetes-engine/docs/how-to/gpus#installing_drivers"


def _no_driver(promise: Promise) -> bool:
    own = {ProviderName.AKS: promise.pool.aks.driver, ProviderName.GKE: promise.pool.gke.driver}
    return own.get(promise.pool.provider) == "None"


def _toolkit(promises: Sequence[Promise], daemon_sets: Sequence[Json]) -> Iterator[Finding]:
    """Only a plugin without privileges is kept from MIG devices; the operator's own has them.

    https://github.com/NVIDIA/nvidia-container-toolkit/issues/1740"""
    mixed = [one.name for one in promises if _is_mixed(one)]
    found = plugins(daemon_sets)
    if found and all(part.privileged for part in found):
        return
    for part in (_part(one) for one in daemon_sets if TOOLKIT in one["metadata"]["name"]):
        if mixed and BROKEN_TOOLKITS.match(part.version):
            message = f"{part}: this toolkit fails under MIG strategy mixed for pods without privileges ({mixed[0]})"
            yield warning("toolkit-version", message, hint="toolkit.version v1.20.0 or newer")


def _is_mixed(promise: Promise) -> bool:
    cut = promise.pool.sharing.cut
    return isinstance(cut, Mig) and cut.strategy is Strategy.MIXED


def _plugin_too_old(promises: Sequence[Promise], found: Sequence[Part]) -> Iterator[Finding]:
    """https://github.com/NVIDIA/k8s-device-plugin/blob/main/CHANGELOG.md"""
    for part in found:
        version = _numbers(part.version)
        for since, what, needs in PLUGIN_SINCE:
            lacking = [one.name for one in promises if one.own_plugin and needs(one)]
            if version and version < since and lacking:
                wanted = ".".join(map(str, since))
                message = f"{part} is too old for {', '.join(lacking)}: {what} came with v{wanted}"
                yield warning("plugin-version", message, hint=f"a chart with a device plugin of v{wanted} or newer")


def _numbers(version: str) -> tuple[int, ...] | None:
    match = VERSION.match(version)
    return tuple(int(number) for number in match.groups()) if match else None


VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)")


def _shares_by_mps(promise: Promise) -> bool:
    return isinstance(promise.pool.sharing.share, Mps)


def _has_suffixes(promise: Promise) -> bool:
    return _is_mixed(promise) and any("+" in name or "-" in name for name in promise.pool.profiles())


PLUGIN_SINCE: Sequence[tuple[tuple[int, ...], str, Callable[[Promise], bool]]] = (
    ((0, 15, 0), "MPS", _shares_by_mps),
    ((0, 20, 0), "a resource of its own for a profile with a suffix", _has_suffixes),
)
"""Version, what it brought, and the pools that need it."""
