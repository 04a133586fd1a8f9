"""The name of a device-plugin config and what it means, both ways.

A node's label `nvidia.com/device-plugin.config` names a key of the plugin's ConfigMap. Our keys say what they mean, so
that a pool's sharing can be read back from its label alone:

    [mig-mixed-](time-sliced-N | mps-N)[-renamed][-one]        mig-mixed

Plain MIG under strategy `single` and whole GPUs are the plugin's own default and carry no key.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from fracgpu.sharing import Mig, Mps, Share, Sharing, Strategy, TimeSlicing

LABEL = "nvidia.com/device-plugin.config"
"""https://github.com/NVIDIA/k8s-device-plugin#with-multiple-configuration-files"""

KEY = re.compile(
    r"(?P<mixed>mig-mixed)?-?((?P<how>time-sliced|mps)-(?P<replicas>[1-9]\d*))?(?P<renamed>-renamed)?(?P<one>-one)?"
)


@dataclass(frozen=True, slots=True)
class PluginConfig:
    """What one key of the plugin's ConfigMap says. `profiles` are shared besides whole GPUs under strategy mixed."""

    mixed: bool = False
    share: Share = None

    @property
    def key(self) -> str | None:
        """The key's name; None where the plugin's default says the same."""
        parts = ["mig-mixed"] if self.mixed else []
        match self.share:
            case TimeSlicing(replicas=n):
                parts.append(f"time-sliced-{n}")
            case Mps(replicas=n):
                parts.append(f"mps-{n}")
            case None:
                pass
        if self.share and self.share.rename:
            parts.append("renamed")
        if isinstance(self.share, TimeSlicing) and self.share.one_per_container:
            parts.append("one")
        return "-".join(parts) or None


def config_of(sharing: Sharing) -> PluginConfig:
    """The plugin config that a pool's sharing needs."""
    return PluginConfig(isinstance(sharing.cut, Mig) and sharing.cut.strategy is Strategy.MIXED, sharing.share)


def key_of(sharing: Sharing) -> str | None:
    """The key that a pool's nodes are labelled with: the user's name for it, else ours; None where none is needed."""
    return sharing.config_key or config_of(sharing).key


def meaning(key: str) -> PluginConfig | None:
    """What a key of ours means; None for a key that is not one of ours."""
    match = KEY.fullmatch(key)
    if not match:
        return None
    config = PluginConfig(bool(match["mixed"]), _share(match))
    return config if config.key == key else None


def _share(match: re.Match[str]) -> Share:
    if not match["how"]:
        return None
    replicas, renamed = int(match["replicas"]), bool(match["renamed"])
    if match["how"] == "mps":
        return Mps(replicas, renamed)
    return TimeSlicing(replicas, bool(match["one"]), renamed)


def document(config: PluginConfig, resources: tuple[str, ...] = ("nvidia.com/gpu",)) -> dict[str, Any]:
    """The plugin's own file for a config: version v1, its strict schema.

    `resources` are what is shared: `nvidia.com/gpu`, and under strategy mixed each `nvidia.com/mig-<profile>`.
    """
    # A config that is silent about MIG gets the plugin's own default, `none`, under which a cut GPU offers nothing that
    # a pod could use; `single` changes nothing on GPUs that are not cut.
    # https://github.com/NVIDIA/k8s-device-plugin#as-command-line-flags-or-envvars
    body: dict[str, Any] = {"version": "v1", "flags": {"migStrategy": "mixed" if config.mixed else "single"}}
    match config.share:
        case TimeSlicing() as share:
            body["sharing"] = {
                "timeSlicing": {
                    "renameByDefault": share.rename,
                    "failRequestsGreaterThanOne": share.one_per_container,
                    "resources": [{"name": name, "replicas": share.replicas} for name in resources],
                }
            }
        case Mps() as mps:
            shared = [{"name": name, "replicas": mps.replicas} for name in resources]
            body["sharing"] = {"mps": {"renameByDefault": mps.rename, "resources": shared}}
        case None:
            pass
    return body
