"""Azure Resource Manager on loopback: agent pools, managed clusters, and a little of Microsoft.Compute."""

from __future__ import annotations

import base64
import json
import re
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from fracgpu.sandbox import aks_body, aks_compute, aks_errors, aks_nodes, aks_pools, aks_quota
from fracgpu.sandbox.aks_errors import ArmError
from fracgpu.sandbox.aks_sizes import LOCATION
from fracgpu.sandbox.environment import DUMMY_TOKEN, kubernetes_url
from fracgpu.sandbox.http import apply_fault, json_response
from fracgpu.sandbox.world import Cloud, Cluster, Json, NoSuchCluster, Operation, Pool, World

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

    from fracgpu.sandbox.faults import Fault

PAGE = 50

_SUBSCRIPTION = r"/subscriptions/(?P<subscription>[^/]+)"
_CLUSTERS = r"/providers/Microsoft\.ContainerService/managedClusters"
_GROUP = _SUBSCRIPTION + r"/resourceGroups/(?P<group>[^/]+)"
_CLUSTER = _GROUP + _CLUSTERS + r"/(?P<cluster>[^/]+)"
_POOL = _CLUSTER + r"/agentPools/(?P<pool>[^/]+)"


def app(world: World) -> WSGIApplication:
    """The ARM front; also tells the world what AKS clusters and nodes are like."""
    world.shapes[Cloud.AKS] = aks_nodes.shape
    world.founders[Cloud.AKS] = aks_pools.found
    front = _Arm(world)
    return Request.application(front.answer)


