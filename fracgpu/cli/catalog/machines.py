"""`fracgpu catalog machines`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fracgpu.catalog import query
from fracgpu.catalog.load import load
from fracgpu.catalog.models import Machine
from fracgpu.cli import output
from fracgpu.cli.catalog.pick import GpuOption, ProviderOption, gpus_called, providers_called
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
    if mig and not query.is_profile_name(mig):
        near = query.nearest_profiles_anywhere(catalog, mig)
        message = f"{mig} is not a MIG profile"
        raise Invalid.one("unknown-profile", message, field="--mig", nearest=near, hint="fracgpu catalog profiles")
    found = [machine for cloud in clouds for machine in catalog.machines(cloud) if keys is None or machine.gpu in keys]
    if mig:
        able = {id(machine) for cloud in clouds for machine in _able(cloud, mig)}
        found = [machine for machine in found if id(machine) in able]
    if output.write_document(out, "MachineList", {"items": [machine_json(machine) for machine in found]}):
        return
    if out is Output.NAME:
        output.write("\n".join(dict.fromkeys(machine.name for machine in found)))
        return
    output.table(COLUMNS, [_row(machine) for machine in found])


def _able(cloud: Any, mig: str) -> list[Machine]:
    """Machines of a cloud that can be cut into the profile, arm64 and attached GPUs included."""
    catalog = load()
    rows = []
    for machine in catalog.machines(cloud):
        match = query.find_profile(catalog.gpu(machine.gpu), mig)
        if machine.mig and match and query.expressible(cloud, match.profile):
            rows.append(machine)
    return rows


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
