"""What a Bottlerocket NVIDIA node makes of the TOML in its user data: its own plugin cuts, shares and advertises.

https://bottlerocket.dev/en/os/latest/#/api/settings/kubelet-device-plugins/
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import Any

from fracgpu.sandbox.eks.cards import Card, bottlerocket_layout
from fracgpu.sandbox.world import Cuts

KNOWN: dict[str, type] = {
    "enabled": bool,
    "pass-device-specs": bool,
    "device-id-strategy": str,
    "device-list-strategy": str,
    "device-sharing-strategy": str,
    "device-partitioning-strategy": str,
    "time-slicing": dict,
    "mps": dict,
    "mig": dict,
}
_SHARING: dict[str, type] = {"replicas": int, "rename-by-default": bool, "fail-requests-greater-than-one": bool}
_MODEL = re.compile(r"[a-z0-9]+\.\d+gb")


class BadUserData(ValueError):
    """EKS cannot merge this user data; the text is EKS's."""


class NeverJoins(ValueError):
    """The node's first boot fails on these settings, in words."""


@dataclass(frozen=True, slots=True)
class Advertised:
    """What such a node shows: `slices` of its GPUs and the resources; None where its plugin is switched off.

    `one_share` says that a container may have one share only.
    """

    slices: Cuts = ()
    allocatable: dict[str, int] | None = None
    one_share: bool = False


def parse(text: str) -> dict[str, Any]:
    """The settings. Raises BadUserData as EKS does, which merges its own TOML in and takes less than TOML allows."""
    if re.search(r'^\s*\[[^\]]*["\']', text, re.MULTILINE):
        raise BadUserData("User data was not a TOML format that could be processed.")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadUserData("User data was not a TOML format that could be processed.") from error


def advertised(settings: dict[str, Any], card: Card, gpus: int) -> Advertised:
    """What a node with `gpus` of that card shows. Raises NeverJoins."""
    nvidia = settings.get("settings", {}).get("kubelet-device-plugins", {}).get("nvidia", {})
    _check(nvidia, KNOWN, "settings.kubelet-device-plugins.nvidia")
    sharing, partitioning = nvidia.get("device-sharing-strategy"), nvidia.get("device-partitioning-strategy")
    if sharing == "mps" and partitioning == "mig":
        raise NeverJoins("MPS and MIG cannot be enabled simultaneously")
    if nvidia.get("enabled") is False:
        return Advertised()
    cut = _cut(nvidia.get("mig", {}), card) if partitioning == "mig" else {}
    devices = gpus * (sum(cut.values()) or 1)
    slices = (cut,) * gpus if cut else ()
    replicas, renamed = _sharing(nvidia, sharing)
    # True unless said; MPS knows no such setting and always refuses.
    one = replicas > 1 and nvidia.get(sharing, {}).get("fail-requests-greater-than-one", True)
    if renamed:
        return Advertised(slices, {"nvidia.com/gpu": 0, "nvidia.com/gpu.shared": devices * replicas}, one)
    return Advertised(slices, {"nvidia.com/gpu": devices * replicas}, one)


def _cut(mig: dict[str, Any], card: Card) -> dict[str, int]:
    _check(mig, {"profile": dict}, "settings.kubelet-device-plugins.nvidia.mig")
    profiles = mig.get("profile", {})
    for model in profiles:
        if not _MODEL.fullmatch(model):
            raise NeverJoins(f"'{model}' is not a GPU model")
    value = profiles.get(card.key)
    if value is None or not card.profiles:
        return {}
    cut = bottlerocket_layout(card, str(value)) if isinstance(value, str) else None
    if cut is None:
        raise NeverJoins(f"'{value}' is not a MIG profile of {card.key}")
    return cut


def _sharing(nvidia: dict[str, Any], strategy: str | None) -> tuple[int, bool]:
    if strategy in (None, "none"):
        return 1, False
    if strategy not in ("time-slicing", "mps"):
        raise NeverJoins(f"'{strategy}' is not a device-sharing-strategy")
    table = nvidia.get(strategy, {})
    known = _SHARING if strategy == "time-slicing" else {k: v for k, v in _SHARING.items() if not k.startswith("fail")}
    _check(table, known, f"settings.kubelet-device-plugins.nvidia.{strategy}")
    replicas = table.get("replicas", 2)
    if replicas < 2 or (strategy == "mps" and replicas > 48):
        raise NeverJoins(f"replicas of {strategy} is {replicas}")
    # True unless said: https://github.com/bottlerocket-os/bottlerocket/issues/4250
    return replicas, bool(table.get("rename-by-default", True))


def _check(table: Any, known: dict[str, type], where: str) -> None:
    if not isinstance(table, dict):
        raise NeverJoins(f"{where} is not a table")
    for key, value in table.items():
        if key not in known:
            raise NeverJoins(f"unknown setting {where}.{key}")
        if not isinstance(value, known[key]) or (known[key] is int and isinstance(value, bool)):
            raise NeverJoins(f"{where}.{key} is not of type {known[key].__name__}")
