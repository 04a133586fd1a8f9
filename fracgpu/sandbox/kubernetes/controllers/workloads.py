"""ReplicaSets, StatefulSets and Jobs: they make pods and count them. And what loses its owner goes."""

from __future__ import annotations

from collections.abc import Iterator

from fracgpu.sandbox.kubernetes import resources
from fracgpu.sandbox.kubernetes.controllers import deployments
from fracgpu.sandbox.kubernetes.controllers.owners import is_ready, owned, owner_reference, template_hash
from fracgpu.sandbox.kubernetes.defaulting import quality
from fracgpu.sandbox.kubernetes.life import Batch, Life
from fracgpu.sandbox.kubernetes.resources import Resource
from fracgpu.sandbox.kubernetes.selectors import labels_of
from fracgpu.sandbox.kubernetes.store import Key
from fracgpu.sandbox.world import Json

OWNERS = (
    resources.DEPLOYMENTS,
    resources.REPLICA_SETS,
    resources.STATEFUL_SETS,
    resources.JOBS,
    resources.DAEMON_SETS,
)
REVISION = "controller-revision-hash"
_PLACED_UID = "sandbox"
"""The owner of pods that `sandbox set pod` made; no such object exists."""


def run(life: Life, batch: Batch) -> None:
    written = {resource: batch.keys(resource) for resource in (*OWNERS, resources.PODS)}
    if any(life.store.find(resource, key) is None for resource in OWNERS for key in written[resource]):
        _collect(life)
    namespaces = {key.namespace for keys in written.values() for key in keys}
    for where in namespaces:
        for deployment in life.store.objects(resources.DEPLOYMENTS, where):
            deployments.follow(life, deployment)
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


def _replicas(life: Life, resource: Resource, owner: Json) -> None:
    spec, namespace = owner["spec"], owner["metadata"]["namespace"]
    ordinal = resource is resources.STATEFUL_SETS
    if ordinal:
        _drop_outdated(life, owner)
    pods = owned(life.store.objects(resources.PODS, namespace), owner)
    alive = [pod for pod in pods if pod["status"].get("phase") not in ("Failed", "Succeeded")]
    wanted = spec.get("replicas", 1)
    names = _free_names(life, owner, {pod["metadata"]["name"] for pod in pods}, ordinal=ordinal)
    for _ in range(wanted - len(alive)):
        life.store.create(resources.PODS, pod_from(owner, next(names)))
    for pod in alive[wanted:]:
        life.store.delete(resources.PODS, Key(namespace, pod["metadata"]["name"]))
    ready = sum(map(is_ready, alive[:wanted]))
    seen = owner["metadata"].get("generation", 1)
    status = {"replicas": wanted, "readyReplicas": ready, "availableReplicas": ready, "observedGeneration": seen}
    if ordinal:
        revision = f"{owner['metadata']['name']}-{template_hash(spec['template'])}"
        status |= {"currentReplicas": wanted, "updatedReplicas": wanted}
        status |= {"currentRevision": revision, "updateRevision": revision}
    else:
        status["fullyLabeledReplicas"] = wanted
    life.store.replace(resource, {**owner, "status": status})


def _drop_outdated(life: Life, owner: Json) -> None:
    """A StatefulSet's pods of an older template go, and are made anew."""
    if (owner["spec"].get("updateStrategy") or {}).get("type") == "OnDelete":
        return
    wanted = template_hash(owner["spec"]["template"])
    for pod in owned(life.store.objects(resources.PODS, owner["metadata"]["namespace"]), owner):
        if labels_of(pod).get(REVISION) != wanted:
            life.store.delete(resources.PODS, Key(owner["metadata"]["namespace"], pod["metadata"]["name"]))


def _free_names(life: Life, owner: Json, taken: set[str], *, ordinal: bool) -> Iterator[str]:
    """Names for pods of that owner: `web-0` for a StatefulSet, `web-x7k2p` otherwise, which never comes again."""
    name, uid = owner["metadata"]["name"], owner["metadata"]["uid"]
    number = 0 if ordinal else life.store.version
    while True:
        suffix = str(number) if ordinal else template_hash({"uid": uid, "number": number})[:5]
        number += 1
        if f"{name}-{suffix}" not in taken:
            yield f"{name}-{suffix}"


def pod_from(owner: Json, name: str) -> Json:
    """A pod of the owner's template."""
    template = owner["spec"]["template"]
    metadata = template.get("metadata") or {}
    if owner["kind"] == "StatefulSet":
        own = {REVISION: template_hash(template), "statefulset.kubernetes.io/pod-name": name}
        metadata = {**metadata, "labels": {**(metadata.get("labels") or {}), **own}}
    return {
        "metadata": {
            **metadata,
            "name": name,
            "generateName": owner["metadata"]["name"] + "-",
            "namespace": owner["metadata"]["namespace"],
            "ownerReferences": [owner_reference(owner)],
        },
        "spec": {"restartPolicy": "Always", **template["spec"]},
        "status": {"phase": "Pending", "qosClass": quality(template["spec"])},
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
        "startTime": (job.get("status") or {}).get("startTime") or life.store.stamp(),
        "active": max(active, 0),
        "succeeded": succeeded,
        "failed": failed,
    }
    if succeeded >= completions:
        status |= {"completionTime": life.store.stamp(), "conditions": [{"type": "Complete", "status": "True"}]}
    elif exhausted:
        status["conditions"] = [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]
    life.store.replace(resources.JOBS, {**job, "status": status})
