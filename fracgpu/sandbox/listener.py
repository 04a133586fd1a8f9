"""The HTTP server under the fronts: threads, HTTP/1.1, keep-alive, streams, and TLS on the same port.

Written here because werkzeug's own server closes the connection after every answer
(https://github.com/pallets/werkzeug/blob/main/src/werkzeug/serving.py), which costs every SDK call a connect.
"""

from __future__ import annotations

import contextlib
import io
import socket
import ssl
import sys
import threading
import time
import traceback
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from fracgpu.sandbox.answer import Answer

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment

Secure = Callable[[socket.socket], ssl.SSLSocket]
HANDSHAKE = b"\x16"
"""The first byte of a TLS connection; no HTTP method begins with it."""

LARGEST_BODY = 64 * 1024 * 1024
SILENCE = 300.0
"""Seconds that a client may say nothing, between requests or in the middle of one, before it is taken for gone."""


class BadRequest(ValueError):
    """What came is not HTTP; the text says where."""


class Listener(ThreadingHTTPServer):
    """Serves one WSGI application on 127.0.0.1; `busy` counts the requests that are being answered."""

    daemon_threads = True
    allow_reuse_address = False
    request_queue_size = 256

    def __init__(self, app: WSGIApplication, port: int = 0, secure: Secure | None = None) -> None:
        self.app = app
        self._secure = secure
        self._secured: dict[socket.socket, ssl.SSLSocket] = {}
        self.busy = 0
        self._connections: set[socket.socket] = set()
        self._guard = threading.Lock()
        super().__init__(("127.0.0.1", port), Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._guard:
            self._connections.add(request)
        super().process_request(request, client_address)

    def secured(self, request: socket.socket) -> socket.socket:
        """The connection to speak over: TLS where the client's first byte begins a handshake."""
        if self._secure is None or request.recv(1, socket.MSG_PEEK) != HANDSHAKE:
            return request
        connection = self._secure(request)
        with self._guard:
            self._connections.discard(request)
            self._connections.add(connection)
            self._secured[request] = connection
        return connection

    def shutdown_request(self, request: Any) -> None:
        with self._guard:
            connection = self._secured.pop(request, request)
            self._connections.discard(connection)
        super().shutdown_request(connection)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError, ssl.SSLError)):
            traceback.print_exc()

    def count(self, change: int) -> None:
        """Note that a request began (+1) or ended (-1)."""
        with self._guard:
            self.busy += change

    def end(self, grace: float) -> None:
        """Stop listening, let answers under way be sent for up to `grace` seconds, close what is then open."""
        self.shutdown()
        self.server_close()
        deadline = time.monotonic() + grace
        while self.busy and time.monotonic() < deadline:
            time.sleep(0.01)
        with self._guard:
            connections = list(self._connections)
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class Handler(BaseHTTPRequestHandler):
    """One connection: reads a request whole, asks the application, writes the answer in as few packets as it can."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = SILENCE
    server: Listener

    def setup(self) -> None:
        self.request.settimeout(self.timeout)
        self.request = self.server.secured(self.request)
        super().setup()

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not logged: they carry tokens."""

    def serve(self) -> None:
        self.server.count(+1)
        try:
            environ = self._environ()
            if environ is not None:
                Answer(self).send(self.server.app, environ)
        except BadRequest as error:
            self.close_connection = True
            self.send_error(400, str(error))
        except ConnectionError:
            self.close_connection = True
        finally:
            self.server.count(-1)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = serve  # noqa: N815

    def _environ(self) -> WSGIEnvironment | None:
        body = self._body()
        if body is None:
            self.close_connection = True
            self.send_error(413)
            return None
        path, _, query = self.path.partition("?")
        environ: WSGIEnvironment = {
            "REQUEST_METHOD": self.command,
            "SCRIPT_NAME": "",
            "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
            "QUERY_STRING": query,
            "REQUEST_URI": self.path,
            "RAW_URI": self.path,
            "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": str(self.server.server_port),
            "SERVER_PROTOCOL": self.request_version,
            "REMOTE_ADDR": str(self.client_address[0]),
            "CONTENT_LENGTH": str(len(body)),
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "https" if isinstance(self.connection, ssl.SSLSocket) else "http",
            "wsgi.input": io.BytesIO(body),
            "wsgi.errors": sys.stderr,
            "wsgi.multithread": True,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
            "werkzeug.socket": self.connection,
        }
        for name, value in self.headers.items():
            key = "HTTP_" + name.upper().replace("-", "_")
            if key not in ("HTTP_CONTENT_TYPE", "HTTP_CONTENT_LENGTH", "HTTP_TRANSFER_ENCODING"):
                environ[key] = f"{environ[key]},{value}" if key in environ else value
        return environ

    def _body(self) -> bytes | None:
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            return self._chunks()
        said = self.headers.get("Content-Length") or "0"
        if not said.isascii() or not said.isdigit():
            raise BadRequest("Content-Length is not a number")
        length = int(said)
        return self._read(length) if length <= LARGEST_BODY else None

    def _read(self, length: int) -> bytes:
        body = self.rfile.read(length)
        if len(body) < length:
            raise ConnectionAbortedError("the client left in the middle of its request")
        return body

    def _chunks(self) -> bytes | None:
        body = bytearray()
        while size := _chunk_size(self.rfile.readline(1024)):
            if len(body) + size > LARGEST_BODY:
                return None
            body += self._read(size)
            self.rfile.readline(8)
        while self.rfile.readline(65536).strip():
            pass
        return bytes(body)


def _chunk_size(line: bytes) -> int:
    """The size that begins a chunk; what follows a semicolon is an extension. Raises BadRequest."""
    text = line.split(b";")[0].strip()
    if not text or not all(letter in b"0123456789abcdefABCDEF" for letter in text):
        raise BadRequest("a chunk does not begin with its size")
    return int(text, 16)
