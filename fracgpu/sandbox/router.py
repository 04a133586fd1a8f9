"""Who answers which path of the one HTTP port. Fronts are imported and made on first use, each once."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING

from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response

from fracgpu.sandbox import http
from fracgpu.sandbox.aws.signature import scope
from fracgpu.sandbox.world import World

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

AKS = "fracgpu.sandbox.aks.front"
AKS_SIGN_IN = "fracgpu.sandbox.aks.sign_in"
AWS = "fracgpu.sandbox.aws.front"
EKS = "fracgpu.sandbox.eks.front"
GKE = "fracgpu.sandbox.gke.rest"
KUBERNETES = "fracgpu.sandbox.kubernetes.api"
"""Modules whose `app(world)` is a front; by name, since some take seconds to import."""

BY_SEGMENT = {
    "subscriptions": AKS,
    "tenants": AKS,
    "adfs": AKS_SIGN_IN,
    "metadata": AKS_SIGN_IN,
    "v1": GKE,
    "v1beta1": GKE,
    "v1alpha1": GKE,
    "clusters": EKS,
    "tags": EKS,
    "addons": EKS,
    "k8s": KUBERNETES,
    **dict.fromkeys(("api", "apis", "openapi", "livez", "readyz", "metrics", "version"), KUBERNETES),
}
"""First path segment -> the front. What is not here is AWS's, whose query protocol has no path to speak of.

Kubernetes' own paths are there only to be told where they are: `kubectl get --raw` leaves out what stands before them.
"""


class Router:
    """The WSGI application of the sandbox."""

    def __init__(self, world: World, control: WSGIApplication) -> None:
        self._world = world
        self._lock = threading.Lock()
        self._made: dict[str, tuple[threading.Lock, list[WSGIApplication]]] = {}
        self._control = control

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        http.keep_answer()
        segment = environ["PATH_INFO"].lstrip("/").split("/", 1)[0].lower()
        if segment in ("healthz", "sandbox"):
            app = self._control
        else:
            app = self.front(BY_SEGMENT.get(segment) or _aws(environ))
        body = _serve(app, environ, start_response)
        if http.answer_is_lost():
            raise ConnectionAbortedError("a fault drops this answer")
        return body

    def front(self, module: str) -> WSGIApplication:
        """The application of that module, made on first use."""
        with self._lock:
            lock, made = self._made.setdefault(module, (threading.Lock(), []))
        with lock:
            if not made:
                made.append(import_module(module).app(self._world))
            return made[0]


def _aws(environ: WSGIEnvironment) -> str:
    signed = scope(environ.get("HTTP_AUTHORIZATION", ""))
    return EKS if signed and signed.service == "eks" else AWS


def _serve(app: WSGIApplication, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    try:
        return app(environ, start_response)
    except HTTPException as error:
        return error(environ, start_response)
    except RecursionError:
        return Response("the body is nested too deep\n", 400)(environ, start_response)
