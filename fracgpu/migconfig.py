"""The name of a mig-parted config and what it says, for whoever lets NVIDIA's MIG manager cut the GPUs.

A node's label `nvidia.com/mig.config` names a config. What NVIDIA's MIG manager has by itself keeps NVIDIA's name
(https://github.com/NVIDIA/mig-parted, pkg/mig/builder): `all-<profile>` for as many of one profile as a GPU holds,
`all-balanced` for its balanced cut. Every other layout has a name of ours that begins with `fracgpu-`, and needs
`config_document` in the cluster.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from fracgpu.catalog.models import Gpu, Profile
from fracgpu.sharing import Layout, Mig

LABEL = "nvidia.com/mig.config"
STATE_LABEL = "nvidia.com/mig.config.state"
DISABLED = "all-disabled"
OURS = "fracgpu-"
ORDER = "order-"
LONGEST = 63
"""Characters of a label's value."""

BALANCED = {7: {1: 2, 2: 1, 3: 1}, 4: {1: 2, 2: 1}}
"""Compute slices of a GPU -> compute slices of a profile -> instances
(https://github.com/NVIDIA/mig-parted, pkg/mig/builder/balanced.go)."""


def config_name(gpu: Gpu, mig: Mig) -> str:
    """The config that cuts the GPUs of a node so; a legal label value, equal for equal cuts."""
    layout = mig.alike
    if layout and len(layout) == 1 and layout[0][1] == _profile(gpu, layout[0][0]).max_per_gpu:
        return f"all-{layout[0][0].replace('+', '.')}"
    if layout and dict(layout) == balanced(gpu):
        return "all-balanced"
    digest = hashlib.sha256(repr(mig.devices).encode()).hexdigest()[:8]
    room = LONGEST - len(OURS) - len(digest) - 1
    words = next(one for one in _readable(mig) if len(one) <= room)
    return f"{OURS}{words}-{digest}"


def is_custom(name: str) -> bool:
    """Whether the name is one that only our own document explains."""
    return name.startswith(OURS)


def config_document(cuts: Iterable[tuple[Gpu, Mig]]) -> dict[str, Any]:
    """mig-parted's own file (`version: v1`) with the config of each cut, and those that the MIG manager falls back to.

    It replaces NVIDIA's list as a whole, so it takes every cut of a cluster, custom or not.
    """
    cut_of: dict[str, dict[str, tuple[Gpu, Mig]]] = {}
    for gpu, mig in cuts:
        cut_of.setdefault(config_name(gpu, mig), {})[gpu.key] = (gpu, mig)
    configs: dict[str, Any] = {
        DISABLED: [{"devices": "all", "mig-enabled": False}],
        "all-enabled": [{"devices": "all", "mig-enabled": True, "mig-devices": {}}],
    }
    for name, by_gpu in sorted(cut_of.items()):
        configs[name] = _rows(list(by_gpu.values()))
    return {"version": "v1", "mig-configs": configs}


def balanced(gpu: Gpu) -> dict[str, int] | None:
    """The layout that NVIDIA calls balanced on this GPU, by profile name; None where it has none."""
    best: dict[int, Profile] = {}
    for profile in gpu.profiles:
        known = best.get(profile.compute_slices)
        if profile.plain and (known is None or profile.max_per_gpu > known.max_per_gpu):
            best[profile.compute_slices] = profile
    formula = BALANCED.get(max(best, default=0), {})
    if not formula or not formula.keys() <= best.keys():
        return None
    return {best[slices].name: count for slices, count in formula.items()}


def _rows(cuts: list[tuple[Gpu, Mig]]) -> list[dict[str, Any]]:
    """One name's rows; GPUs that are cut differently under it are told apart by their PCI ids."""
    alike = len({repr(mig.devices) for _, mig in cuts}) == 1
    if alike:
        return _of_node(cuts[0][1])
    return [{"device-filter": _pci(gpu), **row} for gpu, mig in cuts for row in _of_node(mig)]


def _pci(gpu: Gpu) -> list[str]:
    """PCI device and vendor ids as mig-parted writes them: 0x20B010DE."""
    return [f"0x{device}10DE" for device in gpu.pci_device_ids]


def _of_node(mig: Mig) -> list[dict[str, Any]]:
    if mig.alike:
        return [_row("all", mig.alike)]
    places: dict[Layout | None, list[int]] = {}
    for index, layout in enumerate(mig.devices):
        places.setdefault(layout, []).append(index)
    return [_row(indexes, layout) for layout, indexes in places.items()]


def _row(devices: str | list[int], layout: Layout | None) -> dict[str, Any]:
    return {"devices": devices, "mig-enabled": layout is not None, "mig-devices": dict(layout or ())}


def _readable(mig: Mig) -> Iterator[str]:
    """The cut in words of a label value, the fullest first: `2x1g.5gb-1x3g.20gb`, GPUs that differ parted by `_`; those
    that are alike in a row told once, `4of-2x1g.5gb-1x3g.20gb_4of-whole`; each layout told once and then which GPU has
    which, `2x1g.5gb_whole_order-0101`; how many layouts there are."""
    devices = (mig.alike,) if mig.alike else mig.devices
    yield "_".join(map(_words, devices))
    rows = [(layout, len(list(row))) for layout, row in groupby(devices)]
    yield "_".join(_words(layout) if count == 1 else f"{count}of-{_words(layout)}" for layout, count in rows)
    different = list(dict.fromkeys(devices))
    if len(different) < 10:
        order = "".join(str(different.index(layout)) for layout in devices)
        yield "_".join((*map(_words, different), f"{ORDER}{order}"))
    yield f"{len(devices)}gpus-{len(different)}layouts"


def _words(layout: Layout | None) -> str:
    return "-".join(f"{count}x{profile.replace('+', '.')}" for profile, count in layout) if layout else "whole"


def words_of(name: str) -> list[str]:
    """The words of each GPU in a name of ours, one for all where they are alike."""
    parts = name.removeprefix(OURS).rpartition("-")[0].split("_")
    order = parts[-1].removeprefix(ORDER)
    if order and order != parts[-1]:
        layouts = dict(zip("0123456789", parts[:-1], strict=False))
        return [layouts.get(index, "") for index in order]
    found: list[str] = []
    for part in parts:
        row = re.match(r"(\d{1,3})of-", part)
        found += [part[row.end() :]] * int(row[1]) if row else [part]
    return found


def _profile(gpu: Gpu, name: str) -> Profile:
    return next(profile for profile in gpu.profiles if profile.name == name)
