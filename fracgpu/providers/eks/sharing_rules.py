"""Findings about cut and share: the table of `matrix`, what the GPU itself adds to it, and what is worth knowing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fracgpu import migconfig
from fracgpu.catalog import query
from fracgpu.errors import Finding, info, warning
from fracgpu.providers import fraction_rules, plugin_rules
from fracgpu.providers.eks import bottlerocket
from fracgpu.providers.eks.facts import STARTUP_TAINT
from fracgpu.providers.eks.matrix import Verdict, combination_of, verdict
from fracgpu.resolve import ResolvedPool
from fracgpu.sharing import Backend, Mig, Mps

_VALUES = "https://bottlerocket.dev/en/os/latest/#/api/settings/kubelet-device-plugins/"
_RACE = "https://github.com/NVIDIA/gpu-operator/issues/2670"
_REBOOT = "https://github.com/NVIDIA/gpu-operator/issues/1606"


def check(pool: ResolvedPool) -> Iterator[Finding]:
    """Every finding about cut and share."""
    refused = list(fraction_rules.check(pool))
    if refused:
        yield from refused
        return
    judged = verdict(combination_of(pool))
    if judged.code and judged.field != "spec.sharing.mps":
        yield _refusal(pool, judged)
    elif isinstance(pool.sharing.cut, Mig):
        yield from _cut(pool)
    if pool.backend is Backend.BOTTLEROCKET:
        yield from _bottlerocket(pool, judged)
    else:
        yield from plugin_rules.check(pool)
    if isinstance(pool.sharing.cut, Mig):
        yield from _mig_notes(pool, pool.sharing.cut)
    if pool.eks.startup_taint and not cut_by_operator(pool):
        message = "a startup taint is for GPUs that the GPU Operator cuts; these are ready when the node joins"
        yield Finding("conflicting-fields", message, field="spec.eks.startupTaint", hint="leave it out")


def cut_by_operator(pool: ResolvedPool) -> bool:
    return pool.backend is Backend.GPU_OPERATOR and isinstance(pool.sharing.cut, Mig)


def _refusal(pool: ResolvedPool, judged: Verdict) -> Finding:
    near = (judged.instead.value,) if judged.instead else ()
    hint = f"--backend {judged.instead}" if judged.instead else _other_way(pool)
    return Finding(judged.code or "", judged.text, field=judged.field, hint=hint, nearest=near, link=judged.link)


def _other_way(pool: ResolvedPool) -> str:
    if isinstance(pool.sharing.share, Mps):
        return "--time-slicing N shares slices; MPS needs whole GPUs"
    return "--mig-strategy mixed names slices by their profile"


def _bottlerocket(pool: ResolvedPool, judged: Verdict) -> Iterator[Finding]:
    """Bottlerocket's own plugin: it reads no config, and shares as its settings say."""
    share = pool.sharing.share
    if judged.field == "spec.sharing.mps":
        yield _refusal(pool, judged)
    elif isinstance(share, Mps) and share.replicas > plugin_rules.most_clients(pool):
        most = str(plugin_rules.most_clients(pool))
        message = f"Bottlerocket takes at most {most} replicas under MPS, not {share.replicas}"
        field = "spec.sharing.mps.replicas"
        yield Finding(
            "replicas-out-of-range", message, field=field, nearest=(most,), hint=f"--mps {most}", link=_VALUES
        )
    if pool.sharing.config_key is not None:
        message = "Bottlerocket's device plugin reads no plugin config; its settings are in the user data"
        yield Finding("not-expressible", message, field="spec.sharing.configKey", hint="leave it out")
    yield from _os_versions(pool)


def _cut(pool: ResolvedPool) -> Iterator[Finding]:
    if not pool.machine.mig:
        message = pool.machine.mig_reason or f"the GPUs of {pool.machine.name} cannot be cut on EKS"
        hint = "fracgpu catalog machines --provider eks --mig PROFILE"
        yield Finding("not-expressible", message, field="spec.sharing.mig", hint=hint)
    elif pool.backend is Backend.BOTTLEROCKET:
        yield from _bottlerocket_profile(pool)


