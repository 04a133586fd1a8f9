"""The same workload as TrueFoundry's SDK has it: a Job in Python, or its manifest in YAML.

The SDK checks little (any name, any profile of its list on any GPU), so what it has no word for is refused here. Its
words are those of https://pypi.org/project/truefoundry/0.17.5/, `truefoundry.deploy`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fracgpu.advertise import Explanation
from fracgpu.catalog.models import Profile
from fracgpu.errors import Finding, Invalid, info
from fracgpu.kube.workload import IMAGE, SHOW, Ask, request
from fracgpu.sharing import Mig, Mps, TimeSlicing, Whole

_PROFILE_WORDS = """
    1g.6gb 2g.12gb 4g.24gb
    1g.5gb 1g.10gb 2g.10gb 3g.20gb 4g.20gb 7g.40gb
    1g.20gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb
    1g.12gb 1g.24gb 2g.24gb 3g.47gb 4g.47gb 7g.94gb
    3g.48gb 4g.48gb 7g.96gb
    1g.18gb 1g.35gb 2g.35gb 3g.71gb 4g.71gb
    1g.23gb 1g.45gb 2g.45gb 3g.90gb 4g.90gb 7g.180gb
"""
PROFILES = frozenset(_PROFILE_WORDS.split())
"""The SDK's enum Profile."""
GPU_TYPES: Mapping[str, str] = {
    "p4-8gb": "P4",
    "p100-16gb": "P100",
    "v100-16gb": "V100",
    "t4-16gb": "T4",
    "a10g-24gb": "A10G",
    "a10-24gb": "A10_24GB",
    "a100-40gb": "A100_40GB",
    "a100-80gb": "A100_80GB",
    "l4-24gb": "L4",
    "l40s-48gb": "L40S",
    "h100-80gb-sxm": "H100_80GB",
    "h100-80gb-pcie": "H100_80GB",
    "h100-94gb-nvl": "H100_94GB",
    "h100-94gb-sxm": "H100_94GB",
    "gh200-96gb": "H100_96GB",
    "h200-141gb-sxm": "H200",
    "h200-141gb-nvl": "H200",
    "b200-180gb": "B200",
}
"""GPU of the catalog -> the SDK's enum GPUType."""
PARTS_OF_A10: Mapping[float, str] = {4: "A10_4GB", 8: "A10_8GB", 12: "A10_12GB"}
MOST_GPUS = 16
MOST_MEMORY_MB = 400_000
NAME = re.compile(r"[a-z](?:[a-z0-9]|-(?!-)){1,30}[a-z0-9]")
PAGE = "https://www.truefoundry.com/docs/using-fractional-gpus.md"


class Language(StrEnum):
    YAML = "yaml"
    PYTHON = "python"


@dataclass(frozen=True, slots=True)
class Device:
    """One entry of `Resources.devices`: the SDK's class, its `type`, and its fields."""

    kind: str
    type: str
    fields: Mapping[str, Any]


def truefoundry(explanation: Explanation, ask: Ask) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    """The job's manifest, and notes. Raises Invalid: `not-expressible` for what the SDK has no word for."""
    device, notes = _device(explanation, ask)
    return {
        "name": _name(explanation, ask),
        "type": "job",
        "image": {"type": "image", "image_uri": ask.image or IMAGE, **_command(ask)},
        "trigger": {"type": "manual"},
        "resources": {
            "node": {"type": "nodepool_selector", "nodepools": [explanation.pool.name]},
            "devices": [{"type": device.type, **device.fields}],
        },
    }, notes


def python(explanation: Explanation, ask: Ask) -> tuple[str, tuple[Finding, ...]]:
    """The same job as a Python file. Raises Invalid as `truefoundry` does."""
    device, notes = _device(explanation, ask)
    names = ", ".join(sorted(("Image", "Job", "NodepoolSelector", "Resources", device.kind)))
    image = ", ".join(
        f"{key}={json.dumps(value)}" for key, value in {"image_uri": ask.image or IMAGE, **_command(ask)}.items()
    )
    fields = ", ".join(f"{key}={json.dumps(value)}" for key, value in device.fields.items())
    lines = (
        f"from truefoundry.deploy import {names}",
        "",
        "job = Job(",
        f"    name={json.dumps(_name(explanation, ask))},",
        f"    image=Image({image}),",
        "    resources=Resources(",
        f"        devices=[{device.kind}({fields})],",
        f"        node=NodepoolSelector(nodepools=[{json.dumps(explanation.pool.name)}]),",
        "    ),",
        ")",
        'job.deploy(workspace_fqn="YOUR-WORKSPACE")',
        "",
    )
    return "\n".join(lines), notes


