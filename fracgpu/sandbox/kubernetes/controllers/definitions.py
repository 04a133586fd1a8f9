"""CustomResourceDefinitions: what they define is served at once, and goes with them."""

from __future__ import annotations

from fracgpu.sandbox.kubernetes import resources
from fracgpu.sandbox.kubernetes.life import Batch, Life, with_conditions
from fracgpu.sandbox.world import Json


def run(life: Life, batch: Batch) -> None:
    if not batch.keys(resources.DEFINITIONS):
        return
    definitions = life.store.objects(resources.DEFINITIONS)
    for resource in life.kinds.define(definitions):
        for key, _ in list(life.store.entries(resource)):
            life.store.delete(resource, key)
    for definition in definitions:
        life.store.replace(resources.DEFINITIONS, {**definition, "status": _status(definition, life.store.stamp())})


def _status(definition: Json, when: str) -> Json:
    spec = definition["spec"]
    names = {"singular": spec["names"]["kind"].lower(), "listKind": spec["names"]["kind"] + "List", **spec["names"]}
    rows = [
        {"type": "NamesAccepted", "status": "True", "reason": "NoConflicts", "message": "no conflicts found"},
        {
            "type": "Established",
            "status": "True",
            "reason": "InitialNamesAccepted",
            "message": "the initial names have been accepted",
        },
    ]
    before = definition.get("status") or {}
    return {
        "conditions": with_conditions(before.get("conditions") or (), *rows, when=when),
        "acceptedNames": names,
        "storedVersions": [version["name"] for version in spec["versions"] if version.get("storage")],
    }
