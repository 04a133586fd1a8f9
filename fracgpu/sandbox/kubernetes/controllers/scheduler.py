"""The scheduler of the simplest honest kind: taints, selectors, required node affinity and resources decide.

The reasons are worded and counted as kube-scheduler does it:
https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/types.go (`FitError`).
"""

from __future__ import annotations

from collections import Counter

from fracgpu.sandbox.kubernetes import resources
from fracgpu.sandbox.kubernetes.life import Batch, Life, with_conditions
from fracgpu.sandbox.kubernetes.quantity import number, pod_requests
from fracgpu.sandbox.kubernetes.selectors import node_matches, tolerates, untolerated
from fracgpu.sandbox.kubernetes.store import Key
from fracgpu.sandbox.world import Json

Usage = dict[str, dict[str, float]]
UNSCHEDULABLE: Json = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def run(life: Life, batch: Batch) -> None:
    if not (batch.keys(resources.PODS) or batch.keys(resources.NODES)):
        return
    fresh = {key for key in batch.keys(resources.PODS) if _open(life, key)}
    life.unplaced = {key for key in life.unplaced | fresh if _open(life, key)}
    if not life.unplaced:
        return
    nodes = sorted(life.store.objects(resources.NODES), key=lambda node: str(node["metadata"]["name"]))
    usage = _usage(life)
    for key in sorted(life.unplaced):
        _schedule(life, life.store.get(resources.PODS, key), nodes, usage)


def _open(life: Life, key: Key) -> bool:
    pod = life.store.find(resources.PODS, key)
    if pod is None or pod["spec"].get("nodeName") or pod["spec"].get("schedulingGates"):
        return False
    scheduler = pod["spec"].get("schedulerName", "default-scheduler")
    return bool(scheduler == "default-scheduler" and pod["status"].get("phase") == "Pending")


def _usage(life: Life) -> Usage:
    """What is taken on every node."""
    usage: Usage = {}
    for pod in life.store.objects(resources.PODS):
        node = pod["spec"].get("nodeName")
        if node and pod["status"].get("phase") not in ("Succeeded", "Failed"):
            _take(usage, node, pod_requests(pod["spec"]))
    return usage


def _take(usage: Usage, node: str, wanted: dict[str, float]) -> None:
    taken = usage.setdefault(node, {})
    for name, value in wanted.items():
        taken[name] = taken.get(name, 0) + value


def _schedule(life: Life, pod: Json, nodes: list[Json], usage: Usage) -> None:
    wanted = pod_requests(pod["spec"])
    reasons: Counter[str] = Counter()
    helpful = 0
    fitting = []
    for node in nodes:
        taken = usage.get(node["metadata"]["name"], {})
        forbidden = _forbidden(pod["spec"], node)
        lacking = [] if forbidden else _lacking(node, wanted, taken)
        if forbidden:
            reasons[forbidden] += 1
        elif lacking:
            reasons.update(lacking)
            helpful += _could_fit(node, wanted)
        else:
            fitting.append((taken.get("pods", 0), node["metadata"]["name"]))
    if fitting:
        name = min(fitting)[1]
        _take(usage, name, wanted)
        _bind(life, pod, name)
    else:
        _fail(life, pod, _message(len(nodes), reasons, helpful))


def _forbidden(spec: Json, node: Json) -> str | None:
    """The first filter that rejects the node for good."""
    tolerations = spec.get("tolerations") or []
    if node["spec"].get("unschedulable") and not any(tolerates(one, UNSCHEDULABLE) for one in tolerations):
        return "node(s) were unschedulable"
    taint = untolerated(node["spec"].get("taints") or (), tolerations, ("NoSchedule", "NoExecute"))
    if taint is not None:
        return f"node(s) had untolerated taint {{{taint['key']}: {taint.get('value') or ''}}}"
    if not node_matches(spec, node):
        return "node(s) didn't match Pod's node affinity/selector"
    return None


def _lacking(node: Json, wanted: dict[str, float], taken: dict[str, float]) -> list[str]:
    have = node["status"]["allocatable"]
    short = [name for name, value in wanted.items() if value and value > number(have.get(name, 0)) - taken.get(name, 0)]
    return ["Too many pods" if name == "pods" else f"Insufficient {name}" for name in short]


def _could_fit(node: Json, wanted: dict[str, float]) -> bool:
    """Whether the pod would fit on the node if nothing else were there."""
    have = node["status"]["allocatable"]
    return all(value <= number(have.get(name, 0)) for name, value in wanted.items() if value)


def _message(count: int, reasons: Counter[str], helpful: int) -> str:
    if not count:
        return "no nodes available to schedule pods"
    first = ", ".join(sorted(f"{number} {reason}" for reason, number in reasons.items()))
    victims = [(helpful, "No preemption victims found for incoming pod")]
    victims += [(count - helpful, "Preemption is not helpful for scheduling")]
    second = ", ".join(f"{number} {reason}" for number, reason in victims if number)
    head = f"0/{count} nodes are available: "
    return f"{head}{first}. preemption: {head}{second}."


def _bind(life: Life, pod: Json, node: str) -> None:
    conditions = with_conditions(
        pod["status"].get("conditions") or (), {"type": "PodScheduled", "status": "True"}, when=life.store.stamp()
    )
    status = {**pod["status"], "conditions": conditions}
    life.store.replace(resources.PODS, {**pod, "spec": {**pod["spec"], "nodeName": node}, "status": status})
    where = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
    life.event(pod, "Scheduled", f"Successfully assigned {where} to {node}", by="default-scheduler")


def _fail(life: Life, pod: Json, message: str) -> None:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    when = life.store.stamp()
    status = {
        **pod["status"],
        "conditions": with_conditions(pod["status"].get("conditions") or (), condition, when=when),
    }
    if life.store.replace(resources.PODS, {**pod, "status": status}) is not pod:
        life.event(pod, "FailedScheduling", message, warning=True, by="default-scheduler")
