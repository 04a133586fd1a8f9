"""Node taints: Kubernetes' words, how they are written in files and flags, and the one on every GPU pool."""

# No `from __future__ import annotations`: pydantic would have to evaluate each annotation anew whenever this is loaded.
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NoReturn

from pydantic import model_serializer
from pydantic_core import PydanticCustomError

from fracgpu.model import Model
from fracgpu.nearest import nearest_words

GPU_TAINT_KEY = "nvidia.com/gpu"


class TaintEffect(StrEnum):
    """In Kubernetes' words; the clouds' own spellings are made in their `desired`."""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


class Taint(Model):
    """A node taint. In files a text `key=value:Effect`; a mapping is read too."""

    key: str
    value: str = ""
    effect: TaintEffect

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}"

    @classmethod
    def of(cls, key: str, value: str, effect: TaintEffect) -> "Taint":
        """A taint of parts that are known to be right; nothing is validated."""
        return cls.model_construct(key=key, value=value, effect=effect)

    @model_serializer
    def as_text(self) -> str:
        """As a file has it."""
        return str(self)


GPU_TAINT = (GPU_TAINT_KEY, "present", TaintEffect.NO_SCHEDULE)
"""On every GPU pool unless the user says no. The value is `present` because the device-plugin chart's node feature
discovery tolerates that value only (https://github.com/NVIDIA/k8s-device-plugin, values.yaml)."""

TAINT_TEXT = re.compile(r"(?P<key>[^=:\s]+)(=(?P<value>[^=:\s]*))?:(?P<effect>\w+)")


def read_effect(written: str) -> str | None:
    """An effect in Kubernetes' words, from those or a cloud's (NO_SCHEDULE); None where it is neither."""
    effects = {effect.lower(): effect.value for effect in TaintEffect}
    return effects.get(written.lower().replace("_", ""))


def read_taint(written: Any) -> Any:
    """`key=value:Effect` as a mapping; a mapping and a Taint are passed on."""
    if isinstance(written, Mapping):
        effect = read_effect(str(written.get("effect")))
        return {**written, "effect": effect} if effect else written
    if not isinstance(written, str):
        return written if isinstance(written, Taint) else _no_taint(written)
    match = TAINT_TEXT.fullmatch(written)
    effect = match and read_effect(match["effect"])
    if not match or not effect:
        return _no_taint(written)
    return {"key": match["key"], "value": match["value"] or "", "effect": effect}


def _no_taint(written: Any) -> NoReturn:
    head, _, effect = str(written).partition(":")
    close = nearest_words(effect, TaintEffect, 1, 0.3) or [TaintEffect.NO_SCHEDULE]
    pair = head if "=" in head else f"{head}=present"
    near = f"{pair}:{close[0]}"
    raise PydanticCustomError(
        "invalid-taint",
        "{written} is not a taint; write key=value:Effect with one of {words}",
        {
            "written": repr(written)[:80],
            "words": ", ".join(TaintEffect),
            "nearest": (near,) if isinstance(written, str) and TAINT_TEXT.fullmatch(near) else (),
        },
    )
