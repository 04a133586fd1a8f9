"""What EKS takes as a group's node repair, and what has gone wrong with it.

https://docs.aws.amazon.com/eks/latest/APIReference/API_NodeRepairConfig.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fracgpu.errors import Finding, warning
from fracgpu.nearest import nearest_words
from fracgpu.resolve import ResolvedPool

_LINK = "https://docs.aws.amazon.com/eks/latest/APIReference/API_NodeRepairConfig.html"
_FIELD = "spec.eks.nodeRepairConfig"

_COUNT, _PERCENTAGE = range(1, 2**31), range(1, 101)
MEMBERS: Mapping[str, Any] = {
    "enabled": bool,
    "maxUnhealthyNodeThresholdCount": _COUNT,
    "maxUnhealthyNodeThresholdPercentage": _PERCENTAGE,
    "maxParallelNodesRepairedCount": _COUNT,
    "maxParallelNodesRepairedPercentage": _PERCENTAGE,
    "nodeRepairConfigOverrides": list,
}
OVERRIDE: Mapping[str, Any] = {
    "nodeMonitoringCondition": str,
    "nodeUnhealthyReason": str,
    "minRepairWaitTimeMins": _COUNT,
    "repairAction": ("Replace", "Reboot", "NoAction"),
}
"""Each member with its kind, its numbers or its words."""

EITHER = ("maxUnhealthyNodeThreshold", "maxParallelNodesRepaired")
"""What is said as a count or as a percentage, not both."""


def check(pool: ResolvedPool) -> Iterator[Finding]:
    """Every finding about node repair."""
    repair = pool.eks.node_repair_config or {}
    yield from _members(repair, MEMBERS, _FIELD)
    overrides = repair.get("nodeRepairConfigOverrides")
    for index, override in enumerate(overrides if isinstance(overrides, list) else ()):
        yield from _override(override, f"{_FIELD}.nodeRepairConfigOverrides[{index}]")
    for name in EITHER:
        if f"{name}Count" in repair and f"{name}Percentage" in repair:
            message = f"{name} is a count or a percentage, not both"
            yield Finding(
                "conflicting-fields", message, field=f"{_FIELD}.{name}Count", hint="leave one out", link=_LINK
            )
    if repair.get("enabled") is True and pool.taints:
        message = "node repair has replaced healthy GPU nodes whose taint kept its monitoring from the GPUs"
        link = "https://github.com/aws/containers-roadmap/issues/2567"
        hint = "see that the node monitoring agent's DCGM server tolerates the taint"
        yield warning("repair-with-taint", message, field=_FIELD, hint=hint, link=link)


def _override(said: Any, field: str) -> Iterator[Finding]:
    if isinstance(said, dict):
        yield from _members(said, OVERRIDE, field)
    else:
        yield Finding("invalid-value", f"{said!r} is no override", field=field, hint=f"its keys are {_names(OVERRIDE)}")


def _members(said: Mapping[str, Any], known: Mapping[str, Any], field: str) -> Iterator[Finding]:
    for name, value in said.items():
        if name not in known:
            near = nearest_words(name, known)
            hint = f"its keys are {_names(known)}"
            yield Finding("unknown-key", f"node repair has no {name}", field=f"{field}.{name}", nearest=near, hint=hint)
        elif not _fits(value, known[name]):
            message = f"{name} is {_words(known[name])}, not {value!r}"
            yield Finding(
                "invalid-value", message, field=f"{field}.{name}", hint="leave it out for EKS's own", link=_LINK
            )


def _fits(value: Any, kind: Any) -> bool:
    if isinstance(kind, range):
        return type(value) is int and value in kind
    return value in kind if isinstance(kind, tuple) else isinstance(value, kind)


def _words(kind: Any) -> str:
    if isinstance(kind, range):
        return f"a number from {kind[0]}" + (f" to {kind[-1]}" if kind is _PERCENTAGE else "")
    if isinstance(kind, tuple):
        return " or ".join(kind)
    return {bool: "true or false", list: "a list", str: "a text"}[kind]


def _names(known: Mapping[str, Any]) -> str:
    return ", ".join(known)
