"""The DaemonSet controller: one pod on every node that the template admits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache

from fracgpu.sandbox.kubernetes import resources
from fracgpu.sandbox.kubernetes.controllers.owners import SUFFIX, is_ready, owner_reference, template_hash
from fracgpu.sandbox.kubernetes.defaulting import quality
from fracgpu.sandbox.kubernetes.life import Batch, Life
from fracgpu.sandbox.kubernetes.selectors import labels_of, node_matches, untolerated
from fracgpu.sandbox.kubernetes.store import Key
from fracgpu.sandbox.world import Json

REVISION = "controller-revision-hash"
OWN_TOLERATIONS: list[Json] = [
    {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"},
    {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"},
    {"key": "node.kubernetes.io/disk-pressure", "operator": "Exists", "effect": "NoSchedule"},
    {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"},
    {"key": "node.kubernetes.io/pid-pressure", "operator": "Exists", "effect": "NoSchedule"},
    {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"},
]
"""What the controller adds to every pod of a DaemonSet."""


def run(life: Life, batch: Batch) -> None:
    sets = list(life.store.entries(resources.DAEMON_SETS))
    changed = batch.keys(resources.DAEMON_SETS)
    nodes = {key.name for key in batch.keys(resources.NODES)}
    nodes |= {node for key in batch.keys(resources.PODS) if (node := _lost(life, key))}
    touched = {key.namespace for key in batch.keys(resources.PODS)}
    for key, entry in sets:
        if key in changed:
            _place(life, entry.object, [node["metadata"]["name"] for node in life.store.objects(resources.NODES)])
        elif nodes:
            _place(life, entry.object, nodes)
        if key in changed or nodes or key.namespace in touched:
            _count(life, key)


def _lost(life: Life, key: Key) -> str | None:
    """The node of a DaemonSet's pod that was deleted."""
    if life.store.find(resources.PODS, key):
        return None
    return life.daemon_pods.pop(key, None)


def _place(life: Life, owner: Json, names: Iterable[str]) -> None:
    spec, tolerations = _needs(owner)
    revision = template_hash(owner["spec"]["template"])
    rolling = (owner["spec"].get("updateStrategy") or {}).get("type") != "OnDelete"
    for name in names:
        node = life.store.find(resources.NODES, Key("", name))
        key = pod_key(owner, name)
        pod = life.store.find(resources.PODS, key)
        fits = node is not None and node_matches(spec, node)
        taints = (node["spec"].get("taints") or ()) if node else ()
        wanted = fits and untolerated(taints, tolerations, ("NoSchedule", "NoExecute")) is None
        stays = wanted or (fits and untolerated(taints, tolerations, ("NoExecute",)) is None)
        outdated = pod is not None and rolling and labels_of(pod).get(REVISION) != revision
        if outdated and wanted:
            life.store.delete(resources.PODS, key)
        if wanted and (pod is None or outdated):
            life.store.create(resources.PODS, _pod(owner, key, name, revision))
            life.daemon_pods[key] = name
        elif pod is not None and not stays:
            life.daemon_pods.pop(key, None)
            life.store.delete(resources.PODS, key)


def _needs(owner: Json) -> tuple[Json, list[Json]]:
    """What the pods ask of a node, and the taints that they tolerate."""
    spec = owner["spec"]["template"]["spec"]
    return spec, [*(spec.get("tolerations") or ()), *OWN_TOLERATIONS]


def pod_key(owner: Json, node: str) -> Key:
    metadata = owner["metadata"]
    return Key(metadata["namespace"], f"{metadata['name']}-{_suffix(metadata['uid'], node)}")


@lru_cache(maxsize=65536)
def _suffix(uid: str, node: str) -> str:
    digest = hashlib.sha256(f"{uid}/{node}".encode()).digest()
    return "".join(SUFFIX[byte % len(SUFFIX)] for byte in digest[:5])


def _pod(owner: Json, key: Key, node: str, revision: str) -> Json:
    template = owner["spec"]["template"]
    spec = template["spec"]
    labels = {**(template.get("metadata", {}).get("labels") or {}), REVISION: revision}
    reference = owner_reference(owner)
    return {
        "metadata": {
            "name": key.name,
            "generateName": owner["metadata"]["name"] + "-",
            "namespace": key.namespace,
            "labels": {**labels, "pod-template-generation": str(owner["metadata"].get("generation", 1))},
            "ownerReferences": [reference],
        },
        "spec": {
            **spec,
            "nodeName": node,
            "restartPolicy": "Always",
            "tolerations": [*(spec.get("tolerations") or ()), *OWN_TOLERATIONS],
        },
        "status": {"phase": "Pending", "qosClass": quality(spec)},
    }


def _count(life: Life, key: Key) -> None:
    owner = life.store.find(resources.DAEMON_SETS, key)
    if owner is None:
        return
    prefix = owner["metadata"]["name"] + "-"
    pods = [pod for pod in life.store.objects(resources.PODS, key.namespace) if _owned(pod, owner, prefix)]
    ready = sum(is_ready(pod) for pod in pods)
    status = {
        "currentNumberScheduled": len(pods),
        "desiredNumberScheduled": len(pods),
        "numberMisscheduled": 0,
        "numberReady": ready,
        "numberAvailable": ready,
        "numberUnavailable": len(pods) - ready,
        "updatedNumberScheduled": len(pods),
        "observedGeneration": owner["metadata"].get("generation", 1),
    }
    life.store.replace(resources.DAEMON_SETS, {**owner, "status": status})


def _owned(pod: Json, owner: Json, prefix: str) -> bool:
    if not pod["metadata"]["name"].startswith(prefix):
        return False
    references = pod["metadata"].get("ownerReferences") or ()
    return any(reference["uid"] == owner["metadata"]["uid"] for reference in references)
