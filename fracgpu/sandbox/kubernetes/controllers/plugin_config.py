"""One key of the device plugin's ConfigMap, read as strictly as its schema is written.

https://github.com/NVIDIA/k8s-device-plugin/tree/main/api/config/v1
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from fracgpu.sandbox.world import Json

STRATEGIES = ("none", "single", "mixed")
_RESOURCE = re.compile(r"(nvidia\.com/)?(gpu|mig-[0-9a-z.-]+)")
_TOP = {"version", "flags", "resources", "sharing", "health", "imex"}
_FLAGS = {
    "migStrategy",
    "failOnInitError",
    "mpsRoot",
    "nvidiaDriverRoot",
    "nvidiaDevRoot",
    "gdrcopyEnabled",
    "gdsEnabled",
    "mofedEnabled",
    "useNodeFeatureAPI",
    "deviceDiscoveryStrategy",
    "plugin",
    "gfd",
}
_SHARED = {"renameByDefault", "failRequestsGreaterThanOne", "resources"}
MOST_MPS_CLIENTS = 48


class ConfigError(ValueError):
    """Why the plugin does not start with this config, as its log says it."""


@dataclass(frozen=True, slots=True)
class PluginConfig:
    """What a plugin was told. `mig_strategy` None means that the key says nothing of it; `replicas` is by resource."""

    mig_strategy: str | None = None
    sharing: str = "none"
    """`none`, `time-slicing` or `mps`, the words of GFD's label."""
    rename: bool = False
    one_share: bool = False
    replicas: dict[str, int] = field(default_factory=dict)


def parse(text: str) -> PluginConfig:
    """The config in one key of the ConfigMap; raises ConfigError."""
    try:
        body = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"unable to parse config: {error}") from error
    _object(body, "config", _TOP)
    if body.get("version") != "v1":
        raise ConfigError(f"unknown version: {body.get('version')}")
    flags = _object(body.get("flags") or {}, "flags", _FLAGS)
    strategy = flags.get("migStrategy")
    if strategy is not None and strategy not in STRATEGIES:
        raise ConfigError(f"unknown mig strategy: {strategy}")
    sharing = _object(body.get("sharing") or {}, "sharing", {"timeSlicing", "mps"})
    if len(sharing) > 1:
        raise ConfigError("using both time-slicing and MPS is not supported")
    if "timeSlicing" in sharing:
        return _shared(strategy, "time-slicing", sharing["timeSlicing"], one_share=False)
    if "mps" in sharing:
        return _shared(strategy, "mps", sharing["mps"], one_share=True)
    return PluginConfig(strategy)


def _shared(strategy: str | None, kind: str, body: Any, *, one_share: bool) -> PluginConfig:
    _object(body, f"sharing.{kind}", _SHARED)
    rows = body.get("resources")
    if not isinstance(rows, list) or not rows:
        raise ConfigError("no resources specified")
    replicas = dict(_row(row, kind) for row in rows)
    rename = _flag(body, "renameByDefault", False)
    return PluginConfig(strategy, kind, rename, _flag(body, "failRequestsGreaterThanOne", one_share), replicas)


def _row(row: Any, kind: str) -> tuple[str, int]:
    _object(row, "resources", {"name", "replicas", "devices", "rename"})
    name, count = row.get("name"), row.get("replicas")
    if not isinstance(name, str) or not _RESOURCE.fullmatch(name):
        raise ConfigError(f"invalid resource name: {name}")
    if isinstance(count, bool) or not isinstance(count, int) or count < 2:
        raise ConfigError(f"number of replicas must be >= 2, but got {count}")
    if kind == "mps" and (count > MOST_MPS_CLIENTS or "mig-" in name):
        raise ConfigError(f"invalid MPS configuration: {name} with {count} replicas is not supported")
    return (name if "/" in name else f"nvidia.com/{name}"), count


def _flag(body: Json, name: str, default: bool) -> bool:
    value = body.get(name, default)
    if not isinstance(value, bool):
        raise ConfigError(f"{name} must be true or false, not {value!r}")
    return value


def _object(value: Any, what: str, known: set[str]) -> Json:
    if not isinstance(value, dict):
        raise ConfigError(f"unable to parse config: {what} is not an object")
    if unknown := sorted(set(map(str, value)) - known):
        raise ConfigError(f'unable to parse config: unknown field "{unknown[0]}" in {what}')
    return value
