"""Kubernetes quantities (`500m`, `4Gi`, `7`) and what a container or a pod asks for."""

from __future__ import annotations

import re

from fracgpu.sandbox.world import Json

_FACTORS = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_FACTORS |= {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
_FORM = re.compile(r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)(|[numkMGTPE]|[KMGTPE]i)")


def number(quantity: object) -> float:
    """A quantity as a number; raises ValueError for what is none."""
    match = _FORM.fullmatch(str(quantity))
    if match is None:
        raise ValueError(f"{quantity!r} is no quantity")
    return float(match[1]) * _FACTORS[match[2]]


def requests_of(container: Json) -> dict[str, float]:
    """What one container asks for; a limit stands for a request that is not there."""
    parts = container.get("resources") or {}
    wanted = {**(parts.get("limits") or {}), **(parts.get("requests") or {})}
    return {name: number(value) for name, value in wanted.items()}


def pod_requests(spec: Json) -> dict[str, float]:
    """What a pod asks for: its containers together, or its largest init container where that is more."""
    total: dict[str, float] = {"pods": 1}
    for container in spec.get("containers") or ():
        for name, value in requests_of(container).items():
            total[name] = total.get(name, 0) + value
    for container in spec.get("initContainers") or ():
        for name, value in requests_of(container).items():
            total[name] = max(total.get(name, 0), value)
    return total