class _Arm:
    """Answers one call after another over one world. Handlers run with the world's lock held."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._routes: list[tuple[str, re.Pattern[str], str, Callable[[_Call], Response]]] = [
            (method, re.compile(pattern + "/?", re.IGNORECASE), name, handler)
            for method, pattern, name, handler in (
                ("GET", _POOL, "AgentPools_Get", _get_pool),
                ("PUT", _POOL, "AgentPools_CreateOrUpdate", _put_pool),
                ("DELETE", _POOL, "AgentPools_Delete", _delete_pool),
                ("POST", _POOL + "/abort", "AgentPools_AbortLatestOperation", _abort),
                ("GET", _CLUSTER + "/agentPools", "AgentPools_List", _list_pools),
                ("GET", _CLUSTER, "ManagedClusters_Get", _get_cluster),
                ("GET", _GROUP + _CLUSTERS, "ManagedClusters_ListByResourceGroup", _list_clusters),
                ("GET", _SUBSCRIPTION + _CLUSTERS, "ManagedClusters_List", _list_clusters),
                (
                    "POST",
                    _CLUSTER + r"/listClusterUserCredential",
                    "ManagedClusters_ListClusterUserCredentials",
                    _credential,
                ),
                (
                    "GET",
                    _SUBSCRIPTION
                    + r"/providers/Microsoft\.ContainerService/locations/[^/]+/operations/(?P<operation>[^/]+)",
                    "OperationStatus_Get",
                    _operation,
                ),
                ("GET", _SUBSCRIPTION + r"/providers/Microsoft\.Compute/skus", "ResourceSkus_List", _skus),
                (
                    "GET",
                    _SUBSCRIPTION + r"/providers/Microsoft\.Compute/locations/(?P<location>[^/]+)/usages",
                    "Usage_List",
                    _usages,
                ),
            )
        ]

    def answer(self, request: Request) -> Response:
        try:
            response = self._route(request)
        except ArmError as error:
            response = error.response()
        response.headers.setdefault("x-ms-request-id", str(uuid.uuid4()))
        return response

    def _route(self, request: Request) -> Response:
        if "api-version" not in request.args:
            message = "The api-version query parameter (?api-version=) is required for all requests."
            raise ArmError(400, "MissingApiVersionParameter", message)
        for method, pattern, name, handler in self._routes:
            match = pattern.fullmatch(request.path)
            if match and method == request.method:
                return self._call(handler, name, request, match.groupdict())
        raise ArmError(404, "InvalidResourceType", f"No {request.method} of {request.path} is known here.")

    def _call(
        self, handler: Callable[[_Call], Response], name: str, request: Request, names: dict[str, str]
    ) -> Response:
        fault = self._world.faults.take("aks", name)
        refusal = apply_fault(fault, aks_errors.error_body)
        if refusal is not None:
            return refusal
        with self._world.lock:
            self._world.settle()
            return handler(_Call(self._world, request, names, fault))


class _Call:
    """One request, with what its path names."""

    def __init__(self, world: World, request: Request, names: dict[str, str], fault: Fault | None) -> None:
        self.world = world
        self.request = request
        self.names = names
        self.fault = fault

    @property
    def base(self) -> str:
        return self.request.host_url.rstrip("/")

    def cluster(self, *, parent: bool = True) -> Cluster:
        """The cluster of the path; names compare as ARM's do, whatever their case. Raises ArmError."""
        subscription, group, name = (self.names[part] for part in ("subscription", "group", "cluster"))
        if subscription.startswith("missing-"):
            raise aks_errors.subscription_not_found(subscription)
        if group.startswith("missing-"):
            raise aks_errors.group_not_found(group)
        wanted = (subscription, group, name)
        for cluster in self.world.clusters.values():
            if cluster.cloud is Cloud.AKS and _folded(cluster.path) == _folded(wanted):
                return cluster
        try:
            return self.world.cluster(Cloud.AKS, *wanted)
        except NoSuchCluster as error:
            missing = aks_errors.parent_not_found(_cluster_id(wanted)) if parent else None
            raise missing or aks_errors.resource_not_found("managedClusters", name, group) from error

    def pool(self, cluster: Cluster) -> Pool | None:
        return cluster.pools.get(self.names["pool"])

    def missing_pool(self) -> ArmError:
        kind = f"managedClusters/{self.names['cluster']}/agentPools"
        return aks_errors.resource_not_found(kind, self.names["pool"], self.names["group"])

    def check_preconditions(self, pool: Pool | None) -> None:
        """https://learn.microsoft.com/azure/aks/use-etags"""
        expected = self.request.headers.get("If-Match")
        unwanted = self.request.headers.get("If-None-Match")
        etag = pool.body["eTag"] if pool else None
        if expected is not None and (etag is None or expected.strip('"') not in ("*", etag)):
            raise aks_errors.precondition_failed(self.names["pool"])
        if unwanted is not None and etag is not None and unwanted.strip('"') in ("*", etag):
            raise aks_errors.precondition_failed(self.names["pool"])

    def started(self, operation: Operation) -> dict[str, str]:
        """The headers of an answer that started an operation."""
        version = self.request.args["api-version"]
        url = f"{self.base}{_operation_path(operation.cluster.path[0], operation.id)}?api-version={version}"
        return {"Azure-AsyncOperation": url, **self.pause()}

    def pause(self) -> dict[str, str]:
        """When to ask again; nothing where operations end so fast that the caller's own interval is the better one."""
        return {"Retry-After": "1"} if self.world.operation_seconds >= 1 else {}


def _get_pool(call: _Call) -> Response:
    cluster = call.cluster()
    pool = call.pool(cluster)
    if pool is None:
        raise call.missing_pool()
    return json_response(_view(cluster, pool))


def _list_pools(call: _Call) -> Response:
    cluster = call.cluster()
    start = int(call.request.args.get("$skiptoken", "0"))
    rows = [_view(cluster, pool) for pool in cluster.pools.values()]
    body: Json = {"value": rows[start : start + PAGE]}
    if start + PAGE < len(rows):
        version = call.request.args["api-version"]
        body["nextLink"] = f"{call.base}{call.request.path}?api-version={version}&$skiptoken={start + PAGE}"
    return json_response(body)


def _put_pool(call: _Call) -> Response:
    cluster = call.cluster()
    call.check_preconditions(call.pool(cluster))
    sent = aks_body.properties(call.request.get_json(force=True, silent=True))
    created, pool, operation = aks_pools.put(call.world, cluster, call.names["pool"], sent, call.fault)
    return json_response(_view(cluster, pool), 201 if created else 200, call.started(operation))


def _delete_pool(call: _Call) -> Response:
    cluster = call.cluster()
    pool = call.pool(cluster)
    if pool is None:
        return Response(status=204)
    call.check_preconditions(pool)
    operation = aks_pools.delete(call.world, cluster, pool, call.fault)
    headers = call.started(operation)
    return Response(status=202, headers={**headers, "Location": headers["Azure-AsyncOperation"]})


