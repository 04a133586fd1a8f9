"""Deployments, ReplicaSets, StatefulSets and Jobs: they make pods and count them. And what loses its owner goes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator

from fracgpu.sandbox.kubernetes import resources
from fracgpu.sandbox.kubernetes.controllers.daemonsets import SUFFIX, is_ready, owner_reference
from fracgpu.sandbox.kubernetes.life import Batch, Life
from fracgpu.sandbox.kubernetes.resources import Resource
from fracgpu.sandbox.kubernetes.store import Key, timestamp
from fracgpu.sandbox.world import Json

OWNERS = (
    resources.DEPLOYMENTS,
    resources.REPLICA_SETS,
    resources.STATEFUL_SETS,
    resources.JOBS,
    resources.DAEMON_SETS,
)
_PLACED_UID = "sandbox"
"""The owner of pods that `sandbox set pod` made; no such object exists."""


def run(life: Life, batch: Batch) -> None:
    written = {resource: batch.keys(resource) for resource in (*OWNERS, resources.PODS)}
    if any(life.store.find(resource, key) is None for resource in OWNERS for key in written[resource]):
        _collect(life)
    namespaces = {key.namespace for keys in written.values() for key in keys}
    for where in namespaces:
        for deployment in life.store.objects(resources.DEPLOYMENTS, where):
            _deployment(life, deployment)
        for resource in (resources.REPLICA_SETS, resources.STATEFUL_SETS):
            for owner in life.store.objects(resource, where):
                _replicas(life, resource, owner)
        for job in life.store.objects(resources.JOBS, where):
            _job(life, job)


def _collect(life: Life) -> None:
    """Background garbage collection."""
    alive = {owner["metadata"]["uid"] for resource in OWNERS for owner in life.store.objects(resource)}
    alive.add(_PLACED_UID)
    for resource in (resources.REPLICA_SETS, resources.PODS):
        for key, entry in list(life.store.entries(resource)):
            references = entry.object["metadata"].get("ownerReferences")
            if references and not any(reference["uid"] in alive for reference in references):
                life.store.delete(resource, key)


def owned(bodies: Iterable[Json], owner: Json) -> list[Json]:
    """Those of the objects that the owner controls, oldest first."""
    uid = owner["metadata"]["uid"]
    mine = [one for one in bodies if any(ref["uid"] == uid for ref in one["metadata"].get("ownerReferences") or ())]
    return sorted(mine, key=lambda one: (one["metadata"]["creationTimestamp"], one["metadata"]["name"]))


def _hash(template: Json) -> str:
    digest = hashlib.sha256(json.dumps(template, sort_keys=True).encode()).digest()
    return "".join(SUFFIX[byte % len(SUFFIX)] for byte in digest[:9])


def _deployment(life: Life, owner: Json) -> None:
    """One ReplicaSet for the present template; those of older templates go at once."""
    metadata, spec = owner["metadata"], owner["spec"]
    name = f"{metadata['name']}-{_hash(spec['template'])}"
    mine = owned(life.store.objects(resources.REPLICA_SETS, metadata["namespace"]), owner)
    for old in mine:
        if old["metadata"]["name"] != name:
            life.store.delete(resources.REPLICA_SETS, Key(metadata["namespace"], old["metadata"]["name"]))
    replicas = spec.get("replicas", 1)
    present = life.store.find(resources.REPLICA_SETS, Key(metadata["namespace"], name))
    if present is None:
        life.store.create(resources.REPLICA_SETS, _replica_set(owner, name, replicas))
        return
    life.store.replace(resources.REPLICA_SETS, {**present, "spec": {**present["spec"], "replicas": replicas}})
    counted = present.get("status") or {}
    ready = counted.get("readyReplicas", 0)
    status = {
        "replicas": counted.get("replicas", 0),
        "updatedReplicas": counted.get("replicas", 0),
        "readyReplicas": ready,
        "availableReplicas": ready,
        "unavailableReplicas": max(replicas - ready, 0),
        "observedGeneration": metadata.get("generation", 1),
        "conditions": [{"type": "Available", "status": "True" if ready >= replicas else "False"}],
    }
    life.store.replace(resources.DEPLOYMENTS, {**owner, "status": status})


def _replica_set(owner: Json, name: str, replicas: int) -> Json:
    spec, metadata = owner["spec"], owner["metadata"]
    label = {"pod-template-hash": name.rsplit("-", 1)[1]}
    template = spec["template"]
    inner = template.get("metadata") or {}
    labels = {**(inner.get("labels") or {}), **label}
    selector = spec.get("selector") or {}
    return {
        "metadata": {
            "name": name,
            "namespace": metadata["namespace"],
            "labels": labels,
            "ownerReferences": [owner_reference(owner)],
        },
        "spec": {
            "replicas": replicas,
            "selector": {**selector, "matchLabels": {**(selector.get("matchLabels") or {}), **label}},
            "template": {**template, "metadata": {**inner, "labels": labels}},
        },
        "status": {"replicas": 0},
    }


def _replicas(life: Life, resource: Resource, owner: Json) -> None:
    spec, namespace = owner["spec"], owner["metadata"]["namespace"]
    pods = owned(life.store.objects(resources.PODS, namespace), owner)
    alive = [pod for pod in pods if pod["status"].get("phase") not in ("Failed", "Succeeded")]
    wanted = spec.get("replicas", 1)
    names = _free_names(
        life, owner, {pod["metadata"]["name"] for pod in pods}, ordinal=resource is resources.STATEFUL_SETS
    )
    for _ in range(wanted - len(alive)):
        life.store.create(resources.PODS, pod_from(owner, next(names)))
    for pod in alive[wanted:]:
        life.store.delete(resources.PODS, Key(namespace, pod["metadata"]["name"]))
    ready = sum(map(is_ready, alive[:wanted]))
    status = {"replicas": wanted, "readyReplicas": ready, "availableReplicas": ready, "fullyLabeledReplicas": wanted}
    life.store.replace(resource, {**owner, "status": status})


def _free_names(life: Life, owner: Json, taken: set[str], *, ordinal: bool) -> Iterator[str]:
    """Names for pods of that owner: `web-0` for a StatefulSet, `web-x7k2p` otherwise, which never comes again."""
    name, uid = owner["metadata"]["name"], owner["metadata"]["uid"]
    number = 0 if ordinal else life.store.version
    while True:
        suffix = str(number) if ordinal else _hash({"uid": uid, "number": number})[:5]
        number += 1
        if f"{name}-{suffix}" not in taken:
            yield f"{name}-{suffix}"


def pod_from(owner: Json, name: str) -> Json:
    """A pod of the owner's template."""
    template = owner["spec"]["template"]
    metadata = template.get("metadata") or {}
    return {
        "metadata": {
            **metadata,
            "name": name,
            "generateName": owner["metadata"]["name"] + "-",
            "namespace": owner["metadata"]["namespace"],
            "ownerReferences": [owner_reference(owner)],
        },
        "spec": {"restartPolicy": "Always", **template["spec"]},
        "status": {"phase": "Pending", "qosClass": "BestEffort"},
    }


