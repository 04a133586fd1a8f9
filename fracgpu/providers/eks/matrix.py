"""Who can cut and share what on EKS: every backend with every cut, strategy and share, and why not where it cannot.

One function decides, `verdict`; the rules turn it into findings, the documentation into a table.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from fracgpu.resolve import ResolvedPool
from fracgpu.sharing import Backend, Mig, Mps, Strategy, TimeSlicing

_MPS = "https://github.com/NVIDIA/k8s-device-plugin#with-cuda-mps"
_STRATEGY = "https://docs.nvidia.com/datacenter/cloud-native/kubernetes/latest/index.html#the-single-strategy"
_BOTTLEROCKET_MPS = "https://github.com/bottlerocket-os/bottlerocket-settings-sdk"
_BOTTLEROCKET_MIXED = "https://github.com/bottlerocket-os/bottlerocket/issues/4483"
_PLUGIN = "https://github.com/NVIDIA/k8s-device-plugin/issues/225"


class Cutting(StrEnum):
    """How the GPUs of a node are cut, as far as it matters who cuts them."""

    WHOLE = "whole"
    FULL = "one profile, as many as fit"
    PART = "one profile, fewer than fit"
    LAYOUT = "several profiles, or GPUs that differ"


class Shared(StrEnum):
    NONE = "none"
    TIME_SLICING = "time-slicing"
    MPS = "mps"


@dataclass(frozen=True, slots=True)
class Combination:
    """One row of the table. `strategy` is None for whole GPUs."""

    backend: Backend
    cutting: Cutting
    strategy: Strategy | None
    shared: Shared


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a combination works: `how` it is done, or the reason, the field that it is about and what would do."""

    code: str | None
    text: str
    field: str = "spec.sharing.mig"
    link: str | None = None
    instead: Backend | None = None

    @property
    def works(self) -> bool:
        return self.code is None


def combinations() -> Iterator[Combination]:
    """Every row of the table."""
    for backend, cutting, shared in itertools.product(Backend, Cutting, Shared):
        for strategy in (None,) if cutting is Cutting.WHOLE else tuple(Strategy):
            yield Combination(backend, cutting, strategy, shared)


def combination_of(pool: ResolvedPool) -> Combination:
    cut = pool.sharing.cut
    strategy = cut.strategy if isinstance(cut, Mig) else None
    return Combination(pool.backend or Backend.DEVICE_PLUGIN, cutting_of(pool), strategy, shared_of(pool))


def cutting_of(pool: ResolvedPool) -> Cutting:
    cut = pool.sharing.cut
    if not isinstance(cut, Mig):
        return Cutting.WHOLE
    name = cut.one_profile
    profile = pool.profiles().get(name) if name else None
    if profile is None:
        return Cutting.LAYOUT
    return Cutting.FULL if cut.alike == ((profile.name, profile.max_per_gpu),) else Cutting.PART


def shared_of(pool: ResolvedPool) -> Shared:
    match pool.sharing.share:
        case TimeSlicing():
            return Shared.TIME_SLICING
        case Mps():
            return Shared.MPS
        case None:
            return Shared.NONE


def verdict(row: Combination) -> Verdict:
    """Whether a combination works on EKS, and how, or why not."""
    if row.cutting is Cutting.WHOLE:
        return _whole(row)
    if row.shared is Shared.MPS:
        return _mps_on_slices(row)
    if row.strategy is Strategy.SINGLE and row.cutting is Cutting.LAYOUT:
        reason = "under strategy single every GPU of a node is cut into one and the same profile"
        return Verdict("not-expressible", reason, "spec.sharing.mig.strategy", _STRATEGY)
    match row.backend:
        case Backend.DEVICE_PLUGIN:
            reason = "the device plugin shares GPUs and cuts none, and EKS has nobody else who would"
            return Verdict("not-expressible", reason, "spec.eks.backend", _PLUGIN, _cutter(row))
        case Backend.BOTTLEROCKET:
            return _bottlerocket(row)
        case Backend.USER_DATA:
            return Verdict(None, "a script in the user data cuts the GPUs before the kubelet starts, at every boot")
        case Backend.GPU_OPERATOR:
            return Verdict(None, "the GPU Operator's MIG manager cuts the GPUs by the label nvidia.com/mig.config")


def _cutter(row: Combination) -> Backend:
    """Who would do it instead."""
    plain = row.cutting is Cutting.FULL and row.strategy is Strategy.SINGLE
    return Backend.BOTTLEROCKET if plain else Backend.USER_DATA


def _whole(row: Combination) -> Verdict:
    match row.backend:
        case Backend.USER_DATA:
            reason = "the user-data backend cuts GPUs by MIG, and nothing is to be cut"
            return Verdict("not-expressible", reason, "spec.eks.backend", instead=Backend.DEVICE_PLUGIN)
        case Backend.BOTTLEROCKET:
            how = "Bottlerocket's own device plugin"
        case Backend.DEVICE_PLUGIN:
            how = "NVIDIA's device plugin in the cluster"
        case Backend.GPU_OPERATOR:
            how = "the GPU Operator's device plugin"
    if row.shared is Shared.NONE:
        return Verdict(None, f"{how} advertises them")
    by = "settings in the user data" if row.backend is Backend.BOTTLEROCKET else "a config that a node label names"
    return Verdict(None, f"{how} shares them, by {by}")


def _mps_on_slices(row: Combination) -> Verdict:
    if row.backend is Backend.BOTTLEROCKET:
        reason = "Bottlerocket takes MPS or MIG, not both: the node would fail at boot"
        return Verdict("sharing-conflict", reason, "spec.sharing.mps", _BOTTLEROCKET_MPS)
    return Verdict("sharing-conflict", "the device plugin has no MPS on MIG slices", "spec.sharing.mps", _MPS)


def _bottlerocket(row: Combination) -> Verdict:
    if row.strategy is Strategy.MIXED:
        reason = "Bottlerocket's device plugin knows strategy single only: every slice is an nvidia.com/gpu"
        return Verdict(
            "not-expressible", reason, "spec.sharing.mig.strategy", _BOTTLEROCKET_MIXED, instead=Backend.USER_DATA
        )
    if row.cutting is not Cutting.FULL:
        reason = "Bottlerocket cuts a GPU into as many slices of one profile as it holds"
        return Verdict("not-expressible", reason, "spec.sharing.mig", _BOTTLEROCKET_MIXED, instead=Backend.USER_DATA)
    return Verdict(None, "Bottlerocket cuts the GPUs at boot, by settings in the user data")
