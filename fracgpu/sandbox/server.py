"""One sandbox: the HTTP and the gRPC listener over one world, and the thread that lets its time pass."""

from __future__ import annotations

import secrets
import sys
import threading
import time
import traceback
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fracgpu.sandbox import router
from fracgpu.sandbox.control import Control
from fracgpu.sandbox.gke.rpc import grpc_handlers
from fracgpu.sandbox.listener import Listener
from fracgpu.sandbox.router import Router
from fracgpu.sandbox.world import DEFAULT_CLUSTERS, Cloud, World

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

TICK = 0.2
_FOUNDING = {Cloud.GKE: router.GKE, Cloud.AKS: router.AKS, Cloud.EKS: router.EKS}
"""The front that knows what a cloud's clusters begin with."""


class Server:
    """Listens from the moment it is made until `end`. `id` tells it from any other process on the same port.

    `poll_seconds` is how long `end` may take to be noticed.
    """

    def __init__(self, world: World | None = None, poll_seconds: float = 0.1) -> None:
        self.id = secrets.token_hex(8)
        self.token = secrets.token_urlsafe(32)
        self.world = world or World()
        self.used = time.monotonic()
        self.stopping = threading.Event()
        self._poll_seconds = poll_seconds
        self._router = Router(self.world, Control(self))
        self._listener = Listener(self._serve, secure=self.world.tls.secure)
        self._grpc, port = _grpc_server(self)
        self.port = self._listener.server_port
        self.http = self.world.http = f"http://127.0.0.1:{self.port}"
        self.grpc = f"127.0.0.1:{port}"
        self.populate()
        self._threads = [threading.Thread(target=run, daemon=True) for run in (self._listen, self._tick)]
        for thread in self._threads:
            thread.start()

    @property
    def busy(self) -> bool:
        """Whether a request is being answered right now (a watch that is open counts)."""
        return self._listener.busy > 0

    def populate(self) -> None:
        """Make the fronts that are cheap to make and the clusters that are there from the start."""
        for cloud, path in DEFAULT_CLUSTERS:
            self._router.front(_FOUNDING[cloud])
            self.world.cluster(cloud, *path)

    def warm(self) -> None:
        """Import what takes long (moto, Google's messages) before somebody waits for it; meant for a thread."""
        import_module("fracgpu.sandbox.gke.messages")
        for module in (router.KUBERNETES, router.AWS):
            self._router.front(module)

    def end(self, grace: float = 0.0) -> None:
        """Stop listening; calls that are not answered within `grace` seconds are cut off."""
        self.stopping.set()
        self._listener.end(grace)
        self._grpc.stop(grace=None).wait()
        for thread in self._threads:
            thread.join()

    def _serve(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        self.used = time.monotonic()
        return self._router(environ, start_response)

    def _listen(self) -> None:
        self._listener.serve_forever(self._poll_seconds)

    def _tick(self) -> None:
        while not self.stopping.wait(TICK):
            try:
                self.world.pass_time()
            except Exception:  # noqa: BLE001
                traceback.print_exc(file=sys.stderr)


def _grpc_server(server: Server) -> tuple[Any, int]:
    import grpc

    listener = grpc.server(
        ThreadPoolExecutor(16, "grpc"),
        handlers=grpc_handlers(server.world),
        interceptors=[_interceptor(server)],
        options=[("grpc.so_reuseport", 0)],
    )
    port = listener.add_insecure_port("127.0.0.1:0")
    listener.start()
    return listener, port


def _interceptor(server: Server) -> Any:
    import grpc

    class Use(grpc.ServerInterceptor):  # type: ignore[misc]
        """Notes that the sandbox is in use, and lets time pass before a call is answered."""

        def intercept_service(self, continuation: Any, handler_call_details: Any) -> Any:
            server.used = time.monotonic()
            server.world.settle()
            return continuation(handler_call_details)

    return Use()
