"""The GPUs of EC2 as their nodes see them: the product's name and what MIG can cut them into.

A table of the sandbox's own, from NVIDIA's MIG User Guide
(https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html) and, for the configs by name,
NVIDIA/mig-parted@bd7160f deployments/systemd/config-default.yaml; Bottlerocket's model keys from
https://bottlerocket.dev/en/os/latest/#/api/settings/kubelet-device-plugins/.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Card:
    """`product` is what GFD makes of the driver's name; `profiles` how many of each fit on one GPU, empty: no MIG.

    `key` is Bottlerocket's name of the model; `counts` says that Bottlerocket also takes a number of parts for it.
    `balanced` is mig-parted's `all-balanced`.
    """

    product: str
    profiles: dict[str, int] = field(default_factory=dict)
    key: str | None = None
    counts: bool = False
    balanced: dict[str, int] = field(default_factory=dict)


def _seven(one: int, double: int, two: int, three: int, four: int, seven: int, *, attributes: bool = True) -> dict[str, int]:
    profiles = {f"1g.{one}gb": 7, f"1g.{double}gb": 4, f"2g.{two}gb": 3, f"3g.{three}gb": 2}
    profiles |= {f"4g.{four}gb": 1, f"7g.{seven}gb": 1}
    return profiles | ({f"1g.{one}gb+me": 1} if attributes else {})


_EIGHTY = _seven(10, 20, 20, 40, 40, 80)
_PRO_6000 = {
    "1g.24gb": 4,
    "1g.24gb+me": 1,
    "1g.24gb+gfx": 4,
    "1g.24gb+me.all": 1,
    "1g.24gb-me": 4,
    "2g.48gb": 2,
    "2g.48gb+gfx": 2,
    "2g.48gb+me.all": 1,
    "2g.48gb-me": 2,
    "4g.96gb": 1,
    "4g.96gb+gfx": 1,
}
_PRO_4500 = {"1g.16gb": 2, "1g.16gb+gfx": 2, "1g.16gb+me.all": 1, "1g.16gb-me": 2, "2g.32gb": 1, "2g.32gb+gfx": 1}

_CARDS: dict[tuple[str, int], Card] = {
    ("A100", 40): Card(
        "NVIDIA-A100-SXM4-40GB",
        _seven(5, 10, 10, 20, 20, 40),
        "a100.40gb",
        True,
        {"1g.5gb": 2, "2g.10gb": 1, "3g.20gb": 1},
    ),
    ("A100", 80): Card(
        "NVIDIA-A100-SXM4-80GB", _EIGHTY, "a100.80gb", True, {"1g.10gb": 2, "2g.20gb": 1, "3g.40gb": 1}
    ),
    ("H100", 80): Card(
        "NVIDIA-H100-80GB-HBM3", _EIGHTY, "h100.80gb", True, {"1g.10gb": 2, "2g.20gb": 1, "3g.40gb": 1}
    ),
    ("H200", 141): Card(
        "NVIDIA-H200",
        _seven(18, 35, 35, 71, 71, 141),
        "h200.141gb",
        True,
        {"1g.18gb": 2, "2g.35gb": 1, "3g.71gb": 1},
    ),
    ("B200", 179): Card(
        "NVIDIA-B200",
        _seven(23, 45, 45, 90, 90, 180),
        "b200.180gb",
        balanced={"1g.23gb": 2, "2g.45gb": 1, "3g.90gb": 1},
    ),
    ("B300", 268): Card(
        "NVIDIA-B300-SXM6-AC",
        _seven(34, 67, 67, 135, 135, 269),
        "b300.269gb",
        balanced={"1g.34gb": 2, "2g.67gb": 1, "3g.135gb": 1},
    ),
    ("RTX PRO Server 6000", 96): Card(
        "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition",
        _PRO_6000,
        "rtxpro6000.96gb",
        balanced={"1g.24gb": 2, "2g.48gb": 1},
    ),
    ("RTX PRO 4500", 32): Card("NVIDIA-RTX-PRO-4500-Blackwell-Server-Edition", _PRO_4500),
    ("V100", 32): Card("Tesla-V100-SXM2-32GB"),
    ("V100", 16): Card("Tesla-V100-SXM2-16GB"),
    ("T4", 16): Card("Tesla-T4"),
}


def card(gpu: str, gpu_mib: int) -> Card:
    """The card behind EC2's GPU name and memory (MiB of one GPU); one without MIG for a name that is not here."""
    return _CARDS.get((gpu, gpu_mib // 1024)) or Card(f"NVIDIA-{gpu.replace(' ', '-').upper()}")


def named_layout(of: Card, name: str) -> dict[str, int] | None:
    """What mig-manager makes of one GPU when its label `nvidia.com/mig.config` has that name; None for no such name.

    A label cannot hold `+`, so `all-1g.5gb.me` is `1g.5gb+me`.
    """
    if name in ("all-disabled", "all-enabled"):
        return {}
    if name == "all-balanced":
        return dict(of.balanced) or None
    wanted = name.removeprefix("all-")
    for profile, count in of.profiles.items():
        if name.startswith("all-") and profile.replace("+", ".") == wanted:
            return {profile: count}
    return None


def bottlerocket_layout(of: Card, value: str) -> dict[str, int] | None:
    """What Bottlerocket's migmanager makes of one GPU: `value` is a profile or a number of equal parts."""
    if re.fullmatch(r"[0-9]g\.\d+gb", value):
        return {value: of.profiles[value]} if value in of.profiles else None
    if not of.counts:
        return None
    for profile, count in sorted(of.profiles.items()):
        # Seven parts are 1g slices and one part is the 7g slice; 4g would be one part as well, and wastes the rest.
        if str(count) == value and not profile.startswith("4g") and "+" not in profile:
            return {profile: count}
    return None
