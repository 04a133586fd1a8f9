"""The same workload as TrueFoundry's SDK has it: a Job, Service or Notebook, in Python or in YAML.

The SDK checks little (any name, any profile of its list on any GPU), so what it has no word for is refused here. Its
words are those of the package truefoundry 0.17.5, `truefoundry.deploy`.
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
from fracgpu.kube.names import legal
from fracgpu.kube.workload import IMAGE, SHOW, STAY, Ask, request
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
LONGEST = 32
NAME = re.compile(r"[a-z](?:[a-z0-9]|-(?!-)){1,30}[a-z0-9]")
PAGE = "https://www.truefoundry.com/docs/using-fractional-gpus.md"


class Language(StrEnum):
    YAML = "yaml"
    PYTHON = "python"


class Shape(StrEnum):
    """What is deployed; TrueFoundry's own words for `type`."""

    JOB = "job"
    SERVICE = "service"
    NOTEBOOK = "notebook"


@dataclass(frozen=True, slots=True)
class Model:
    """A model of the SDK: its class, the `type` that tells it from others in YAML, and its fields."""

    kind: str
    type: str | None
    fields: Mapping[str, Any]


def deployment(
    explanation: Explanation, ask: Ask, shape: Shape = Shape.JOB, port: int = 8080
) -> tuple[Model, tuple[Finding, ...]]:
    """What is deployed onto the pool, and notes. `port` is a service's.

    Raises Invalid: `not-expressible` for what the SDK has no word for, `missing-field` for a notebook without an image.
    """
    device, notes = _device(explanation, ask)
    node = Model("NodepoolSelector", "nodepool_selector", {"nodepools": [explanation.pool.name]})
    resources = Model("Resources", None, {"node": node, "devices": [device]})
    name = _name(explanation, ask, shape)
    match shape:
        case Shape.JOB:
            once: dict[str, Any] = {"image": _image(ask, SHOW), "trigger": Model("Manual", "manual", {})}
            return Model("Job", "job", {"name": name, **once, "resources": resources}), notes
        case Shape.SERVICE:
            ports = [Model("Port", None, {"port": _port(port), "expose": False, "app_protocol": "http"})]
            served: dict[str, Any] = {"image": _image(ask, STAY), "ports": ports, "replicas": 1}
            return Model("Service", "service", {"name": name, **served, "resources": resources}), notes
        case Shape.NOTEBOOK:
            image = Model("WorkbenchImage", None, {"image_uri": _workbench(ask)})
            return Model("Notebook", "notebook", {"name": name, "image": image, "resources": resources}), notes


def manifest(model: Model) -> dict[str, Any]:
    """The model as its YAML has it, which `tfy deploy -f` takes."""
    kind = {"type": model.type} if model.type else {}
    return {**kind, **{key: _plain(value) for key, value in model.fields.items()}}


def _plain(value: Any) -> Any:
    if isinstance(value, Model):
        return manifest(value)
    return [_plain(one) for one in value] if isinstance(value, list) else value


def python(model: Model) -> str:
    """The model as a Python file that deploys it."""
    name = model.kind.lower()
    lines = (
        f"from truefoundry.deploy import {', '.join(sorted(_kinds(model)))}",
        "",
        f"{name} = {_call(model, '')}",
        f'{name}.deploy(workspace_fqn="YOUR-WORKSPACE")',
        "",
    )
    return "\n".join(lines)


def _kinds(value: Any) -> set[str]:
    if isinstance(value, Model):
        return {value.kind}.union(*(_kinds(one) for one in value.fields.values()))
    return set().union(*map(_kinds, value)) if isinstance(value, list) else set()


def _call(model: Model, indent: str) -> str:
    """A constructor's call, on one line where it fits."""
    flat = f"{model.kind}({', '.join(f'{key}={_source(value, indent)}' for key, value in model.fields.items())})"
    if "\n" not in flat and len(indent) + len(flat) <= WIDTH:
        return flat
    inner = indent + "    "
    fields = "".join(f"{inner}{key}={_source(value, inner)},\n" for key, value in model.fields.items())
    return f"{model.kind}(\n{fields}{indent})"


def _source(value: Any, indent: str) -> str:
    if isinstance(value, Model):
        return _call(value, indent)
    if isinstance(value, list):
        return f"[{', '.join(_source(one, indent) for one in value)}]"
    return json.dumps(value) if isinstance(value, str) else repr(value)


