"""What a node group's labels and user data say about cut and share, as the file form says it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fracgpu import migconfig, pluginkey
from fracgpu.catalog import geometry
from fracgpu.catalog.load import load
from fracgpu.catalog.models import Gpu, Machine
from fracgpu.errors import Finding, info
from fracgpu.plan import Json
from fracgpu.providers.eks import bottlerocket, user_data
from fracgpu.providers.file_members import sharing_of, unknown_key
from fracgpu.sharing import Backend, Layout, Mig, Strategy


@dataclass(frozen=True, slots=True)
class Seen:
    """`sharing` and `labels` of the file form, the backend where it is to be said, and what could not be read."""

    sharing: Json
    labels: dict[str, str]
    backend: Backend | None = None
    notes: tuple[Finding, ...] = field(default=())


def read_sharing(body: Json, text: str, machine: Machine | None) -> Seen:
    """Cut and share of a group; `text` is the user data of its own template, `machine` None is one without a GPU."""
    labels: dict[str, str] = dict(body.get("labels", {}))
    gpu = load().gpu(machine.gpu) if machine else None
    if str(body.get("amiType", "")).startswith("BOTTLEROCKET"):
        return _bottlerocket(labels, text, gpu)
    mig, backend, notes = _cut(labels, text, gpu, machine.gpu_count if machine else 0)
    sharing, kept, more = _share(labels, mig, machine)
    return Seen(sharing, kept, backend, (*notes, *more))


def _bottlerocket(labels: dict[str, str], text: str, gpu: Gpu | None) -> Seen:
    sharing = bottlerocket.read(text, gpu) if text else {}
    if sharing is None:
        return Seen({}, labels, Backend.BOTTLEROCKET, (_unread("the settings in its user data"),))
    return Seen(sharing, labels, Backend.BOTTLEROCKET)


def _cut(
    labels: dict[str, str], text: str, gpu: Gpu | None, gpus: int
) -> tuple[Json, Backend | None, tuple[Finding, ...]]:
    """What `mig` of the file form says, without its strategy; who cuts; what could not be read."""
    devices = user_data.read(text, gpu) if text and gpu else None
    if devices is not None:
        return _if_shown(_layout(devices), labels, Backend.USER_DATA, "its user data")
    notes = (_unread("its user data"),) if text else ()
    name = labels.get(migconfig.LABEL)
    if name is None or gpu is None:
        return {}, None, notes
    mig, backend, more = _if_shown(_named(name, gpu, gpus), labels, Backend.GPU_OPERATOR, f"the MIG config {name}")
    return mig, backend, (*notes, *more)


def _if_shown(
    mig: Json | None, labels: dict[str, str], backend: Backend, what: str
) -> tuple[Json, Backend, tuple[Finding, ...]]:
    """A layout of several profiles is one that the form can say where the plugin is told to show each by its name."""
    several = mig is not None and (len(mig.get("layout", {})) > 1 or "devices" in mig)
    if mig is None or (several and not _mixed(labels)):
        return {}, backend, (_unread(what),)
    return mig, backend, ()


def _layout(devices: Sequence[Mapping[str, int] | None]) -> Json:
    first = devices[0]
    if first is not None and all(one == first for one in devices):
        return {"layout": dict(first)}
    return {"devices": list(devices)}


def _mixed(labels: dict[str, str]) -> bool:
    means = pluginkey.meaning(labels.get(pluginkey.LABEL, ""))
    return means is not None and means.mixed


def _named(name: str, gpu: Gpu, gpus: int) -> Json | None:
    """What a MIG config's name cuts a GPU into, where the name says it."""
    for profile in gpu.profiles:
        if name == f"all-{profile.name.replace('+', '.')}":
            return {"profile": profile.name}
    balanced = migconfig.balanced(gpu)
    if name == "all-balanced":
        return {"layout": balanced} if balanced else None
    return _own(name, gpu, gpus)


_PART = re.compile(r"(\d+)x(\d+g\.\d+gb(?:\.[a-z.]+|-me)?)")


def _own(name: str, gpu: Gpu, gpus: int) -> Json | None:
    """The layouts in a name of ours, where they are all there: made anew, the name must be the same.

    One layout is that of every GPU of a node.
    """
    if not migconfig.is_custom(name):
        return None
    words = {profile.name.replace("+", "."): profile.name for profile in gpu.profiles}
    devices: list[dict[str, int] | None] = []
    for part in migconfig.words_of(name):
        found = {words.get(word, ""): int(count) for count, word in _PART.findall(part)}
        devices.append(found or None)
    if any("" in (device or {}) for device in devices):
        return None
    devices = devices * gpus if len(devices) == 1 else devices
    cut = Mig(tuple(_canonical(gpu, device) for device in devices), Strategy.MIXED)
    return _layout(devices) if migconfig.config_name(gpu, cut) == name else None


def _canonical(gpu: Gpu, device: dict[str, int] | None) -> Layout | None:
    return geometry.Layout.of(gpu, device).profiles if device else None


def _share(
    labels: dict[str, str], mig: Json, machine: Machine | None
) -> tuple[Json, dict[str, str], tuple[Finding, ...]]:
    """The whole `sharing`: the cut with its strategy and the share that the plugin's key means; the labels that are
    left."""
    kept = dict(labels)
    cut: Json = {}
    if mig:
        kept.pop(migconfig.LABEL, None)
        several = len(mig.get("layout", {})) > 1 or "devices" in mig
        cut = {**mig, "strategy": (Strategy.MIXED if several else Strategy.SINGLE).value}
    key = kept.pop(pluginkey.LABEL, None)
    sharing = sharing_of(key, cut, machine)
    notes = (unknown_key(key),) if key is not None and "configKey" in sharing else ()
    return sharing, kept, notes


def _unread(what: str) -> Finding:
    message = f"{what} says something that fracgpu cannot; how the GPUs are shared is not told here"
    return info("sharing-unknown", message, field="spec.sharing")
