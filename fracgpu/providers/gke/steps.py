"""An update as the calls that GKE's API wants it in, one at a time.

A pool is changed by several calls, each an operation of its own, and a cluster runs one of them on a pool at a time. So
an update is: the first step in which the pool differs from what it should be; then, when that has ended, the next. Each
step is computed from the pool as it is by then, so that a second run, or another process, goes on where the first
stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from fracgpu.differences import same
from fracgpu.plan import Json, Resource
from fracgpu.providers import FLEET, MANAGED
from fracgpu.providers.gke.compare import granted, is_gke_label, is_gke_resource_label, settled
from fracgpu.taints import GPU_TAINT_KEY


@dataclass(frozen=True, slots=True)
class Step:
    """One call: what it does in words, its name in the API, and its request without the words that say where."""

    what: str
    call: str
    request: Json


@dataclass(frozen=True, slots=True)
class _Pool:
    """A pool as it is (`raw`; `now`, comparable) and as it should be."""

    raw: Json
    now: Json
    after: Json

    def differs(self, *path: str) -> bool:
        return not same(_at(self.now, path), _at(self.after, path))

    def asked(self, *path: str) -> bool:
        """It differs, and the desired body says something about it."""
        return _at(self.after, path) is not None and self.differs(*path)


def _at(body: Json, path: tuple[str, ...]) -> object:
    value: object = body
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def next_step(current: Resource, after: Json, done: Collection[str] = (), *, size: bool = False) -> Step | None:
    """The next call that makes the current pool more like `after`; None where nothing is left.

    `done` are steps (by `what`) that have been taken and are not taken again: a field that the server turns into
    something else would be sent for ever. With `size` the node count is set although an autoscaler moves it too: what
    the pool says of its count is then no longer what it has.
    """
    pool = _Pool(current.body, granted(settled(current).body, after), after)
    for what, call, request_of in STEPS:
        request = request_of(pool) if what not in done else None
        if request is not None:
            return Step(what, call, request)
    return None if SIZE in done else _size(pool, size, settled(current).body)


def _upgrade_settings(pool: _Pool) -> Json | None:
    wanted: Json = pool.after.get("upgradeSettings", {})
    if same({key: pool.now["upgradeSettings"].get(key) for key in wanted}, wanted):
        return None
    return {"upgradeSettings": {**pool.raw.get("upgradeSettings", {}), **wanted}}


def _management(pool: _Pool) -> Json | None:
    wanted: Json = pool.after.get("management", {})
    if same({key: pool.now["management"].get(key) for key in wanted}, wanted):
        return None
    return {"management": {**pool.raw.get("management", {}), **wanted}}


def _metadata(pool: _Pool) -> Json | None:
    """Each of these replaces the whole set, so what GKE and other fleets put there is sent again."""
    request: Json = {}
    config = pool.after["config"]
    if pool.differs("config", "labels"):
        kept = _kept(pool, "labels", is_gke_label)
        request["labels"] = {"labels": {**config.get("labels", {}), **kept}}
    if not same(_tags_now(pool), _tags_after(pool)):
        kept = _kept(pool, "resourceLabels", is_gke_resource_label)
        request["resourceLabels"] = {"labels": {**_tags_after(pool), **kept}}
    if pool.differs("config", "taints"):
        request["taints"] = {"taints": [*config.get("taints", []), *_own_taint(pool)]}
    if pool.differs("config", "tags"):
        request["tags"] = {"tags": config.get("tags", [])}
    return request or None


def _kept(pool: _Pool, name: str, is_googles: Callable[[str], bool]) -> Json:
    return {key: value for key, value in pool.raw.get("config", {}).get(name, {}).items() if is_googles(key)}


def _tags_now(pool: _Pool) -> Json:
    labels = pool.raw.get("config", {}).get("resourceLabels", {})
    return {key: value for key, value in labels.items() if not is_gke_resource_label(key)}


def _tags_after(pool: _Pool) -> Json:
    """With the marks that the pool carries, of which a pool without a fleet of its own knows nothing."""
    marks = {key: value for key, value in _tags_now(pool).items() if key in (MANAGED, FLEET)}
    return {**marks, **pool.after["config"].get("resourceLabels", {})}


def _own_taint(pool: _Pool) -> list[Json]:
    """GKE's GPU taint, which it does not put back once it is gone."""
    if any(taint["key"] == GPU_TAINT_KEY for taint in pool.after["config"].get("taints", [])):
        return []
    return [taint for taint in pool.raw["config"].get("taints", []) if taint.get("key") == GPU_TAINT_KEY]


def _accelerators(pool: _Pool) -> Json | None:
    if not pool.asked("config", "accelerators"):
        return None
    return {"accelerators": pool.after["config"]["accelerators"]}


_ROLLED = ("machineType", "diskType", "diskSizeGb", "imageType", "gvnic")


def _machines(pool: _Pool) -> Json | None:
    config = pool.after["config"]
    request: Json = {name: config[name] for name in _ROLLED if pool.asked("config", name)}
    if pool.asked("version"):
        request["nodeVersion"] = pool.after["version"]
    return request or None


def _locations(pool: _Pool) -> Json | None:
    """A call of its own: beside other fields those would reach new nodes only (UpdateNodePoolRequest.locations)."""
    return {"locations": pool.after["locations"]} if pool.asked("locations") else None


def _autoscaling(pool: _Pool) -> Json | None:
    now, wanted = pool.now.get("autoscaling"), pool.after.get("autoscaling")
    if wanted is None:
        return {"autoscaling": {"enabled": False}} if now else None
    if now is not None and same({key: now.get(key) for key in wanted}, wanted):
        return None
    kept = {"locationPolicy": now["locationPolicy"]} if now and "locationPolicy" in now else {}
    return {"autoscaling": {**kept, **wanted}}


SIZE = "node count"


def _size(pool: _Pool, forced: bool, settled_now: Json) -> Step | None:
    wanted = pool.after.get("initialNodeCount", 0)
    if pool.after.get("autoscaling") and not forced:
        return None
    if settled_now["initialNodeCount"] == wanted and not forced:
        return None
    return Step(SIZE, "SetNodePoolSize", {"nodeCount": wanted})


STEPS: tuple[tuple[str, str, Callable[[_Pool], Json | None]], ...] = (
    ("surge settings", "UpdateNodePool", _upgrade_settings),
    ("auto-repair and auto-upgrade", "SetNodePoolManagement", _management),
    ("labels, taints and tags", "UpdateNodePool", _metadata),
    ("GPU sharing and driver", "UpdateNodePool", _accelerators),
    ("machines, disks and version", "UpdateNodePool", _machines),
    ("zones", "UpdateNodePool", _locations),
    ("autoscaling", "SetNodePoolAutoscaling", _autoscaling),
)
"""In this order: surge settings first, since the steps that recycle nodes go by them; the count last."""
