"""NVIDIA's MIG manager: what it makes of a node's GPUs for the config that the node's label names."""

from __future__ import annotations

from typing import Any

import yaml

from fracgpu.sandbox.kubernetes import resources
from fracgpu.sandbox.kubernetes.controllers.gpus import Gpu, find
from fracgpu.sandbox.kubernetes.life import OPERATOR_NAMESPACE, Life, Machine
from fracgpu.sandbox.kubernetes.store import Key
from fracgpu.sandbox.world import Cuts

LABEL = "nvidia.com/mig.config"
STATE = "nvidia.com/mig.config.state"
CONFIG_MAP = "fracgpu-mig-parted"
"""What `migManager.config.name` names here; without that ConfigMap the generated configs are there."""


def cut(life: Life, machine: Machine, config: str | None) -> tuple[Cuts, dict[str, str]]:
    """What each GPU is cut into now, and what the MIG manager says of it where a label asks for a config."""
    shape = machine.shape
    if config is None:
        return shape.slices, {}
    if shape.slices and shape.labels.get(LABEL) == config:
        return shape.slices, {STATE: "success"}
    made = _made(life, find(shape.gpu_product), shape.gpu_count, config)
    return made or (), {STATE: "failed" if made is None else "success"}


def _made(life: Life, gpu: Gpu, count: int, config: str) -> Cuts | None:
    found = life.store.find(resources.CONFIG_MAPS, Key(OPERATOR_NAMESPACE, CONFIG_MAP))
    if found is not None:
        return _from_file(gpu, count, str((found.get("data") or {}).get("config.yaml", "")), config)
    each = generated(gpu, config)
    return None if each is None else (each,) * count if each else ()


def generated(gpu: Gpu, config: str) -> dict[str, int] | None:
    """The cut of each such GPU by a config that is generated from the hardware; None where there is none of that name.

    `all-disabled`, `all-<profile>` with `+` written as `.`, and `all-balanced`:
    https://github.com/NVIDIA/mig-parted/tree/main/pkg/mig/builder.
    """
    if config == "all-disabled":
        return {}
    names = {"all-" + name.replace("+", "."): (name, row.most) for name, row in gpu.slices.items()}
    if config in names:
        name, most = names[config]
        return {name: most}
    if config == "all-balanced" and gpu.slices:
        return _balanced(gpu)
    return None


def _balanced(gpu: Gpu) -> dict[str, int]:
    plain = [name for name in gpu.slices if name[-2:] == "gb"]
    by_compute = {gpu.slices[name].compute: name for name in reversed(plain)}
    if max(by_compute) == 7:
        return {by_compute[1]: 2, by_compute[2]: 1, by_compute[3]: 1}
    return {by_compute[1]: 2, by_compute[2]: 1}


def _from_file(gpu: Gpu, count: int, text: str, config: str) -> Cuts | None:
    """https://github.com/NVIDIA/mig-parted#readme: rows of devices, those for other hardware left out."""
    try:
        document: Any = yaml.safe_load(text)
        rows = [row for row in document["mig-configs"][config] if _meant(gpu, row.get("device-filter"))]
        cuts: list[dict[str, int]] = [{} for _ in range(count)]
        for row in rows:
            wanted = row.get("mig-devices") or {} if row["mig-enabled"] else {}
            if any(number > gpu.slices[name].most for name, number in wanted.items()):
                return None
            for index in range(count) if row["devices"] == "all" else row["devices"]:
                cuts[index] = dict(wanted)
    except (yaml.YAMLError, LookupError, TypeError, AttributeError):
        return None
    return tuple(cuts) if rows else None


def _meant(gpu: Gpu, filters: str | list[str] | None) -> bool:
    """Whether a row is for that GPU: a filter is a PCI device and vendor id, as in 0x20B010DE."""
    if not filters:
        return True
    known = {f"0x{device}10DE".lower() for device in gpu.pci}
    return any(one.lower() in known for one in ([filters] if isinstance(filters, str) else filters))
