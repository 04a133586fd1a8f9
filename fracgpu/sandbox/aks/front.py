"""Azure Resource Manager on loopback: agent pools, managed clusters, and a little of Microsoft.Compute."""

from __future__ import annotations

import re
import uuid
from typing import TYPE_CHECKING

from werkzeug.wrappers import Request, Response

from fracgpu.sandbox.aks import errors, nodes, pools
from fracgpu.sandbox.aks.calls import CALLS
from fracgpu.sandbox.aks.errors import ArmError
from fracgpu.sandbox.aks.request import Call
from fracgpu.sandbox.http import apply_fault
from fracgpu.sandbox.world import Cloud, World

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

_SUBSCRIPTION = r"/subscriptions/(?P<subscription>[^/]+)"
_CLUSTERS = r"/providers/Microsoft\.ContainerService/managedClusters"
_GROUP = _SUBSCRIPTION + r"/resourceGroups/(?P<group>[^/]+)"
_CLUSTER = _GROUP + _CLUSTERS + r"/(?P<cluster>[^/]+)"
_POOL = _CLUSTER + r"/agentPools/(?P<pool>[^/]+)"
_LOCATION = r"/providers/Microsoft\.ContainerService/locations/[^/]+"
_OPERATION = _LOCATION + r"/operations/(?P<operation>[^/]+)"
_COMPUTE = _SUBSCRIPTION + r"/providers/Microsoft\.Compute"

ROUTES: tuple[tuple[str, re.Pattern[str], str], ...] = tuple(
    (method, re.compile(pattern + "/?", re.IGNORECASE), name)
    for method, pattern, name in (
        ("GET", _POOL, "AgentPools_Get"),
        ("PUT", _POOL, "AgentPools_CreateOrUpdate"),
        ("DELETE", _POOL, "AgentPools_Delete"),
        ("POST", _POOL + "/abort", "AgentPools_AbortLatestOperation"),
        ("GET", _POOL + "/upgradeProfiles/default", "AgentPools_GetUpgradeProfile"),
        ("POST", _POOL + "/upgradeNodeImageVersion", "AgentPools_UpgradeNodeImageVersion"),
        ("GET", _CLUSTER + "/agentPools", "AgentPools_List"),
        ("GET", _CLUSTER + "/availableAgentPoolVersions", "AgentPools_GetAvailableAgentPoolVersions"),
        ("GET", _CLUSTER + "/upgradeProfiles/default", "ManagedClusters_GetUpgradeProfile"),
        ("POST", _CLUSTER + "/abort", "ManagedClusters_AbortLatestOperation"),
        ("GET", _CLUSTER, "ManagedClusters_Get"),
        ("GET", _GROUP + _CLUSTERS, "ManagedClusters_ListByResourceGroup"),
        ("GET", _SUBSCRIPTION + _CLUSTERS, "ManagedClusters_List"),
        ("POST", _CLUSTER + "/listClusterUserCredential", "ManagedClusters_ListClusterUserCredentials"),
        ("POST", _CLUSTER + "/listClusterAdminCredential", "ManagedClusters_ListClusterAdminCredentials"),
        ("GET", _SUBSCRIPTION + _LOCATION + "/kubernetesVersions", "ManagedClusters_ListKubernetesVersions"),
        ("GET", _SUBSCRIPTION + _OPERATION, "OperationStatus_Get"),
        ("GET", _SUBSCRIPTION + _OPERATION.replace("operations", "operationresults"), "OperationResults_Get"),
        ("GET", _SUBSCRIPTION + "/resourceGroups", "ResourceGroups_List"),
        ("GET", _GROUP, "ResourceGroups_Get"),
        ("GET", "/subscriptions", "Subscriptions_List"),
        ("GET", _SUBSCRIPTION, "Subscriptions_Get"),
        ("GET", "/tenants", "Tenants_List"),
        ("GET", _COMPUTE + "/skus", "ResourceSkus_List"),
        ("GET", _COMPUTE + "/locations/(?P<location>[^/]+)/usages", "Usage_List"),
    )
)
"""(method, path whatever its case, the API's own name of the call)."""


def app(world: World) -> WSGIApplication:
    """The ARM front; also tells the world what AKS clusters and nodes are like."""
    world.shapes[Cloud.AKS] = nodes.shape
    world.founders[Cloud.AKS] = pools.found

    @Request.application
    def front(request: Request) -> Response:
        try:
            response = _routed(world, request)
        except ArmError as error:
            response = error.response()
        response.headers.setdefault("x-ms-request-id", str(uuid.uuid4()))
        return response

    return front


def _routed(world: World, request: Request) -> Response:
    if "api-version" not in request.args:
        message = "The api-version query parameter (?api-version=) is required for all requests."
        raise ArmError(400, "MissingApiVersionParameter", message)
    for method, pattern, name in ROUTES:
        match = pattern.fullmatch(request.path)
        if match and method == request.method:
            return _carried_out(world, name, request, match.groupdict())
    raise ArmError(404, "InvalidResourceType", f"No {request.method} of {request.path} is known here.")


def _carried_out(world: World, name: str, request: Request, names: dict[str, str]) -> Response:
    fault = world.faults.take(Cloud.AKS, name)
    refusal = apply_fault(fault, errors.error_body)
    if refusal is not None:
        return refusal
    with world.lock:
        world.settle()
        return CALLS[name](Call(world, request, names, fault))
