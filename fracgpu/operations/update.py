"""Change what can be changed in place: what is said is laid over the pool as it is, or a file takes its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fracgpu.manifest import document_of
from fracgpu.plan import Json
from fracgpu.spec import NodePool

Validate = Callable[[Json], NodePool]

ALTERNATIVES = ({"profile", "layout", "devices"}, {"timeSlicing", "mps"})
"""Members of which a pool has one: saying one takes the others back."""


def as_declared(declared: NodePool) -> Callable[[NodePool], NodePool]:
    """The edit that makes a pool what a file says, in its own place."""

    def edit(pool: NodePool) -> NodePool:
        spec = declared.spec.model_copy(update={"cluster": pool.spec.cluster})
        return pool.model_copy(update={"spec": spec})

    return edit


def overlaid(said: Json, gone: Mapping[str, Sequence[str]], validate: Validate) -> Callable[[NodePool], NodePool]:
    """The edit that changes what is said and takes out what is to be gone (`labels` or `tags` -> keys, taint keys).

    `said` is a spec in the file form. Mappings are merged, taints by their key, other lists and values replaced.
    """

    def edit(pool: NodePool) -> NodePool:
        document = document_of(pool)
        spec = _merged(document["spec"], said)
        for field, keys in gone.items():
            spec[field] = _without(spec.get(field), keys)
        return validate({"metadata": document["metadata"], "spec": spec})

    return edit


def _merged(now: Json, said: Json) -> Json:
    result = dict(now)
    for group in ALTERNATIVES:
        if group & set(said):
            result = {key: value for key, value in result.items() if key not in group}
    for key, value in said.items():
        old = result.get(key)
        if key == "taints":
            result[key] = _taints(old or [], value)
        elif isinstance(value, dict) and isinstance(old, dict) and key != "layout":
            result[key] = _merged(old, value)
        else:
            result[key] = value
    return result


def taint_key(taint: Any) -> str:
    """The key of a taint in either of its spellings."""
    text = taint["key"] if isinstance(taint, dict) else str(taint)
    return text.partition("=")[0].partition(":")[0]


def _taints(now: Sequence[Any], said: Sequence[Any]) -> list[Any]:
    keys = {taint_key(taint) for taint in said}
    return [taint for taint in now if taint_key(taint) not in keys] + list(said)


def _without(value: Any, keys: Sequence[str]) -> Any:
    if isinstance(value, dict):
        return {key: inner for key, inner in value.items() if key not in keys}
    return [taint for taint in value or () if taint_key(taint) not in keys]
