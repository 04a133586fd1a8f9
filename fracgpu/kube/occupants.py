"""Who lives on a node: which pods a drain must move away, and which of them use its GPUs. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fracgpu.plan import Json

GPU_DOMAIN = "nvidia.com/"
MIRROR = "kubernetes.io/config.mirror"
"""On the pod that shows a static one; nobody can evict it."""
OVER = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class Occupant:
    """A pod that stands in a drain's way."""

    namespace: str
    name: str
    node: str
    gpus: int
    """GPUs, slices or shares that it asks for."""

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


def occupants(pods: Iterable[Json]) -> list[Occupant]:
    """The pods that must go, those with GPUs first. DaemonSets' pods go with their node (as in kubectl drain)."""
    found = [_occupant(pod) for pod in pods if not _stays(pod)]
    return sorted(found, key=lambda one: (one.gpus == 0, one.namespace, one.name))


def _stays(pod: Json) -> bool:
    metadata = pod.get("metadata") or {}
    owners = metadata.get("ownerReferences") or ()
    return (
        (pod.get("status") or {}).get("phase") in OVER
        or MIRROR in (metadata.get("annotations") or {})
        or any(owner.get("kind") == "DaemonSet" and owner.get("controller") for owner in owners)
    )


def _occupant(pod: Json) -> Occupant:
    metadata, spec = pod["metadata"], pod.get("spec") or {}
    limits = [(container.get("resources") or {}).get("limits") or {} for container in spec.get("containers") or ()]
    gpus = sum(int(count) for limit in limits for name, count in limit.items() if name.startswith(GPU_DOMAIN))
    return Occupant(metadata.get("namespace", "default"), metadata["name"], spec.get("nodeName", ""), gpus)
