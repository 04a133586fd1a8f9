"""gpus.md, profiles.md and machines.md, from the catalog."""

from __future__ import annotations

from docs.generator.markdown import bullets, code, codes, page, table
from fracgpu.catalog.load import Catalog
from fracgpu.catalog.models import Gpu, Machine, Placements, Profile, ProviderName
from fracgpu.providers import provider

FILES = "the files of profiles/"


def gpus(catalog: Catalog) -> str:
    """Every GPU, then what is known of each."""
    rows = [
        [
            f"[`{gpu.key}`](#{gpu.key})",
            gpu.product,
            gpu.architecture,
            gpu.compute_capability,
            f"{gpu.memory_gb:g} GB",
            gpu.compute_slices,
            len(gpu.profiles) or None,
            ", ".join(_clouds(catalog, gpu)),
        ]
        for gpu in catalog.gpus()
    ]
    columns = ("GPU", "product", "architecture", "compute capability", "memory", "MIG slices", "profiles", "clouds")
    lead = (
        "`--gpu` takes the name in the first column, any alias, or a family (`a100`, `h100`). Case, spaces, `_` and "
        "`-` make no difference. A dash is something that no source states, or that the GPU does not have."
    )
    return page("GPUs", FILES, lead, table(columns, rows), *(_gpu(gpu) for gpu in catalog.gpus()))


def _clouds(catalog: Catalog, gpu: Gpu) -> list[str]:
    return [cloud.value for cloud in ProviderName if any(one.gpu == gpu.key for one in catalog.machines(cloud))]


def _gpu(gpu: Gpu) -> str:
    facts = [
        f"{gpu.product}, {gpu.architecture}",
        f"also called {codes(gpu.aliases)}" if gpu.aliases else "",
        f"memory: {gpu.memory_gib:.2f} GiB as the driver reports it" if gpu.memory_mib else "",
        _mig_line(gpu),
        f"driver {gpu.min_driver} or newer" if gpu.min_driver else "",
        "a node reboots once when MIG is turned on" if gpu.reboots_for_mig else "",
        *gpu.notes,
    ]
    sources = [f"{source.text}" for source in gpu.sources]
    return "\n\n".join(
        [f"## {gpu.key}", bullets(fact for fact in facts if fact), f"Sources:\n\n{bullets(sources)}" if sources else ""]
    ).rstrip()


def _mig_line(gpu: Gpu) -> str:
    if not gpu.mig:
        return "no MIG: whole, time-slicing or MPS"
    slices = f"{gpu.compute_slices} compute and {gpu.memory_slices} memory slices"
    return f"MIG: {slices}, [{len(gpu.profiles)} profiles](profiles.md#{gpu.key})"


def profiles(catalog: Catalog) -> str:
    """Every profile of every GPU that has MIG, and how each cloud says it."""
    lead = (
        "A profile belongs to its GPU: `1g.10gb` of an A100 40GB is another slice than `1g.10gb` of an A100 80GB. "
        "*Placements* are the units at which an instance may start, and how many it covers; `~` marks those inferred "
        "from a GPU of the same die. The last four columns are what each cloud must be told; a dash means that it "
        "cannot be said there. EKS has no word of its own: *Bottlerocket* is the value of `mig.profile`, *mig-parted* "
        "the config of the GPU Operator. The `user-data` backend cuts every profile."
    )
    return page("MIG profiles", FILES, lead, *(_profiles(gpu) for gpu in catalog.gpus() if gpu.mig))


def _profiles(gpu: Gpu) -> str:
    columns = ("profile", "max", "compute", "memory", "GiB", "placements", "AKS", "GKE", "Bottlerocket", "mig-parted")
    rows = [
        [
            code(one.name),
            one.max_per_gpu,
            f"{one.compute_slices}/{gpu.compute_slices}",
            f"{one.memory_slices}/{gpu.memory_slices}" if one.memory_slices else None,
            one.memory_gib,
            code(_placements(one.placements)),
            code(one.aks),
            code(one.gke),
            code(one.bottlerocket),
            code(one.mig_parted_config),
        ]
        for one in gpu.profiles
    ]
    notes = [_profile_note(one) for one in gpu.profiles if one.note or one.other_names]
    parts = [f"## {gpu.key}", f"{gpu.product}.", table(columns, rows), bullets(notes)]
    return "\n\n".join(part for part in parts if part)


def _profile_note(profile: Profile) -> str:
    names = f"also called {codes(profile.other_names)}." if profile.other_names else ""
    return " ".join(part for part in (f"`{profile.name}`:", names, profile.note or "") if part)


def _placements(placements: Placements | None) -> str | None:
    if placements is None:
        return None
    doubt = "" if placements.verified else "~"
    return f"{doubt}{{{','.join(map(str, placements.starts))}}}:{placements.size}"


def machines(catalog: Catalog) -> str:
    """Every GPU machine of every cloud."""
    lead = (
        "*GPUs* below 1 is a part of a GPU: the machine is a fraction already, and can be neither cut nor shared. "
        "Several numbers are those that may be attached. *MIG* says whether the cloud can cut the GPUs of that machine."
    )
    return page("Machines", FILES, lead, *(_machines(catalog, cloud) for cloud in ProviderName))


def _machines(catalog: Catalog, cloud: ProviderName) -> str:
    found = catalog.machines(cloud)
    columns = ("machine", "GPU", "GPUs", "vCPUs", "memory", "MIG", "from version", "quota", "note")
    rows = [
        [
            code(one.name),
            f"[`{one.gpu}`](gpus.md#{one.gpu})",
            _count(one),
            one.vcpus,
            f"{one.memory_gib:g} GiB" if one.memory_gib is not None else None,
            one.mig,
            one.min_version,
            one.quota,
            "; ".join(part for part in (_architecture(one), one.mig_reason, one.note) if part),
        ]
        for one in found
    ]
    sources = [source.text for source in catalog.machine_sources(cloud)]
    head = f"## {cloud.value}\n\n{provider(cloud).TITLE}: {len(found)} machines."
    return "\n\n".join([head, table(columns, rows), f"Sources:\n\n{bullets(sources)}"])


def _count(machine: Machine) -> str:
    if machine.fractional:
        return f"{machine.gpu_fraction:.3g} ({machine.gpu_memory_gib:g} GiB)" if machine.gpu_memory_gib else "a part"
    return "/".join(map(str, machine.gpu_counts or (machine.gpu_count,)))


def _architecture(machine: Machine) -> str:
    return "arm64" if machine.architecture.value == "arm64" else ""
