"""What happens to a pod on its node: admitted, started, ended; nothing is really run."""

from __future__ import annotations

import hashlib

from fracgpu.sandbox.kubernetes import resources
from fracgpu.sandbox.kubernetes.life import Batch, Life, Machine, with_conditions
from fracgpu.sandbox.kubernetes.quantity import requests_of
from fracgpu.sandbox.kubernetes.store import Key
from fracgpu.sandbox.world import Cloud, Json

GKE_SHARING = "cloud.google.com/gke-gpu-sharing-strategy"


def run(life: Life, batch: Batch) -> None:
    gone = {key.name for key in batch.keys(resources.NODES) if not life.store.find(resources.NODES, key)}
    if gone:
        _collect(life, gone)
    for key in batch.keys(resources.PODS):
        _look_at(life, key)
    if batch.keys(resources.NODES):
        for key in list(life.waiting):
            _look_at(life, key)
    for key in [key for key, at in life.due.items() if at <= life.now()]:
        del life.due[key]
        _step(life, key)


def _collect(life: Life, gone: set[str]) -> None:
    """Pods of nodes that are gone go too."""
    for key, entry in list(life.store.entries(resources.PODS)):
        if entry.object["spec"].get("nodeName") in gone:
            life.store.delete(resources.PODS, key)


def _look_at(life: Life, key: Key) -> None:
    pod = life.store.find(resources.PODS, key)
    life.waiting.discard(key)
    if pod is None:
        life.due.pop(key, None)
        return
    if key in life.due or pod["status"].get("phase") != "Pending" or pod["status"].get("startTime"):
        return
    node = pod["spec"].get("nodeName")
    machine = life.machines.get(node)
    if node is None or (machine is not None and not machine.ready):
        life.waiting.add(key)
        return
    refusal = _refusal(life, machine, pod) if machine else None
    if refusal:
        _reject(life, pod, refusal)
    else:
        _after(life, key, life.moment / 2)


def _after(life: Life, key: Key, seconds: float) -> None:
    life.due[key] = life.now() + seconds
    life.wake_at(life.due[key])


def _step(life: Life, key: Key) -> None:
    pod = life.store.find(resources.PODS, key)
    if pod is None:
        return
    if pod["status"].get("phase") == "Running":
        _end(life, pod)
        return
    running(life, pod)
    if pod["spec"].get("restartPolicy", "Always") != "Always":
        _after(life, key, life.moment)


def _refusal(life: Life, machine: Machine, pod: Json) -> str | None:
    """Why the node's plugin does not hand out what a container asks for, as the kubelet words it."""
    for container in pod["spec"].get("containers") or ():
        for resource, count in requests_of(container).items():
            if not resource.startswith("nvidia.com/") or count <= 1:
                continue
            if machine.shape.one_share or resource.removesuffix(".shared") in machine.one_share:
                why = f"maximum request size for shared resources is 1; found {int(count)}"
                text = f'invalid allocation request for "{resource}": invalid request: {why}'
                return f"Allocate failed due to rpc error: code = Unknown desc = {text}, which is unexpected"
            if life.cluster.cloud is Cloud.GKE and (why_not := _gke_refusal(machine)):
                return f"Allocate failed due to rpc error: code = Unknown desc = {why_not}, which is unexpected"
    return None


def _gke_refusal(machine: Machine) -> str | None:
    """https://cloud.google.com/kubernetes-engine/docs/how-to/timesharing-gpus: one share for a container.

    With MPS more than one may be asked for where the node has one physical device, of which each MIG slice is one.
    """
    strategy = machine.shape.labels.get(GKE_SHARING)
    if strategy is None or (strategy == "mps" and machine.shape.devices == 1):
        return None
    return f"invalid request for sharing GPU ({strategy}), at most 1 nvidia.com/gpu can be requested on " + (
        "GPU nodes" if strategy != "mps" else "multi-GPU nodes"
    )


