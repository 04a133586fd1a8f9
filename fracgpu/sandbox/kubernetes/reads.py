"""GET: one object, a list, or a watch."""

from __future__ import annotations

import base64
import json
import select
import socket
from collections.abc import Iterator

from werkzeug.wrappers import Request, Response

from fracgpu.sandbox.kubernetes import status, table
from fracgpu.sandbox.kubernetes.life import Life
from fracgpu.sandbox.kubernetes.request import Target, flag
from fracgpu.sandbox.kubernetes.selectors import Test, field_selector, label_selector
from fracgpu.sandbox.kubernetes.settle import settle
from fracgpu.sandbox.kubernetes.store import Change, Entry, Key, encode
from fracgpu.sandbox.world import Json

POLL = 0.25
"""Seconds between looks of a watch at the clock; a change wakes it at once."""

LONGEST_WATCH = 1800.0
ENDED = (OSError, ValueError)


def json_bytes(body: bytes, code: int = 200) -> Response:
    return Response(body, status=code, content_type="application/json")


def get(life: Life, target: Target, request: Request) -> Response:
    entry = life.store.entry(target.resource, target.key)
    if target.subresource == "scale":
        return json_bytes(encode(scale_of(entry.object)))
    if target.subresource == "log":
        return Response(log_of(entry.object), content_type="text/plain")
    if target.subresource in NEEDS_A_CONTAINER:
        return nothing_runs(life, target)
    if table.wanted(request.headers.get("Accept", "")):
        return json_bytes(encode(_table(target, [entry], {"resourceVersion": str(entry.version)}, request)))
    return json_bytes(entry.encoded())


def scale_of(body: Json) -> Json:
    metadata = {name: body["metadata"].get(name) for name in ("name", "namespace", "uid", "resourceVersion")}
    replicas = body["spec"].get("replicas", 1)
    counted = body.get("status", {}).get("replicas", 0)
    head = {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata}
    return {**head, "spec": {"replicas": replicas}, "status": {"replicas": counted}}


NEEDS_A_CONTAINER = {
    "exec": "run a command in",
    "attach": "attach to",
    "portforward": "forward a port to",
    "proxy": "answer a request",
    "ephemeralcontainers": "debug",
}
"""What is asked of a container itself, and what that is."""


def nothing_runs(life: Life, target: Target) -> Response:
    """Refuse what a container would have to do; 404 comes first, for a pod that is not there."""
    life.store.get(target.resource, target.key)
    raise status.nothing_runs(str(target.name), NEEDS_A_CONTAINER[target.subresource])


def log_of(pod: Json) -> str:
    """The last words of a container that failed. Raises 500 where there are none: nothing is run, so nothing is said.

    A pod without a node has an empty log, as on a real cluster.
    """
    lines = []
    for part in ("initContainerStatuses", "containerStatuses"):
        for row in pod.get("status", {}).get(part) or ():
            message = (row.get("lastState") or {}).get("terminated", {}).get("message")
            lines += [f"E {message}\n"] if message else []
    if not lines and pod["spec"].get("nodeName"):
        raise status.nothing_runs(pod["metadata"]["name"], "log")
    return "".join(lines)


def _test(target: Target, request: Request) -> Test | None:
    tests: list[Test] = []
    if request.args.get("labelSelector"):
        tests.append(label_selector(request.args["labelSelector"]))
    if request.args.get("fieldSelector"):
        tests.append(field_selector(request.args["fieldSelector"]))
    if target.name is not None:
        name = target.name
        tests.append(lambda body: bool(body["metadata"]["name"] == name))
    return (lambda body: all(test(body) for test in tests)) if tests else None


def list_(life: Life, target: Target, request: Request) -> Response:
    test = _test(target, request)
    found = sorted(life.store.entries(target.resource, target.namespace))
    if test is not None:
        found = [(key, entry) for key, entry in found if test(entry.object)]
    page, metadata = _page(life, found, request, counted=test is None)
    entries = [entry for _, entry in page]
    if table.wanted(request.headers.get("Accept", "")):
        return json_bytes(encode(_table(target, entries, metadata, request)))
    head = {"kind": target.resource.kind + "List", "apiVersion": target.resource.api_version, "metadata": metadata}
    items = b",".join(entry.encoded() for entry in entries)
    return json_bytes(encode(head)[:-1] + b',"items":[' + items + b"]}")


def _page(
    life: Life, found: list[tuple[Key, Entry]], request: Request, *, counted: bool
) -> tuple[list[tuple[Key, Entry]], Json]:
    """The part of a list that was asked for; a token holds the version and the last name given out."""
    version = str(life.store.version)
    token = request.args.get("continue")
    if token:
        version, after = _read_token(token)
        found = [pair for pair in found if pair[0] > after]
    limit = request.args.get("limit", 0, int)
    if limit <= 0 or len(found) <= limit:
        return found, {"resourceVersion": version}
    page, left = found[:limit], len(found) - limit
    last = page[-1][0]
    text = json.dumps([version, last.namespace, last.name]).encode()
    metadata: Json = {"resourceVersion": version, "continue": base64.urlsafe_b64encode(text).decode()}
    return page, {**metadata, "remainingItemCount": left} if counted else metadata


