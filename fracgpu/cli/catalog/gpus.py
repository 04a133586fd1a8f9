"""`fracgpu catalog gpus`."""

from __future__ import annotations

from typing import Any

from fracgpu.catalog.load import Catalog, load
from fracgpu.catalog.models import Gpu, ProviderName
from fracgpu.cli import output
from fracgpu.cli.catalog.pick import GpuOption, gpus_called
from fracgpu.cli.output import Output, OutputOption

COLUMNS = ("GPU", "PRODUCT", "ARCH", "CC", "MEMORY", "SLICES", "PROFILES", "CLOUDS")


def gpus(gpu: GpuOption = None, out: OutputOption = Output.TABLE) -> None:
    """Every GPU of the catalog: memory, slices, and which clouds have it."""
    catalog = load()
    found = gpus_called(catalog, gpu)
    if output.write_document(out, "GpuList", {"items": [gpu_json(catalog, one) for one in found]}):
        return
    if out is Output.NAME:
        output.write("\n".join(one.key for one in found))
        return
    output.table(COLUMNS, [_row(catalog, one) for one in found])


def clouds_with(catalog: Catalog, gpu: Gpu) -> list[str]:
    return [cloud.value for cloud in ProviderName if any(machine.gpu == gpu.key for machine in catalog.machines(cloud))]


def gpu_json(catalog: Catalog, gpu: Gpu) -> dict[str, Any]:
    """One GPU as the catalog lists it; what no source states is null."""
    return {
        "name": gpu.key,
        "product": gpu.product,
        "architecture": gpu.architecture,
        "computeCapability": gpu.compute_capability,
        "memoryGb": gpu.memory_gb,
        "memoryGib": round(gpu.memory_gib, 2),
        "mig": gpu.mig,
        "computeSlices": gpu.compute_slices,
        "memorySlices": gpu.memory_slices,
        "placementUnits": gpu.placement_units,
        "maxInstances": gpu.max_instances,
        "minDriver": gpu.min_driver,
        "rebootsForMig": gpu.reboots_for_mig,
        "aliases": list(gpu.aliases),
        "profiles": [profile.name for profile in gpu.profiles],
        "clouds": clouds_with(catalog, gpu),
        "notes": list(gpu.notes),
        "sources": [source.text for source in gpu.sources],
    }


def _row(catalog: Catalog, gpu: Gpu) -> list[Any]:
    slices = f"{gpu.compute_slices}g" if gpu.mig else None
    clouds = " ".join(clouds_with(catalog, gpu)) or None
    memory = f"{gpu.memory_gb:g} GB"
    return [gpu.key, gpu.product, gpu.architecture, gpu.compute_capability, memory, slices, len(gpu.profiles), clouds]