def _reject(life: Life, pod: Json, why: str) -> None:
    message = f"Pod was rejected: {why}"
    status = {
        "phase": "Failed",
        "reason": "UnexpectedAdmissionError",
        "message": message,
        "startTime": life.store.stamp(),
    }
    life.store.replace(resources.PODS, {**pod, "status": {**pod["status"], **status}})
    life.event(pod, "UnexpectedAdmissionError", why, warning=True, by="kubelet")


def _statuses(pod: Json, part: str, state: Json, ready: bool) -> list[Json]:
    return [
        {
            "name": container["name"],
            "image": container.get("image", ""),
            "imageID": "",
            "containerID": "containerd://" + hashlib.sha256(pod["metadata"]["uid"].encode()).hexdigest(),
            "ready": ready,
            "started": ready,
            "restartCount": 0,
            "lastState": {},
            "state": state,
        }
        for container in pod["spec"].get(part) or ()
    ]


def _conditions(life: Life, pod: Json, ready: bool, reason: str = "") -> list[Json]:
    status = "True" if ready else "False"
    why = {"reason": reason} if reason else {}
    rows = [{"type": "PodScheduled", "status": "True"}, {"type": "Initialized", "status": "True"}]
    rows += [{"type": name, "status": status, **why} for name in ("ContainersReady", "Ready")]
    return with_conditions(pod["status"].get("conditions") or (), *rows, when=life.store.stamp())


def running(life: Life, pod: Json) -> None:
    """All containers of the pod are up."""
    if pod["status"].get("phase") == "Running" and not pod["status"].get("message"):
        return
    digest = hashlib.sha256(pod["metadata"]["uid"].encode()).digest()
    done = {"terminated": {"exitCode": 0, "reason": "Completed", "finishedAt": life.store.stamp()}}
    status: Json = {
        "phase": "Running",
        "conditions": _conditions(life, pod, True),
        "hostIP": "10.224.0.4",
        "podIP": f"10.244.{digest[0]}.{digest[1]}",
        "podIPs": [{"ip": f"10.244.{digest[0]}.{digest[1]}"}],
        "startTime": pod["status"].get("startTime") or life.store.stamp(),
        "qosClass": pod["status"].get("qosClass", "BestEffort"),
        "containerStatuses": _statuses(pod, "containers", {"running": {"startedAt": life.store.stamp()}}, True),
    }
    if pod["spec"].get("initContainers"):
        status["initContainerStatuses"] = _statuses(pod, "initContainers", done, True)
    life.store.replace(resources.PODS, {**pod, "status": status})


def _end(life: Life, pod: Json) -> None:
    """A pod that is meant to end has ended well."""
    done = {"terminated": {"exitCode": 0, "reason": "Completed", "finishedAt": life.store.stamp()}}
    status = {
        **pod["status"],
        "phase": "Succeeded",
        "conditions": _conditions(life, pod, False, "PodCompleted"),
        "containerStatuses": _statuses(pod, "containers", done, False),
    }
    life.store.replace(resources.PODS, {**pod, "status": status})


def crash_loop(life: Life, pod: Json, container: str, why: str) -> None:
    """The named init container fails over and over; `why` is the last line of its log."""
    back_off = f"back-off 40s restarting failed container={container} pod={pod['metadata']['name']}"
    state = {"waiting": {"reason": "CrashLoopBackOff", "message": back_off}}
    last = {"terminated": {"exitCode": 1, "reason": "Error", "message": why}}
    init = [{**row, "restartCount": 3, "lastState": last} for row in _statuses(pod, "initContainers", state, False)]
    waiting = {"waiting": {"reason": "PodInitializing"}}
    status = {
        **pod["status"],
        "phase": "Pending",
        "message": why,
        "conditions": _conditions(life, pod, False, "ContainersNotReady"),
        "initContainerStatuses": init,
        "containerStatuses": _statuses(pod, "containers", waiting, False),
    }
    if life.store.replace(resources.PODS, {**pod, "status": status}) is not pod:
        life.event(pod, "BackOff", f"Back-off restarting failed container {container}", warning=True, by="kubelet")
