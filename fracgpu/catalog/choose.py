"""Which machine, of which GPU, a pool gets: from what the user named, or from the profile alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fracgpu.catalog import query
from fracgpu.catalog.load import Catalog
from fracgpu.catalog.models import Gpu, Machine, ProviderName
from fracgpu.errors import Finding


@dataclass(frozen=True, slots=True)
class Choice:
    """A machine and its GPU. `chosen` is True where fracgpu picked the machine."""

    machine: Machine
    gpu: Gpu
    chosen: bool = False


def choose(
    catalog: Catalog, provider: ProviderName, *, machine: str | None, gpu: str | None, profiles: Sequence[str]
) -> Choice | Finding:
    """The machine for what was named: either, both or neither of machine and GPU, and the MIG profiles asked for."""
    if machine:
        return _named(catalog, provider, machine, gpu)
    gpus = query.find_gpus(catalog, gpu) if gpu else ()
    if gpu and not gpus:
        return _unknown_gpu(catalog, gpu)
    if not gpu and not profiles:
        hint = "--machine NAME or --gpu NAME; fracgpu catalog machines lists them"
        return Finding(
            "missing-field", "neither a machine, nor a GPU, nor a MIG profile is named", field="spec.machine", hint=hint
        )
    return _best(catalog, provider, gpu, gpus, profiles)


def _named(catalog: Catalog, provider: ProviderName, machine: str, gpu: str | None) -> Choice | Finding:
    rows = query.find_machine(catalog, provider, machine)
    if not rows:
        return _unknown_machine(catalog, provider, machine)
    if not gpu:
        if len(rows) == 1:
            return Choice(rows[0], catalog.gpu(rows[0].gpu))
        carried = tuple(row.gpu for row in rows)
        message = f"{rows[0].name} takes {', '.join(carried[:-1])} or {carried[-1]}: which one?"
        return Finding("missing-field", message, field="spec.gpu", nearest=carried, hint=f"--gpu {carried[0]}")
    wanted = query.find_gpus(catalog, gpu)
    if not wanted:
        return _unknown_gpu(catalog, gpu)
    match = next((row for row in rows if any(one.key == row.gpu for one in wanted)), None)
    return Choice(match, catalog.gpu(match.gpu)) if match else _mismatch(catalog, provider, rows, wanted, gpu)


def _best(
    catalog: Catalog, provider: ProviderName, gpu: str | None, gpus: tuple[Gpu, ...], profiles: Sequence[str]
) -> Choice | Finding:
    """The best machine that has the GPU and can cut it into the profiles."""
    offers = _offers(catalog, provider, gpus, profiles)
    if offers:
        best = min(offers, key=query.preference)
        return Choice(best, catalog.gpu(best.gpu), chosen=True)
    if gpus:
        # With the GPU named, a profile that it lacks is said of the GPU, not of the cloud.
        rows = [row for one in gpus for row in query.machines_for(catalog, provider, gpu=one.key, fractional=True)]
        if rows:
            best = min(rows, key=query.preference)
            return Choice(best, catalog.gpu(best.gpu), chosen=True)
        return _not_offered(catalog, provider, gpu or "", gpus)
    return _no_such_profile(catalog, provider, profiles[0])


def _offers(catalog: Catalog, provider: ProviderName, gpus: tuple[Gpu, ...], profiles: Sequence[str]) -> list[Machine]:
    """Machines that have one of the GPUs and can be cut into all the profiles, else into the first."""
    wanted: list[str | None] = [one.key for one in gpus] or [None]

    def able(profile: str | None) -> list[Machine]:
        return [row for key in wanted for row in query.machines_for(catalog, provider, gpu=key, profile=profile)]

    first, *others = profiles or (None,)
    rows = able(first)
    names = [{row.name for row in able(profile)} for profile in others]
    return [row for row in rows if all(row.name in some for some in names)] or rows


def _unknown_gpu(catalog: Catalog, gpu: str) -> Finding:
    near = query.nearest_gpus(catalog, gpu)
    return Finding(
        "unknown-gpu", f"no GPU is called {gpu}", field="spec.gpu", nearest=near, hint="fracgpu catalog gpus"
    )


def _unknown_machine(catalog: Catalog, provider: ProviderName, machine: str) -> Finding:
    elsewhere = next((cloud for cloud in ProviderName if query.find_machine(catalog, cloud, machine)), None)
    if elsewhere:
        message = f"{machine} is a machine of {elsewhere.upper()}, not of {provider.upper()}"
    else:
        message = f"{provider.upper()} has no GPU machine called {machine}"
    alike = query.find_machine(catalog, elsewhere, machine) if elsewhere else ()
    near = _same_hardware(catalog, provider, alike) or query.nearest_machines(catalog, provider, machine)
    hint = f"fracgpu catalog machines --provider {provider}"
    if elsewhere:
        hint = f"--provider {elsewhere}" + (f", or --machine {near[0]}" if near else "")
    return Finding("unknown-machine", message, field="spec.machine", nearest=near, hint=hint)


def _same_hardware(catalog: Catalog, provider: ProviderName, rows: Sequence[Machine]) -> tuple[str, ...]:
    """The machines of this cloud that are to another cloud's what is nearest: its GPU, as many of them."""
    offers = [
        (abs(offer.gpu_count - row.gpu_count), query.preference(offer), offer.name)
        for row in rows
        for offer in query.machines_for(catalog, provider, gpu=row.gpu)
    ]
    return tuple(dict.fromkeys(name for _, _, name in sorted(offers)))[:3]


