"""The settings that make a Bottlerocket node cut and share its GPUs itself, as TOML user data.

https://bottlerocket.dev/en/os/latest/#/api/settings/kubelet-device-plugins/

EKS merges its own settings into this text, and its parser takes less than TOML allows: a quoted key with dots may stand
before `=`, never in a bracketed header
(https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html#launch-template-user-data).
"""

from __future__ import annotations

import tomllib
from typing import Any

from fracgpu.catalog.models import Gpu, Profile
from fracgpu.resolve import ResolvedPool
from fracgpu.sharing import Mig, Mps, Share, TimeSlicing

_TABLE = "settings.kubelet-device-plugins.nvidia"

UNCONFIRMED = frozenset({"b200-180gb", "b300-269gb", "rtx-pro-6000-blackwell-96gb"})
"""GPUs whose key is seen in public code and not in Bottlerocket's documentation
(https://github.com/bottlerocket-os/bottlerocket-settings-sdk/pull/105)."""

COUNTED = frozenset({"a100.40gb", "a100.80gb", "h100.80gb", "h200.141gb"})
"""Bottlerocket's keys of the GPUs for which a number of slices may stand in a profile's place
(https://bottlerocket.dev/en/os/latest/#/api/settings/kubelet-device-plugins/)."""

SINCE_MIG = (1, 34, 0)
SINCE_TIME_SLICING = (1, 25, 0)
SINCE_MPS = (1, 54, 0)
"""The first OS releases that know these settings; an older one fails at boot and its node never joins."""


def settings(pool: ResolvedPool) -> str:
    """The TOML of a pool; empty where nothing is cut and nothing shared."""
    own: dict[str, str] = {}
    tables: list[str] = []
    match pool.sharing.share:
        case TimeSlicing() as share:
            own["device-sharing-strategy"] = '"time-slicing"'
            tables.append(_time_slicing(share))
        case Mps() as mps:
            own["device-sharing-strategy"] = '"mps"'
            tables.append(_mps(mps))
        case None:
            pass
    if isinstance(pool.sharing.cut, Mig):
        own["device-partitioning-strategy"] = '"mig"'
        tables.append(_mig(pool))
    if not own:
        return ""
    head = _table("", own)
    return "\n".join((head, *tables))


def _table(name: str, members: dict[str, str]) -> str:
    header = f"[{_TABLE}{'.' if name else ''}{name}]\n"
    return header + "".join(f"{key} = {value}\n" for key, value in members.items())


def _time_slicing(share: TimeSlicing) -> str:
    """All three are said: Bottlerocket renames and limits requests unless told not to
    (https://github.com/bottlerocket-os/bottlerocket/issues/4250)."""
    members = {
        "replicas": str(share.replicas),
        "rename-by-default": _truth(share.rename),
        "fail-requests-greater-than-one": _truth(share.one_per_container),
    }
    return _table("time-slicing", members)


def _mps(share: Mps) -> str:
    return _table("mps", {"replicas": str(share.replicas), "rename-by-default": _truth(share.rename)})


def _mig(pool: ResolvedPool) -> str:
    profile = next(iter(pool.profiles().values()))
    return _table("mig.profile", {f'"{pool.gpu.bottlerocket_key}"': f'"{profile.bottlerocket}"'})


def _truth(value: bool) -> str:
    return "true" if value else "false"


def read(text: str, gpu: Gpu | None) -> dict[str, Any] | None:
    """The `sharing` of the file form that these settings mean on a GPU; None where they say what the form cannot."""
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
    nvidia = tree.get("settings", {}).get("kubelet-device-plugins", {}).get("nvidia", {})
    sharing = _read_share(nvidia)
    if nvidia.get("device-partitioning-strategy") == "mig":
        mig = _read_mig(nvidia, gpu)
        if mig is None:
            return None
        sharing["mig"] = mig
    return sharing


def others(text: str) -> tuple[str, ...]:
    """What else than GPUs these settings are about, by its path."""
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return ()
    settings = [f"settings.{name}" for name in tree.pop("settings", {}) if name != "kubelet-device-plugins"]
    return (*settings, *tree)


def _read_share(nvidia: dict[str, Any]) -> dict[str, Any]:
    """Bottlerocket's own defaults stand where a setting does not."""
    strategy = nvidia.get("device-sharing-strategy", "none")
    if strategy not in ("time-slicing", "mps"):
        return {}
    table = nvidia.get(strategy, {})
    sharing: dict[str, Any] = {}
    if table.get("rename-by-default", True):
        sharing["renameByDefault"] = True
    share: dict[str, Any] = {"replicas": table.get("replicas", 2)}
    if strategy == "time-slicing" and table.get("fail-requests-greater-than-one", True):
        share["failRequestsGreaterThanOne"] = True
    return {**sharing, ("timeSlicing" if strategy == "time-slicing" else "mps"): share}


def _read_mig(nvidia: dict[str, Any], gpu: Gpu | None) -> dict[str, Any] | None:
    """The profile of this GPU, said by its name or, where Bottlerocket knows them, by how many slices there are."""
    value = nvidia.get("mig", {}).get("profile", {}).get(gpu.bottlerocket_key if gpu else None)
    if gpu is None or value is None:
        return None
    for profile in gpu.profiles:
        if profile.bottlerocket is not None and value in (profile.bottlerocket, _count(gpu, profile)):
            return {"profile": profile.name}
    return None


def _count(gpu: Gpu, profile: Profile) -> str | None:
    """The number of slices that means this profile: one slice is the whole GPU, never a 4g."""
    wasteful = profile.compute_slices == 4
    return None if gpu.bottlerocket_key not in COUNTED or wasteful else str(profile.max_per_gpu)


def share_of(sharing: Share) -> tuple[tuple[int, int, int], str] | None:
    """The OS release that a kind of sharing needs, and its name; None for none."""
    match sharing:
        case TimeSlicing():
            return SINCE_TIME_SLICING, "time-slicing"
        case Mps():
            return SINCE_MPS, "MPS"
        case None:
            return None
