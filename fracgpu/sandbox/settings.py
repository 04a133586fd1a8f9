"""What `sandbox set` changes: `World.settings`, checked here so that every front may trust its shape.

settings["quota"]    = [{"cloud", "metric", "region" ("": all), "limit"}]
settings["offering"] = [{"cloud", "machine", "zone", "on"}]
settings["node"]     = {node name: {"labels": {k: v}, "allocatable": {resource: n}, "ready": bool}}
settings["pdb"]      = [{"namespace", "selector": {k: v}, "min_available"}]
settings["pod"]      = [{"node", "labels": {k: v}}]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fracgpu.sandbox.world import Json, World

CLOUDS = ("aks", "gke", "eks")


class Refused(ValueError):
    """A request to the control API that makes no sense; the text says what would, `nearest` what was perhaps meant."""

    def __init__(self, message: str, nearest: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.nearest = nearest


def change(world: World, kind: object, fields: Json) -> None:
    """Carry out one `set` and wake whatever depends on it. Raises Refused."""
    setter = _SETTERS.get(str(kind))
    if setter is None:
        raise Refused(f"cannot set {kind!r}; known: {', '.join(_SETTERS)}")
    with world.lock:
        setter(world, fields)
        for cluster in list(world.clusters.values()):
            world.touch(cluster)


def quota(world: World, cloud: str, metric: str, region: str = "") -> int | None:
    """The limit that was set for that metric, of the region first, then of all regions; None for no limit."""
    limits = {
        row["region"]: row["limit"] for row in world.settings.get("quota", []) if _is(row, cloud=cloud, metric=metric)
    }
    return limits.get(region, limits.get(""))


def offered(world: World, cloud: str, machine: str, zone: str) -> bool:
    """False where that machine was switched off in that zone."""
    return switched(world.settings, cloud, machine, zone) is not False


def switched(settings: Json, cloud: str, machine: str, zone: str) -> bool | None:
    """What was said of that machine in that zone, on or off; None where nothing was."""
    rows = settings.get("offering", [])
    return next((bool(row["on"]) for row in rows if _is(row, cloud=cloud, machine=machine, zone=zone)), None)


def _is(row: Json, **expected: str) -> bool:
    return all(str(row[name]).lower() == value.lower() for name, value in expected.items())


def _operation_seconds(world: World, fields: Json) -> None:
    world.operation_seconds = _number(fields, "seconds")


def _quota(world: World, fields: Json) -> None:
    row = {"cloud": _cloud(fields), "metric": _text(fields, "metric"), "region": fields.get("region") or ""}
    _replace(world, "quota", row, limit=int(_number(fields, "limit")))


def _offering(world: World, fields: Json) -> None:
    row = {"cloud": _cloud(fields), "machine": _text(fields, "machine"), "zone": _text(fields, "zone")}
    _replace(world, "offering", row, on=bool(fields.get("on")))


def _node(world: World, fields: Json) -> None:
    nodes = world.settings.setdefault("node", {})
    node = nodes.setdefault(_text(fields, "name"), {"labels": {}, "allocatable": {}, "ready": None})
    node["labels"].update(fields.get("labels") or {})
    counts: Json = fields.get("allocatable") or {}
    node["allocatable"].update({resource: int(_number(counts, resource)) for resource in counts})
    if fields.get("ready") is not None:
        node["ready"] = bool(fields["ready"])


def _pdb(world: World, fields: Json) -> None:
    row = {"namespace": _text(fields, "namespace"), "selector": dict(fields.get("selector") or {})}
    _replace(world, "pdb", row, min_available=int(_number(fields, "min_available")))


def _pod(world: World, fields: Json) -> None:
    world.settings.setdefault("pod", []).append(
        {"node": _text(fields, "node"), "labels": dict(fields.get("labels") or {})}
    )


def _replace(world: World, kind: str, key: Json, **value: Any) -> None:
    rows = [row for row in world.settings.get(kind, []) if any(row[name] != key[name] for name in key)]
    world.settings[kind] = [*rows, {**key, **value}]


def _cloud(fields: Json) -> str:
    cloud = fields.get("cloud")
    if cloud not in CLOUDS:
        raise Refused(f"cloud is one of {', '.join(CLOUDS)}, not {cloud!r}")
    return str(cloud)


def _text(fields: Json, name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value:
        raise Refused(f"{name} is missing")
    return value


def _number(fields: Json, name: str) -> float:
    value = fields.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
        raise Refused(f"{name} is a number of 0 or more, not {value!r}")
    return float(value)


_SETTERS: dict[str, Callable[[World, Json], None]] = {
    "operation-seconds": _operation_seconds,
    "quota": _quota,
    "offering": _offering,
    "node": _node,
    "pdb": _pdb,
    "pod": _pod,
}