def _mismatch(
    catalog: Catalog, provider: ProviderName, rows: Sequence[Machine], wanted: tuple[Gpu, ...], gpu: str
) -> Finding:
    has = " or ".join(catalog.gpu(row.gpu).product for row in rows)
    offers = sorted(
        (row for one in wanted for row in query.machines_for(catalog, provider, gpu=one.key)), key=query.preference
    )
    message = f"{rows[0].name} carries {has}, not {wanted[0].product if len(wanted) == 1 else gpu}"
    near = tuple(dict.fromkeys(row.name for row in offers))[:3]
    hint = f"machines with it: {', '.join(near)}" if near else f"no machine of {provider.upper()} has it"
    return Finding("machine-gpu-mismatch", message, field="spec.machine", nearest=near, hint=hint)


def _not_offered(catalog: Catalog, provider: ProviderName, gpu: str, gpus: tuple[Gpu, ...]) -> Finding:
    clouds = [
        cloud.upper() for cloud in ProviderName if any(query.machines_for(catalog, cloud, gpu=one.key) for one in gpus)
    ]
    has = "has" if len(clouds) == 1 else "have"
    where = f"; {' and '.join(clouds)} {has} it" if clouds else "; no machine of the three clouds has it"
    here = {row.gpu: None for row in sorted(catalog.machines(provider), key=query.preference)}
    near = tuple(sorted(here, key=lambda key: _unlike(catalog.gpu(key), gpus[0])))[:3]
    message = f"{provider.upper()} has no machine with {gpu}{where}"
    return Finding(
        "not-expressible",
        message,
        field="spec.gpu",
        nearest=near,
        hint=f"fracgpu catalog machines --provider {provider}",
    )


def _unlike(one: Gpu, other: Gpu) -> tuple[bool, float]:
    """How far a GPU is from another: cut by MIG or not, then memory."""
    return one.mig != other.mig, abs(one.memory_gb - other.memory_gb)


def _no_such_profile(catalog: Catalog, provider: ProviderName, profile: str) -> Finding:
    owners = [gpu for gpu in catalog.gpus() if query.find_profile(gpu, profile)]
    if not owners:
        near = query.nearest_profiles_anywhere(catalog, profile, provider)
        return Finding(
            "unknown-profile",
            f"no GPU has a MIG profile called {profile}",
            field="spec.sharing.mig.profile",
            nearest=near,
            hint="fracgpu catalog profiles",
        )
    rows = [row for gpu in owners for row in query.machines_for(catalog, provider, gpu=gpu.key, profile=profile)]
    if rows:
        return _not_unasked(rows, profile)
    clouds = [cloud.upper() for cloud in ProviderName if query.machines_for(catalog, cloud, profile=profile)]
    where = f"; {' and '.join(clouds)} can" if clouds else ""
    names = ", ".join(gpu.key for gpu in owners)
    message = f"no machine of {provider.upper()} can be cut into {profile} (a profile of {names}){where}"
    near = query.nearest_profiles_anywhere(catalog, profile, provider)
    hint = f"--mig {near[0]}" if near else None
    return Finding("not-expressible", message, field="spec.sharing.mig.profile", nearest=near, hint=hint)


def _not_unasked(rows: Sequence[Machine], profile: str) -> Finding:
    near = tuple(dict.fromkeys(row.name for row in sorted(rows, key=query.preference)))[:3]
    message = f"only {rows[0].architecture} machines can be cut into {profile}, and one of those has to be asked for"
    return Finding("missing-field", message, field="spec.machine", nearest=near, hint=f"--machine {near[0]}")
