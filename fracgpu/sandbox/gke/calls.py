"""The calls of google.container.v1.ClusterManager, on the JSON form of its messages; both transports come here."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from fracgpu.sandbox.gke import endings, operations
from fracgpu.sandbox.gke import update as gke_update
from fracgpu.sandbox.gke.cluster import cluster_view, server_config
from fracgpu.sandbox.gke.errors import GkeError, exists, from_fault, invalid
from fracgpu.sandbox.gke.names import Target, cluster_of, no_such_pool, target, target_of
from fracgpu.sandbox.gke.operations import operation_view
from fracgpu.sandbox.gke.pool import first_nodes, new_pool, ordered, renew, view
from fracgpu.sandbox.gke.rules import check_autoscaling, check_name, check_new_pool, check_quota, check_size, held
from fracgpu.sandbox.world import Cloud, Cluster, Json, Pool, World


class LostAnswer(Exception):
    """The call was carried out, and a fault wants its answer lost on the way."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call: the world it is about, its request as JSON, and how a fault wants its operation to end."""

    world: World
    request: Json
    outcome: str | None
    about: Target

    @property
    def cluster(self) -> Cluster:
        return cluster_of(self.world, self.about)

    def pool(self, cluster: Cluster) -> Pool:
        pool = cluster.pools.get(self.about.pool)
        if pool is None:
            raise no_such_pool(self.about)
        return pool

    def begin(self, cluster: Cluster, kind: str, pool: Pool, finish: endings.Finish, state: str = "") -> Json:
        """Start an operation on a pool, which is in `state` meanwhile."""
        if state:
            pool.state = state
        operation = operations.begin(self.world, cluster, kind, pool.name, finish, self.outcome)
        self.world.touch(cluster)
        return operation_view(operation)


def answer(world: World, name: str, request: Json) -> Json:
    """Carry out one call. Raises GkeError, or LostAnswer where a fault drops the answer."""
    fault = world.faults.take(Cloud.GKE, name)
    if fault and fault.delay:
        time.sleep(fault.delay)
    if fault and (error := from_fault(fault)):
        if fault.drop:
            raise LostAnswer from error
        raise error
    with world.lock:
        world.settle()
        result = CALLS[name](Call(world, request, fault.outcome if fault else None, target(request)))
    if fault and fault.drop:
        raise LostAnswer
    return result


def _get_cluster(call: Call) -> Json:
    return cluster_view(call.world, call.cluster)


def _list_clusters(call: Call) -> Json:
    shown = [cluster_view(call.world, cluster) for cluster in operations.clusters(call.world, call.about)]
    return {"clusters": shown}


def _list_node_pools(call: Call) -> Json:
    return {"nodePools": ordered(call.cluster.pools.values())}


def _get_node_pool(call: Call) -> Json:
    return view(call.pool(call.cluster))


def _create_node_pool(call: Call) -> Json:
    cluster, sent = call.cluster, call.request.get("nodePool", {})
    check_name(sent.get("name", ""))
    if sent["name"] in cluster.pools:
        raise exists(target_of(cluster, sent["name"]).pool_name)
    check_new_pool(call.world, cluster, sent)
    pool = new_pool(cluster, sent)
    check_quota(call.world, cluster, pool.body, first_nodes(pool.body))
    operations.admit(cluster, pool.name)
    renew(pool, call.world.number())
    cluster.pools[pool.name] = pool
    return call.begin(cluster, "CREATE_NODE_POOL", pool, endings.created(call.world, pool))


def _update_node_pool(call: Call) -> Json:
    cluster = call.cluster
    return _change(call, cluster, call.pool(cluster), call.request)


def _change(call: Call, cluster: Cluster, pool: Pool, request: Json) -> Json:
    asked = gke_update.asked_for(request)
    operations.admit(cluster, pool.name)
    gke_update.check_update(call.world, cluster, pool, request)
    finish = endings.changed(call.world, pool, lambda: gke_update.carry_out(cluster, pool, asked))
    kind = "UPGRADE_NODES" if gke_update.is_upgrade(asked) else "UPDATE_CLUSTER"
    return call.begin(cluster, kind, pool, finish, "RECONCILING")


