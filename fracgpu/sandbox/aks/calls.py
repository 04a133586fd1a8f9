"""What is done for each call of the ARM front. Handlers run with the world's lock held."""

from __future__ import annotations

from collections.abc import Callable

from werkzeug.wrappers import Response

from fracgpu.sandbox.aks import body as grammar
from fracgpu.sandbox.aks import compute, errors, pools, quota, versions
from fracgpu.sandbox.aks.cluster import cluster_view, credential, pool_view
from fracgpu.sandbox.aks.errors import ArmError
from fracgpu.sandbox.aks.request import Call, folded
from fracgpu.sandbox.aks.sizes import LOCATION
from fracgpu.sandbox.environment import TENANT
from fracgpu.sandbox.http import json_response
from fracgpu.sandbox.world import Cloud, Json, Operation

PAGE = 50


def _get_pool(call: Call) -> Response:
    cluster = call.cluster()
    pool = call.pool(cluster)
    if pool is None:
        raise call.missing_pool()
    return json_response(pool_view(cluster, pool))


def _list_pools(call: Call) -> Response:
    cluster = call.cluster()
    token = call.request.args.get("$skiptoken", "0")
    if not token.isdecimal():
        raise errors.bad_request(f"The skiptoken '{token}' is not one that was given out.")
    start = int(token)
    rows = [pool_view(cluster, pool) for pool in cluster.pools.values()]
    body: Json = {"value": rows[start : start + PAGE]}
    if start + PAGE < len(rows):
        version = call.request.args["api-version"]
        body["nextLink"] = f"{call.base}{call.request.path}?api-version={version}&$skiptoken={start + PAGE}"
    return json_response(body)


def _put_pool(call: Call) -> Response:
    cluster = call.cluster()
    call.check_preconditions(call.pool(cluster))
    sent = grammar.properties(call.request.get_json(force=True, silent=True))
    created, pool, operation = pools.put(call.world, cluster, call.names["pool"], sent, call.fault)
    return json_response(pool_view(cluster, pool), 201 if created else 200, call.started(operation))


def _delete_pool(call: Call) -> Response:
    cluster = call.cluster()
    pool = call.pool(cluster)
    if pool is None:
        return Response(status=204)
    call.check_preconditions(pool)
    ignored = call.request.args.get("ignore-pod-disruption-budget", "").lower() == "true"
    operation = pools.delete(call.world, cluster, pool, call.fault, ignore_budgets=ignored)
    headers = call.started(operation)
    return Response(status=202, headers={**headers, "Location": headers["Azure-AsyncOperation"]})


def _abort(call: Call) -> Response:
    cluster = call.cluster()
    pool = call.pool(cluster)
    if pool is None:
        raise call.missing_pool()
    pools.abort(call.world, cluster, pool)
    return Response(status=204)


def _abort_cluster(call: Call) -> Response:
    cluster = call.cluster(parent=False)
    for pool in cluster.pools.values():
        pools.abort(call.world, cluster, pool)
    return Response(status=204)


def _upgrade_image(call: Call) -> Response:
    cluster = call.cluster()
    pool = call.pool(cluster)
    if pool is None:
        raise call.missing_pool()
    operation = pools.renew(call.world, cluster, pool, call.fault)
    headers = call.started(operation)
    result = headers["Azure-AsyncOperation"].replace("/operations/", "/operationresults/")
    return json_response(pool_view(cluster, pool), 202, {**headers, "Location": result})


def _pool_upgrades(call: Call) -> Response:
    cluster = call.cluster()
    pool = call.pool(cluster)
    if pool is None:
        raise call.missing_pool()
    return json_response(versions.pool_upgrades(cluster, pool))


def _pool_versions(call: Call) -> Response:
    return json_response(versions.pool_versions(call.cluster()))


def _cluster_upgrades(call: Call) -> Response:
    return json_response(versions.cluster_upgrades(call.cluster(parent=False)))


def _kubernetes_versions(_: Call) -> Response:
    return json_response(versions.kubernetes_versions())


def _get_cluster(call: Call) -> Response:
    return json_response(cluster_view(call.cluster(parent=False)))


def _list_clusters(call: Call) -> Response:
    wanted = folded(tuple(call.names[part] for part in ("subscription", "group") if part in call.names))
    known = [cluster for cluster in call.world.clusters.values() if cluster.cloud is Cloud.AKS]
    rows = [cluster_view(cluster) for cluster in known if folded(cluster.path)[: len(wanted)] == wanted]
    return json_response({"value": rows})


def _credential(call: Call) -> Response:
    value = credential(call.cluster(parent=False), call.base, call.world.tls.authority_data)
    return json_response({"kubeconfigs": [{"name": "clusterUser", "value": value}]})


