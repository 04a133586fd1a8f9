"""The sandbox's own API: `/healthz` says who it is, `/sandbox/...` (with the token) looks at it and changes it."""

from __future__ import annotations

import hmac
import os
import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

from werkzeug.wrappers import Request, Response

from fracgpu.sandbox.http import json_response
from fracgpu.sandbox.known_names import CLOUDS, OPERATIONS, calls, doubts, nearest
from fracgpu.sandbox.kubernetes.autoscaler import believes, summary
from fracgpu.sandbox.settings import Refused, change

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

    from fracgpu.sandbox.world import Cluster, Pool, World

OUTCOMES = ("failed", "endless", "partial")


def _whole(least: int, most: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and least <= value <= most


FAULT_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "status": (_whole(100, 599), "an HTTP status"),
    "code": (lambda value: isinstance(value, str), "text"),
    "message": (lambda value: isinstance(value, str), "text"),
    "times": (_whole(1, 1_000_000), "a number of calls"),
    "delay": (lambda value: type(value) in (int, float) and 0 <= value <= 3600, "seconds, at most an hour"),
    "drop": (lambda value: isinstance(value, bool), "true or false"),
    "retry_after": (_whole(0, 86_400), "whole seconds"),
    "outcome": (lambda value: value in OUTCOMES, f"one of {', '.join(OUTCOMES)}"),
}
"""What a fault may say beside `cloud` and `call`, and what is right there."""


class Running(Protocol):
    """What is controlled: the server of a sandbox."""

    id: str
    token: str
    http: str
    grpc: str
    world: World
    used: float
    stopping: threading.Event

    def populate(self) -> None: ...


class Control:
    """WSGI application of the control API. Every answer is JSON; an error is `{"error": text}`."""

    def __init__(self, server: Running) -> None:
        self._server = server
        self._routes: dict[tuple[str, str], Callable[[Any], Any]] = {
            ("GET", "status"): self._status,
            ("POST", "stop"): self._stop,
            ("POST", "reset"): self._reset,
            ("GET", "faults"): lambda _: self._server.world.faults.list(),
            ("POST", "faults"): self._add_fault,
            ("DELETE", "faults"): lambda _: self._server.world.faults.clear(),
            ("POST", "set"): self._set,
        }

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        return self._answer(Request(environ))(environ, start_response)

    def _answer(self, request: Request) -> Response:
        path = request.path.strip("/")
        if path == "healthz":
            return json_response({"id": self._server.id, "pid": os.getpid()})
        given, known = request.headers.get("Authorization", ""), f"Bearer {self._server.token}"
        if not hmac.compare_digest(given.encode(), known.encode()):
            return json_response({"error": "the token is missing or not this sandbox's"}, 401)
        route = self._routes.get((request.method, path.removeprefix("sandbox/")))
        if route is None:
            return json_response({"error": f"no {request.method} {request.path}"}, 404)
        try:
            return json_response(route(request.get_json(silent=True)))
        except Refused as refused:
            return json_response({"error": str(refused), "nearest": refused.nearest}, 400)

    def _status(self, _: Any) -> Any:
        world = self._server.world
        world.settle()
        with world.lock:
            clusters = [_cluster(world, cluster) for cluster in world.clusters.values()]
        return {
            "id": self._server.id,
            "pid": os.getpid(),
            "endpoints": {"http": self._server.http, "grpc": self._server.grpc},
            "operationSeconds": world.operation_seconds,
            "idleSeconds": round(time.monotonic() - self._server.used, 1),
            "clusters": clusters,
            "faults": world.faults.list(),
            "settings": world.settings,
        }

    def _stop(self, _: Any) -> Any:
        self._server.stopping.set()
        return {"stopping": True}

    def _reset(self, _: Any) -> Any:
        self._server.world.reset()
        self._server.populate()
        return {"reset": True}

    def _add_fault(self, body: Any) -> Any:
        fields = dict(body) if isinstance(body, dict) else {}
        cloud, call = fields.pop("cloud", None), fields.pop("call", None)
        if cloud not in CLOUDS or not isinstance(call, str) or not call:
            raise Refused(f"a fault needs cloud (one of {', '.join(CLOUDS)}) and call (the API's own name)")
        if call not in (known := calls(cloud)):
            near = nearest(call, known)
            raise Refused(f"{cloud} has no call {call!r}" + (f"; near: {', '.join(near)}" if near else ""), near)
        if unknown := set(fields) - set(FAULT_FIELDS):
            raise Refused(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(FAULT_FIELDS)}")
        for name, (right, words) in FAULT_FIELDS.items():
            if fields.get(name) is not None and not right(fields[name]):
                raise Refused(f"{name} is {words}, not {fields[name]!r}")
        beginning = OPERATIONS.get(cloud, frozenset())
        if fields.get("outcome") and call not in beginning:
            others = f"; those that do: {', '.join(sorted(beginning))}" if beginning else ""
            text = f"outcome is an operation's, and {cloud} {call} starts none{others}"
            raise Refused(text, tuple(sorted(beginning)))
        fault = self._server.world.faults.add(cloud, call, **fields)
        return next(row for row in self._server.world.faults.list() if row["id"] == fault.id)

    def _set(self, body: Any) -> Any:
        fields = dict(body) if isinstance(body, dict) else {}
        kind = fields.pop("kind", None)
        world = self._server.world
        change(world, kind, fields)
        with world.lock:
            return {"set": kind, "doubts": doubts(world, str(kind), fields)}


def _cluster(world: World, cluster: Cluster) -> dict[str, Any]:
    return {
        "provider": str(cluster.cloud),
        "path": list(cluster.path),
        "name": cluster.name,
        "pools": [_pool(world, cluster, pool) for pool in cluster.pools.values()],
        "operations": [{"id": running.id, "kind": running.kind, "pool": running.pool} for running in cluster.running()],
    }


def _pool(world: World, cluster: Cluster, pool: Pool) -> dict[str, Any]:
    row: dict[str, Any] = {"name": pool.name, "state": pool.state, "nodes": pool.size}
    if pool.size == 0:
        row["autoscalerBelieves"] = believes(pool, world.shapes[pool.cloud](cluster, pool))
        row["autoscalerSummary"] = summary(row["autoscalerBelieves"])
    return row
