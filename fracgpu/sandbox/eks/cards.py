"""The GPUs of EC2 as their nodes see them: the product's name and what MIG can cut them into.

A table of the sandbox's own, from NVIDIA's MIG User Guide
(https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html) and, for the keys of the models,
https://bottlerocket.dev/en/os/latest/#/api/settings/kubelet-device-plugins/.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Card:
    """`product` is the driver's name of the GPU; `profiles` how many of each fit on one, empty: no MIG.

    `key` is Bottlerocket's name of the model; `counts` says that Bottlerocket also takes a number of parts for it.
    """

    product: str
    profiles: dict[str, int] = field(default_factory=dict)
    key: str | None = None
    counts: bool = False


def _seven(*names: str) -> dict[str, int]:
    """Seven compute slices: 1g, 1g with double memory, 2g, 3g, 4g, 7g, and the one 1g with the media engines."""
    return {**dict(zip(names, (7, 4, 3, 2, 1, 1), strict=True)), f"{names[0]}+me": 1}


_EIGHTY = _seven("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")
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
        "NVIDIA A100-SXM4-40GB",
        _seven("1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"),
        "a100.40gb",
        counts=True,
    ),
    ("A100", 80): Card("NVIDIA A100-SXM4-80GB", _EIGHTY, "a100.80gb", counts=True),
    ("H100", 80): Card("NVIDIA H100 80GB HBM3", _EIGHTY, "h100.80gb", counts=True),
    ("H200", 141): Card(
        "NVIDIA H200",
        _seven("1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb"),
        "h200.141gb",
        counts=True,
    ),
    ("B200", 179): Card(
        "NVIDIA B200", _seven("1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb"), "b200.180gb"
    ),
    ("B300", 268): Card(
        "NVIDIA B300 SXM6 AC", _seven("1g.34gb", "1g.67gb", "2g.67gb", "3g.135gb", "4g.135gb", "7g.269gb"), "b300.269gb"
    ),
    ("RTX PRO Server 6000", 96): Card("NVIDIA RTX PRO 6000 Blackwell Server Edition", _PRO_6000, "rtxpro6000.96gb"),
    ("RTX PRO 4500", 32): Card("NVIDIA RTX PRO 4500 Blackwell Server Edition", _PRO_4500),
    ("V100", 32): Card("Tesla V100-SXM2-32GB"),
    ("V100", 16): Card("Tesla V100-SXM2-16GB"),
    ("T4", 16): Card("Tesla T4"),
    ("T4g", 16): Card("NVIDIA T4G"),
}
"""EC2's name of the GPU and the GiB of one of them -> the card."""


def card(gpu: str, gpu_mib: int) -> Card:
    """The card behind EC2's GPU name and memory (MiB of one GPU); one without MIG for a name that is not here."""
    return _CARDS.get((gpu, gpu_mib // 1024)) or Card(f"NVIDIA {gpu}")


_NUMBERS = ("19", "15", "14", "9", "5", "0", "20")
"""`nvidia-smi mig -lgip`'s numbers of the profiles of a GPU with seven slices, in the order of `_seven`."""


def profile_called(of: Card, word: str) -> str:
    """The profile that `nvidia-smi` takes that word for, a name or a number; the word itself where it takes none."""
    seven = any(name.startswith("7g") for name in of.profiles)
    return dict(zip(_NUMBERS, of.profiles, strict=False)).get(word, word) if seven else word


def fits(of: Card, names: list[str]) -> bool:
    """Whether one GPU holds those instances when they are made in that order.

    The driver puts small ones where a 3g or 4g would have to go, so a list that begins with small ones fails:
    https://docs.nvidia.com/datacenter/tesla/mig-user-guide/
    """
    if any(names.count(name) > of.profiles.get(name, 0) for name in names):
        return False
    compute = [int(name[0]) for name in names]
    sevenths = 8 if any(name.startswith("7g") for name in of.profiles) else 4
    units = [_units(of, name, sevenths) for name in names]
    in_order = all(size < 3 or size <= min(compute[:index], default=size) for index, size in enumerate(compute))
    return sum(units) <= sevenths and sum(compute) <= min(sevenths, 7) and in_order


def _units(of: Card, name: str, memory: int) -> int:
    """Memory slices of an instance, on a GPU with `memory` of them; the 1g that fits four times is the double one."""
    if memory == 8 and name.startswith("1g") and of.profiles[name] != 4:
        return 1
    return {7: 8, 4: 4, 3: 4, 2: 2, 1: 2 if memory == 8 else 1}[int(name[0])]


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
