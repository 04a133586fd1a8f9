"""What makes pods and what is made: references, and a short name for a template."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from fracgpu.sandbox.world import Json

SUFFIX = "bcdfghjklmnpqrstvwxz2456789"
"""The letters of made-up names, among which there are no words."""


def owner_reference(owner: Json) -> Json:
    metadata = owner["metadata"]
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def owned(bodies: Iterable[Json], owner: Json) -> list[Json]:
    """Those of the objects that the owner controls, oldest first."""
    uid = owner["metadata"]["uid"]
    mine = [one for one in bodies if any(ref["uid"] == uid for ref in one["metadata"].get("ownerReferences") or ())]
    return sorted(mine, key=lambda one: (one["metadata"]["creationTimestamp"], one["metadata"]["name"]))


def template_hash(template: Json) -> str:
    """Letters that stand for a template, as in the names of ReplicaSets."""
    digest = hashlib.sha256(json.dumps(template, sort_keys=True).encode()).digest()
    return "".join(SUFFIX[byte % len(SUFFIX)] for byte in digest[:9])


def is_ready(pod: Json) -> bool:
    """Whether the pod's Ready condition is true."""
    conditions = pod.get("status", {}).get("conditions") or ()
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
