"""Which cuts and shares AKS has: one `gpuInstanceProfile` of five for every GPU of a pool; sharing is the plugin's."""

from __future__ import annotations

from collections.abc import Iterator

from fracgpu.catalog import query
from fracgpu.catalog.models import Profile
from fracgpu.errors import Finding, info
from fracgpu.providers.aks.desired import os_sku, os_type
from fracgpu.resolve import ResolvedPool
from fracgpu.sharing import Mig, SharingKind

MIG_DOCS = "https://learn.microsoft.com/azure/aks/gpu-multi-instance"


def check(pool: ResolvedPool) -> Iterator[Finding]:
    """Every finding about the cut, and about who runs the plugin."""
    if isinstance(pool.sharing.cut, Mig) and not pool.machine.fractional:
        yield from _mig(pool, pool.sharing.cut)
    if os_type(pool) == "Windows" and pool.sharing.kind is not SharingKind.WHOLE:
        message = f"GPUs are neither cut nor shared on Windows nodes ({os_sku(pool)})"
        yield Finding(
            "not-expressible", message, field="spec.aks.osSku", hint="--set aks.osSku=Ubuntu", nearest=("Ubuntu",)
        )


def _mig(pool: ResolvedPool, cut: Mig) -> Iterator[Finding]:
    if not pool.machine.mig:
        message = pool.machine.mig_reason or f"AKS cannot partition the GPUs of {pool.machine.name}"
        hint = "fracgpu catalog machines --provider aks --mig PROFILE"
        yield Finding("not-expressible", message, field="spec.sharing.mig", hint=hint, link=MIG_DOCS)
        return
    if cut.one_profile is None:
        yield _layouts(pool, cut)
        return
    yield from _profile(pool, cut)
    message = "a node reboots once to turn MIG on, so the first boot takes longer"
    link = "https://github.com/Azure/AgentBaker/blob/master/parts/linux/cloud-init/artifacts/cse_main.sh"
    yield info("first-boot-reboots", message, field="spec.sharing.mig", link=link)
    if pool.aks.driver == "None":
        message = "AKS cuts the GPUs where it installs the driver; without that nothing would"
        hint = "leave aks.driver out, or leave mig out and let the GPU Operator cut"
        yield Finding(
            "driver-none-with-mig", message, field="spec.aks.driver", hint=hint, nearest=("Install",), link=MIG_DOCS
        )


def _layouts(pool: ResolvedPool, cut: Mig) -> Finding:
    if cut.alike:
        message = "AKS cuts a GPU into slices of one kind; a mixed layout cannot be said"
    else:
        message = "AKS cuts all GPUs of a node alike; a layout for each cannot be said"
    have = tuple(profile.name for profile in pool.profiles().values() if profile.aks)
    near = (have or expressible(pool))[:3]
    hint = "one pool for each profile, such as " + " and ".join(f"--mig {name}" for name in near[:2])
    return Finding("not-expressible", message, field=pool.cut_field, hint=hint, nearest=near, link=MIG_DOCS)


def _profile(pool: ResolvedPool, cut: Mig) -> Iterator[Finding]:
    profile = next(iter(pool.profiles().values()), None)
    if profile is None or not cut.alike:
        return
    if profile.aks is None:
        yield _no_word(pool, profile)
    elif cut.alike[0][1] < profile.max_per_gpu:
        most = f"{profile.name}={profile.max_per_gpu}"
        message = f"AKS cuts a GPU into as many {profile.name} as it holds, which is {profile.max_per_gpu}"
        hint = f"--mig {profile.name}"
        yield Finding("not-expressible", message, field=pool.cut_field, hint=hint, nearest=(most,), link=MIG_DOCS)


def _no_word(pool: ResolvedPool, profile: Profile) -> Finding:
    known = expressible(pool)
    near = tuple(name for name in query.nearest_profiles(pool.gpu, profile.name, limit=99) if name in known)[:3]
    message = f"AKS has no word for {profile.name} on {pool.gpu.product}; it has {', '.join(known)}"
    hint = f"--mig {near[0]}" if near else None
    return Finding("not-expressible", message, field=pool.cut_field, hint=hint, nearest=near, link=MIG_DOCS)


def expressible(pool: ResolvedPool) -> tuple[str, ...]:
    """The profiles of this GPU for which AKS has a gpuInstanceProfile."""
    return tuple(profile.name for profile in pool.gpu.profiles if profile.aks)
