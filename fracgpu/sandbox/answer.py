"""Writing what a WSGI application returns: with a length where it is known, in chunks where it is a stream."""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment


class Answer:
    """The answer to one request, over the connection of its handler."""

    def __init__(self, handler: BaseHTTPRequestHandler) -> None:
        self._handler = handler
        self._head: tuple[str, list[tuple[str, str]]] | None = None

    def send(self, app: WSGIApplication, environ: WSGIEnvironment) -> None:
        try:
            parts = app(environ, self._start_response)
        except ConnectionError:
            raise
        except Exception:  # noqa: BLE001
            traceback.print_exc()
            self._start_response("500 Internal Server Error", [("Content-Type", "text/plain")])
            parts = [b"the sandbox has a fault of its own; its log has the traceback\n"]
        try:
            self._write(parts)
        finally:
            close: Callable[[], None] | None = getattr(parts, "close", None)
            if close is not None:
                close()

    def _start_response(
        self, status: str, headers: list[tuple[str, str]], _exc_info: Any = None
    ) -> Callable[[bytes], object]:
        self._head = (status, headers)
        return self._handler.wfile.write

    def _write(self, parts: Iterable[bytes]) -> None:
        if isinstance(parts, (list, tuple)):
            self._whole(b"".join(parts))
        else:
            self._stream(parts)

    def _whole(self, body: bytes) -> None:
        status, headers = self._started()
        if not _has(headers, "content-length") and not status.startswith("204"):
            headers = [*headers, ("Content-Length", str(len(body)))]
        head = self._lines(status, headers)
        self._handler.wfile.write(head if self._handler.command == "HEAD" else head + body)

    def _stream(self, parts: Iterable[bytes]) -> None:
        iterator = iter(parts)
        first = b"" if self._head else next(iterator, b"")
        status, headers = self._started()
        old = self._handler.request_version != "HTTP/1.1"
        bodiless = self._handler.command == "HEAD" or status.startswith(("204", "304"))
        chunked = not (old or bodiless or _has(headers, "content-length"))
        self._handler.close_connection |= old
        write = self._handler.wfile.write
        write(self._lines(status, [*headers, ("Transfer-Encoding", "chunked")] if chunked else headers))
        if bodiless:
            return
        for part in itertools.chain([first], iterator):
            if part:
                write(b"%x\r\n%b\r\n" % (len(part), part) if chunked else part)
        if chunked:
            write(b"0\r\n\r\n")

    def _started(self) -> tuple[str, list[tuple[str, str]]]:
        if self._head is None:
            raise RuntimeError("the application answered without calling start_response")
        return self._head

    def _lines(self, status: str, headers: list[tuple[str, str]]) -> bytes:
        lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in headers)]
        lines.append(f"Date: {self._handler.date_time_string()}")
        if self._handler.close_connection:
            lines.append("Connection: close")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _has(headers: list[tuple[str, str]], name: str) -> bool:
    return any(known.lower() == name for known, _ in headers)
