"""A cluster's agent pools at work: look, make, change, delete, and follow what is in flight. Nothing here waits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

from azure.core import MatchConditions

from fracgpu.differences import same
from fracgpu.errors import Busy, Finding, FracgpuError, Internal, NotFound, StalePlan, Unreachable
from fracgpu.plan import Action, Change, Json, Resource
from fracgpu.providers import ClusterFacts, Inventory, KubeAccess, Observed, Operation, OperationKind, Phase, Progress
from fracgpu.providers.access import Access
from fracgpu.providers.aks.compare import comparison, settled
from fracgpu.providers.aks.desired import KIND
from fracgpu.providers.aks.session.arm import Answer, Arm
from fracgpu.providers.aks.session.cluster import ClusterView
from fracgpu.providers.aks.session.compute import preflight
from fracgpu.providers.aks.session.watching import looked_at, progress_of
from fracgpu.providers.aks.status import KINDS, observed
from fracgpu.providers.aks.update import asked_count, changes, merged, unmarked
from fracgpu.providers.meanwhile import check_fresh, check_same
from fracgpu.resolve import ClusterRef, ResolvedPool

_TRIES = 3
"""Times that a change is sent while the pool's ETag moves under it (an autoscaler moves it) or answers are lost."""
_NOT_THERE = 204
"""The answer to a DELETE of a pool that does not exist (https://learn.microsoft.com/azure/aks/use-etags)."""


