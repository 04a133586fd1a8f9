"""Deployments: a ReplicaSet for the present template, and those of older ones, without pods, to go back to."""

from __future__ import annotations

from fracgpu.sandbox.kubernetes import resources
from fracgpu.sandbox.kubernetes.controllers.owners import owned, owner_reference, template_hash
from fracgpu.sandbox.kubernetes.life import Life, with_conditions
from fracgpu.sandbox.kubernetes.store import Key
from fracgpu.sandbox.world import Json

REVISION = "deployment.kubernetes.io/revision"
"""The annotation by which `kubectl rollout history` and `undo` know a template's place in the order."""

_CAUSE = "kubernetes.io/change-cause"


def follow(life: Life, owner: Json) -> None:
    """Bring a deployment's ReplicaSets to what it says; pods of an older template go at once."""
    metadata, spec = owner["metadata"], owner["spec"]
    where = metadata["namespace"]
    name = f"{metadata['name']}-{template_hash(spec['template'])}"
    mine = owned(life.store.objects(resources.REPLICA_SETS, where), owner)
    revision = _revision(mine, name)
    present = next((one for one in mine if one["metadata"]["name"] == name), None)
    for old in mine:
        if old is not present:
            life.store.replace(resources.REPLICA_SETS, {**old, "spec": {**old["spec"], "replicas": 0}})
    _forget(life, [old for old in mine if old is not present], spec.get("revisionHistoryLimit", 10))
    replicas = spec.get("replicas", 1)
    if present is None:
        life.store.create(resources.REPLICA_SETS, _replica_set(owner, name, replicas, revision))
        text = f"Scaled up replica set {name} from 0 to {replicas}"
        life.event(owner, "ScalingReplicaSet", text, by="deployment-controller")
    else:
        _scale(life, owner, present, replicas, revision)
    marked = {**metadata, "annotations": {**(metadata.get("annotations") or {}), REVISION: str(revision)}}
    status = _status(owner, present or {}, replicas, life.store.stamp())
    life.store.replace(resources.DEPLOYMENTS, {**owner, "metadata": marked, "status": status})


def _number(replica_set: Json) -> int:
    return int((replica_set["metadata"].get("annotations") or {}).get(REVISION, 0))


def _revision(mine: list[Json], name: str) -> int:
    """The present template's number: the highest, which one that is gone back to gets anew."""
    highest = max(map(_number, mine), default=0)
    present = next((one for one in mine if one["metadata"]["name"] == name), None)
    return highest if present is not None and _number(present) == highest else highest + 1


def _forget(life: Life, old: list[Json], kept: int) -> None:
    for one in sorted(old, key=_number)[: max(len(old) - kept, 0)]:
        life.store.delete(resources.REPLICA_SETS, Key(one["metadata"]["namespace"], one["metadata"]["name"]))


def _scale(life: Life, owner: Json, present: Json, replicas: int, revision: int) -> None:
    before, metadata = present["spec"].get("replicas", 0), present["metadata"]
    if before != replicas:
        way = "up" if replicas > before else "down"
        text = f"Scaled {way} replica set {metadata['name']} from {before} to {replicas}"
        life.event(owner, "ScalingReplicaSet", text, by="deployment-controller")
    marked = {**metadata, "annotations": {**(metadata.get("annotations") or {}), REVISION: str(revision)}}
    spec = {**present["spec"], "replicas": replicas}
    life.store.replace(resources.REPLICA_SETS, {**present, "metadata": marked, "spec": spec})


def _replica_set(owner: Json, name: str, replicas: int, revision: int) -> Json:
    spec, metadata = owner["spec"], owner["metadata"]
    label = {"pod-template-hash": name.rsplit("-", 1)[1]}
    template = spec["template"]
    inner = template.get("metadata") or {}
    labels = {**(inner.get("labels") or {}), **label}
    selector = spec.get("selector") or {}
    cause = {name: value for name, value in (metadata.get("annotations") or {}).items() if name == _CAUSE}
    return {
        "metadata": {
            "name": name,
            "namespace": metadata["namespace"],
            "labels": labels,
            "annotations": {**cause, REVISION: str(revision)},
            "ownerReferences": [owner_reference(owner)],
        },
        "spec": {
            "replicas": replicas,
            "selector": {**selector, "matchLabels": {**(selector.get("matchLabels") or {}), **label}},
            "template": {**template, "metadata": {**inner, "labels": labels}},
        },
        "status": {"replicas": 0},
    }


def _status(owner: Json, present: Json, replicas: int, when: str) -> Json:
    counted = present.get("status") or {}
    ready, made = counted.get("readyReplicas", 0), counted.get("replicas", 0)
    enough = ready >= replicas
    rows = [
        _condition("Available", enough, "MinimumReplicasAvailable", "MinimumReplicasUnavailable"),
        _condition("Progressing", True, "NewReplicaSetAvailable" if enough else "ReplicaSetUpdated", ""),
    ]
    return {
        "replicas": made,
        "updatedReplicas": made,
        "readyReplicas": ready,
        "availableReplicas": ready,
        "unavailableReplicas": max(replicas - ready, 0),
        "observedGeneration": owner["metadata"].get("generation", 1),
        "conditions": with_conditions((owner.get("status") or {}).get("conditions") or (), *rows, when=when),
    }


def _condition(type: str, holds: bool, reason: str, otherwise: str) -> Json:
    return {"type": type, "status": "True" if holds else "False", "reason": reason if holds else otherwise}
