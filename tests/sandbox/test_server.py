"""The HTTP listener and the router: keep-alive, streams, fronts that are missing."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from fracgpu.sandbox.listener import Listener
from tests.sandbox.conftest import Sandbox


def _app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    if environ["PATH_INFO"] == "/stream":
        start_response("200 OK", [])
        return (part for part in (b"one", b"", b"two"))
    if environ["PATH_INFO"] == "/broken":
        raise RuntimeError("broken")
    if environ["PATH_INFO"] == "/lost":
        raise ConnectionAbortedError
    start_response("200 OK", [("X-Query", environ["QUERY_STRING"])])
    return [environ["REQUEST_METHOD"].encode(), b" ", environ["wsgi.input"].read()]


@pytest.fixture
def connection() -> Iterator[http.client.HTTPConnection]:
    listener = Listener(_app)
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    client = http.client.HTTPConnection("127.0.0.1", listener.server_port)
    yield client
    client.close()
    listener.end(grace=0)
    thread.join()


def _ask(connection: http.client.HTTPConnection, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
    connection.request(method, path, body, encode_chunked=isinstance(body, list), headers={"Host": "x"})
    answer = connection.getresponse()
    return answer.status, answer.read()


def test_one_connection_serves_many_requests(connection: http.client.HTTPConnection) -> None:
    connection.connect()
    mine = connection.sock
    assert _ask(connection, "PUT", "/?a=b", b"12") == (200, b"PUT 12")
    assert _ask(connection, "GET", "/stream") == (200, b"onetwo")
    assert _ask(connection, "HEAD", "/") == (200, b"")
    assert _ask(connection, "GET", "/") == (200, b"GET ")
    assert connection.sock is mine


def test_a_body_in_chunks_is_read_whole(connection: http.client.HTTPConnection) -> None:
    connection.request("POST", "/", iter([b"ab", b"cd"]), encode_chunked=True, headers={"Transfer-Encoding": "chunked"})
    assert connection.getresponse().read() == b"POST abcd"


def test_a_lost_answer_closes_the_connection(connection: http.client.HTTPConnection) -> None:
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
        _ask(connection, "GET", "/lost")


def test_an_exception_is_an_answer_of_500(
    connection: http.client.HTTPConnection, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _ = _ask(connection, "GET", "/broken")
    assert status == 500
    assert "RuntimeError: broken" in capsys.readouterr().err


def test_the_sandbox_answers_on_its_ports(sandbox: Sandbox) -> None:
    host = sandbox.http.removeprefix("http://")
    client = http.client.HTTPConnection(host)
    assert _ask(client, "GET", "/healthz")[0] == 200
    assert _ask(client, "GET", "/sandbox/status")[0] == 401
    client.close()
