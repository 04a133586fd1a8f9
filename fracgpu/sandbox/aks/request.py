"""One request to Azure Resource Manager, with what its path names."""

from __future__ import annotations

from werkzeug.wrappers import Request

from fracgpu.sandbox.aks import cluster as managed
from fracgpu.sandbox.aks import errors
from fracgpu.sandbox.aks.errors import ArmError
from fracgpu.sandbox.aks.sizes import LOCATION
from fracgpu.sandbox.faults import Fault
from fracgpu.sandbox.world import Cloud, Cluster, NoSuchCluster, Operation, Pool, World


class Call:
    """The request, the world that it is about, and the fault that was set for it."""

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
            raise errors.subscription_not_found(subscription)
        if group.startswith("missing-"):
            raise errors.group_not_found(group)
        wanted = (subscription, group, name)
        for cluster in self.world.clusters.values():
            if cluster.cloud is Cloud.AKS and folded(cluster.path) == folded(wanted):
                return cluster
        try:
            return self.world.cluster(Cloud.AKS, *wanted)
        except NoSuchCluster as error:
            missing = errors.parent_not_found(managed.cluster_id(wanted)) if parent else None
            raise missing or errors.resource_not_found("managedClusters", name, group) from error

    def pool(self, cluster: Cluster) -> Pool | None:
        return cluster.pools.get(self.names["pool"])

    def missing_pool(self) -> ArmError:
        kind = f"managedClusters/{self.names['cluster']}/agentPools"
        return errors.resource_not_found(kind, self.names["pool"], self.names["group"])

    def check_preconditions(self, pool: Pool | None) -> None:
        """https://learn.microsoft.com/azure/aks/use-etags"""
        expected = self.request.headers.get("If-Match")
        unwanted = self.request.headers.get("If-None-Match")
        etag = pool.body["eTag"] if pool else None
        if expected is not None and (etag is None or expected.strip('"') not in ("*", etag)):
            raise errors.precondition_failed(self.names["pool"])
        if unwanted is not None and etag is not None and unwanted.strip('"') in ("*", etag):
            raise errors.precondition_failed(self.names["pool"])

    def started(self, operation: Operation) -> dict[str, str]:
        """The headers of an answer that started an operation."""
        version = self.request.args["api-version"]
        url = f"{self.base}{_operation_path(operation.cluster.path[0], operation.id)}?api-version={version}"
        return {"Azure-AsyncOperation": url, **self.pause()}

    def pause(self) -> dict[str, str]:
        """When to ask again; nothing where operations end so fast that the caller's own interval is the better one."""
        seconds = self.world.operation_seconds
        return {"Retry-After": str(min(10, max(1, int(seconds / 12))))} if seconds >= 1 else {}


def _operation_path(subscription: str, id: str) -> str:
    return f"/subscriptions/{subscription}/providers/Microsoft.ContainerService/locations/{LOCATION}/operations/{id}"


def folded(path: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part.lower() for part in path)
