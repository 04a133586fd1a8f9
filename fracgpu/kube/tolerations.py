"""Tolerations that let NVIDIA's pods onto the nodes of a cluster's pools."""

from __future__ import annotations

from collections.abc import Iterable

from fracgpu.advertise import toleration
from fracgpu.kube.promise import Promise

Toleration = dict[str, str]

ANY_GPU_TAINT = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
CRITICAL = {"key": "CriticalAddonsOnly", "operator": "Exists"}
CONTROL_PLANE = {
    "key": "node-role.kubernetes.io/control-plane",
    "operator": "Equal",
    "value": "",
    "effect": "NoSchedule",
}


def tolerations(base: Iterable[Toleration], promises: Iterable[Promise]) -> list[Toleration]:
    """The chart's own and one for each taint of the pools that they do not cover; those that a node has only at first
    too, since they stay until these pods have done their work."""
    found = [dict(one) for one in base]
    for promise in promises:
        facts = promise.facts
        for taint in (*facts.taints, *facts.startup_taints) if promise.own_plugin else ():
            wanted = toleration(taint)
            if not any(_covers(one, wanted) for one in found):
                found.append(wanted)
    return found


def _covers(one: Toleration, wanted: Toleration) -> bool:
    same_key = one["key"] == wanted["key"] and one.get("effect") in (None, wanted["effect"])
    return same_key and (one["operator"] == "Exists" or one.get("value") == wanted.get("value"))
