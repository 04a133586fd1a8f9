"""A cluster's node groups at work: look, make, change, delete, and follow what is in flight.

Nothing here waits: `watch` is one look. A deleted group's own launch template goes when the group is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, assert_never

from fracgpu.errors import Busy, Finding, Internal, NotFound, Unreachable
from fracgpu.plan import Action, Change, Json, Resource
from fracgpu.providers import ClusterFacts, Inventory, KubeAccess, Observed, Operation, OperationKind, Progress
from fracgpu.providers.eks.compare import comparison, settled
from fracgpu.providers.eks.desired import NEW
from fracgpu.providers.eks.names import LAUNCH_TEMPLATE, NODEGROUP
from fracgpu.providers.eks.session.calls import Refused, ask, every, translating
from fracgpu.providers.eks.session.cluster import ClusterView
from fracgpu.providers.eks.session.door import Door
from fracgpu.providers.eks.session.templates import Templates
from fracgpu.providers.eks.session.updates import Updates
from fracgpu.providers.eks.status import group_resource, observed, progress
from fracgpu.providers.meanwhile import check_same
from fracgpu.resolve import ResolvedPool

_AT_ONCE = 8
"""Groups that are described at the same time."""


class EksSession:
    """The Session of one EKS cluster. Idempotency and errors are those of the protocol."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._cluster = door.cluster
        self._view = ClusterView(door)
        self._templates = Templates(door)
        self._updates = Updates(door, self._templates, self._describe)

    def preflight(self, pool: ResolvedPool) -> Sequence[Finding]:
        """Zones in which EC2 does not offer the machine, and what a template of the user's own says otherwise.

        Quotas show when nodes are launched.
        """
        with translating():
            return [*self._view.preflight(pool), *self._templates.check(pool)]

    def clusters(self) -> Inventory:
        """The clusters of the region."""
        with translating():
            return self._view.inventory()

    def cluster_facts(self) -> ClusterFacts:
        """Subnets and zones, version, and a node role. Raises NotFound, naming the clusters that there are."""
        with translating():
            return self._view.facts()

    def kube_access(self) -> KubeAccess:
        """The cluster's endpoint with a token of the caller's own."""
        with translating():
            return self._view.kube_access()

    def observe(self, name: str) -> Observed | None:
        """The group, and its own template; None where there is no such group. Raises NotFound for the cluster."""
        with translating():
            group = self._describe(name)
            return self._observed(group) if group else None

    def list(self) -> Sequence[Observed]:
        """All groups of the cluster, in EKS's order."""
        with translating():
            try:
                names = every(self._eks, "list_nodegroups", "nodegroups", clusterName=self._cluster.name)
            except Refused as refused:
                raise self._view.missing(refused) from refused.__cause__
            self._door.client("ec2")  # made here, since making one is not for several threads
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                return tuple(found for found in pool.map(self.observe, names) if found is not None)

    def leftovers(self, pool: str) -> Sequence[Resource]:
        """The launch template of a group that is gone."""
        with translating():
            if self._describe(pool) is not None:
                return ()
            found = self._templates.find(pool)
            return (found,) if found else ()

    def apply(self, change: Change) -> Operation:
        """Begin a create, update or delete. The same change again finds what is there or in flight.

        Raises ExistsDifferently, NotOurs, Busy and what AWS refuses.
        """
        with translating():
            match change.action:
                case Action.CREATE | Action.UPDATE if change.resource == LAUNCH_TEMPLATE:
                    return self._template(change)
                case Action.CREATE:
                    return self._create(change)
                case Action.UPDATE:
                    return self._update(change)
                case Action.DELETE if change.resource == LAUNCH_TEMPLATE:
                    self._templates.delete(change.pool)
                    return self._finished(change, OperationKind.DELETE)
                case Action.DELETE:
                    return self._delete(change)
                case Action.NO_OP:
                    return self._finished(change, OperationKind.OTHER)
                case Action.REPLACE:
                    raise Internal("a replace is a delete and a create")
            assert_never(change.action)

    def operations(self, pool: str) -> Sequence[Operation]:
        """What is in flight for a group."""
        with translating():
            group = self._describe(pool)
            match group.get("status") if group else None:
                case "CREATING":
                    return (self._operation("", OperationKind.CREATE, pool),)
                case "DELETING":
                    return (self._operation("", OperationKind.DELETE, pool),)
                case "UPDATING":
                    return tuple(
                        self._operation(one, OperationKind.UPDATE, pool) for one in self._updates.in_flight(pool)
                    )
                case _:
                    return ()

    def usual(self, kind: OperationKind) -> float | None:  # noqa: ARG002 - of none
        """None: the cloud keeps no record of operations that have ended."""
        return None

    def watch(self, operation: Operation) -> Progress:
        """One look. Begins the next call of an update, and the end of a deletion, when it is time.

        Raises what the operation ended in: Stock, Quota, PoolFailed.
        """
        if operation.finished:
            return Progress(True, "nothing to wait for")
        with translating():
            pool = operation.pool or ""
            if operation.kind is OperationKind.UPDATE:
                return self._updates.watch(operation, pool)
            group = self._describe(pool)
            if group is not None:
                return progress(group)
            if operation.kind is OperationKind.DELETE:
                self._templates.delete(pool)
                return Progress(True, "EKS: deleted")
            raise NotFound(f"the node group {pool} is gone", hint="fracgpu pool list")

    @property
    def _eks(self) -> Any:
        return self._door.client("eks")

    def _named(self, name: str) -> Json:
        return {"clusterName": self._cluster.name, "nodegroupName": name}

    def _describe(self, name: str) -> Json | None:
        try:
            group: Json = ask(self._eks, "describe_nodegroup", **self._named(name))["nodegroup"]
        except Refused as refused:
            if refused.said.code != "ResourceNotFoundException":
                raise
            if "node group" in refused.said.message.lower() or "nodegroup" in refused.said.message.lower():
                return None
            raise self._view.missing(refused) from refused.__cause__
        return group

    def _observed(self, group: Json) -> Observed:
        own = self._templates.observe(group)
        return observed(group, self._cluster, own, None if own else self._templates.foreign(group))

    def _template(self, change: Change) -> Operation:
        assert change.after is not None
        if change.action is Action.CREATE:
            self._templates.create(change.after, change.pool)
            return self._finished(change, OperationKind.CREATE)
        self._templates.update(change.after, change.pool)
        return self._finished(change, OperationKind.UPDATE)

    def _create(self, change: Change) -> Operation:
        """No token of our own: the same group made, deleted and made again is two requests with one content, and EKS
        might take them for one. What the name finds is compared instead."""
        assert change.after is not None
        try:
            ask(self._eks, "create_nodegroup", **self._sendable(change.after))
        except Refused as refused:
            if refused.said.code == "ResourceNotFoundException":
                raise self._view.missing(refused) from refused.__cause__
            if refused.said.code != "ResourceInUseException" or not self._exists_as(change):
                raise
        except Unreachable:
            if not self._exists_as(change):
                raise
        return self._operation("", OperationKind.CREATE, change.pool)

    def _sendable(self, after: Json) -> Json:
        """The body with the number that `<new>` stands for."""
        template: Json = after.get("launchTemplate") or {}
        if template.get("version") != NEW:
            return after
        latest = self._templates.latest(template["name"])
        if latest is None:
            raise NotFound(f"the launch template {template['name']} is not there", hint="plan again")
        return {**after, "launchTemplate": {**template, "version": str(latest)}}

    def _exists_as(self, change: Change) -> bool:
        """Whether the group is there, as wanted. Raises ExistsDifferently, and Busy while one of the name goes away."""
        group = self._describe(change.name)
        if group is None or change.after is None:
            return False
        if group.get("status") == "DELETING":
            raise Busy(f"{change.name} is being deleted", hint="wait for it and try again")
        wanted, there = (group_resource(body, self._cluster) for body in (change.after, group))
        check_same(wanted, settled(there), comparison(NODEGROUP))
        return True

    def _delete(self, change: Change) -> Operation:
        try:
            ask(self._eks, "delete_nodegroup", **self._named(change.name))
        except (Refused, Unreachable):
            group = self._describe(change.name)
            if group is None:
                self._templates.delete(change.pool)
                return self._finished(change, OperationKind.DELETE)
            if group.get("status") != "DELETING":
                raise
        return self._operation("", OperationKind.DELETE, change.pool)

    def _update(self, change: Change) -> Operation:
        begun = self._updates.begin(change)
        if begun is None:
            return next(iter(self.operations(change.pool)), self._finished(change, OperationKind.UPDATE))
        return self._operation(begun.id, OperationKind.UPDATE, change.pool, begun.token)

    def _operation(self, name: str, kind: OperationKind, pool: str, token: str | None = None) -> Operation:
        return Operation(name, kind, pool, self._cluster, token)

    def _finished(self, change: Change, kind: OperationKind) -> Operation:
        return Operation("", kind, change.pool, self._cluster, finished=True)