def _set_size(call: Call) -> Json:
    cluster = call.cluster
    pool, each = call.pool(cluster), int(call.request.get("nodeCount", 0))
    check_size(each)
    operations.admit(cluster, pool.name)
    nodes = each * len(pool.body["locations"])
    check_quota(call.world, cluster, pool.body, nodes, held(pool.body, pool.size))
    finish = endings.resized(call.world, pool, each)
    return call.begin(cluster, "SET_NODE_POOL_SIZE", pool, finish, "RECONCILING")


def _set_autoscaling(call: Call) -> Json:
    cluster = call.cluster
    return _autoscale(call, cluster, call.pool(cluster), call.request.get("autoscaling", {}))


_OF_A_POOL = {"desiredNodePoolAutoscaling", "desiredNodePoolId", "desiredNodeVersion"}


def _update_cluster(call: Call) -> Json:
    """What gcloud uses to change a pool's autoscaling or version; the sandbox's clusters do not change otherwise."""
    cluster, update = call.cluster, call.request.get("update", {})
    if unknown := set(update) - _OF_A_POOL:
        raise GkeError("UNIMPLEMENTED", f"The sandbox does not update {', '.join(sorted(unknown))} of a cluster.")
    if not set(update) - {"desiredNodePoolId"}:
        raise invalid("Must specify a field to update.")
    name = update.get("desiredNodePoolId") or _only_pool(cluster)
    if name not in cluster.pools:
        raise no_such_pool(target_of(cluster, name))
    if "desiredNodePoolAutoscaling" in update:
        return _autoscale(call, cluster, cluster.pools[name], update["desiredNodePoolAutoscaling"])
    return _change(call, cluster, cluster.pools[name], {"nodeVersion": update["desiredNodeVersion"]})


def _only_pool(cluster: Cluster) -> str:
    if len(cluster.pools) != 1:
        raise invalid("The cluster has several node pools: desired_node_pool_id must be specified.")
    return next(iter(cluster.pools))


def _autoscale(call: Call, cluster: Cluster, pool: Pool, scaling: Json) -> Json:
    check_autoscaling(scaling, 0, len(pool.body["locations"]))
    operations.admit(cluster, pool.name)
    new = {**scaling, "locationPolicy": scaling.get("locationPolicy", _policy(pool))} if scaling.get("enabled") else {}
    finish = endings.changed(call.world, pool, lambda: pool.body.update(autoscaling=new))
    return call.begin(cluster, "UPDATE_CLUSTER", pool, finish)


def _policy(pool: Pool) -> str:
    return str(pool.body.get("autoscaling", {}).get("locationPolicy", "BALANCED"))


def _set_management(call: Call) -> Json:
    cluster = call.cluster
    pool, management = call.pool(cluster), call.request.get("management", {})
    operations.admit(cluster, pool.name)
    finish = endings.changed(call.world, pool, lambda: pool.body.update(management=management))
    return call.begin(cluster, "SET_NODE_POOL_MANAGEMENT", pool, finish)


def _delete_node_pool(call: Call) -> Json:
    cluster = call.cluster
    pool = call.pool(cluster)
    operations.admit(cluster, pool.name)
    return call.begin(cluster, "DELETE_NODE_POOL", pool, endings.deleted(pool), "STOPPING")


def _get_operation(call: Call) -> Json:
    return operation_view(operations.find(call.world, call.about))


def _list_operations(call: Call) -> Json:
    return {"operations": [operation_view(found) for found in operations.listed(call.world, call.about)]}


def _cancel_operation(call: Call) -> Json:
    operation = operations.find(call.world, call.about)
    if operation.done:
        raise GkeError("FAILED_PRECONDITION", f"Operation {operation.id} is done and cannot be cancelled.")
    operations.abort(call.world, operation)
    return {}


def _server_config(_: Call) -> Json:
    return server_config()


CALLS: dict[str, Callable[[Call], Json]] = {
    "GetCluster": _get_cluster,
    "ListClusters": _list_clusters,
    "ListNodePools": _list_node_pools,
    "GetNodePool": _get_node_pool,
    "CreateNodePool": _create_node_pool,
    "UpdateNodePool": _update_node_pool,
    "SetNodePoolSize": _set_size,
    "SetNodePoolAutoscaling": _set_autoscaling,
    "SetNodePoolManagement": _set_management,
    "UpdateCluster": _update_cluster,
    "DeleteNodePool": _delete_node_pool,
    "GetOperation": _get_operation,
    "ListOperations": _list_operations,
    "CancelOperation": _cancel_operation,
    "GetServerConfig": _server_config,
}
"""The API's own names of the calls that the sandbox carries out; faults name them so, too."""
