"""Watches: what came before, what comes after, what is let through, and when they end."""

from __future__ import annotations

import contextlib
import json
import queue
import socket
import threading
from collections.abc import Callable, Iterator
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.sandbox.kubernetes.conftest import AddPool, Api

MAPS = "api/v1/namespaces/default/configmaps"
PATIENCE = 30.0
Json = dict[str, Any]


class Watch:
    """An open watch, read by a thread of its own."""

    def __init__(self, api: Api, path: str, accept: str = "application/json", **query: str) -> None:
        self._connection = HTTPConnection(api.sandbox.http.removeprefix("http://"), timeout=PATIENCE)
        where = api.url.removeprefix(api.sandbox.http) + f"/{path}?{urlencode({'watch': 'true', **query})}"
        self._connection.request("GET", where, headers={"Authorization": "Bearer x", "Accept": accept})
        self._socket = self._connection.sock
        self._response = self._connection.getresponse()
        self._lines: queue.Queue[Json | None] = queue.Queue()
        self._thread = threading.Thread(target=self._read, args=(self._response,), daemon=True)
        self._thread.start()

    def _read(self, response: HTTPResponse) -> None:
        with contextlib.suppress(OSError, HTTPException):
            while line := response.readline():
                self._lines.put(json.loads(line))
        self._lines.put(None)

    def next(self) -> Json | None:
        """The next event; None when the server has ended the watch."""
        return self._lines.get(timeout=PATIENCE)

    def seen(self, count: int) -> list[tuple[str, str]]:
        events = [self.next() for _ in range(count)]
        return [(event["type"], event["object"]["metadata"]["name"]) for event in events if event]

    def close(self) -> None:
        """Leave without a word, as a client does that is interrupted."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join(PATIENCE)
        self._response.close()
        self._connection.close()


@pytest.fixture
def watch(api: Api) -> Iterator[Callable[..., Watch]]:
    opened: list[Watch] = []

    def start(path: str, **query: str) -> Watch:
        opened.append(Watch(api, path, timeoutSeconds="20", **query))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def test_what_is_there_comes_first_and_changes_follow(api: Api, watch: Callable[..., Watch]) -> None:
    api.create(MAPS, {"metadata": {"name": "a"}})
    one = watch(MAPS)
    assert one.seen(1) == [("ADDED", "a")]
    api.create(MAPS, {"metadata": {"name": "b"}})
    api.merge(f"{MAPS}/a", {"data": {"x": "1"}})
    api.call("DELETE", f"{MAPS}/b")
    assert one.seen(3) == [("ADDED", "b"), ("MODIFIED", "a"), ("DELETED", "b")]


def test_from_a_lists_version_only_what_is_newer(api: Api, watch: Callable[..., Watch]) -> None:
    api.create(MAPS, {"metadata": {"name": "a"}})
    version = api.get(MAPS)["metadata"]["resourceVersion"]
    api.create(MAPS, {"metadata": {"name": "b"}})
    one = watch(MAPS, resourceVersion=version)
    assert one.seen(1) == [("ADDED", "b")]


def test_a_selector_turns_changes_into_coming_and_going(api: Api, watch: Callable[..., Watch]) -> None:
    version = api.create(MAPS, {"metadata": {"name": "a"}})["metadata"]["resourceVersion"]
    one = watch(MAPS, resourceVersion=version, labelSelector="in=yes")
    api.merge(f"{MAPS}/a", {"data": {"x": "1"}})
    api.merge(f"{MAPS}/a", {"metadata": {"labels": {"in": "yes"}}})
    api.merge(f"{MAPS}/a", {"data": {"x": "2"}})
    api.merge(f"{MAPS}/a", {"metadata": {"labels": {"in": "no"}}})
    assert one.seen(3) == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]


def test_other_namespaces_are_not_seen(api: Api, watch: Callable[..., Watch]) -> None:
    version = api.get(MAPS)["metadata"]["resourceVersion"]
    one = watch(MAPS, resourceVersion=version)
    api.create("api/v1/namespaces/kube-system/configmaps", {"metadata": {"name": "there"}})
    api.create(MAPS, {"metadata": {"name": "here"}})
    assert one.seen(1) == [("ADDED", "here")]


def test_a_node_is_watched_until_its_slices_are_there(api: Api, watch: Callable[..., Watch], add_pool: AddPool) -> None:
    one = watch("api/v1/nodes", resourceVersion=api.get("api/v1/nodes")["metadata"]["resourceVersion"])
    add_pool(gpuInstanceProfile="MIG1g")
    while (event := one.next()) is not None:
        if event["object"]["status"]["allocatable"].get("nvidia.com/gpu") == "7":
            break
    assert event is not None


def test_bookmarks_mark_the_end_of_what_was_there(api: Api, watch: Callable[..., Watch]) -> None:
    one = watch("api/v1/nodes", allowWatchBookmarks="true", sendInitialEvents="true")
    first, second = one.next(), one.next()
    assert first is not None
    assert second is not None
    assert (first["type"], second["type"]) == ("ADDED", "BOOKMARK")


def test_a_watch_ends_when_its_time_is_up(api: Api) -> None:
    one = Watch(api, MAPS, timeoutSeconds="0")
    assert one.next() is None
    one.close()


def test_a_watch_of_a_cluster_that_is_gone_ends(api: Api, watch: Callable[..., Watch]) -> None:
    one = watch(MAPS)
    api.sandbox.world.reset()
    assert one.next() is None


def test_a_client_that_leaves_frees_its_thread(api: Api) -> None:
    one = Watch(api, MAPS)
    one.close()
    give_up = threading.Event()
    timer = threading.Timer(PATIENCE, give_up.set)
    timer.start()
    while not give_up.wait(0.02):
        if not api.sandbox.server.busy:
            break
    timer.cancel()
    timer.join()
    assert not api.sandbox.server.busy


def test_a_version_that_is_forgotten_is_410(
    api: Api, watch: Callable[..., Watch], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fracgpu.sandbox.kubernetes.store.HISTORY", 3)
    other = Api(api.sandbox, "gke", "p", "us-east1", "small")
    for number in range(8):
        other.create(MAPS, {"metadata": {"name": f"x{number}"}})
    one = Watch(other, MAPS, resourceVersion="1", timeoutSeconds="20")
    event = one.next()
    one.close()
    assert event is not None
    assert (event["type"], event["object"]["code"], event["object"]["reason"]) == ("ERROR", 410, "Expired")


def test_tables_are_watched_too(api: Api) -> None:
    one = Watch(api, "api/v1/nodes", accept="application/json;as=Table;v=v1;g=meta.k8s.io", timeoutSeconds="20")
    event = one.next()
    one.close()
    assert event is not None
    assert event["object"]["kind"] == "Table"
    assert event["object"]["rows"][0]["cells"][1] == "Ready"
