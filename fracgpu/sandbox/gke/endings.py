"""How operations on GKE node pools end: as asked, or as a fault would have it."""

from __future__ import annotations

from collections.abc import Callable

from fracgpu.sandbox.gke.operations import fail
from fracgpu.sandbox.gke.pool import accelerators, first_nodes, renew, settle_nodes
from fracgpu.sandbox.world import Json, Operation, Pool, World

Finish = Callable[[Operation], None]


def created(world: World, pool: Pool) -> Finish:
    """The nodes come: all, some (`partial`) or none (`failed`, which a stockout looks like)."""

    def finish(operation: Operation) -> None:
        _nodes_come(operation, pool, first_nodes(pool.body), none="ERROR")
        renew(pool, world.number())

    return finish


def resized(world: World, pool: Pool, each: int) -> Finish:
    """The pool has `each` nodes in every zone."""

    def finish(operation: Operation) -> None:
        if operation.outcome != "aborted":
            pool.body["initialNodeCount"] = each
        _nodes_come(operation, pool, each * len(pool.body["locations"]), none="RUNNING_WITH_ERROR")
        renew(pool, world.number())

    return finish


def changed(world: World, pool: Pool, change: Callable[[], None]) -> Finish:
    """`change` is carried out and the pool runs; a failed one changes nothing."""

    def finish(operation: Operation) -> None:
        pool.state = "RUNNING"
        if operation.outcome == "aborted":
            fail(operation, "CANCELLED", "Operation was aborted.")
            return
        if operation.outcome in ("failed", "partial"):
            _show(pool, fail(operation, "INTERNAL", "Internal error."), "RUNNING_WITH_ERROR")
        if operation.outcome != "failed":
            change()
        renew(pool, world.number())

    return finish


def deleted(pool: Pool) -> Finish:
    """The pool is gone; where that fails it stays as ERROR."""

    def finish(operation: Operation) -> None:
        if operation.outcome == "aborted":
            pool.state = "RUNNING"
            fail(operation, "CANCELLED", "Operation was aborted.")
        elif operation.outcome in ("failed", "partial"):
            _show(pool, fail(operation, "INTERNAL", "Internal error."), "ERROR")
        else:
            operation.cluster.pools.pop(pool.name, None)

    return finish


def _nodes_come(operation: Operation, pool: Pool, wanted: int, none: str) -> None:
    """Growth is what a cloud may have no room for; the pool exists all the same.

    https://github.com/GoogleCloudPlatform/magic-modules/pull/5225
    """
    match operation.outcome:
        case "aborted":
            pool.state = none
            fail(operation, "CANCELLED", "Operation was aborted.")
        case "failed":
            _stockout(operation, pool, wanted, pool.size, none)
        case "partial":
            got = max(wanted - 1, 0) if wanted > pool.size else wanted
            _stockout(operation, pool, wanted, got, "RUNNING_WITH_ERROR")
        case _:
            pool.state = "RUNNING"
            pool.body.pop("conditions", None)
            pool.body.pop("statusMessage", None)
            settle_nodes(pool, wanted)


def _stockout(operation: Operation, pool: Pool, wanted: int, got: int, state: str) -> None:
    """https://github.com/GoogleCloudPlatform/cluster-toolkit/pull/6278, https://github.com/akka/akka-core/issues/32992"""
    zone, project = pool.body["locations"][-1], operation.cluster.path[0]
    group = pool.body["instanceGroupUrls"][-1].rsplit("/", 1)[1].removesuffix("-grp")
    expected = max(wanted, 1)
    text = (
        f"Google Compute Engine: Not all instances running in IGM after 35m4.033429035s. Expected {expected}, running "
        f"{got}, transitioning {max(expected - got, 0)}. Current errors: [GCE_STOCKOUT]: Instance '{group}-8gmv' "
        f"creation failed: The zone 'projects/{project}/zones/{zone}' does not have enough resources available to "
        f"fulfill the request. '(resource type:{'gpu' if accelerators(pool.body) else 'compute'})'."
    )
    settle_nodes(pool, got)
    _show(pool, fail(operation, "RESOURCE_EXHAUSTED", text, "GCE_STOCKOUT"), state)


def _show(pool: Pool, condition: Json, state: str) -> None:
    pool.state = state
    pool.body["conditions"] = [condition]
    pool.body["statusMessage"] = condition["message"]
