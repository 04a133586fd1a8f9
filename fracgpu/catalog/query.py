"""Questions to the catalog by names as people write them. Nothing found is an empty answer, never an error."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import assert_never

from fracgpu.catalog.load import Catalog
from fracgpu.catalog.models import CpuArchitecture, Gpu, Machine, Profile, ProviderName
from fracgpu.catalog.spelling import aks_profile, loose_numbers, parse_profile, without_vendor, words
from fracgpu.nearest import nearest_words


@lru_cache(maxsize=1024)
def find_gpus(catalog: Catalog, text: str) -> tuple[Gpu, ...]:
    """The GPUs that a name may mean: one for a key or alias, several for a family word (a100, h100), none if unknown.

    Case, spaces, `_`, `-`, "GB" and a leading "NVIDIA" or "Tesla" make no difference.
    """
    written = words(text)
    for wanted in dict.fromkeys((written, without_vendor(written))):
        keys = _exact(catalog, wanted) or _family(catalog, wanted)
        if keys:
            return tuple(catalog.gpu(key) for key in keys)
    return ()


def _exact(catalog: Catalog, wanted: tuple[str, ...]) -> tuple[str, ...]:
    family = _family(catalog, wanted)
    if len(family) == 1:  # spares reading the aliases
        return family
    squeezed = "".join(wanted)
    return tuple(key for key in catalog.gpu_keys if squeezed in _squeezed_names(catalog, key))


def _family(catalog: Catalog, wanted: tuple[str, ...]) -> tuple[str, ...]:
    """The GPUs whose key begins with these words, whole words only: a10 is not a100."""
    if not wanted:
        return ()
    return tuple(key for key in catalog.gpu_keys if words(key)[: len(wanted)] == wanted)


@lru_cache(maxsize=256)
def _squeezed_names(catalog: Catalog, key: str) -> frozenset[str]:
    """Key and aliases of a GPU with nothing between their words, so that RTXPRO6000 is RTX PRO 6000."""
    names = (key, *catalog.gpu_aliases[key])
    return frozenset("".join(words(name)) for name in names)


def find_machine(catalog: Catalog, provider: ProviderName, name: str) -> tuple[Machine, ...]:
    """The rows of a machine name, in any case and, on AKS, without Standard_; several where GPUs are attached (N1)."""
    rows = catalog.machines_by_name(provider)
    folded = name.strip().casefold()
    return rows.get(folded) or rows.get(f"standard_{folded}", ())


@dataclass(frozen=True, slots=True)
class ProfileMatch:
    """A profile and how it was written. `renamed`: by the name that another driver or board has for it."""

    profile: Profile
    renamed: bool
    written: str


def find_profile(gpu: Gpu, text: str) -> ProfileMatch | None:
    """The profile of this GPU that a name means, in any of the spellings that spelling.py knows, or AKS's MIG1g."""
    word = aks_profile(text)
    if word:
        found = next((profile for profile in gpu.profiles if profile.aks == word), None)
        return ProfileMatch(found, False, text) if found else None
    parsed = parse_profile(text)
    name = str(parsed) if parsed else ""
    for profile in gpu.profiles:
        if profile.name == name:
            return ProfileMatch(profile, False, text)
    for profile in gpu.profiles:
        if name in profile.other_names:
            return ProfileMatch(profile, True, text)
    return None


def is_profile_name(text: str) -> bool:
    """Whether a text has the form of a MIG profile's name, on whatever GPU."""
    return parse_profile(text) is not None or aks_profile(text) is not None


def expressible(provider: ProviderName, profile: Profile) -> bool:
    """Whether this cloud has a way to cut a GPU into this profile. On EKS the cutting is not the cloud's: always."""
    match provider:
        case ProviderName.AKS:
            return profile.aks is not None
        case ProviderName.GKE:
            return profile.gke is not None
        case ProviderName.EKS:
            return True
    assert_never(provider)


@lru_cache(maxsize=4096)
def machines_for(
    catalog: Catalog,
    provider: ProviderName,
    *,
    gpu: str | None = None,
    profile: str | None = None,
    fractional: bool = False,
) -> tuple[Machine, ...]:
    """The machines of a cloud that have the GPU (a key) and can be cut into the profile, the one to choose first.

    Without a GPU, machines that GPUs are attached to and arm64 ones are left out; with one, arm64 machines are
    answered where there are no others. Machines with a part of a GPU only with `fractional`.
    """
    rows = [row for row in catalog.machines(provider) if _has(catalog, row, gpu, profile)]
    rows = [row for row in rows if fractional or not row.fractional]
    if gpu is None:
        rows = [row for row in rows if not row.accessory]
    common = [row for row in rows if row.architecture is CpuArchitecture.X86_64]
    return tuple(sorted(common or (rows if gpu else ()), key=preference))


