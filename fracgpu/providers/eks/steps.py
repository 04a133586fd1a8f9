"""Which calls an update of a node group takes: tags, then what changes on nodes that stay, then what replaces them."""

from __future__ import annotations

from dataclasses import dataclass

from fracgpu.differences import same
from fracgpu.plan import Json
from fracgpu.providers.eks.desired import NEW
from fracgpu.providers.eks.template import is_moving


@dataclass(frozen=True, slots=True)
class TagStep:
    """Tags to write and keys to remove; made at once and without an update."""

    write: dict[str, str]
    remove: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.write or self.remove)


def tag_step(current: Json, after: Json) -> TagStep:
    """`current` is what DescribeNodegroup says, the mark and AWS's own tags among it."""
    have: dict[str, str] = current.get("tags") or {}
    want: dict[str, str] = after.get("tags") or {}
    write = {key: value for key, value in want.items() if have.get(key) != value}
    remove = (key for key in have if key not in want and not key.lower().startswith(("aws:", "fracgpu-")))
    return TagStep(write, tuple(remove))


def config_request(current: Json, after: Json, *, size: bool) -> Json:
    """The members of UpdateNodegroupConfig that bring `current` (settled) to `after`; empty where none is needed.

    With `size` the node count is asked for; without, the autoscaler's is kept where the limits allow it.
    """
    request: Json = {}
    labels = _labels(current.get("labels") or {}, after.get("labels") or {})
    taints = _taints(current.get("taints") or [], after.get("taints") or [])
    scaling = _scaling(current["scalingConfig"], after["scalingConfig"], size=size)
    for name, value in (("labels", labels), ("taints", taints), ("scalingConfig", scaling)):
        if value:
            request[name] = value
    if not same(current.get("updateConfig"), after.get("updateConfig")):
        request["updateConfig"] = after.get("updateConfig") or {"maxUnavailable": 1, "updateStrategy": "DEFAULT"}
    if not same(current.get("nodeRepairConfig"), after.get("nodeRepairConfig")):
        request["nodeRepairConfig"] = after.get("nodeRepairConfig") or {"enabled": False}
    return request


def _labels(have: dict[str, str], want: dict[str, str]) -> Json:
    write = {key: value for key, value in want.items() if have.get(key) != value}
    remove = [key for key in have if key not in want]
    return _some(addOrUpdateLabels=write, removeLabels=remove)


def _taints(have: list[Json], want: list[Json]) -> Json:
    """A taint is known by key and effect; another value of the same is an update of it."""
    wanted = {(taint["key"], taint["effect"]) for taint in want}
    write = [taint for taint in want if taint not in have]
    remove = [taint for taint in have if (taint["key"], taint["effect"]) not in wanted]
    return _some(addOrUpdateTaints=write, removeTaints=remove)


def _some(**members: object) -> Json:
    return {name: value for name, value in members.items() if value}


def _scaling(have: Json, want: Json, *, size: bool) -> Json:
    low, high = want["minSize"], want["maxSize"]
    count = want["desiredSize"]
    if low < high and not size:
        count = min(max(have["desiredSize"], low), high)
    sizes = {"minSize": low, "maxSize": high, "desiredSize": count}
    return {} if same(have, sizes) else sizes


def version_request(current: Json, after: Json, latest: int | None) -> Json:
    """The members of UpdateNodegroupVersion; empty where none is needed. `latest` is the version that `<new>` means."""
    want: Json = after.get("launchTemplate") or {}
    have: Json = current.get("launchTemplate") or {}
    version = str(latest) if want.get("version") == NEW else want.get("version")
    if version and not is_moving(version) and str(have.get("version")) != version:
        name = {key: want[key] for key in ("name", "id") if key in want}
        return {"launchTemplate": {**name, "version": version}}
    names = ("version", "releaseVersion")
    return {name: after[name] for name in names if name in after and after[name] != current.get(name)}