WIDTH = 60


def _image(ask: Ask, otherwise: tuple[str, ...]) -> Model:
    command = {} if ask.image else {"command": " ".join(otherwise)}
    return Model("Image", "image", {"image_uri": ask.image or IMAGE, **command})


def _workbench(ask: Ask) -> str:
    if ask.image:
        return ask.image
    message = "a notebook runs in a workbench image, which nobody can choose for you"
    raise Invalid.one("missing-field", message, field="--image", hint="--image IMAGE, one with JupyterLab", link=PAGE)


def _port(port: int) -> int:
    if 1 <= port <= 65535:
        return port
    raise Invalid.one("invalid-value", f"--port {port} is no port", field="--port", hint="1 to 65535")


def _name(explanation: Explanation, ask: Ask, shape: Shape) -> str:
    name = ask.name if ask.name is not None else _made_of(explanation.pool.name, shape)
    if not NAME.fullmatch(name):
        message = f"TrueFoundry takes names of 3 to 32 lower-case letters, digits and single dashes, not {name!r}"
        raise Invalid.one("invalid-name", message, field="--name", hint=f"--name gpu-{shape.value}")
    return name


def _made_of(pool: str, shape: Shape) -> str:
    """A name that TrueFoundry takes, of a pool whose own name another rule allows."""
    start = legal(pool)[: LONGEST - len(shape.value) - 1].rstrip("-")
    name = f"{start}-{shape.value}"
    return name if NAME.fullmatch(name) else f"gpu-{shape.value}"


def _device(explanation: Explanation, ask: Ask) -> tuple[Model, tuple[Finding, ...]]:
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


def _mig(explanation: Explanation, ask: Ask, resource: str) -> Model:
    if ask.gpus > 1:
        raise _refused("several MIG slices in one container", "--gpus 1, and replicas for more")
    profile = _profile(explanation, resource)
    if profile is None:
        raise _refused("a whole GPU beside slices", "--resource nvidia.com/mig-PROFILE")
    if profile.name not in PROFILES:
        near = tuple(one.name for one in explanation.pool.gpu.profiles if one.name in PROFILES)
        raise _refused(f"the MIG profile {profile.name}", f"--mig {near[0]}" if near else None, near)
    return Model("NvidiaMIGGPU", "nvidia_mig_gpu", {"profile": profile.name})


def _profile(explanation: Explanation, resource: str) -> Profile | None:
    """The slice behind a resource; nvidia.com/gpu is a slice where every slice is called so."""
    profiles = list(explanation.pool.profiles().values())
    named = next((one for one in profiles if one.resource == resource), None)
    cut = explanation.pool.sharing.cut
    alone = isinstance(cut, Mig) and not cut.whole_gpus and len(profiles) == 1
    return named or (profiles[0] if alone else None)


def _time_slicing(explanation: Explanation, ask: Ask, notes: tuple[Finding, ...]) -> tuple[Model, tuple[Finding, ...]]:
    pool = explanation.pool
    whole = pool.machine.gpu_memory_gib or pool.gpu.memory_gb
    share = int(whole * 1000 / pool.sharing.replicas)
    memory = min(share * ask.gpus, MOST_MEMORY_MB)
    message = (
        f"{memory} MB is {ask.gpus} of {pool.sharing.replicas} shares of an {pool.gpu.product}; nothing enforces it"
    )
    device = Model("NvidiaTimeslicingGPU", "nvidia_timeslicing_gpu", {"gpu_memory": memory})
    return device, (*notes, info("truefoundry-memory", message, link=PAGE))


def _whole(explanation: Explanation, ask: Ask) -> Model:
    if ask.gpus > MOST_GPUS:
        raise _refused(f"{ask.gpus} GPUs", f"--gpus {MOST_GPUS}")
    machine = explanation.pool.machine
    name = GPU_TYPES.get(machine.gpu)
    if machine.fractional:
        name = PARTS_OF_A10.get(machine.gpu_memory_gib or 0) if name == "A10_24GB" else None
    return Model("NvidiaGPU", "nvidia_gpu", {**({"name": name} if name else {}), "count": ask.gpus})


def _refused(what: str, hint: str | None, nearest: tuple[str, ...] = ()) -> Invalid:
    message = f"TrueFoundry's SDK has no word for {what}"
    return Invalid.one("not-expressible", message, field="spec.sharing", hint=hint, nearest=nearest, link=PAGE)
