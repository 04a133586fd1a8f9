"""`fracgpu catalog machines`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from fracgpu.catalog import query
from fracgpu.catalog.load import Catalog, load
from fracgpu.catalog.models import Machine, ProviderName
from fracgpu.cli import output
from fracgpu.cli.catalog.pick import GpuOption, ProviderOption, gpus_called, providers_called, say_nothing_found
from fracgpu.cli.output import Output, OutputOption
from fracgpu.errors import Invalid

COLUMNS = ("PROVIDER", "MACHINE", "GPU", "GPUS", "VCPUS", "MEMORY", "MIG")
MigOption = Annotated[
    str | None, typer.Option("--mig", help="Only machines that can be cut into this profile", show_default=False)
]


def machines(
    provider: ProviderOption = None, gpu: GpuOption = None, mig: MigOption = None, out: OutputOption = Output.TABLE
) -> None:
    """Machines with a GPU: how many of which, and whether that cloud cuts them."""
    catalog = load()
    keys = {one.key for one in gpus_called(catalog, gpu)} if gpu else None
    clouds = providers_called(provider)
    if mig:
        _check_profile(catalog, mig)
    found = _found(catalog, clouds, keys, mig)
    if not found:
        _say_why(catalog, clouds, gpu, keys, mig)
    if output.write_document(out, "MachineList", {"items": [machine_json(machine) for machine in found]}):
        return
    if out is Output.NAME:
        output.write("\n".join(dict.fromkeys(machine.name for machine in found)))
        return
    output.table(COLUMNS, [_row(machine) for machine in found])


def _check_profile(catalog: Catalog, mig: str) -> None:
    if any(query.find_profile(gpu, mig) for gpu in catalog.gpus()):
        return
    near = query.nearest_profiles_anywhere(catalog, mig)
    known = query.is_profile_name(mig)
    message = f"no GPU has the profile {mig}" if known else f"{mig} is not a MIG profile"
    raise Invalid.one("unknown-profile", message, field="--mig", nearest=near, hint="fracgpu catalog profiles")


def _found(catalog: Catalog, clouds: Sequence[ProviderName], keys: set[str] | None, mig: str | None) -> list[Machine]:
    """Machines of these clouds with one of these GPUs that can be cut so, arm64 and attached GPUs included."""
    rows = [row for cloud in clouds for row in catalog.machines(cloud) if keys is None or row.gpu in keys]
    return [row for row in rows if not mig or _able(catalog, row, mig)]


def _able(catalog: Catalog, machine: Machine, mig: str) -> bool:
    match = query.find_profile(catalog.gpu(machine.gpu), mig)
    return match is not None and query.makes(machine, match.profile)


def _say_why(
    catalog: Catalog, clouds: Sequence[ProviderName], gpu: str | None, keys: set[str] | None, mig: str | None
) -> None:
    """What would have had to be so, and where it is: other clouds, or other profiles of these machines."""
    where = f" of {clouds[0].upper()}" if len(clouds) == 1 else ""
    wanted = " and ".join([f"has {gpu}"] * bool(gpu) + [f"can be cut into {mig}"] * bool(mig))
    others = [cloud for cloud in ProviderName if cloud not in clouds and _found(catalog, [cloud], keys, mig)]
    able = {row.gpu: row for row in _found(catalog, clouds, keys, None) if row.mig} if mig else {}
    near = tuple(
        dict.fromkeys(
            name
            for key, row in able.items()
            for name in query.nearest_profiles(catalog.gpu(key), mig or "", machine=row)
        )
    )
    hint = "fracgpu catalog gpus says which GPUs have MIG" if mig and not able else None
    if others:
        hint = f"there are some with {' and with '.join(f'--provider {cloud}' for cloud in others)}"
    say_nothing_found(f"no machine{where} {wanted}", nearest=near[:3], hint=hint)


def machine_json(machine: Machine) -> dict[str, Any]:
    """One machine of one cloud; what no source states is null."""
    return {
        "provider": machine.provider.value,
        "name": machine.name,
        "gpu": machine.gpu,
        "gpuCount": machine.gpu_count,
        "gpuCounts": list(machine.gpu_counts or (machine.gpu_count,)),
        "gpuFraction": machine.gpu_fraction,
        "gpuMemoryGib": machine.gpu_memory_gib,
        "vcpus": machine.vcpus,
        "memoryGib": machine.memory_gib,
        "architecture": machine.architecture.value,
        "mig": machine.mig,
        "migReason": machine.mig_reason,
        "accelerator": machine.accelerator,
        "minVersion": machine.min_version,
        "os": list(machine.os),
        "quota": machine.quota,
        "amiTypes": list(machine.ami_types),
        "note": machine.note,
    }


def _row(machine: Machine) -> list[Any]:
    counts = machine.gpu_counts or (machine.gpu_count,)
    gpus = "/".join(map(str, counts)) if machine.gpu_fraction == 1 else f"{machine.gpu_fraction:.3g}"
    memory = f"{machine.memory_gib:g} GiB" if machine.memory_gib is not None else None
    return [machine.provider.value, machine.name, machine.gpu, gpus, machine.vcpus, memory, machine.mig]
