"""What a request is called: its verb, and the names by which a fault may mean it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from werkzeug.wrappers import Request

from fracgpu.sandbox.kubernetes.request import Target, flag
from fracgpu.sandbox.kubernetes.resources import RESOURCES, Resource


def verb(where: Target, request: Request) -> str:
    """What the request wants, in the words of Kubernetes' audit log."""
    if request.method == "GET":
        if flag(request.args, "watch"):
            return "watch"
        return "list" if where.name is None else "get"
    words = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
    word = words.get(request.method, request.method.lower())
    return "deletecollection" if word == "delete" and where.name is None else word


_OPERATIONS = {"get": "read", "update": "replace", "deletecollection": "deleteCollection"}
_BELOW = {"eviction": ("create",), "binding": ("create",), "log": ("get",)}
_BELOW_OTHERS = ("get", "update", "patch")


def call_names(where: Target, word: str) -> list[str]:
    """OpenAPI's operation id (`listCoreV1Node`), and `list nodes`."""
    resource = where.resource
    group = resource.group.removesuffix(".k8s.io").split(".")[0].capitalize() or "Core"
    scope = "Namespaced" if resource.namespaced and where.namespace else ""
    below = where.subresource.capitalize()
    operation = f"{_OPERATIONS.get(word, word)}{group}{resource.version.capitalize()}{scope}{resource.kind}{below}"
    plain = f"{word} {resource.plural}" + (f"/{where.subresource}" if where.subresource else "")
    return [operation, plain]


@cache
def every_call() -> frozenset[str]:
    """All names of all requests that are answered."""
    return frozenset(
        name for resource in RESOURCES for where, word in _requests(resource) for name in call_names(where, word)
    )


def _requests(resource: Resource) -> Iterator[tuple[Target, str]]:
    namespace = "default" if resource.namespaced else None
    for word in resource.verbs:
        yield Target(resource, namespace, None), word
        if word in ("list", "watch"):
            yield Target(resource, None, None), word
    for below in resource.subresources:
        for word in _BELOW.get(below, _BELOW_OTHERS):
            yield Target(resource, namespace, "name", below), word
