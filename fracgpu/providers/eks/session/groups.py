"""A cluster's node groups at work: look, make, change, delete, and follow what is in flight.

Nothing here waits: `watch` is one look. An update of several calls is begun by `apply` and carried on by `watch`; what
is left is in the operation's token. A deleted group's own launch template goes when the group is gone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, assert_never

from fracgpu.errors import Busy, Finding, FracgpuError, Internal, NotFound, Unreachable
from fracgpu.plan import Action, Change, Json, Resource
from fracgpu.providers import ClusterFacts, Inventory, KubeAccess, Observed, Operation, OperationKind, Phase, Progress
from fracgpu.providers.eks.compare import comparison, settled
from fracgpu.providers.eks.desired import NEW
from fracgpu.providers.eks.names import LAUNCH_TEMPLATE, NODEGROUP
from fracgpu.providers.eks.session.calls import Refused, ask, every, translating
from fracgpu.providers.eks.session.cluster import ClusterView
from fracgpu.providers.eks.session.door import Door
from fracgpu.providers.eks.session.templates import Templates
from fracgpu.providers.eks.status import observed, progress, status, update_progress
from fracgpu.providers.eks.steps import config_request, tag_step, version_request
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
        self._begun: dict[str, str] = {}
        """The first update of an operation -> the one that it has come to."""

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
                    return tuple(self._operation(one, OperationKind.UPDATE, pool) for one in self._updates(pool))
                case _:
                    return ()

    def watch(self, operation: Operation) -> Progress:
        """One look. Begins the next call of an update, and the end of a deletion, when it is time.

        Raises what the operation ended in: Stock, Quota, PoolFailed.
        """
        if operation.finished:
            return Progress(True, "nothing to wait for")
        with translating():
            pool = operation.pool or ""
            if operation.kind is OperationKind.UPDATE:
                return self._watch_update(operation, pool)
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
        check_same(self._resource(change.after), settled(self._resource(group)), comparison(NODEGROUP))
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
        """Tags at once, then the first update that is left; the second is in the token."""
        group = self._describe(change.name)
        if group is None or change.after is None:
            raise NotFound(f"the cluster has no node group {change.name}", hint="fracgpu pool list --all")
        self._tag(group, change.after)
        size = any(one.path[:2] == ("scalingConfig", "desiredSize") for one in change.fields)
        config = config_request(settled(self._resource(group)).body, change.after, size=size)
        version = version_request(group, change.after, self._newest(change.after))
        if not config and not version:
            return next(iter(self.operations(change.pool)), self._finished(change, OperationKind.UPDATE))
        self._ready_for_update(group)
        if not config:
            return self._operation(self._begin("version", change.name, version), OperationKind.UPDATE, change.pool)
        begun = self._begin("config", change.name, config)
        token = json.dumps(version) if version else None
        return self._operation(begun, OperationKind.UPDATE, change.pool, token)

    def _newest(self, after: Json) -> int | None:
        template: Json = after.get("launchTemplate") or {}
        return self._templates.latest(template["name"]) if template.get("version") == NEW else None

    def _ready_for_update(self, group: Json) -> None:
        """EKS changes only groups that are ACTIVE (https://github.com/aws/containers-roadmap/issues/2204)."""
        seen = status(group)
        if seen.problem is not None:
            raise seen.problem
        if seen.phase is not Phase.READY:
            name = group["nodegroupName"]
            raise Busy(f"{name} is {seen.phase.value.lower()}", hint="wait for it and try again")

    def _tag(self, group: Json, after: Json) -> None:
        step = tag_step(group, after)
        if step.write:
            ask(self._eks, "tag_resource", resourceArn=group["nodegroupArn"], tags=step.write)
        if step.remove:
            ask(self._eks, "untag_resource", resourceArn=group["nodegroupArn"], tagKeys=list(step.remove))

    def _begin(self, kind: str, pool: str, request: Json) -> str:
        """Send an update; its id. Where the answer is lost, the update that it may have begun is looked for."""
        try:
            answer = ask(self._eks, f"update_nodegroup_{kind}", **self._named(pool), **request)
        except Unreachable:
            flying = self._updates(pool)
            if not flying:
                raise
            return flying[-1]
        return str(answer["update"]["id"])

    def _updates(self, pool: str) -> Sequence[str]:
        """Ids of the updates of a group that are under way."""
        members = {"name": self._cluster.name, "nodegroupName": pool}
        ids = every(self._eks, "list_updates", "updateIds", **members)
        return [one for one in ids if self._update_of(one, pool).get("status") == "InProgress"]

    def _update_of(self, update_id: str, pool: str) -> Json:
        members = {"name": self._cluster.name, "nodegroupName": pool, "updateId": update_id}
        update: Json = ask(self._eks, "describe_update", **members)["update"]
        return update

    def _watch_update(self, operation: Operation, pool: str) -> Progress:
        current = self._begun.get(operation.id, operation.id)
        try:
            seen = update_progress(self._update_of(current, pool), pool)
        except Refused as refused:
            if refused.said.code != "ResourceNotFoundException":
                raise
            return Progress(True, "EKS no longer knows the update")
        if not seen.done:
            return seen
        if operation.token is None or operation.id in self._begun:
            return self._swept(seen, pool)
        return self._go_on(operation, pool, json.loads(operation.token))

    def _go_on(self, operation: Operation, pool: str, request: Json) -> Progress:
        """The second call of an update, unless it has been made: by another process, or by nobody yet."""
        group = self._describe(pool)
        if group is None:
            raise NotFound(f"the node group {pool} is gone", hint="fracgpu pool list")
        template: Json = request.get("launchTemplate") or {}
        have: Json = group.get("launchTemplate") or {}
        if template and str(have.get("version")) == template["version"]:
            return self._swept(Progress(True, "EKS: all changes are made"), pool)
        flying = self._updates(pool)
        if flying:
            self._begun[operation.id] = flying[-1]
            return Progress(False, "EKS: replacing the nodes")
        try:
            self._ready_for_update(group)
            self._begun[operation.id] = self._begin("version", pool, request)
        except (Busy, Refused) as error:
            if isinstance(error, Refused) and error.said.code != "ResourceInUseException":
                raise
            return Progress(False, f"waiting to replace the nodes: {error}")
        return Progress(False, "EKS: replacing the nodes")

    def _swept(self, seen: Progress, pool: str) -> Progress:
        """The end of an update, after which older versions of the template are of no use. Where they cannot be deleted
        the update is made all the same, and the next one tries again."""
        group = self._describe(pool)
        if group is None or "launchTemplate" not in group:
            return seen
        try:
            self._templates.sweep(group)
        except (Refused, FracgpuError) as error:
            return replace(seen, message=f"{seen.message}; older versions of the launch template stay: {error}")
        return seen

    def _resource(self, body: Json) -> Resource:
        name = body["nodegroupName"]
        return Resource(NODEGROUP, name, name, self._cluster, body)

    def _operation(self, name: str, kind: OperationKind, pool: str, token: str | None = None) -> Operation:
        return Operation(name, kind, pool, self._cluster, token)

    def _finished(self, change: Change, kind: OperationKind) -> Operation:
        return Operation("", kind, change.pool, self._cluster, finished=True)