def _command(ask: Ask) -> dict[str, str]:
    return {} if ask.image else {"command": " ".join(SHOW)}


def _name(explanation: Explanation, ask: Ask) -> str:
    name = ask.name or f"{explanation.pool.name}-job"
    if not NAME.fullmatch(name):
        message = f"TrueFoundry takes names of 3 to 32 lower-case letters, digits and single dashes, not {name!r}"
        raise Invalid.one("invalid-name", message, field="--name", hint="--name gpu-job")
    return name


def _device(explanation: Explanation, ask: Ask) -> tuple[Device, tuple[Finding, ...]]:
    resource, notes = request(explanation, ask)
    sharing = explanation.pool.sharing
    match sharing.cut, sharing.share:
        case Mig(), None:
            return _mig(explanation, ask, resource), notes
        case Whole(), TimeSlicing():
            return _time_slicing(explanation, ask, notes)
        case Whole(), None:
            return _whole(explanation, ask), notes
        case _, Mps():
            raise _refused("MPS", "workload deployment makes a manifest that asks for MPS shares")
        case _:
            raise _refused("time-slicing of MIG slices", "leave timeSlicing or mig out of the pool")


def _mig(explanation: Explanation, ask: Ask, resource: str) -> Device:
    if ask.gpus > 1:
        raise _refused("several MIG slices in one container", "--gpus 1, and replicas for more")
    profile = _profile(explanation, resource)
    if profile is None:
        raise _refused("a whole GPU beside slices", "--resource nvidia.com/mig-PROFILE")
    if profile.name not in PROFILES:
        near = tuple(one.name for one in explanation.pool.gpu.profiles if one.name in PROFILES)
        raise _refused(f"the MIG profile {profile.name}", f"--mig {near[0]}" if near else None, near)
    return Device("NvidiaMIGGPU", "nvidia_mig_gpu", {"profile": profile.name})


def _profile(explanation: Explanation, resource: str) -> Profile | None:
    """The slice behind a resource; nvidia.com/gpu is a slice where every slice is called so."""
    profiles = list(explanation.pool.profiles().values())
    named = next((one for one in profiles if one.resource == resource), None)
    cut = explanation.pool.sharing.cut
    alone = isinstance(cut, Mig) and not cut.whole_gpus and len(profiles) == 1
    return named or (profiles[0] if alone else None)


def _time_slicing(explanation: Explanation, ask: Ask, notes: tuple[Finding, ...]) -> tuple[Device, tuple[Finding, ...]]:
    pool = explanation.pool
    whole = pool.machine.gpu_memory_gib or pool.gpu.memory_gb
    share = int(whole * 1000 / pool.sharing.replicas)
    memory = min(share * ask.gpus, MOST_MEMORY_MB)
    message = (
        f"{memory} MB is {ask.gpus} of {pool.sharing.replicas} shares of an {pool.gpu.product}; nothing enforces it"
    )
    device = Device("NvidiaTimeslicingGPU", "nvidia_timeslicing_gpu", {"gpu_memory": memory})
    return device, (*notes, info("truefoundry-memory", message, link=PAGE))


def _whole(explanation: Explanation, ask: Ask) -> Device:
    if ask.gpus > MOST_GPUS:
        raise _refused(f"{ask.gpus} GPUs", f"--gpus {MOST_GPUS}")
    machine = explanation.pool.machine
    name = GPU_TYPES.get(machine.gpu)
    if machine.fractional:
        name = PARTS_OF_A10.get(machine.gpu_memory_gib or 0) if name == "A10_24GB" else None
    return Device("NvidiaGPU", "nvidia_gpu", {**({"name": name} if name else {}), "count": ask.gpus})


def _refused(what: str, hint: str | None, nearest: tuple[str, ...] = ()) -> Invalid:
    message = f"TrueFoundry's SDK has no word for {what}"
    return Invalid.one("not-expressible", message, field="spec.sharing", hint=hint, nearest=nearest, link=PAGE)
