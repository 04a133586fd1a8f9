"""What an update sends: the pool as AKS showed it, with the members that differ set as desired.

A PUT replaces the pool, so what the file form cannot say is sent back as it came
(https://github.com/Azure/azure-cli-extensions/pull/10343 shows what happens otherwise).
"""

from __future__ import annotations

import copy
from typing import Any

from fracgpu.differences import Effect, FieldChange, differences
from fracgpu.plan import Change, Json, Resource
from fracgpu.providers.aks.compare import MARKS, comparison, properties, settled
from fracgpu.providers.aks.desired import KIND
from fracgpu.providers.aks.facts import SPOT_TAINT


def changes(current: Resource, after: Json) -> tuple[FieldChange, ...]:
    """The members in which a pool differs from its desired body."""
    found = differences(settled(current).body, after, comparison(KIND))
    return tuple(one for one in found if one.effect is not Effect.IGNORED)


def unmarked(current: Resource, after: Json) -> Json:
    """The marks of ownership that the desired body has and the pool has not."""
    have = properties(current.body).get("tags") or {}
    wanted = properties(after).get("tags") or {}
    return {key: wanted[key] for key in MARKS if key in wanted and wanted[key] != have.get(key)}


def asked_count(current: Resource, change: Change) -> int | None:
    """The node count, where a change names it: then it is set although an autoscaler may move it; None otherwise."""
    named = any(one.path == ("properties", "count") for one in change.fields)
    wanted = properties(change.after or {}).get("count")
    return wanted if named and wanted != properties(current.body).get("count") else None


def merged(current: Resource, writable: Json, after: Json, count: int | None = None) -> Json:
    """The body of the PUT. `writable` is the current pool's body without what only the service writes."""
    body = copy.deepcopy(writable)
    for change in changes(current, after):
        _set(body, change.path, _value(body, change))
    marks = unmarked(current, after)
    if marks:
        pool = body.setdefault("properties", {})
        pool["tags"] = {**(pool.get("tags") or {}), **marks}
    if count is not None:
        body["properties"]["count"] = count
    _clamp(body["properties"])
    return body


def _set(body: Json, path: tuple[str, ...], value: Any) -> None:
    for name in path[:-1]:
        if not isinstance(body.get(name), dict):
            body[name] = {}
        body = body[name]
    if value is None:
        body.pop(path[-1], None)
    else:
        body[path[-1]] = value


def _value(body: Json, change: FieldChange) -> Any:
    """The desired value, with what AKS put there itself. An empty map is sent as such, since what is left out stays."""
    have: Any = body
    for name in change.path:
        have = have.get(name) if isinstance(have, dict) else None
    if change.path == ("properties", "nodeTaints"):
        own = [taint for taint in have or () if taint == str(SPOT_TAINT)]
        return [*(change.after or ()), *own]
    if isinstance(have, dict):
        gone = change.before if isinstance(change.before, dict) else {}
        return {**{key: value for key, value in have.items() if key not in gone}, **(change.after or {})}
    return change.after


def _clamp(pool: Json) -> None:
    """Under autoscaling the count stays where it is, as far as the limits let it."""
    if pool.get("enableAutoScaling") and pool.get("maxCount") is not None:
        pool["count"] = min(max(pool.get("count") or 0, pool.get("minCount") or 0), pool["maxCount"])
