"""Members of the file form that are read the same on every cloud, once its own words are translated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from fracgpu.catalog.models import Machine
from fracgpu.errors import Finding, info
from fracgpu.model import LARGEST
from fracgpu.plan import Json
from fracgpu.pluginkey import PluginConfig, meaning
from fracgpu.sharing import Mps
from fracgpu.taints import GPU_TAINT, GPU_TAINT_KEY


def some(members: Json) -> Json:
    """The members that say something."""
    return {key: value for key, value in members.items() if value not in (None, [], {})}


def unless(value: Any, usual: Any) -> Any:
    """A value; None where it is what stands when nothing is said."""
    return None if value == usual else value


def nodes(low: int, high: int, count: int) -> Json:
    """Under autoscaling the count is told only where it is not min, and never outside the limits."""
    if low == high:
        return {"count": low}
    count = min(max(count, low), high)
    return some({"min": low, "max": high, "count": unless(count, low)})


def taints(rows: Iterable[Json]) -> Json:
    """The user's taints, in Kubernetes' words; the GPU taint is told by its absence."""
    found = list(rows)
    key, value, effect = GPU_TAINT
    ours = {"key": key, "value": value, "effect": effect.value}
    keys = [taint["key"] for taint in found]
    if keys.count(GPU_TAINT_KEY) == 1 and ours in found:
        found.remove(ours)
    return {"taints": found, "gpuTaint": None if GPU_TAINT_KEY in keys else False}


def sharing_of(key: str | None, mig: Json, machine: Machine | None) -> Json:
    """`sharing` of a pool with this cut whose nodes name this plugin config.

    A key that is not one of ours, or means what the rules would not take, is kept as a name like any other.
    """
    sharing: Json = {"mig": mig} if mig else {}
    if key is None:
        return sharing
    config = meaning(key)
    if config is None or not _sayable(config, cut=bool(mig), machine=machine):
        return {**sharing, "configKey": key}
    if config.mixed:
        sharing["mig"] = {**mig, "strategy": "mixed"}
    return sharing | _share(config)


def _sayable(config: PluginConfig, *, cut: bool, machine: Machine | None) -> bool:
    if config.mixed and not cut:
        return False
    share = config.share
    if share is None:
        return True
    counted = 1 < share.replicas <= LARGEST
    return counted and not (cut and isinstance(share, Mps)) and not (machine and machine.fractional)


def _share(config: PluginConfig) -> Json:
    share = config.share
    if share is None:
        return {}
    renamed = {"renameByDefault": True} if share.rename else {}
    if isinstance(share, Mps):
        return {"mps": {"replicas": share.replicas}, **renamed}
    one = {"failRequestsGreaterThanOne": True} if share.one_per_container else {}
    return {"timeSlicing": {"replicas": share.replicas, **one}, **renamed}


def without_autoscaler_tags(written: Json, cloud: str, own: Mapping[str, str]) -> Json:
    """A file without the tags for the autoscaler that fracgpu would write itself.

    Where they are not all there, the file says that fracgpu shall write none.
    """
    spec = written["spec"]
    have: dict[str, str] = spec.get("tags", {})
    if not own:
        return written
    if own.items() <= have.items():
        kept = {key: value for key, value in have.items() if key not in own}
        return {**written, "spec": some({**spec, "tags": kept})}
    return {**written, "spec": {**spec, cloud: {**spec.get(cloud, {}), "autoscalerTags": False}}}


def unknown_key(key: str) -> Finding:
    """The note on a config key that was kept as a name."""
    message = f"what the config key {key} shares is in the plugin's ConfigMap alone"
    return info("config-key-unknown", message, field="spec.sharing.configKey")


class Unsaid(NamedTuple):
    """A member of a cloud's body, by its path, that the file form has no word for."""

    member: str
    words: str
    usual: tuple[Any, ...] = ()
    """The values that say nothing: what the cloud puts there itself."""


def unsaid(body: Json, table: Iterable[Unsaid]) -> Iterator[Finding]:
    """A note for each of them that says something."""
    for member, words, usual in table:
        value: Any = body
        for name in member.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        if value not in (None, [], {}, "") and not any(value is one or value == one for one in usual):
            yield not_in_file_form(words, member)


def not_in_file_form(words: str, member: str) -> Finding:
    message = f"the file form cannot say {words} ({member}); a pool made anew would not have it"
    return info("not-in-file-form", message, detail={"member": member})