def _known(call: Call) -> Operation:
    wanted, subscription = call.names["operation"], call.names["subscription"].lower()
    for cluster in call.world.clusters.values():
        if cluster.cloud is Cloud.AKS and cluster.path[0].lower() == subscription and wanted in cluster.operations:
            return cluster.operations[wanted]
    raise ArmError(404, "NotFound", f"The operation '{wanted}' could not be found.")


def _operation(call: Call) -> Response:
    operation = _known(call)
    headers = {} if operation.done else call.pause()
    return json_response(pools.status(operation, call.request.path), headers=headers)


def _result(call: Call) -> Response:
    """What the operation was about, once it has ended: what its `Location` leads to."""
    operation = _known(call)
    if not operation.done:
        return Response(status=202, headers={"Location": call.request.url, **call.pause()})
    pool = operation.cluster.pools.get(operation.pool or "")
    return json_response(pool_view(operation.cluster, pool)) if pool else Response(status=204)


def _skus(call: Call) -> Response:
    return json_response({"value": compute.skus(call.world, call.request.args.get("$filter", ""))})


def _usages(call: Call) -> Response:
    rows = quota.usages(call.world, call.names["subscription"]) if call.names["location"].lower() == LOCATION else []
    return json_response({"value": rows})


def _list_groups(call: Call) -> Response:
    wanted = call.names["subscription"]
    known = [cluster.path for cluster in call.world.clusters.values() if cluster.cloud is Cloud.AKS]
    groups = {path[1]: None for path in known if path[0].lower() == wanted.lower()}
    return json_response({"value": [_group(wanted, name) for name in groups]})


def _get_group(call: Call) -> Response:
    if call.names["group"].startswith("missing-"):
        raise errors.group_not_found(call.names["group"])
    return json_response(_group(call.names["subscription"], call.names["group"]))


def _group(subscription: str, name: str) -> Json:
    named = {"id": f"/subscriptions/{subscription}/resourceGroups/{name}", "name": name, "location": LOCATION}
    return {**named, "type": "Microsoft.Resources/resourceGroups", "properties": {"provisioningState": "Succeeded"}}


def _list_subscriptions(call: Call) -> Response:
    known = {cluster.path[0]: None for cluster in call.world.clusters.values() if cluster.cloud is Cloud.AKS}
    return json_response({"value": [_subscription(one) for one in known]})


def _get_subscription(call: Call) -> Response:
    return json_response(_subscription(call.names["subscription"]))


def _subscription(subscription: str) -> Json:
    named = {
        "id": f"/subscriptions/{subscription}",
        "subscriptionId": subscription,
        "tenantId": TENANT,
        "displayName": "sandbox",
    }
    return {**named, "state": "Enabled", "authorizationSource": "RoleBased"}


def _list_tenants(_: Call) -> Response:
    return json_response({"value": [{"id": f"/tenants/{TENANT}", "tenantId": TENANT, "displayName": "sandbox"}]})


CALLS: dict[str, Callable[[Call], Response]] = {
    "AgentPools_Get": _get_pool,
    "AgentPools_CreateOrUpdate": _put_pool,
    "AgentPools_Delete": _delete_pool,
    "AgentPools_AbortLatestOperation": _abort,
    "AgentPools_GetUpgradeProfile": _pool_upgrades,
    "AgentPools_UpgradeNodeImageVersion": _upgrade_image,
    "AgentPools_GetAvailableAgentPoolVersions": _pool_versions,
    "AgentPools_List": _list_pools,
    "ManagedClusters_Get": _get_cluster,
    "ManagedClusters_ListByResourceGroup": _list_clusters,
    "ManagedClusters_List": _list_clusters,
    "ManagedClusters_AbortLatestOperation": _abort_cluster,
    "ManagedClusters_GetUpgradeProfile": _cluster_upgrades,
    "ManagedClusters_ListClusterUserCredentials": _credential,
    "ManagedClusters_ListClusterAdminCredentials": _credential,
    "ManagedClusters_ListKubernetesVersions": _kubernetes_versions,
    "OperationStatus_Get": _operation,
    "OperationResults_Get": _result,
    "ResourceGroups_List": _list_groups,
    "ResourceGroups_Get": _get_group,
    "Subscriptions_List": _list_subscriptions,
    "Subscriptions_Get": _get_subscription,
    "Tenants_List": _list_tenants,
    "ResourceSkus_List": _skus,
    "Usage_List": _usages,
}
"""The API's own names of the calls that the sandbox carries out; faults name them so, too."""
