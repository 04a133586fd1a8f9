"""PodDisruptionBudgets, what an eviction may do, and the objects that `sandbox set pdb|pod` asks for."""

from __future__ import annotations

import math

from fracgpu.sandbox.kubernetes import resources, status
from fracgpu.sandbox.kubernetes.controllers.owners import is_ready
from fracgpu.sandbox.kubernetes.life import Batch, Life, namespace
from fracgpu.sandbox.kubernetes.selectors import labels_of, matches
from fracgpu.sandbox.kubernetes.store import Key
from fracgpu.sandbox.world import Json


def run(life: Life, batch: Batch) -> None:
    if batch.settings or batch.keys(resources.NODES):
        _place(life)
    if batch.keys(resources.BUDGETS) or batch.keys(resources.PODS):
        for budget in life.store.objects(resources.BUDGETS):
            life.store.replace(resources.BUDGETS, {**budget, "status": _state(life, budget)})


def _state(life: Life, budget: Json) -> Json:
    """The budget's status: of the pods it covers, how many are healthy and how many must be."""
    spec, metadata = budget["spec"], budget["metadata"]
    pods = [
        pod
        for pod in life.store.objects(resources.PODS, metadata["namespace"])
        if matches(spec.get("selector"), labels_of(pod)) and pod["status"].get("phase") not in ("Succeeded", "Failed")
    ]
    healthy, expected = sum(map(is_ready, pods)), len(pods)
    if "maxUnavailable" in spec:
        desired = expected - _share(spec["maxUnavailable"], expected)
    else:
        desired = _share(spec.get("minAvailable", 1), expected)
    return {
        "currentHealthy": healthy,
        "desiredHealthy": max(desired, 0),
        "disruptionsAllowed": max(healthy - max(desired, 0), 0) if expected else 0,
        "expectedPods": expected,
        "observedGeneration": metadata.get("generation", 1),
    }


def _share(value: object, expected: int) -> int:
    text = str(value)
    return math.ceil(int(text[:-1]) * expected / 100) if text.endswith("%") else int(text)


def evict(life: Life, key: Key, *, dry_run: bool) -> None:
    """Delete the pod unless a budget forbids it; raises 404 and 429."""
    pod = life.store.get(resources.PODS, key)
    if pod["status"].get("phase") not in ("Succeeded", "Failed", "Pending"):
        for budget in life.store.objects(resources.BUDGETS, key.namespace):
            if matches(budget["spec"].get("selector"), labels_of(pod)):
                _check(life, budget, pod)
    if not dry_run:
        life.store.delete(resources.PODS, key)


def _check(life: Life, budget: Json, pod: Json) -> None:
    state = _state(life, budget)
    if is_ready(pod) and state["disruptionsAllowed"] < 1:
        raise status.disruption(budget["metadata"]["name"], state["desiredHealthy"], state["currentHealthy"])


def _place(life: Life) -> None:
    """Make each wished object once; one that was evicted or deleted stays away."""
    for row in life.world.settings.get("pdb", []):
        _budget(life, row)
    for number, row in enumerate(life.world.settings.get("pod", [])):
        _pod(life, number, row)


def _namespace(life: Life, name: str) -> None:
    if not life.store.find(resources.NAMESPACES, Key("", name)):
        life.store.create(resources.NAMESPACES, namespace(name))


def _budget(life: Life, row: Json) -> None:
    where = row["namespace"]
    _namespace(life, where)
    pairs = sorted(row["selector"].items())
    name = "-".join(["sandbox", *(f"{key}-{value}" for key, value in pairs)]).lower().replace("/", "-")
    key = Key(where, name)
    spec = {"minAvailable": row["min_available"], "selector": {"matchLabels": dict(pairs)}}
    before = life.store.find(resources.BUDGETS, key)
    if before is None:
        life.store.create(resources.BUDGETS, {"metadata": {"name": name, "namespace": where}, "spec": spec})
    else:
        life.store.replace(resources.BUDGETS, {**before, "spec": spec})


def _pod(life: Life, number: int, row: Json) -> None:
    name = f"sandbox-pod-{number}"
    if name in life.placed or not life.store.find(resources.NODES, Key("", row["node"])):
        return
    life.placed.add(name)
    budgets = life.world.settings.get("pdb", [])
    covering = [b["namespace"] for b in budgets if b["selector"].items() <= row["labels"].items()]
    where = covering[0] if covering else "default"
    _namespace(life, where)
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "sandbox", "uid": "sandbox", "controller": True}
    life.store.create(
        resources.PODS,
        {
            "metadata": {"name": name, "namespace": where, "labels": row["labels"], "ownerReferences": [owner]},
            "spec": {"nodeName": row["node"], "containers": [{"name": "main", "image": "pause"}]},
            "status": {"phase": "Pending"},
        },
    )
