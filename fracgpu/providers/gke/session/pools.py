"""A cluster's node pools at work: look, make, change, delete, and follow what is in flight.

Nothing here waits: `watch` is one look. An update of several calls is begun by `apply` and carried on by `watch`, which
starts the next call when one has ended; what is left is in the operation's token and in the pool itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from fracgpu.errors import (
    Busy,
    ExistsDifferently,
    Finding,
    FracgpuError,
    Internal,
    NotFound,
    Unreachable,
)
from fracgpu.plan import Action, Change, Json, Resource
from fracgpu.providers import ClusterFacts, Inventory, KubeAccess, Observed, Operation, OperationKind, Progress
from fracgpu.providers.gke.compare import comparison, settled
from fracgpu.providers.gke.desired import KIND
from fracgpu.providers.gke.session.api import Api
from fracgpu.providers.gke.session.chain import Chain
from fracgpu.providers.gke.session.channel import Tokens
from fracgpu.providers.gke.session.cluster import ClusterView
from fracgpu.providers.gke.status import KINDS, looked_at, observed, operation_problem, usual_seconds
from fracgpu.providers.gke.steps import Step, next_step
from fracgpu.providers.meanwhile import check_fresh, check_same
from fracgpu.resolve import ClusterRef, ResolvedPool

_TRIES = 3
"""Times that a call is sent whose answers were lost, looking in between whether it arrived."""


class GkeSession:
    """The Session of one GKE cluster. Idempotency and errors are those of the protocol."""

    def __init__(self, api: Api, cluster: ClusterRef, tokens: Tokens, *, plain: bool = False) -> None:
        self._api = api
        self._cluster = cluster
        self._view = ClusterView(api, cluster, tokens, plain=plain)
        self._chains: dict[str, Chain] = {}
        self._ended: Sequence[Json] | None = None

    def preflight(self, pool: ResolvedPool) -> Sequence[Finding]:
        """Version and image that the location does not offer. Quota is in the Compute API and is not looked at."""
        return self._view.preflight(pool)

    def clusters(self) -> Inventory:
        """The clusters of the project."""
        return self._view.inventory()

    def cluster_facts(self) -> ClusterFacts:
        """Zones, version, and whether there are pools without GPUs. Raises NotFound, naming the clusters that exist."""
        return self._view.facts()

    def kube_access(self) -> KubeAccess:
        """The cluster's endpoint with a token of the caller's own."""
        return self._view.kube_access()

    def observe(self, name: str) -> Observed | None:
        """The pool; None where the cluster has none of that name. Raises NotFound where the cluster is missing."""
        body = self._body(name)
        return observed(body, self._cluster) if body is not None else None

    def list(self) -> Sequence[Observed]:
        """All pools of the cluster."""
        with self._view.missing():
            answer = self._api.read("ListNodePools", {"parent": self._view.name})
        return tuple(observed(body, self._cluster) for body in answer.get("nodePools", ()))

    def leftovers(self, pool: str) -> Sequence[Resource]:  # noqa: ARG002 - a pool is all that there is of it
        """Nothing: a node pool has no resources beside it."""
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
        """What is in flight for a pool."""
        target = f"/clusters/{self._cluster.name}/nodePools/{pool}"
        return tuple(
            self._operation(one, KINDS.get(one.get("operationType", ""), OperationKind.OTHER), pool)
            for one in self._operations()
            if one.get("status") != "DONE" and one.get("targetLink", "").endswith(target)
        )

    def _operations(self) -> Sequence[Json]:
        """All operations of the location that Google still knows."""
        parent = f"projects/{self._cluster.project}/locations/{self._cluster.location}"
        found: Sequence[Json] = self._api.read("ListOperations", {"parent": parent}).get("operations", ())
        return found

    def usual(self, kind: OperationKind) -> float | None:
        """As long as the location's operations of that kind have lately taken that ended well; asked once."""
        if self._ended is None:
            self._ended = self._operations()
        return usual_seconds(self._ended, kind)

    def watch(self, operation: Operation) -> Progress:
        """One look. Where an update has further steps, the next is begun once one has ended.

        Raises what the operation ended in: Stock, Quota, PoolFailed.
        """
        if operation.finished:
            return Progress(True, "nothing to wait for")
        chain = self._chain(operation)
        if chain and chain.held:
            return self._go_on(operation, chain)
        name = chain.current if chain else operation.id
        try:
            seen = self._api.read("GetOperation", {"name": self._operation_name(name)})
        except NotFound:
            return Progress(True, "GKE no longer knows the operation")  # it forgets them after a time
        progress = looked_at(seen)
        if not progress.done:
            return progress
        problem = operation_problem(seen, operation.pool)
        if problem:
            raise problem
        return self._go_on(operation, chain) if chain else progress

    def _create(self, change: Change) -> Operation:
        request = {"parent": self._view.name, "nodePool": change.after}
        lost: FracgpuError | None = None
        for _ in range(_TRIES):
            try:
                return self._operation(self._api.write("CreateNodePool", request), OperationKind.CREATE, change.pool)
            except ExistsDifferently as error:
                return self._found(change, error)
            except Unreachable as error:
                lost = error
            if self._body(change.name) is not None:
                return self._found(change, lost)
        assert lost is not None
        raise lost

    def _found(self, change: Change, cause: FracgpuError) -> Operation:
        """The pool is there: ours by a lost answer or an earlier run, or one that differs."""
        body = self._body(change.name)
        if body is None or change.after is None:
            raise cause
        check_same(self._resource(change.after), settled(self._resource(body)), comparison(KIND), cause)
        return self._in_flight(change, OperationKind.CREATE) or self._finished(change, OperationKind.CREATE)

    def _delete(self, change: Change) -> Operation:
        request = {"name": self._view.pool_name(change.name)}
        lost: FracgpuError | None = None
        for _ in range(_TRIES):
            try:
                return self._operation(self._api.write("DeleteNodePool", request), OperationKind.DELETE, change.pool)
            except NotFound:
                self._view.get()  # raises where it is the cluster that is missing
                return self._finished(change, OperationKind.DELETE)
            except (Busy, Unreachable) as error:
                lost = error
            flying = self._in_flight(change, OperationKind.DELETE)
            if flying:
                return flying
            if isinstance(lost, Busy):
                raise lost
        assert lost is not None
        raise lost

    def _update(self, change: Change) -> Operation:
        """Begin the first step that is left. `detail` of a StalePlan has what has changed meanwhile."""
        body = self._body(change.name)
        if body is None or change.after is None:
            raise NotFound(f"the cluster has no pool {change.name}", hint="fracgpu pool list --all")
        check_fresh(change, settled(self._resource(body)), body.get("etag"), comparison(KIND))
        size = "autoscaling" in change.after and any(one.path == ("initialNodeCount",) for one in change.fields)
        chain = Chain(change.after, size)
        step = next_step(self._resource(body), change.after, chain.done, size=chain.size)
        if step is None:
            return self._in_flight(change, OperationKind.UPDATE) or self._finished(change, OperationKind.UPDATE)
        self._begin(change.name, step, chain, body.get("etag"))
        operation = Operation(chain.current, OperationKind.UPDATE, change.pool, self._cluster, chain.token())
        self._chains[operation.id] = chain
        return operation

    def _begin(self, pool: str, step: Step, chain: Chain, etag: str | None) -> None:
        """Send one step, once more where the answer was lost and the pool does not show that it arrived.

        Where it has, and goes on, the cluster is busy with it by then, and that operation is followed.
        """
        request = {"name": self._view.pool_name(pool), **step.request}
        guard = {"etag": etag} if etag and step.call == "UpdateNodePool" else {}
        lost: FracgpuError | None = None
        for _ in range(_TRIES):
            try:
                begun = self._api.write(step.call, request | guard)
            except Unreachable as error:
                lost, guard = error, {}
                if self._arrived(pool, step, chain):
                    return chain.arrived(step)
            except Busy as error:
                if lost is None or "operation" not in error.detail:
                    raise
                return chain.follow(error.detail["operation"])
            else:
                return chain.begun(begun["name"], step)
        assert lost is not None
        raise lost

    def _arrived(self, pool: str, step: Step, chain: Chain) -> bool:
        """The pool is by now what the step makes of it. Raises where nothing can be reached at all."""
        body = self._body(pool)
        if body is None:
            return False
        left = next_step(self._resource(body), chain.after, chain.done, size=chain.size)
        return left is None or left.what != step.what

    def _go_on(self, operation: Operation, chain: Chain) -> Progress:
        """The next step of an update; done where none is left."""
        pool = operation.pool or ""
        body = self._body(pool)
        if body is None:
            raise NotFound(f"the pool {pool} is gone", hint="fracgpu pool list --all")
        step = next_step(self._resource(body), chain.after, chain.done, size=chain.size)
        if step is None:
            return Progress(True, "GKE: all changes are made")
        try:
            self._begin(pool, step, chain, body.get("etag"))
        except Busy as error:
            chain.held = True
            return Progress(False, f"waiting to change {step.what}: {error.message}")
        return Progress(False, f"GKE: changing {step.what}")

    def _chain(self, operation: Operation) -> Chain | None:
        """The steps of an update, as this session knows them or as the token tells."""
        if operation.id not in self._chains and operation.token:
            self._chains[operation.id] = Chain.read(operation.token, operation.id)
        return self._chains.get(operation.id)

    def _in_flight(self, change: Change, kind: OperationKind) -> Operation | None:
        return next((one for one in self.operations(change.pool) if one.kind is kind), None)

    def _body(self, name: str) -> Json | None:
        try:
            return self._api.read("GetNodePool", {"name": self._view.pool_name(name)})
        except NotFound:
            self._view.get()  # raises where it is the cluster that is missing
            return None

    def _resource(self, body: Json) -> Resource:
        return Resource(KIND, body["name"], body["name"], self._cluster, body)

    def _operation_name(self, name: str) -> str:
        return f"projects/{self._cluster.project}/locations/{self._cluster.location}/operations/{name}"

    def _operation(self, seen: Json, kind: OperationKind, pool: str) -> Operation:
        return Operation(seen["name"], kind, pool, self._cluster)

    def _finished(self, change: Change, kind: OperationKind) -> Operation:
        return Operation("", kind, change.pool, self._cluster, finished=True)
