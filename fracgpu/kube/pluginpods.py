"""The device plugin's pod on a node: there, healthy, or why not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fracgpu.advertise import PluginOwner
from fracgpu.errors import Finding
from fracgpu.kube.promise import Promise
from fracgpu.plan import Json

NAME_PART = "device-plugin"
SIDE_WORDS = ("mps-control", "feature-discovery", "dra-")
"""Pods of the same charts that are not the plugin."""


def plugin_problems(promise: Promise, pods: Sequence[Json]) -> Iterator[Finding]:
    """Why the plugin of a node may not advertise what it should. Bottlerocket's is no pod, so nothing is said of it."""
    if promise.facts.plugin is PluginOwner.IMAGE:
        return
    plugins = [pod for pod in pods if is_plugin(pod)]
    if not plugins:
        hint = "fracgpu plugin values --chart nvidia-device-plugin installs it where the pool's taints are tolerated"
        if promise.facts.plugin is PluginOwner.CLOUD:
            hint = "the cloud installs it; does a taint or an admission policy keep it off?"
        yield Finding("no-plugin", "no pod of a device plugin runs on the node", hint=hint)
    for pod in plugins:
        reason = trouble(pod)
        if reason:
            yield Finding("plugin-failing", f"the device plugin {_full_name(pod)} {reason}", hint=_hint(promise, pod))


def is_plugin(pod: Json) -> bool:
    """Told by the pod's name, and by its containers' names where a chart was given a name of the user's own."""
    own = str(pod["metadata"]["name"])
    names = [own, *(str(one.get("name")) for one in (pod.get("spec") or {}).get("containers") or ())]
    if any(word in own for word in SIDE_WORDS) or "nvidia" not in _words(pod):
        return False
    return any(NAME_PART in name and not any(word in name for word in SIDE_WORDS) for name in names)


def is_plugin_set(daemon_set: Json) -> bool:
    """Whether a DaemonSet runs the device plugin."""
    template = (daemon_set.get("spec") or {}).get("template") or {}
    return is_plugin({"metadata": daemon_set["metadata"], "spec": template.get("spec") or {}})


def trouble(pod: Json) -> str | None:
    """Why a pod is not healthy, in Kubernetes' words; None where it is."""
    status = pod.get("status") or {}
    for container in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
        state = container.get("state") or {}
        waiting = state.get("waiting") or {}
        ended = state.get("terminated") or {}
        last = (container.get("lastState") or {}).get("terminated") or {}
        if waiting.get("reason") not in (None, "PodInitializing", "ContainerCreating"):
            detail = last.get("message") or status.get("message") or waiting.get("message") or last.get("reason")
            return f"is in {waiting['reason']}" + (f": {detail}" if detail else "")
        if ended and ended.get("exitCode"):
            return f"ended with exit code {ended['exitCode']}: {ended.get('message') or ended.get('reason')}"
    ready = any(one.get("type") == "Ready" and one.get("status") == "True" for one in status.get("conditions") or ())
    return None if ready else f"is not ready ({status.get('phase') or 'no phase'})"


def _words(pod: Json) -> str:
    """Name and images: GKE's plugin is called nvidia-gpu-device-plugin, NVIDIA's comes from a chart of any name."""
    containers = (pod.get("spec") or {}).get("containers") or ()
    return " ".join([str(pod["metadata"]["name"]), *(str(one.get("image")) for one in containers)])


def _full_name(pod: Json) -> str:
    return f"{pod['metadata'].get('namespace', 'default')}/{pod['metadata']['name']}"


def _hint(promise: Promise, pod: Json) -> str:
    if promise.key:
        return f"is {promise.key} a key of its ConfigMap? fracgpu plugin apply writes it"
    return f"kubectl logs -n {pod['metadata'].get('namespace', 'default')} {pod['metadata']['name']} has the reason"
