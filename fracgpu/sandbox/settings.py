"""What `sandbox set` changes: `World.settings`, checked here so that every front may trust its shape.

settings["quota"]    = [{"cloud", "metric", "region" ("": all), "limit"}]
settings["offering"] = [{"cloud", "machine", "zone", "on"}]
settings["node"]     = {node name: {"labels": {k: v}, "allocatable": {resource: n}, "ready": bool}}
settings["pdb"]      = [{"namespace", "selector": {k: v}, "min_available"}]
settings["pod"]      = [{"node", "labels": {k: v}}]
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from fracgpu.sandbox.world import Json, World

CLOUDS = ("aks", "gke", "eks")
MOST = 1e12
"""What no limit and no time reaches; infinity is above it, and what is no number is not below it."""

_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_LABEL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")


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
    labels, given = _labels(fields, "labels"), _mapping(fields, "allocatable")
    counts = {resource: int(_number(given, resource)) for resource in given}
    if not labels and not counts and fields.get("ready") is None:
        raise Refused("say what of the node: a label, an allocatable resource, or whether it is ready")
    nodes = world.settings.setdefault("node", {})
    node = nodes.setdefault(_text(fields, "name"), {"labels": {}, "allocatable": {}, "ready": None})
    node["labels"].update(labels)
    node["allocatable"].update(counts)
    if fields.get("ready") is not None:
        node["ready"] = bool(fields["ready"])


def _pdb(world: World, fields: Json) -> None:
    selector = _labels(fields, "selector")
    if not selector:
        raise Refused("selector is missing")
    row = {"namespace": _namespace(fields), "selector": selector}
    _replace(world, "pdb", row, min_available=int(_number(fields, "min_available")))


def _pod(world: World, fields: Json) -> None:
    world.settings.setdefault("pod", []).append({"node": _text(fields, "node"), "labels": _labels(fields, "labels")})


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


def _namespace(fields: Json) -> str:
    name = _text(fields, "namespace")
    if len(name) > 63 or not _DNS_LABEL.fullmatch(name):
        raise Refused(f"namespace is lower case letters, digits and dashes, at most 63, not {name!r}")
    return name


def _mapping(fields: Json, name: str) -> Json:
    value = fields.get(name) or {}
    if not isinstance(value, dict):
        raise Refused(f"{name} is a set of names and values, not {value!r}")
    return value


def _labels(fields: Json, name: str) -> dict[str, str]:
    """Labels as Kubernetes would take them."""
    labels = _mapping(fields, name)
    for key, value in labels.items():
        part = key.rpartition("/")[2]
        if not _LABEL.fullmatch(part) or not isinstance(value, str) or (value and not _LABEL.fullmatch(value)):
            raise Refused(f"{key}={value} is no label that Kubernetes would take")
    return labels


def _number(fields: Json, name: str) -> float:
    value = fields.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < MOST:
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