def _abort(call: _Call) -> Response:
    cluster = call.cluster()
    pool = call.pool(cluster)
    if pool is None:
        raise call.missing_pool()
    aks_pools.abort(call.world, cluster, pool)
    return Response(status=204)


def _get_cluster(call: _Call) -> Response:
    return json_response(_cluster_view(call.cluster(parent=False)))


def _list_clusters(call: _Call) -> Response:
    wanted = _folded(tuple(call.names[part] for part in ("subscription", "group") if part in call.names))
    known = [cluster for cluster in call.world.clusters.values() if cluster.cloud is Cloud.AKS]
    rows = [_cluster_view(cluster) for cluster in known if _folded(cluster.path)[: len(wanted)] == wanted]
    return json_response({"value": rows})


def _credential(call: _Call) -> Response:
    cluster = call.cluster(parent=False)
    user = "clusterUser_{}_{}".format(*cluster.path[1:])
    context = {"name": cluster.name, "context": {"cluster": cluster.name, "user": user}}
    kubeconfig = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": cluster.name,
        "clusters": [{"name": cluster.name, "cluster": {"server": kubernetes_url(call.base, Cloud.AKS, cluster.path)}}],
        "users": [{"name": user, "user": {"token": DUMMY_TOKEN}}],
        "contexts": [context],
    }
    value = base64.b64encode(json.dumps(kubeconfig).encode()).decode()
    return json_response({"kubeconfigs": [{"name": "clusterUser", "value": value}]})


def _operation(call: _Call) -> Response:
    wanted, subscription = call.names["operation"], call.names["subscription"].lower()
    for cluster in call.world.clusters.values():
        if cluster.cloud is Cloud.AKS and cluster.path[0].lower() == subscription and wanted in cluster.operations:
            operation = cluster.operations[wanted]
            headers = {} if operation.done else call.pause()
            return json_response(aks_pools.status(operation, call.request.path), headers=headers)
    raise ArmError(404, "NotFound", f"The operation '{wanted}' could not be found.")


def _skus(call: _Call) -> Response:
    return json_response({"value": aks_compute.skus(call.world, call.request.args.get("$filter", ""))})


def _usages(call: _Call) -> Response:
    rows = (
        aks_quota.usages(call.world, call.names["subscription"]) if call.names["location"].lower() == LOCATION else []
    )
    return json_response({"value": rows})


def _view(cluster: Cluster, pool: Pool) -> Json:
    return aks_pools.view(pool, f"{_cluster_id(cluster.path)}/agentPools/{pool.name}")


def _cluster_view(cluster: Cluster) -> Json:
    pools = [{"name": pool.name, **_view(cluster, pool)["properties"]} for pool in cluster.pools.values()]
    _, group, name = cluster.path
    return {
        "id": _cluster_id(cluster.path),
        "name": name,
        "type": "Microsoft.ContainerService/ManagedClusters",
        "location": LOCATION,
        "sku": {"name": "Base", "tier": "Standard"},
        "identity": {"type": "SystemAssigned"},
        "properties": {
            "provisioningState": "Succeeded",
            "powerState": {"code": "Running"},
            "kubernetesVersion": aks_pools.VERSION,
            "currentKubernetesVersion": aks_pools.VERSION,
            "dnsPrefix": name,
            "fqdn": f"{name}.hcp.{LOCATION}.azmk8s.io",
            "agentPoolProfiles": pools,
            "nodeResourceGroup": f"MC_{group}_{name}_{LOCATION}",
            "enableRBAC": True,
            "maxAgentPools": 100,
            "networkProfile": _NETWORK,
        },
    }


_NETWORK: dict[str, Any] = {"networkPlugin": "azure", "networkPluginMode": "overlay", "loadBalancerSku": "standard"}


def _cluster_id(path: tuple[str, ...]) -> str:
    subscription, group, name = path
    return (
        f"/subscriptions/{subscription}/resourcegroups/{group}"
        f"/providers/Microsoft.ContainerService/managedClusters/{name}"
    )


def _operation_path(subscription: str, id: str) -> str:
    return f"/subscriptions/{subscription}/providers/Microsoft.ContainerService/locations/{LOCATION}/operations/{id}"


def _folded(path: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part.lower() for part in path)
