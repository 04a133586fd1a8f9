"""GKE over HTTP and JSON, as gcloud and the SDK's REST transport speak it; one state with the gRPC side."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from fracgpu.sandbox.gke.calls import LostAnswer, answer
from fracgpu.sandbox.gke.cluster import found
from fracgpu.sandbox.gke.errors import GkeError, invalid
from fracgpu.sandbox.gke.nodes import shape
from fracgpu.sandbox.http import json_response, lose_answer
from fracgpu.sandbox.world import Cloud, Cluster, Json, World

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_SCOPE = r"(?P<name>projects/[^/]+/(?:locations|zones)/[^/]+"
_CLUSTER = _SCOPE + r"/clusters/[^/:]+"
_POOL = _CLUSTER + r"/nodePools/[^/:]+"
_OPERATION = _SCOPE + r"/operations/[^/:]+"

_ROUTES: tuple[tuple[str, re.Pattern[str], str], ...] = tuple(
    (method, re.compile(f"/(?P<version>v1|v1beta1|v1alpha1)/{path}"), call)
    for method, path, call in (
        ("GET", _SCOPE + r")/clusters", "ListClusters"),
        ("GET", _CLUSTER + r")", "GetCluster"),
        ("PUT", _CLUSTER + r")", "UpdateCluster"),
        ("GET", _CLUSTER + r")/nodePools", "ListNodePools"),
        ("POST", _CLUSTER + r")/nodePools", "CreateNodePool"),
        ("GET", _POOL + r")", "GetNodePool"),
        ("PUT", _POOL + r")", "UpdateNodePool"),
        ("POST", _POOL + r")/update", "UpdateNodePool"),
        ("DELETE", _POOL + r")", "DeleteNodePool"),
        ("POST", _POOL + r")[:/]setSize", "SetNodePoolSize"),
        ("POST", _POOL + r")(?::setAutoscaling|/autoscaling)", "SetNodePoolAutoscaling"),
        ("POST", _POOL + r")[:/]setManagement", "SetNodePoolManagement"),
        ("GET", _SCOPE + r")/operations", "ListOperations"),
        ("GET", _OPERATION + r")", "GetOperation"),
        ("POST", _OPERATION + r"):cancel", "CancelOperation"),
        ("GET", _SCOPE + r")/server[cC]onfig", "GetServerConfig"),
    )
)
"""Method and path -> call, in the new form (`locations`) and the old one (`zones`).

https://github.com/googleapis/googleapis/blob/master/google/container/v1/cluster_service.proto
"""

_BY_PARENT = frozenset({"ListClusters", "ListNodePools", "CreateNodePool", "ListOperations"})


def app(world: World) -> WSGIApplication:
    """The WSGI application for `/v1/projects/...` and its beta versions."""
    register(world)

    def serve(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        return _answer(world, Request(environ))(environ, start_response)

    return serve


def register(world: World) -> None:
    """Tell the world how GKE's clusters begin and what their nodes are. Harmless when repeated."""

    def begin(cluster: Cluster) -> None:
        found(world, cluster)

    world.founders.setdefault(Cloud.GKE, begin)
    world.shapes.setdefault(Cloud.GKE, shape)


def _answer(world: World, request: Request) -> Response:
    try:
        call, body, strict = _read(request)
        return _respond(world, request, call, body, strict)
    except GkeError as error:
        headers = {} if error.retry_after is None else {"Retry-After": str(error.retry_after)}
        return json_response(error.body(), error.http_status, headers)
    except LostAnswer:
        lose_answer()
        return Response(status=500)


def _respond(world: World, request: Request, call: str, body: Json, strict: bool) -> Response:
    from fracgpu.sandbox.gke import messages

    result = answer(world, call, messages.read_request(call, body, strict=strict))
    if "enum-encoding=int" in request.args.get("$alt", ""):
        message = messages.to_message(messages.response_class(call), result)
        result = messages.to_json(message, numbers=True)
    return json_response(result)


def _read(request: Request) -> tuple[str, Json, bool]:
    """Which call a request is, and its body with the name from the path. v1 is strict about unknown fields."""
    for method, path, call in _ROUTES:
        match = path.fullmatch(request.path) if method == request.method else None
        if match:
            body = _body(request)
            body["parent" if call in _BY_PARENT else "name"] = match["name"]
            return call, body, match["version"] == "v1"
    code = "UNIMPLEMENTED" if _PROJECT.match(request.path) else "NOT_FOUND"
    raise GkeError(code, f"The sandbox has no {request.method} {request.path}.")


_PROJECT = re.compile(r"/v1[a-z0-9]*/projects/")
"""What lies below a project is GKE's to answer, so that what is not answered is not taken for what is not there."""


def _body(request: Request) -> Json:
    raw = request.get_data()
    if request.method in ("GET", "DELETE") or not raw.strip():
        return {}
    try:
        body: Any = json.loads(raw)
    except ValueError:
        raise invalid("Invalid JSON payload received. Unexpected token.") from None
    if not isinstance(body, dict):
        raise invalid("Invalid JSON payload received. Root element must be a message.")
    return body
