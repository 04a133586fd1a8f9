"""The HTTP front of the clusters' Kubernetes APIs, under `/k8s/<cloud>/<cluster path joined by ~>/`.

Any credentials do, but there must be some: a request without an Authorization header is 401, as on a real cluster.
kubectl keeps its tokens to itself on plain http
(https://github.com/kubernetes/client-go/blob/master/tools/clientcmd/client_config.go), so that a kubeconfig for it
names a user in the server's URL (`http://sandbox:sandbox@127.0.0.1:...`), which is sent as basic authentication.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from werkzeug.wrappers import Request, Response

from fracgpu.sandbox import http
from fracgpu.sandbox.kubernetes import discovery, life, reads, status, writes
from fracgpu.sandbox.kubernetes.call_names import call_names, verb
from fracgpu.sandbox.kubernetes.kinds import Kinds
from fracgpu.sandbox.kubernetes.life import Life
from fracgpu.sandbox.kubernetes.request import WARNINGS, Target, target
from fracgpu.sandbox.kubernetes.settle import settle
from fracgpu.sandbox.kubernetes.store import encode
from fracgpu.sandbox.world import Cloud, Cluster, NoSuchCluster, World

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    410: "Expired",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


def app(world: World) -> WSGIApplication:
    """The application for all clusters of all clouds."""

    def touched(cluster: Cluster) -> None:
        life.of(world, cluster).pools_changed()

    def follow() -> None:
        for cluster in list(world.clusters.values()):
            if (living := life.of(world, cluster)).dirty_at is not None:
                settle(living)

    world.on_change.append(touched)
    world.on_tick.append(follow)
    with world.lock:
        for cluster in world.clusters.values():
            life.of(world, cluster)

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        return respond(world, Request(environ))(environ, start_response)

    return answer


def respond(world: World, request: Request) -> Response:
    """The answer to one request, whatever comes."""
    try:
        return _respond(world, request)
    except status.ApiError as error:
        return _error(error)


def _error(error: status.ApiError) -> Response:
    response = reads.json_bytes(encode(error.body()), error.code)
    if error.code == 429:
        response.headers["Retry-After"] = "1"
    return response


def _respond(world: World, request: Request) -> Response:
    root, cloud, cluster_path, *path = [part for part in request.path.split("/") if part] + [""] * 3
    if root != "k8s":
        raise status.below_a_cluster(request.path)
    path = [part for part in path if part]
    if path in (["healthz"], ["livez"], ["readyz"]):
        return Response("ok", content_type="text/plain")
    if not request.headers.get("Authorization"):
        raise status.unauthorized()
    cluster = _cluster(world, cloud, cluster_path.split("~"))
    if path == ["version"]:
        return reads.json_bytes(encode(discovery.version(cluster.cloud)))
    kinds = _kinds(world, cluster)
    found = discovery.answer(kinds, path, request.headers.get("Accept", ""), request.host)
    if found is not None:
        return Response(encode(found[0]), content_type=found[1])
    where = target(kinds, path)
    if where is None:
        raise status.no_such_path()
    return _fault(world, request, where) or _act(world, cluster, where, request)


def _cluster(world: World, cloud: str, path: list[str]) -> Cluster:
    parts = {Cloud.AKS: 3, Cloud.GKE: 3, Cloud.EKS: 2}
    if cloud not in parts or len(path) != parts[Cloud(cloud)]:
        raise status.no_such_path()
    try:
        with world.lock:
            return world.cluster(Cloud(cloud), *path)
    except NoSuchCluster:
        raise status.no_such_path() from None


def _kinds(world: World, cluster: Cluster) -> Kinds:
    with world.lock:
        return life.of(world, cluster).kinds


def _fault(world: World, request: Request, where: Target) -> Response | None:
    names = call_names(where, verb(where, request))
    fault = next((found for name in names if (found := world.faults.take("k8s", name))), None)
    return http.apply_fault(fault, _fault_body)


def _fault_body(code: int, reason: str | None, message: str) -> Response:
    return _error(status.ApiError(code, reason or REASONS.get(code, "Unknown"), message))


_ACTIONS: dict[str, Callable[[Life, Target, Request], Response]] = {
    "get": reads.get,
    "list": reads.list_,
    "watch": reads.watch,
    "create": writes.create,
    "update": writes.update,
    "patch": writes.patch_,
    "delete": writes.delete,
    "deletecollection": writes.delete,
}


def _act(world: World, cluster: Cluster, where: Target, request: Request) -> Response:
    word = verb(where, request)
    action = _ACTIONS.get(word)
    served = word in where.resource.verbs or bool(where.subresource)
    collection = where.name is None
    if action is None or not served or (word in ("update", "patch") and collection):
        raise status.method_not_allowed()
    if word == "create" and not collection and not where.subresource:
        raise status.method_not_allowed()
    with world.lock:
        world.settle()
        living = life.of(world, cluster)
        settle(living)
        response = action(living, where, request)
        if word not in ("get", "list", "watch"):
            settle(living)
            world.changed.notify_all()
    for text in request.environ.get(WARNINGS, ()):
        response.headers.add("Warning", '299 - "{}"'.format(text.replace("\\", "\\\\").replace('"', '\\"')))
    return response
