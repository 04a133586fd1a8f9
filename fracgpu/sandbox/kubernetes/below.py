"""POST below an object: evictions, bindings, tokens, and what would need a container that runs."""

from __future__ import annotations

from werkzeug.wrappers import Request, Response

from fracgpu.sandbox.kubernetes import request as asked
from fracgpu.sandbox.kubernetes import status
from fracgpu.sandbox.kubernetes.controllers import budgets
from fracgpu.sandbox.kubernetes.life import Life
from fracgpu.sandbox.kubernetes.reads import json_bytes, nothing_runs
from fracgpu.sandbox.kubernetes.request import Target
from fracgpu.sandbox.kubernetes.reviews import token
from fracgpu.sandbox.kubernetes.store import encode
from fracgpu.sandbox.world import Json

_CREATED: Json = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


def create(life: Life, target: Target, request: Request) -> Response:
    match target.subresource:
        case "eviction":
            budgets.evict(life, target.key, dry_run=asked.dry_run(request))
        case "binding":
            _bind(life, target, asked.body_of(request).get("target"))
        case "token":
            life.store.get(target.resource, target.key)
            return json_bytes(encode(token(asked.body_of(request))), 201)
        case "exec" | "attach" | "portforward" | "proxy":
            return nothing_runs(life, target)
        case _:
            raise status.method_not_allowed()
    return json_bytes(encode(_CREATED), 201)


def _bind(life: Life, target: Target, wanted: object) -> None:
    """Put a pod on a node, as a scheduler of the user's own does it."""
    pod = life.store.get(target.resource, target.key)
    node = wanted.get("name") if isinstance(wanted, dict) else None
    if not isinstance(node, str) or not node:
        raise status.bad_request('Binding in version "v1" cannot be handled as a Binding: target.name is required')
    if there := pod["spec"].get("nodeName"):
        raise status.bound_already(pod["metadata"]["name"], there)
    life.store.replace(target.resource, {**pod, "spec": {**pod["spec"], "nodeName": node}})
