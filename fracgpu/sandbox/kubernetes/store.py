"""The objects of one cluster, their versions, and what changed since a version.

An object in the store is never changed in place: every write puts a new one there, so that lists, watches and their
histories may hold on to what they got. All calls are made with `World.lock` held.
"""

from __future__ import annotations

import json
import time
import uuid
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from fracgpu.sandbox.kubernetes import status
from fracgpu.sandbox.kubernetes.resources import Resource
from fracgpu.sandbox.world import Json

HISTORY = 10_000
"""Changes kept for each kind; a watch that starts before them gets 410 Expired."""


class Key(NamedTuple):
    """Where an object is; `namespace` is empty for kinds without one."""

    namespace: str
    name: str


@dataclass(slots=True)
class Entry:
    """One version of one object, with its JSON kept once it was asked for."""

    object: Json
    version: int
    _encoded: bytes | None = None

    def encoded(self) -> bytes:
        if self._encoded is None:
            self._encoded = encode(self.object)
        return self._encoded


class Change(NamedTuple):
    """`type` is ADDED, MODIFIED or DELETED; `before` is what stood there, None for an addition."""

    type: str
    version: int
    entry: Entry
    before: Entry | None


@dataclass(slots=True)
class _Kind:
    objects: dict[Key, Entry]
    changes: deque[Change]
    floor: int
    """The last change that was forgotten."""
    latest: int


def encode(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def timestamp(ago: float = 0.0) -> str:
    """Now, or that many seconds ago, as Kubernetes writes it."""
    return _written(int(time.time() - ago))


@lru_cache(maxsize=256)
def _written(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Store:
    """Objects by kind. `number` gives ever-growing versions; `touched` collects the keys that were written to."""

    def __init__(self, number: Callable[[], int]) -> None:
        self._number = number
        self._kinds: dict[Resource, _Kind] = {}
        self.version = number()
        self.touched: dict[Resource, set[Key]] = {}
        self.lag = 0.0
        """How many seconds ago what is being written happened."""

    def stamp(self) -> str:
        """When what is being written happened."""
        return timestamp(self.lag)

    def _kind(self, resource: Resource) -> _Kind:
        found = self._kinds.get(resource)
        if found is None:
            found = self._kinds[resource] = _Kind({}, deque(maxlen=HISTORY), 0, self.version)
        return found

    def find(self, resource: Resource, key: Key) -> Json | None:
        entry = self._kind(resource).objects.get(key)
        return entry.object if entry else None

    def get(self, resource: Resource, key: Key) -> Json:
        """The object; raises 404."""
        found = self.find(resource, key)
        if found is None:
            raise status.not_found(resource, key.name)
        return found

    def entry(self, resource: Resource, key: Key) -> Entry:
        """The object with its JSON; raises 404."""
        found = self._kind(resource).objects.get(key)
        if found is None:
            raise status.not_found(resource, key.name)
        return found

    def entries(self, resource: Resource, namespace: str | None = None) -> Collection[tuple[Key, Entry]]:
        """All objects of a kind, or those of a namespace, the longest there first."""
        items = self._kind(resource).objects.items()
        return items if namespace is None else [(key, entry) for key, entry in items if key.namespace == namespace]

    def objects(self, resource: Resource, namespace: str | None = None) -> list[Json]:
        return [entry.object for _, entry in self.entries(resource, namespace)]

    def latest(self, resource: Resource) -> int:
        """The version of the last change of that kind."""
        return self._kind(resource).latest

    def create(self, resource: Resource, body: Json) -> Json:
        """Store a new object with uid, creation time and version; raises 409 when the name is taken."""
        metadata = dict(body["metadata"])
        key = Key(metadata.get("namespace", ""), metadata["name"])
        if key in self._kind(resource).objects:
            raise status.already_exists(resource, key.name)
        metadata.setdefault("uid", str(uuid.uuid4()))
        metadata.setdefault("creationTimestamp", self.stamp())
        head = {"apiVersion": resource.api_version, "kind": resource.kind}
        return self._put(resource, key, {**head, **body, "metadata": metadata}, None)

    def replace(self, resource: Resource, body: Json) -> Json:
        """Store a new version; gives back the old one where nothing but the version differs."""
        metadata = body["metadata"]
        key = Key(metadata.get("namespace", ""), metadata["name"])
        before = self.entry(resource, key)
        if _unversioned(before.object) == _unversioned(body):
            return before.object
        return self._put(resource, key, {**body, "metadata": dict(metadata)}, before)

    def _put(self, resource: Resource, key: Key, body: Json, before: Entry | None) -> Json:
        version = self._number()
        body["metadata"]["resourceVersion"] = str(version)
        entry = Entry(body, version)
        self._kind(resource).objects[key] = entry
        self._record(resource, key, Change("MODIFIED" if before else "ADDED", version, entry, before))
        return body

    def delete(self, resource: Resource, key: Key) -> Json:
        """Take an object away at once; raises 404."""
        before = self.entry(resource, key)
        del self._kind(resource).objects[key]
        version = self._number()
        last = {**before.object, "metadata": {**before.object["metadata"], "resourceVersion": str(version)}}
        self._record(resource, key, Change("DELETED", version, Entry(last, version), before))
        return last

    def _record(self, resource: Resource, key: Key, change: Change) -> None:
        kind = self._kind(resource)
        if len(kind.changes) == HISTORY:
            kind.floor = kind.changes[0].version
        kind.changes.append(change)
        kind.latest = self.version = change.version
        self.touched.setdefault(resource, set()).add(key)

    def since(self, resource: Resource, version: int) -> list[Change]:
        """The changes after a version, oldest first; raises 410 when they are forgotten."""
        kind = self._kind(resource)
        if version < kind.floor:
            raise status.expired(f"too old resource version: {version} ({kind.floor})")
        found = []
        for change in reversed(kind.changes):
            if change.version <= version:
                break
            found.append(change)
        return found[::-1]


def _unversioned(body: Json) -> Json:
    """What makes a new version of an object: all but the version itself and the times of its managers."""
    metadata = {name: value for name, value in body["metadata"].items() if name != "resourceVersion"}
    managers = metadata.get("managedFields")
    if managers:
        metadata["managedFields"] = [{name: entry[name] for name in entry if name != "time"} for entry in managers]
    return {**body, "metadata": metadata}