def _read_token(token: str) -> tuple[str, Key]:
    try:
        version, namespace, name = map(str, json.loads(base64.urlsafe_b64decode(token)))
    except (ValueError, TypeError) as error:
        raise status.bad_request("continue key is not valid: illegal base64 data") from error
    return version, Key(namespace, name)


def _table(target: Target, entries: list[Entry], metadata: Json, request: Request) -> Json:
    include = request.args.get("includeObject", "Metadata")
    return table.table(target.resource, [entry.object for entry in entries], metadata, include)


def watch(life: Life, target: Target, request: Request) -> Response:
    """Changes as they come, one JSON document a line, after the list's version or from all that is there."""
    version = request.args.get("resourceVersion", "0")
    if not version.isdecimal():
        raise status.bad_request(f"invalid resource version: {version}")
    watcher = _Watcher(life, target, request, int(version))
    return Response(watcher.lines(), content_type="application/json", direct_passthrough=True)


class _Watcher:
    """One open watch. Its generator runs in the server's thread of that connection."""

    def __init__(self, life: Life, target: Target, request: Request, version: int) -> None:
        self._life = life
        self._target = target
        self._test = _test(target, request)
        self._version = version
        self._socket: socket.socket | None = request.environ.get("werkzeug.socket")
        self._bookmarks = flag(request.args, "allowWatchBookmarks")
        self._initial = flag(request.args, "sendInitialEvents") or version == 0
        self._table = table.wanted(request.headers.get("Accept", ""))
        self._include = request.args.get("includeObject", "Metadata")
        self._left = min(request.args.get("timeoutSeconds", LONGEST_WATCH, float), LONGEST_WATCH)

    def lines(self) -> Iterator[bytes]:
        yield b""
        with self._life.world.lock:
            first = self._first() if self._initial else []
        yield from first
        while self._left > 0 and self._connected() and self._current():
            try:
                found = self._next()
            except status.ApiError as error:
                yield encode({"type": "ERROR", "object": error.body()}) + b"\n"
                return
            if found:
                yield b"".join(found)

    def _first(self) -> list[bytes]:
        entries = sorted(self._life.store.entries(self._target.resource, self._target.namespace))
        self._version = self._life.store.version
        lines = [self._line("ADDED", entry) for _, entry in entries if self._matches(entry)]
        return [*lines, self._bookmark()] if self._bookmarks else lines

    def _bookmark(self) -> bytes:
        resource = self._target.resource
        annotations = {"k8s.io/initial-events-end": "true"}
        metadata = {"resourceVersion": str(self._version), "annotations": annotations}
        body = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata}
        return encode({"type": "BOOKMARK", "object": body}) + b"\n"

    def _next(self) -> list[bytes]:
        """What changed since the last look; waits a little when nothing did."""
        world = self._life.world
        with world.lock:
            world.settle()
            settle(self._life)
            changes = self._life.store.since(self._target.resource, self._version)
            if not changes:
                world.changed.wait(min(POLL, self._left))
                self._left -= POLL
                return []
            self._version = changes[-1].version
            return [line for change in changes if (line := self._change(change))]

    def _change(self, change: Change) -> bytes | None:
        namespace = self._target.namespace
        if namespace is not None and change.entry.object["metadata"].get("namespace") != namespace:
            return None
        had = change.before is not None and self._matches(change.before)
        has = change.type != "DELETED" and self._matches(change.entry)
        if has:
            return self._line("MODIFIED" if had else "ADDED", change.entry)
        return self._line("DELETED", change.entry) if had else None

    def _matches(self, entry: Entry) -> bool:
        return self._test is None or self._test(entry.object)

    def _line(self, type: str, entry: Entry) -> bytes:
        if not self._table:
            return b'{"type":"' + type.encode() + b'","object":' + entry.encoded() + b"}\n"
        metadata = {"resourceVersion": str(entry.version)}
        rows = table.table(self._target.resource, [entry.object], metadata, self._include)
        return encode({"type": type, "object": rows}) + b"\n"

    def _current(self) -> bool:
        cluster = self._life.cluster
        return self._life.world.clusters.get((cluster.cloud, cluster.path)) is cluster

    def _connected(self) -> bool:
        """Whether the client is still there: a closed connection is readable and empty."""
        if self._socket is None:
            return True
        try:
            readable, _, _ = select.select([self._socket], [], [], 0)
            return not readable or bool(self._socket.recv(1, socket.MSG_PEEK))
        except ENDED:
            return False
