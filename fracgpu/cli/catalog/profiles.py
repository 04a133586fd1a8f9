"""`fracgpu catalog profiles`."""

from __future__ import annotations

from typing import Any

from fracgpu.catalog.load import load
from fracgpu.catalog.models import Gpu, Profile
from fracgpu.cli import output
from fracgpu.cli.catalog.pick import GpuOption, gpus_called, say_nothing_found
from fracgpu.cli.output import Output, PictureOption
from fracgpu.errors import Invalid

COLUMNS = ("GPU", "PROFILE", "MAX", "COMPUTE", "MEMORY", "GIB", "PLACEMENTS", "AKS", "GKE", "BOTTLEROCKET")


def profiles(gpu: GpuOption = None, out: PictureOption = Output.TABLE) -> None:
    """MIG profiles: what a slice is, where it may lie, and how each cloud says it."""
    called = gpus_called(load(), gpu)
    found = [(one, profile) for one in called for profile in one.profiles]
    if out is Output.SVG:
        output.write(_drawn(gpu))
        return
    if not found:
        products = " and ".join(one.product for one in called)
        say_nothing_found(f"{products} cannot be cut by MIG", hint="--time-slicing N or --mps N shares it whole")
    if output.write_document(out, "ProfileList", {"items": [profile_json(*pair) for pair in found]}):
        return
    if out is Output.NAME:
        output.write("\n".join(f"{one.key}/{profile.name}" for one, profile in found))
        return
    output.table(COLUMNS, [_row(*pair) for pair in found])


def profile_json(gpu: Gpu, profile: Profile) -> dict[str, Any]:
    """One profile of one GPU; what no source states is null."""
    placements = profile.placements
    return {
        "gpu": gpu.key,
        "name": profile.name,
        "maxPerGpu": profile.max_per_gpu,
        "computeSlices": profile.compute_slices,
        "memorySlices": profile.memory_slices,
        "memoryGib": profile.memory_gib,
        "memoryMib": profile.memory_mib,
        "smCount": profile.sm_count,
        "profileId": profile.profile_id,
        "attributes": list(profile.attributes),
        "placements": placements
        and {"starts": list(placements.starts), "size": placements.size, "verified": placements.verified},
        "resource": profile.resource,
        "otherNames": list(profile.other_names),
        "aks": profile.aks,
        "gke": profile.gke,
        "eks": {"bottlerocket": profile.bottlerocket, "gpuOperator": profile.mig_parted_config},
        "note": profile.note,
        "sources": [source.text for source in gpu.sources if source.key in profile.sources],
    }


def _row(gpu: Gpu, profile: Profile) -> list[Any]:
    placements = profile.placements
    doubt = "" if placements is None or placements.verified else "~"
    where = f"{doubt}{{{','.join(map(str, placements.starts))}}}:{placements.size}" if placements else None
    compute = f"{profile.compute_slices}/{gpu.compute_slices}"
    memory = f"{profile.memory_slices}/{gpu.memory_slices}" if profile.memory_slices else None
    said = (profile.aks, profile.gke, profile.bottlerocket)
    return [gpu.key, profile.name, profile.max_per_gpu, compute, memory, profile.memory_gib, where, *said]


def _drawn(text: str | None) -> str:
    """Each profile of one GPU, as many as it holds."""
    from fracgpu.catalog import geometry
    from fracgpu.cli.svg import gpu_svg

    found = gpus_called(load(), text) if text else ()
    if len(found) != 1:
        near = tuple(one.key for one in found)
        raise Invalid.one(
            "usage", "a picture is of one GPU", field="--gpu", nearest=near, hint="--gpu a100-40gb -o svg"
        )
    panels = []
    for profile in found[0].profiles:
        answer = geometry.fit(found[0], geometry.uniform(found[0], profile))
        if isinstance(answer, geometry.Arrangement):
            panels.append((f"{profile.max_per_gpu} x {profile.name}", answer))
    return gpu_svg(found[0], panels)
