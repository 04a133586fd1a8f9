"""Pods that land on a pool's slices, and what a pod may not ask for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fracgpu.advertise import Explanation, slice_memory_gib, toleration
from fracgpu.errors import Finding, Invalid, Level, info, warning
from fracgpu.kube.names import checked, made_of
from fracgpu.sharing import Mps, TimeSlicing

Manifest = dict[str, Any]

IMAGE = "nvidia/cuda:12.9.1-base-ubuntu24.04"
REFERENCE = re.compile(r"[a-zA-Z0-9][\w.:/-]*(@sha256:[0-9a-f]{64})?", re.ASCII)
"""https://github.com/distribution/reference"""
SHOW = ("nvidia-smi", "-L")
STAY = ("sleep", "infinity")


class Kind(StrEnum):
    POD = "pod"
    DEPLOYMENT = "deployment"
    JOB = "job"


@dataclass(frozen=True, slots=True)
class Ask:
    """What the user wants to run: `gpus` slices or shares of `resource` (the pool's first where it is not said).

    Without an `image` the workload shows the GPU that it got.
    """

    gpus: int = 1
    image: str | None = None
    name: str | None = None
    namespace: str = "default"
    resource: str | None = None

    def named(self, pool: str, suffix: str) -> str:
        """The workload's name, for one that was not given made of its pool's. Raises Invalid, of the namespace too."""
        checked(self.namespace, "--namespace")
        return made_of(pool, suffix) if self.name is None else checked(self.name, "--name")


def request(explanation: Explanation, ask: Ask) -> tuple[str, tuple[Finding, ...]]:
    """The resource that a container asks for, and notes.

    Raises Invalid: `invalid-value` for a resource that the pool does not have, `request-exceeds-share` for more than
    a container, or a node, can give.
    """
    resource = ask.resource or next(iter(explanation.pod_resources), "")
    findings = list(_check(explanation, ask, resource))
    errors = [finding for finding in findings if finding.level is Level.ERROR]
    if errors:
        raise Invalid(errors)
    return resource, tuple(findings)


def manifest(kind: Kind, explanation: Explanation, ask: Ask) -> tuple[Manifest, tuple[Finding, ...]]:
    """The workload, ready to apply, and notes. Raises Invalid, as `request` does."""
    resource, notes = request(explanation, ask)
    name = ask.named(explanation.pool.name, kind.value)
    container = {
        **container_of(ask, SHOW if kind is not Kind.DEPLOYMENT else STAY),
        "resources": {"limits": {resource: str(ask.gpus)}},
    }
    spec = pod_spec(explanation, container, restart=kind is Kind.DEPLOYMENT)
    return _wrapped(kind, name, ask.namespace, spec), notes


def container_of(ask: Ask, command: tuple[str, ...]) -> Manifest:
    """The container without its resources; an image of the user's own keeps its own command."""
    if ask.image:
        return {"name": "main", "image": ask.image}
    return {"name": "main", "image": IMAGE, "command": list(command)}


def pod_spec(explanation: Explanation, container: Mapping[str, Any], *, restart: bool) -> Manifest:
    """A pod that exactly the pool's kind of node takes: its labels selected, its taints tolerated."""
    facts = explanation.facts
    spec: Manifest = {} if restart else {"restartPolicy": "Never"}
    if facts.host_ipc:
        spec["hostIPC"] = True
    if facts.selector:
        spec["nodeSelector"] = dict(facts.selector)
    if facts.taints:
        spec["tolerations"] = [toleration(taint) for taint in facts.taints]
    return {**spec, "containers": [dict(container)]}


def _wrapped(kind: Kind, name: str, namespace: str, spec: Manifest) -> Manifest:
    labels = {"app.kubernetes.io/name": name}
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    template = {"metadata": {"labels": labels}, "spec": spec}
    match kind:
        case Kind.POD:
            return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
        case Kind.DEPLOYMENT:
            body = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
            return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": body}
        case Kind.JOB:
            body = {"backoffLimit": 0, "template": template}
            return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": body}


def _check(explanation: Explanation, ask: Ask, resource: str) -> Iterator[Finding]:
    offered = explanation.resources.get(resource, 0)
    if ask.gpus < 1:
        message = f"--gpus {ask.gpus}: a container asks for 1 or more"
        yield Finding("invalid-value", message, field="--gpus", hint="--gpus 1")
    if ask.image is not None and not REFERENCE.fullmatch(ask.image):
        message = f"{ask.image[:80]!r} is no container image"
        yield Finding("invalid-value", message, field="--image", hint="--image REGISTRY/NAME:TAG")
    if not offered:
        message = f"the pool has no {resource or 'resource that a pod could ask for'}"
        near = explanation.pod_resources
        hint = f"--resource {near[0]}" if near else "fracgpu pool explain shows what its nodes advertise"
        yield Finding("invalid-value", message, field="--resource", nearest=near, hint=hint)
        return
    most, why = _most(explanation, offered)
    if ask.gpus > most:
        message = f"{ask.gpus} x {resource} is more than a container can get: {why}"
        hint = f"--gpus {most}, and several pods or replicas for more"
        yield Finding("request-exceeds-share", message, field="--gpus", nearest=(str(most),), hint=hint)
    yield from _advice(explanation, ask, resource)


def _most(explanation: Explanation, offered: int) -> tuple[int, str]:
    limit = explanation.facts.max_per_container
    if limit is not None and limit < offered:
        return limit, f"{limit} share a container is the limit" if limit == 1 else f"{limit} is the limit"
    return offered, f"a node has {offered}"


def _advice(explanation: Explanation, ask: Ask, resource: str) -> Iterator[Finding]:
    memory = share_memory_gib(explanation, resource)
    size = f"{memory:.1f} GiB" if memory else "its part of the memory"
    match explanation.pool.sharing.share:
        case TimeSlicing():
            if ask.gpus > 1:
                message = f"{ask.gpus} shares buy neither compute nor memory: time-slicing only counts them"
                yield warning("shares-buy-nothing", message, field="--gpus", hint="--gpus 1 gets the same")
            message = f"nothing holds a share to {size}; keep to it yourself, or the pods beside it run out of memory"
            yield info("memory-not-isolated", message, hint="PyTorch: torch.cuda.set_per_process_memory_fraction")
        case Mps():
            yield info("memory-limited", f"MPS holds each share to {size}")
        case None:
            pass


def share_memory_gib(explanation: Explanation, resource: str) -> float | None:
    """What one unit of a resource may use, in GiB; None where no source says."""
    pool = explanation.pool
    profiles = list(pool.profiles().values())
    name = resource.removesuffix(".shared")
    own = next((profile for profile in profiles if profile.resource == name), None)
    if own is None and explanation.facts.named_by_strategy and len(profiles) > 1:
        return None
    memory = slice_memory_gib(pool, own or (profiles[0] if profiles else None))
    return memory / pool.sharing.replicas if memory is not None else None
