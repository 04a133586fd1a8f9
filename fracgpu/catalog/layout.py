"""The values of MIG geometry: a layout, how it lies on a GPU, or why it does not.

Plain data, made and judged by `geometry`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from fracgpu.catalog.models import Gpu, Profile


@dataclass(frozen=True, slots=True)
class Layout:
    """What one GPU is cut into: how many instances of which profiles.

    Canonical, so that equal layouts are equal values: the largest profile first (compute slices, then memory slices,
    then name), no profile twice, no count below one. Make it with `Layout.of`, which sees to that.
    """

    profiles: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, gpu: Gpu, counts: Mapping[str, int]) -> Layout:
        """The layout of `counts` instances by profile name; zeros are left out.

        Raises ValueError for a name that is no profile of the GPU, and for a negative count.
        """
        rank = {profile.name: index for index, profile in enumerate(by_size(gpu))}
        for name, count in counts.items():
            if name not in rank:
                raise ValueError(unknown_profile(gpu.key, name, rank))
            if count < 0:
                raise ValueError(f"a layout cannot have {count} instances of {name}")
        return cls(tuple((name, counts[name]) for name in sorted(counts, key=rank.__getitem__) if counts[name]))

    @property
    def counts(self) -> dict[str, int]:
        return dict(self.profiles)

    @property
    def instances(self) -> int:
        return sum(count for _, count in self.profiles)

    def __str__(self) -> str:
        """As a user writes it: `3g.20gb=1,2g.10gb=2`."""
        return ",".join(f"{name}={count}" for name, count in self.profiles)


def by_size(gpu: Gpu) -> tuple[Profile, ...]:
    """The GPU's profiles, largest first: compute slices, memory slices, name."""
    return tuple(sorted(gpu.profiles, key=lambda row: (-row.compute_slices, -(row.memory_slices or 0), row.name)))


def unknown_profile(gpu: str, name: str, known: Mapping[str, object]) -> str:
    return f"{gpu} has no MIG profile {name!r}; it has {', '.join(known) or 'none'}"


@dataclass(frozen=True, slots=True)
class Placement:
    """One GPU instance on the placement grid: its first unit and how many it covers (`nvidia-smi mig -lgipp`)."""

    profile: str
    start: int
    size: int


@dataclass(frozen=True, slots=True)
class Doubt:
    """A combination about which the sources disagree: a stable code, what is unsettled, where to read on."""

    code: str
    text: str
    link: str


@dataclass(frozen=True, slots=True)
class Arrangement:
    """A layout that fits, and where its instances lie.

    `placements` are in an order that creates them, largest first. It is empty where no source gives the GPU's
    placements: then slices and counts add up, and no more than that is known. `proven` says that the placements were
    seen on this very GPU, not inferred from one of the same die.
    """

    layout: Layout
    placements: tuple[Placement, ...] = ()
    proven: bool = False
    unsettled: tuple[Doubt, ...] = ()

    @property
    def creation_order(self) -> tuple[str, ...]:
        """Profile names in the order in which to create them: every larger profile before every smaller one."""
        return tuple(name for name, count in self.layout.profiles for _ in range(count))


class Limit(StrEnum):
    """What a layout can run out of."""

    PROFILE_COUNT = "profile-count"
    MEDIA_EXTENSIONS = "media-extensions"
    MEDIA_ENGINES = "media-engines"
    COMPUTE_SLICES = "compute-slices"
    MEMORY_SLICES = "memory-slices"
    INSTANCES = "instances"
    PLACEMENT = "placement"


@dataclass(frozen=True, slots=True)
class Shortage:
    """One limit that a layout breaks: how much it wants, how much there is, and the profiles concerned."""

    limit: Limit
    wanted: int
    available: int
    profiles: tuple[str, ...]

    def __str__(self) -> str:
        names = ", ".join(self.profiles)
        match self.limit:
            case Limit.PROFILE_COUNT:
                return f"{names}: {self.wanted} asked for, at most {self.available} on this GPU"
            case Limit.MEDIA_EXTENSIONS:
                return f"{names}: {self.wanted} asked for, the media extensions go to {self.available} instance at most"
            case Limit.MEDIA_ENGINES:
                return f"{names}: the first takes every media engine, none is left for the {self.wanted} beside it"
            case Limit.COMPUTE_SLICES | Limit.MEMORY_SLICES | Limit.INSTANCES:
                return f"{self.limit.replace('-', ' ')}: {self.wanted} needed, the GPU has {self.available}"
            case Limit.PLACEMENT:
                return f"the slices would do, but only {self.available} of the {self.wanted} instances can be placed"
            case _:
                assert_never(self.limit)


@dataclass(frozen=True, slots=True)
class Misfit:
    """A layout that does not fit, and every limit that it breaks, the most telling one first."""

    layout: Layout
    shortages: tuple[Shortage, ...]

    @property
    def reason(self) -> Limit:
        return self.shortages[0].limit

    def __str__(self) -> str:
        return "; ".join(map(str, self.shortages))


@dataclass(frozen=True, slots=True)
class Unused:
    """What a layout leaves idle on one GPU, in slices; None where the GPU is not counted in such slices."""

    compute_slices: int | None
    memory_slices: int | None
