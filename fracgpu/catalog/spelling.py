"""How people write the names of GPUs and MIG profiles, brought to one form. Text in, text out; no catalog."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SEPARATORS = re.compile(r"[\s_\-/.]+")
_SIZE = re.compile(r"(\d+)g(?:i?b)?")
_VENDOR_WORDS = frozenset({"nvidia", "tesla", "geforce"})


def words(name: str) -> tuple[str, ...]:
    """The words of a GPU's name: A100_40GB, a100-40 and "A100 40 GB" have the same ones."""
    parts = (part for part in _SEPARATORS.split(name.strip().casefold()) if part and part not in ("gb", "gib"))
    return tuple(size[1] if (size := _SIZE.fullmatch(part)) else part for part in parts)


def without_vendor(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Without leading words such as nvidia and tesla, which cloud and driver put before the model."""
    start = 0
    while start < len(parts) and parts[start] in _VENDOR_WORDS:
        start += 1
    return parts[start:]


_PREFIX = re.compile(r"^(?:nvidia\.com/)?(?:mig[-\s_]*)?", re.IGNORECASE)
_PROFILE = re.compile(r"(\d+)g\.?(\d+)gb(.*)")
_NUMBERS = re.compile(r"(\d+)\s*g\s*\.?\s*(\d+)?")


@dataclass(frozen=True, slots=True)
class ProfileName:
    """A profile's name in its parts: `1g.24gb+me.all` is 1 compute slice, 24 GB, attribute +me.all."""

    compute_slices: int
    memory_gb: int
    attributes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.compute_slices}g.{self.memory_gb}gb{''.join(self.attributes)}"


def parse_profile(text: str) -> ProfileName | None:
    """The parts of a profile's name, or None where the text is no such name.

    Understands the resource's spelling (nvidia.com/mig-1g.5gb.me) and nvidia-smi's (MIG 1g.5gb+me).
    """
    found = _PROFILE.fullmatch(_PREFIX.sub("", text.strip()).casefold())
    if not found:
        return None
    attributes = _attributes(found[3])
    return None if attributes is None else ProfileName(int(found[1]), int(found[2]), attributes)


def _attributes(suffix: str) -> tuple[str, ...] | None:
    """("+me",) of +me and .me, ("-me",) of -me; None of anything else. Attributes: NVIDIA/go-nvlib mig_profile.go."""
    if not suffix:
        return ()
    sign = "-" if suffix[0] == "-" else "+"
    name = suffix[1:]
    known = {"me"} if sign == "-" else {"me", "me.all", "gfx"}
    return (sign + name,) if suffix[0] in "+.-" and name in known else None


def loose_numbers(text: str) -> tuple[int, int | None] | None:
    """Compute slices and memory of a text that only resembles a profile's name ("3g 40", "2g"); None without any."""
    found = _NUMBERS.search(text.casefold())
    return (int(found[1]), int(found[2]) if found[2] else None) if found else None


_AKS_PROFILE = re.compile(r"mig(\d)g", re.IGNORECASE)


def aks_profile(text: str) -> str | None:
    """AKS's own word (MIG1g) in its right case, or None."""
    found = _AKS_PROFILE.fullmatch(text.strip())
    return f"MIG{found[1]}g" if found else None
