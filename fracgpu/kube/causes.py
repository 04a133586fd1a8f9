"""Why a node's GPU resources are not those promised, as far as counts and labels tell. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fracgpu import migconfig
from fracgpu.advertise import GPU_RESOURCE
from fracgpu.errors import Finding
from fracgpu.kube.promise import Promise
from fracgpu.sharing import Mig

UNDER_WAY = ("pending", "rebooting")


def counted(promise: Promise, shown: Mapping[str, int]) -> Iterator[Finding]:
    """Whole GPUs where slices should be; GPUs or slices that nobody shares."""
    pool, expected = promise.pool, promise.resources
    replicas = pool.sharing.replicas
    unshared = {name.removesuffix(".shared"): count // replicas for name, count in expected.items()}
    whole = {GPU_RESOURCE: pool.gpus_per_node}
    if isinstance(pool.sharing.cut, Mig) and shown == whole and whole not in (expected, unshared):
        message = "those are whole GPUs: MIG is off, or the device plugin runs with migStrategy none"
        hint = "the config that fracgpu plugin apply writes has the strategy" if promise.own_plugin else None
        yield Finding("whole-gpus", message, hint=hint)
    elif replicas > 1 and shown == unshared:
        key = f" {promise.key}" if promise.key else ""
        message = f"nothing is shared: the device plugin does not go by the config{key}"
        yield Finding("not-shared", message, hint="fracgpu plugin apply writes it" if promise.own_plugin else None)


def managed(promise: Promise, labels: Mapping[str, str]) -> Iterator[Finding]:
    """What the MIG manager says of itself; it is not believed, since it has said success where nothing was."""
    state, config = labels.get(migconfig.STATE_LABEL), labels.get(migconfig.LABEL, "its config")
    if state in UNDER_WAY:
        message = f"the MIG manager is still at it ({state})"
        yield Finding("mig-pending", message, hint=f"fracgpu pool wait {promise.name} --for verified")
    elif state == "success":
        message = f"the MIG manager says success for {config}, and yet it is not so"
        hint = "kubectl logs of the MIG manager's pod there; https://github.com/NVIDIA/gpu-operator/issues/603"
        yield Finding("mig-untrue", message, hint=hint)
