"""How one GPU serves many workloads: uncut or cut into MIG slices, and shared by time-slicing or MPS, or not.

    Sharing = Cut (Whole | Mig) x Share (none | TimeSlicing | Mps)

A cut is hardware, a share is an agreement of the device plugin. Which pairs go together depends on who runs the plugin,
so the clouds' `rules` decide; the one pair that nobody can have, time-slicing and MPS at once, has no value here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

Layout = tuple[tuple[str, int], ...]
"""What one GPU is cut into: (profile name, how many), in the catalog's order, every count at least 1."""


class Strategy(StrEnum):
    """How MIG slices are named to Kubernetes: `single` calls each nvidia.com/gpu, `mixed` nvidia.com/mig-<profile>."""

    SINGLE = "single"
    MIXED = "mixed"


class Backend(StrEnum):
    """On EKS: who cuts and shares the GPUs of a node."""

    DEVICE_PLUGIN = "device-plugin"
    BOTTLEROCKET = "bottlerocket"
    USER_DATA = "user-data"
    GPU_OPERATOR = "gpu-operator"


class SharingKind(StrEnum):
    """The columns of the cloud-by-sharing table."""

    WHOLE = "whole"
    MIG = "mig"
    MIG_LAYOUT = "mig-layout"
    TIME_SLICING = "time-slicing"
    MPS = "mps"
    MIG_TIME_SLICING = "mig+time-slicing"
    MIG_MPS = "mig+mps"


@dataclass(frozen=True, slots=True)
class Whole:
    """No GPU is cut."""


@dataclass(frozen=True, slots=True)
class Mig:
    """The GPUs of a node, each with its layout; None leaves that GPU whole. Length: GPUs a node."""

    devices: tuple[Layout | None, ...]
    strategy: Strategy

    @property
    def alike(self) -> Layout | None:
        """The layout that every GPU has; None where they differ or one is whole."""
        first = self.devices[0] if self.devices else None
        return first if first and all(layout == first for layout in self.devices) else None

    @property
    def one_profile(self) -> str | None:
        """The only profile on every GPU; None where there are several, or GPUs differ."""
        alike = self.alike
        return alike[0][0] if alike and len(alike) == 1 else None

    @property
    def counts(self) -> dict[str, int]:
        """Profile -> instances a node, over all its GPUs."""
        total: dict[str, int] = {}
        for layout in self.devices:
            for profile, count in layout or ():
                total[profile] = total.get(profile, 0) + count
        return total

    @property
    def whole_gpus(self) -> int:
        """GPUs of a node that stay uncut."""
        return sum(layout is None for layout in self.devices)


@dataclass(frozen=True, slots=True)
class TimeSlicing:
    """`replicas` containers take turns on a GPU or slice. Nothing is isolated; shares are accounting.

    `several_said`: the user said that a container may ask for several, which is also what saying nothing means.
    """

    replicas: int
    one_per_container: bool = False
    rename: bool = False
    several_said: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Mps:
    """`replicas` CUDA processes run at once on a GPU, each held to its part of memory and threads."""

    replicas: int
    rename: bool = False


Cut = Whole | Mig
Share = TimeSlicing | Mps | None


@dataclass(frozen=True, slots=True)
class Sharing:
    """What a pool does with its GPUs. `config_key` is the plugin-config key that the user named, if one was named."""

    cut: Cut
    share: Share = None
    config_key: str | None = None

    @property
    def replicas(self) -> int:
        """Shares of each GPU or slice; 1 where they are not shared."""
        return self.share.replicas if self.share else 1

    @property
    def renamed(self) -> bool:
        return self.share is not None and self.share.rename

    @property
    def kind(self) -> SharingKind:
        match self.cut:
            case Whole():
                return self._by_share(SharingKind.WHOLE, SharingKind.TIME_SLICING, SharingKind.MPS)
            case Mig() as mig:
                uncombined = SharingKind.MIG if mig.one_profile else SharingKind.MIG_LAYOUT
                return self._by_share(uncombined, SharingKind.MIG_TIME_SLICING, SharingKind.MIG_MPS)

    def _by_share(self, alone: SharingKind, sliced: SharingKind, mps: SharingKind) -> SharingKind:
        match self.share:
            case None:
                return alone
            case TimeSlicing():
                return sliced
            case Mps():
                return mps