class AksSession:
    """The Session of one AKS cluster. Idempotency and errors are those of the protocol."""

    def __init__(self, arm: Arm, cluster: ClusterRef, access: Access) -> None:
        self._arm = arm
        self._access = access
        self._cluster = cluster
        self._view = ClusterView(arm, cluster)
        self._where = (cluster.resource_group, cluster.name)

    def preflight(self, pool: ResolvedPool) -> Sequence[Finding]:
        """Quota and offering by Microsoft.Compute, where the caller may read it."""
        return preflight(self._arm, pool, self._view.location(), self._access)

    def clusters(self) -> Inventory:
        """The clusters of the subscription, or of the resource group."""
        return self._view.inventory()

    def cluster_facts(self) -> ClusterFacts:
        """Version and region. Raises NotFound, naming the clusters that exist."""
        return self._view.facts()

    def kube_access(self) -> KubeAccess:
        """The kubeconfig that Azure gives this caller."""
        return self._view.kube_access()

    def observe(self, name: str) -> Observed | None:
        """The pool; None where the cluster has none of that name. Raises NotFound where the cluster is missing."""
        model = self._model(name)
        return observed(model.as_dict(), self._cluster) if model is not None else None

    def list(self) -> Sequence[Observed]:
        """All pools of the cluster."""
        with self._view.missing(), self._arm.calling("AgentPools_List"):
            models = list(self._arm.pools().list(*self._where))
        return tuple(observed(model.as_dict(), self._cluster) for model in models)

    def leftovers(self, pool: str) -> Sequence[Resource]:  # noqa: ARG002 - a pool is all that there is of it
        """Nothing: an agent pool has no resources beside it."""
        return ()

    def apply(self, change: Change) -> Operation:
        """Begin a create, update or delete. The same change again finds what is there or in flight.

        Raises ExistsDifferently, StalePlan, Busy and what the API refuses.
        """
        match change.action:
            case Action.CREATE:
                return self._create(change)
            case Action.UPDATE:
                return self._update(change)
            case Action.DELETE:
                return self._delete(change)
            case Action.NO_OP:
                return self._finished(change, OperationKind.OTHER)
            case Action.REPLACE:
                raise Internal("a replace is a delete and a create")
        assert_never(change.action)

    def operations(self, pool: str) -> Sequence[Operation]:
        """What is in flight for a pool, told by its state: AKS runs one operation on a pool at a time."""
        seen = self.observe(pool)
        kind = KINDS.get(seen.status.phase) if seen else None
        return (Operation(f"{pool}/{kind}", kind, pool, self._cluster),) if kind else ()

    def usual(self, kind: OperationKind) -> float | None:  # noqa: ARG002 - of none
        """None: the cloud keeps no record of operations that have ended."""
        return None

    def watch(self, operation: Operation) -> Progress:
        """One look: at the operation where its URL is known, else at the pool.

        Raises what the operation ended in: Stock, Quota, PoolFailed.
        """
        if operation.finished:
            return Progress(True, "nothing to wait for")
        if operation.token:
            try:
                progress = looked_at(*self._arm.get("OperationStatus_Get", operation.token), operation)
            except NotFound:
                progress = None  # Azure forgets operations; the pool tells as well
            if progress is not None:
                return progress
        return progress_of(self.observe(operation.pool or ""), operation)

    def _create(self, change: Change) -> Operation:
        """A PUT that is refused (412) where the pool exists, so that a lost answer is never a second pool."""
        try:
            sent = self._put(change, change.after, match_condition=MatchConditions.IfMissing)
        except (StalePlan, Busy, Unreachable) as error:
            return self._found(change, error)
        return self._begun(change, OperationKind.CREATE, sent.url)

    def _found(self, change: Change, cause: FracgpuError) -> Operation:
        """The pool is there: ours by a lost answer or an earlier run, or one that differs."""
        seen = self.observe(change.name)
        if seen is None or change.after is None or seen.status.phase is Phase.DELETING:
            raise cause
        check_same(self._resource(change.after), settled(seen.resources[-1]), comparison(KIND), cause)
        return self._in_flight(change, seen) or self._finished(change, OperationKind.CREATE)

    def _update(self, change: Change) -> Operation:
        """Send the pool back with what differs, guarded by the ETag of what was read."""
        for attempt in range(_TRIES):
            model = self._model(change.name)
            if model is None or change.after is None:
                raise NotFound(f"the cluster has no pool {change.name}", hint="fracgpu pool list --all")
            seen = observed(model.as_dict(), self._cluster)
            current = seen.resources[-1]
            count = asked_count(current, change)
            if not changes(current, change.after) and not unmarked(current, change.after) and count is None:
                return self._in_flight(change, seen) or self._finished(change, OperationKind.UPDATE)
            check_fresh(change, settled(current), seen.tag, comparison(KIND))
            body = merged(current, model.as_dict(exclude_readonly=True), change.after, count)
            try:
                sent = self._put(change, body, etag=seen.tag, match_condition=self._match(seen.tag))
            except (StalePlan, Unreachable):
                if attempt + 1 == _TRIES:
                    raise
                continue
            return self._begun(change, OperationKind.UPDATE, sent.url)
        raise Internal("an update ended without an answer")

    def _delete(self, change: Change) -> Operation:
        tag = change.tag
        for attempt in range(_TRIES):
            try:
                sent = self._send_delete(change.name, tag, force=change.force)
                if sent.status == _NOT_THERE:
                    return self._finished(change, OperationKind.DELETE)
                return self._begun(change, OperationKind.DELETE, sent.url)
            except (StalePlan, Busy, Unreachable) as error:
                seen = self.observe(change.name)
                if seen is None:
                    return self._finished(change, OperationKind.DELETE)
                if seen.status.phase is Phase.DELETING:
                    return self._begun(change, OperationKind.DELETE, None)
                if isinstance(error, Busy) or attempt + 1 == _TRIES or not self._as_planned(change, seen):
                    raise
                tag = seen.tag if change.tag else None
        raise Internal("a delete ended without an answer")

    def _send_delete(self, name: str, tag: str | None, *, force: bool) -> Answer:
        """With `force` pods that a PodDisruptionBudget guards go too; without, AKS ends in PodDrainFailure."""
        call = self._arm.pools().begin_delete
        how = {"etag": tag, "match_condition": self._match(tag), "ignore_pod_disruption_budget": force or None}
        with self._view.missing():
            return self._arm.write("AgentPools_Delete", call, *self._where, name, **how)

    def _as_planned(self, change: Change, seen: Observed) -> bool:
        """Nothing but the node count has changed since the delete was planned."""
        if change.before is None:
            return True
        planned, now = (
            {**settled(resource).body["properties"], "count": None}
            for resource in (self._resource(change.before), seen.resources[-1])
        )
        return same(planned, now)

    def _put(self, change: Change, body: Json | None, **guard: Any) -> Answer:
        with self._view.missing():
            return self._arm.write(
                "AgentPools_CreateOrUpdate",
                self._arm.pools().begin_create_or_update,
                *self._where,
                change.name,
                body,
                **guard,
            )

    @staticmethod
    def _match(tag: str | None) -> MatchConditions | None:
        return MatchConditions.IfNotModified if tag else None

    def _model(self, name: str) -> Any:
        """The SDK's model of a pool; None where the cluster has none of that name."""
        try:
            with self._arm.calling("AgentPools_Get"):
                return self._arm.pools().get(*self._where, name)
        except NotFound:
            self._view.get()  # raises where it is the cluster that is missing
            return None

    def _resource(self, body: Json) -> Resource:
        return Resource(KIND, "", "", self._cluster, body)

    def _in_flight(self, change: Change, seen: Observed) -> Operation | None:
        kind = KINDS.get(seen.status.phase)
        return self._begun(change, kind, None) if kind else None

    def _begun(self, change: Change, kind: OperationKind, url: str | None) -> Operation:
        return Operation(url or f"{change.pool}/{kind}", kind, change.pool, self._cluster, url)

    def _finished(self, change: Change, kind: OperationKind) -> Operation:
        return Operation("", kind, change.pool, self._cluster, finished=True)
