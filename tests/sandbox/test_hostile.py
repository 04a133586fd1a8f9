"""Requests that no tool sends: each is answered as an error of its front, or the connection ends; nothing breaks."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any

import pytest

from tests.sandbox.conftest import Sandbox

CLUSTER = "/k8s/gke/sandbox~us-central1~sandbox/api/v1"
MAPS = f"{CLUSTER}/namespaces/default/configmaps"
GKE = "/v1/projects/p/locations/us-central1/clusters/c/nodePools"
AKS = (
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/sandbox/providers"
    "/Microsoft.ContainerService/managedClusters/sandbox/agentPools"
)
DEEP = b"[" * 100_000


@pytest.fixture(scope="module")
def hostile() -> Iterator[Sandbox]:
    sandbox = Sandbox()
    yield sandbox
    sandbox.server.end()


def signed(region: str) -> str:
    return f"AWS4-HMAC-SHA256 Credential=x/20260101/{region}/eks/aws4_request"


def ask(sandbox: Sandbox, method: str, path: str, body: bytes, **headers: str) -> tuple[int, bytes]:
    connection = HTTPConnection(sandbox.http.removeprefix("http://"), timeout=60)
    try:
        kind = {"Authorization": "Bearer sandbox", "Content-Type": "application/json"}
        connection.request(method, path, body, {**kind, **headers})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def said(sandbox: Sandbox, raw: bytes) -> bytes:
    """The first line of the answer to these bytes, after which the client sends no more; empty where none came."""
    host, port = sandbox.http.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(raw)
        connection.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    return answer.split(b"\r\n")[0]


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b"POST /v1 HTTP/1.1\r\nContent-Length: abc\r\n\r\n", b"HTTP/1.1 400 Content-Length is not a number"),
        (b"POST /v1 HTTP/1.1\r\nContent-Length: -5\r\n\r\n", b"HTTP/1.1 400 Content-Length is not a number"),
        (b"POST /v1 HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", b"HTTP/1.1 413 Request Entity Too Large"),
        (b"POST /v1 HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc", b""),
        (
            b"POST /v1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
            b"HTTP/1.1 400 a chunk does not begin with its size",
        ),
        (
            b"POST /v1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFF\r\n",
            b"HTTP/1.1 413 Request Entity Too Large",
        ),
        (b"BREW /v1 HTTP/1.1\r\n\r\n", b"HTTP/1.1 501 Unsupported method ('BREW')"),
    ],
)
def test_what_is_no_http(hostile: Sandbox, raw: bytes, line: bytes) -> None:
    assert said(hostile, raw) == line
    assert ask(hostile, "GET", "/healthz", b"")[0] == 200


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", MAPS, DEEP, 400),
        ("POST", MAPS, b"", 422),
        ("POST", MAPS, b"null", 400),
        ("POST", MAPS, b"\xff\xfe", 400),
        ("POST", MAPS, b'{"metadata":5}', 400),
        ("POST", MAPS, b'{"metadata":{"name":5}}', 400),
        ("POST", MAPS, b'{"metadata":{"name":"x","ownerReferences":5}}', 400),
        ("POST", MAPS, b'{"metadata":{"name":"x","managedFields":5}}', 400),
        ("POST", MAPS, b'{"kind":[],"apiVersion":{}}', 400),
        ("GET", f"{CLUSTER}/nodes?limit=-3", b"", 200),
        ("GET", f"{CLUSTER}/nodes?continue=WzEsMl0=", b"", 400),
        ("GET", f"{CLUSTER}/nodes?labelSelector=%28%28", b"", 400),
        ("POST", f"{CLUSTER}/namespaces/default/pods/none/binding", b'{"target":5}', 404),
        ("DELETE", f"{CLUSTER}/namespaces/default", b"[]", 400),
        ("POST", GKE, DEEP, 400),
        ("POST", GKE, b'{"nodePool":{"name":"a","initialNodeCount":999999999}}', 400),
        ("PUT", f"{AKS}/abc?api-version=1", DEEP, 400),
        ("PUT", f"{AKS}/abc?api-version=1", b'{"properties":{"nodeTaints":[5]}}', 400),
        ("GET", f"{AKS}?api-version=1&$skiptoken=abc", b"", 400),
    ],
)
def test_what_is_no_body_and_no_question(hostile: Sandbox, method: str, path: str, body: bytes, status: int) -> None:
    found, text = ask(hostile, method, path, body)
    assert (found, b"fault of its own" in text) == (status, False)


def test_a_region_that_is_none(hostile: Sandbox) -> None:
    status, text = ask(hostile, "GET", "/clusters/sandbox/node-groups", b"", Authorization=signed("mars-1"))
    assert (status, json.loads(text)["message"]) == (403, "There is no region mars-1.")


def test_a_token_of_any_letters_is_none(hostile: Sandbox) -> None:
    assert ask(hostile, "GET", "/sandbox/status", b"", Authorization="Bearer \xe9")[0] == 401


@pytest.mark.parametrize("target", [5, {}, {"name": 5}])
def test_a_binding_to_nothing(hostile: Sandbox, target: Any) -> None:
    pods = f"{CLUSTER}/namespaces/default/pods"
    body = {
        "metadata": {"generateName": "x"},
        "spec": {"containers": [{"name": "c", "image": "i"}], "schedulerName": "own"},
    }
    _, text = ask(hostile, "POST", pods, json.dumps(body).encode())
    name = json.loads(text)["metadata"]["name"]
    assert ask(hostile, "POST", f"{pods}/{name}/binding", json.dumps({"target": target}).encode())[0] == 400


def test_a_pod_is_bound_once(hostile: Sandbox) -> None:
    pods = f"{CLUSTER}/namespaces/default/pods"
    spec = {"containers": [{"name": "c", "image": "i"}], "schedulerName": "own"}
    ask(hostile, "POST", pods, json.dumps({"metadata": {"name": "once"}, "spec": spec}).encode())
    target = json.dumps({"target": {"name": "node"}}).encode()
    statuses = [ask(hostile, "POST", f"{pods}/once/binding", target)[0] for _ in range(2)]
    assert statuses == [201, 409]
