"""SharingSpec + the chosen machine -> Cut: what each GPU of a node is cut into, and why that cannot be.

What only one cloud refuses is in its `rules`.
"""

from __future__ import annotations

from collections.abc import Mapping

from fracgpu.catalog import geometry, query
from fracgpu.catalog.choose import Choice
from fracgpu.catalog.models import Gpu, Machine, Profile
from fracgpu.errors import Finding, info
from fracgpu.sharing import Cut, Layout, Mig, Strategy, Whole
from fracgpu.spec import MigSpec, SharingSpec


def profiles_of(sharing: SharingSpec) -> list[str]:
    """Every profile name that was written, in order."""
    mig = sharing.mig
    if mig is None:
        return []
    names = [mig.profile] if mig.profile else []
    for layout in (mig.layout, *(mig.devices or ())):
        names += list(layout or ())
    return list(dict.fromkeys(names))


def written_at(mig: MigSpec | None) -> str:
    """The field that says what the GPUs are cut into: that is where a finding about the cut belongs."""
    said = [name for name in ("profile", "layout", "devices") if mig and getattr(mig, name)]
    return ".".join(("spec.sharing.mig", *said[:1]))


def cut_of(written: SharingSpec, choice: Choice, findings: list[Finding]) -> Cut:
    """The layout of each GPU of a node; Whole where what was written cannot be cut, which a finding says."""
    machine, gpu = choice.machine, choice.gpu
    mig = written.mig
    assert mig is not None
    if not gpu.mig:
        findings.append(_not_mig_capable(machine, gpu))
        return Whole()
    wanted, field_path = _wanted(mig, machine.gpu_count), written_at(mig)
    if mig.devices is not None and len(mig.devices) != machine.gpu_count:
        message = f"devices lists {len(mig.devices)} GPUs, and {machine.name} has {machine.gpu_count}"
        findings.append(
            Finding("invalid-value", message, field="spec.sharing.mig.devices", nearest=(str(machine.gpu_count),))
        )
    known: dict[str, Profile] = {}
    for name in profiles_of(written):
        profile = _profile(name, choice, field_path, findings)
        if profile:
            known[name] = profile
    if len(known) < len(profiles_of(written)) or not wanted:
        return Whole()
    if mig.devices is None:  # one layout for every GPU of the node
        path, layout = wanted[0]
        devices = (_device(layout, known, gpu, path, findings),) * len(wanted)
    else:
        devices = tuple(_device(layout, known, gpu, path, findings) for path, layout in wanted)
    different = len({profile for layout in devices for profile, _ in layout or ()}) > 1 or None in devices
    return Mig(devices, mig.strategy or (Strategy.MIXED if different else Strategy.SINGLE))


def _wanted(mig: MigSpec, gpus: int) -> list[tuple[str, Mapping[str, int | None] | None]]:
    """For each GPU of the node: the field that speaks of it, and profile -> count (None: as many as it holds)."""
    path = written_at(mig)
    if mig.profile:
        return [(path, {mig.profile: None})] * gpus
    if mig.layout:
        return [(path, mig.layout)] * gpus
    return [(f"{path}[{index}]", layout) for index, layout in enumerate(mig.devices or ())]


def _device(
    written: Mapping[str, int | None] | None, known: Mapping[str, Profile], gpu: Gpu, path: str, findings: list[Finding]
) -> Layout | None:
    """One GPU's layout in the catalog's order; a finding where it does not fit."""
    if written is None:
        return None
    counts: dict[str, int] = {}
    for name, count in written.items():
        profile = known[name]
        counts[profile.name] = counts.get(profile.name, 0) + max(profile.max_per_gpu if count is None else count, 0)
    layout = geometry.Layout.of(gpu, counts)
    answer = geometry.fit(gpu, layout)
    if isinstance(answer, geometry.Misfit) and not any(finding.field == path for finding in findings):
        near = tuple(map(str, geometry.nearest_layouts(gpu, layout)))
        hint = f"--mig {near[0]}" if near else None
        message = f"{layout} does not fit on {gpu.product}: {answer}"
        findings.append(Finding("layout-does-not-fit", message, field=path, nearest=near, hint=hint))
    return layout.profiles


def _profile(name: str, choice: Choice, path: str, findings: list[Finding]) -> Profile | None:
    gpu = choice.gpu
    match = query.find_profile(gpu, name)
    if match is None:
        findings.append(_unknown_profile(name, choice, path))
        return None
    if match.renamed:
        message = (
            f"{name} is what some drivers call {match.profile.name} on {gpu.product}; the node's own name may differ"
        )
        findings.append(info("name-depends-on-driver", message, field=path, nearest=(match.profile.name,)))
    return match.profile


def _unknown_profile(name: str, choice: Choice, path: str) -> Finding:
    gpu, machine = choice.gpu, choice.machine
    near = query.nearest_profiles(gpu, name, machine=machine)
    has = ", ".join(profile.name for profile in gpu.profiles if profile.plain)
    able = any(query.makes(machine, profile) for profile in gpu.profiles)
    other = "fracgpu catalog profiles" if able else f"fracgpu catalog machines --provider {machine.provider}"
    hint = f"--mig {near[0]}" if near else other
    if query.is_profile_name(name):
        message = f"{gpu.product} has no profile {name}; it has {has}"
        return Finding("profile-not-on-gpu", message, field=path, nearest=near, hint=hint)
    message = f"{name} is not a MIG profile; {gpu.product} has {has}"
    return Finding("unknown-profile", message, field=path, nearest=near, hint=hint)


def _not_mig_capable(machine: Machine, gpu: Gpu) -> Finding:
    message = f"{gpu.product} on {machine.name} cannot be cut by MIG"
    hint = "--time-slicing N or --mps N shares it; fracgpu catalog gpus lists GPUs with MIG"
    return Finding("gpu-not-mig-capable", message, field="spec.sharing.mig", hint=hint)