def _job(life: Life, job: Json) -> None:
    spec, namespace = job["spec"], job["metadata"]["namespace"]
    if (job.get("status") or {}).get("completionTime") or spec.get("suspend"):
        return
    pods = owned(life.store.objects(resources.PODS, namespace), job)
    succeeded = sum(pod["status"].get("phase") == "Succeeded" for pod in pods)
    failed = sum(pod["status"].get("phase") == "Failed" for pod in pods)
    active = len(pods) - succeeded - failed
    completions = spec.get("completions", 1)
    names = _free_names(life, job, {pod["metadata"]["name"] for pod in pods}, ordinal=False)
    exhausted = failed > spec.get("backoffLimit", 6)
    room = min(spec.get("parallelism", 1), completions - succeeded) - active
    for _ in range(0 if exhausted else room):
        life.store.create(resources.PODS, pod_from(job, next(names)))
    status = {
        "startTime": (job.get("status") or {}).get("startTime") or timestamp(),
        "active": max(active, 0),
        "succeeded": succeeded,
        "failed": failed,
    }
    if succeeded >= completions:
        status |= {"completionTime": timestamp(), "conditions": [{"type": "Complete", "status": "True"}]}
    elif exhausted:
        status["conditions"] = [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]
    life.store.replace(resources.JOBS, {**job, "status": status})