def preference(machine: Machine) -> tuple[int, float, float, str]:
    """The order in which machines are chosen: fewest GPUs, then vCPUs, memory, name. Unknown figures come last."""
    vcpus = math.inf if machine.vcpus is None else machine.vcpus
    memory = math.inf if machine.memory_gib is None else machine.memory_gib
    return machine.gpu_count, vcpus, memory, machine.name


def _has(catalog: Catalog, machine: Machine, gpu: str | None, profile: str | None) -> bool:
    if gpu is not None and machine.gpu != gpu:
        return False
    return profile is None or (machine.mig and _offers(catalog, machine.provider, machine.gpu, profile))


@lru_cache(maxsize=4096)
def _offers(catalog: Catalog, provider: ProviderName, gpu: str, profile: str) -> bool:
    parsed = parse_profile(profile)
    if parsed and not catalog.mentions(gpu, str(parsed)):  # spares parsing the files of GPUs that have nothing like it
        return False
    found = find_profile(catalog.gpu(gpu), profile)
    return found is not None and expressible(provider, found.profile)


def profiles_of(catalog: Catalog, provider: ProviderName) -> tuple[str, ...]:
    """The names of the profiles that a cloud can make: plain ones first, by compute slices and memory."""
    keys = dict.fromkeys(machine.gpu for machine in catalog.machines(provider) if machine.mig)
    able = (p for key in keys for p in catalog.gpu(key).profiles if expressible(provider, p))
    return tuple(dict.fromkeys(profile.name for profile in sorted(able, key=_profile_order)))


def _profile_order(profile: Profile) -> tuple[bool, int, int, str]:
    parsed = parse_profile(profile.name)
    return not profile.plain, profile.compute_slices, parsed.memory_gb if parsed else 0, profile.name


def nearest_profiles(gpu: Gpu, text: str, limit: int = 3, machine: Machine | None = None) -> tuple[str, ...]:
    """The profiles of this GPU nearest to a name that it has not: same compute slices, closest memory, plain first.

    With a machine only those that its cloud can make on it.
    """
    names = (profile.name for profile in gpu.profiles if machine is None or makes(machine, profile))
    return _nearest_profile_names(names, text, limit)


def makes(machine: Machine, profile: Profile) -> bool:
    """Whether a machine's GPUs can be cut into this profile of theirs."""
    return machine.mig and not machine.fractional and expressible(machine.provider, profile)


def nearest_profiles_anywhere(
    catalog: Catalog, text: str, provider: ProviderName | None = None, limit: int = 3
) -> tuple[str, ...]:
    """The names nearest to a text of the profiles that a cloud, or any cloud, can make."""
    clouds = (provider,) if provider else tuple(ProviderName)
    names = dict.fromkeys(name for cloud in clouds for name in profiles_of(catalog, cloud))
    return _nearest_profile_names(names, text, limit)


def _nearest_profile_names(names: Iterable[str], text: str, limit: int) -> tuple[str, ...]:
    known = tuple(dict.fromkeys(names))
    numbers = loose_numbers(text)
    if numbers is None:
        return _close(text.casefold(), {name: name for name in known}, limit)
    compute, memory = numbers

    def distance(name: str) -> tuple[int, int, bool, str]:
        parsed = parse_profile(name)
        if parsed is None:
            return 99, 0, True, name
        far = 0 if memory is None else abs(parsed.memory_gb - memory)
        return abs(parsed.compute_slices - compute), far, bool(parsed.attributes), name

    return tuple(sorted(known, key=distance)[:limit])


def nearest_gpus(catalog: Catalog, text: str, limit: int = 3) -> tuple[str, ...]:
    """The keys of the GPUs whose key or an alias of which resembles a text, the closest first; none where none does."""
    names = {name: key for key in catalog.gpu_keys for name in _squeezed_names(catalog, key)}
    return _close("".join(without_vendor(words(text))), names, limit)


def nearest_machines(catalog: Catalog, provider: ProviderName, text: str, limit: int = 3) -> tuple[str, ...]:
    """The names of the machines of a cloud that resemble a text, the closest first; none where none does."""
    folded = text.strip().casefold()
    if provider is ProviderName.AKS and not folded.startswith("standard_"):
        folded = f"standard_{folded}"
    names = {name: rows[0].name for name, rows in catalog.machines_by_name(provider).items()}
    return _close(folded, names, limit)


def _close(text: str, names: dict[str, str], limit: int) -> tuple[str, ...]:
    """What the names closest to a text stand for, each once."""
    found = nearest_words(text, names, limit * 4, 0.6)
    return tuple(dict.fromkeys(names[name] for name in found))[:limit]
