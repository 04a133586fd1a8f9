"""Who lives on a node: which pods a drain must move away, and which of them use its GPUs. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fracgpu.kube.quantity import whole
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
    gpus = sum(requested(pod).values())
    return Occupant(metadata.get("namespace", "default"), metadata["name"], spec.get("nodeName", ""), gpus)


def requested(pod: Json) -> dict[str, int]:
    """GPU resource -> how many the pod holds: the sum over containers and sidecars, or what one init container needs
    where that is more (https://kubernetes.io/docs/concepts/workloads/pods/init-containers/#resource-sharing-within-containers)."""
    spec = pod.get("spec") or {}
    inits = list(spec.get("initContainers") or ())
    sidecars = [one for one in inits if one.get("restartPolicy") == "Always"]
    together = [_asked(one) for one in (*(spec.get("containers") or ()), *sidecars)]
    alone = [_asked(one) for one in inits if one not in sidecars]
    names = {name for one in (*together, *alone) for name in one}
    return {
        name: max(sum(one.get(name, 0) for one in together), *(one.get(name, 0) for one in alone), 0)
        for name in sorted(names)
    }


def _asked(container: Json) -> dict[str, int]:
    """A container's GPU resources; what is said as a limit alone is requested too."""
    said = container.get("resources") or {}
    wanted = {**(said.get("limits") or {}), **(said.get("requests") or {})}
    return {name: whole(count) for name, count in wanted.items() if name.startswith(GPU_DOMAIN)}
