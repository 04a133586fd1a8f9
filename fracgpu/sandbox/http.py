"""One HTTP port for every front: who answers which path, and the faults that all HTTP fronts carry out alike."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response

from fracgpu.sandbox.faults import Fault
from fracgpu.sandbox.world import World

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

FRONTS: dict[str, str] = {
    "subscriptions": "fracgpu.sandbox.aks",
    "v1": "fracgpu.sandbox.gke_rest",
    "v1beta1": "fracgpu.sandbox.gke_rest",
    "v1alpha1": "fracgpu.sandbox.gke_rest",
    "clusters": "fracgpu.sandbox.eks",
    "tags": "fracgpu.sandbox.eks",
    "addons": "fracgpu.sandbox.eks",
    "k8s": "fracgpu.sandbox.kubernetes.api",
}
"""First path segment -> the module whose `app(world)` answers it."""

EVERYTHING_ELSE = "fracgpu.sandbox.aws"
"""AWS's query protocol has no path to speak of, so it gets what nobody else claims."""

ErrorBody = Callable[[int, str | None, str], Response]
"""(HTTP status, the cloud's error code if one was set, message) -> the error as that cloud words it."""

_answer = threading.local()


class Router:
    """The WSGI application of the sandbox. Fronts are imported and made on first use, each once."""

    def __init__(self, world: World, control: WSGIApplication) -> None:
        self._world = world
        self._lock = threading.Lock()
        self._made: dict[str, tuple[threading.Lock, list[WSGIApplication]]] = {}
        self._control = control

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        _answer.lost = False
        segment = environ["PATH_INFO"].lstrip("/").split("/", 1)[0].lower()
        app = self._control if segment in ("healthz", "sandbox") else self.front(FRONTS.get(segment, EVERYTHING_ELSE))
        body = _serve(app, environ, start_response)
        if _answer.lost:
            raise ConnectionAbortedError("a fault drops this answer")
        return body

    def front(self, module: str) -> WSGIApplication:
        """The application of that module, made on first use; an answer of 501 where the module is not there."""
        with self._lock:
            lock, made = self._made.setdefault(module, (threading.Lock(), []))
        with lock:
            if not made:
                made.append(import_module(module).app(self._world) if exists(module) else _absent(module))
            return made[0]


def _serve(app: WSGIApplication, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    try:
        return app(environ, start_response)
    except HTTPException as error:
        return error(environ, start_response)


def exists(module: str) -> bool:
    """Whether that module is part of this installation."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _absent(module: str) -> WSGIApplication:
    return Response(f"the sandbox has no {module}\n", status=501, mimetype="text/plain")


def apply_fault(fault: Fault | None, error_body: ErrorBody) -> Response | None:
    """Carry out a fault of an HTTP call. Never call it while holding `World.lock`: it may sleep.

    A Response is the call's answer: return it and do nothing else. None means to go on; the caller hands
    `fault.outcome` to `World.begin`. A drop without an error is carried out after the call has done its work, which is
    how an answer gets lost on the way; with an error nothing is done and nothing is answered. With an outcome and no
    status, code and message are the operation's, not the call's.
    """
    if fault is None:
        return None
    if fault.delay:
        time.sleep(fault.delay)
    if fault.drop:
        lose_answer()
    if fault.status is None and (fault.outcome or not (fault.code or fault.message or fault.retry_after is not None)):
        return None
    status = fault.status or (500 if fault.retry_after is None else 429)
    response = error_body(status, fault.code, fault.message or "The sandbox was told to fail this call.")
    if fault.retry_after is not None:
        response.headers["Retry-After"] = str(fault.retry_after)
    return response


def lose_answer() -> None:
    """Close the connection instead of sending the answer to the request that this thread serves."""
    _answer.lost = True


def json_response(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON answer."""
    import json

    return Response(json.dumps(body), status=status, headers=headers, mimetype="application/json")