def _bottlerocket_profile(pool: ResolvedPool) -> Iterator[Finding]:
    """Bottlerocket knows some GPUs and plain profiles; an unknown word fails the node's first boot."""
    profile = next(iter(pool.profiles().values()), None)
    if profile is None:
        return
    known = tuple(row.name for row in pool.gpu.profiles if row.bottlerocket) if pool.gpu.bottlerocket_key else ()
    if profile.name in known:
        return
    near = tuple(one for one in query.nearest_profiles(pool.gpu, profile.name, limit=99) if one in known)[:3]
    knows = f"only {', '.join(known)}" if known else "no settings for this GPU"
    message = f"Bottlerocket cannot make {profile.name} of {pool.gpu.product}: it has {knows}"
    hint = f"--backend {Backend.USER_DATA}" + (f", or --mig {near[0]}" if near else "")
    yield Finding("not-expressible", message, field=pool.cut_field, hint=hint, nearest=near, link=_VALUES)


def _mig_notes(pool: ResolvedPool, cut: Mig) -> Iterator[Finding]:
    field = "spec.sharing.mig"
    if pool.gpu.reboots_for_mig and pool.backend is not Backend.DEVICE_PLUGIN:
        message = f"a node with {pool.gpu.product} may reboot once before its slices are there"
        hint = "the GPU Operator needs WITH_REBOOT=true for it" if pool.backend is Backend.GPU_OPERATOR else None
        yield info("first-boot-reboots", message, field=field, hint=hint, link=_REBOOT)
    if pool.backend is Backend.GPU_OPERATOR:
        yield _race(pool)
        name = migconfig.config_name(pool.gpu, cut)
        if migconfig.is_custom(name):
            message = f"the MIG config {name} is fracgpu's own: the MIG manager must be given it"
            yield info("mig-config-needed", message, field=field, hint="fracgpu plugin mig-parted")


def _race(pool: ResolvedPool) -> Finding:
    field = "spec.sharing.mig.backend"
    if pool.eks.startup_taint:
        taint = f"{STARTUP_TAINT.key}={STARTUP_TAINT.value}:{STARTUP_TAINT.effect}"
        message = f"nodes come with the taint {taint}, which somebody has to take off when they are cut"
        hint = (
            "fracgpu plugin mig-taint prints what does, and plugin values let the operator's pods on; "
            f"the Cluster Autoscaler wants --startup-taint={STARTUP_TAINT.key}"
        )
        return info("mig-label-race", message, field=field, hint=hint, link=_RACE)
    message = "until the MIG manager has cut a new node its whole GPUs are on offer, and a pod may take one"
    hint = "--backend bottlerocket or user-data cuts before the node joins; eks.startupTaint=true keeps pods off"
    return warning("mig-label-race", message, field=field, hint=hint, link=_RACE)


def _os_versions(pool: ResolvedPool) -> Iterator[Finding]:
    """Bottlerocket releases that know the settings; told, since EKS takes the newest unless a release is named."""
    needs = [bottlerocket.share_of(pool.sharing.share)]
    if isinstance(pool.sharing.cut, Mig):
        needs.append((bottlerocket.SINCE_MIG, "MIG"))
        if pool.gpu.key in bottlerocket.UNCONFIRMED:
            message = f"that Bottlerocket calls {pool.gpu.product} {pool.gpu.bottlerocket_key} is not documented"
            hint = "try one node first (--nodes 1), or --backend user-data"
            yield warning("settings-key-unconfirmed", message, field="spec.sharing.mig", hint=hint, link=_VALUES)
    for need in needs:
        if need is not None:
            yield from _os_version(pool, *need)


def _os_version(pool: ResolvedPool, since: tuple[int, int, int], what: str) -> Iterator[Finding]:
    words = ".".join(map(str, since[:2]))
    said = re.match(r"(\d+)\.(\d+)\.(\d+)", pool.eks.release_version or "")
    if said and tuple(map(int, said.groups())) < since:
        message = f"{what} needs Bottlerocket {words} or newer, and releaseVersion is {pool.eks.release_version}"
        hint = "leave releaseVersion out for the newest"
        yield warning("version-too-old", message, field="spec.eks.releaseVersion", hint=hint, link=_VALUES)
    elif not said:
        message = f"{what} needs Bottlerocket {words} or newer, which EKS's current images are"
        yield info("min-os-version", message, field="spec.eks.amiType", link=_VALUES)
