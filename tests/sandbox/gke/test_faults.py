"""Faults and endings on GKE: calls that fail, answers that get lost, operations that end badly or never."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from google.api_core import exceptions
from google.cloud.container_v1.types import NodePool, Operation, StatusCondition

from tests.sandbox.gke.pools import CLUSTER, LOCATION, a100, create, operation, read

if TYPE_CHECKING:
    from tests.sandbox.conftest import Sandbox

POOL = f"{CLUSTER}/nodePools/p"


@pytest.mark.parametrize(
    ("fault", "raised", "said"),
    [
        ({"status": 403, "message": "no"}, exceptions.PermissionDenied, "no"),
        ({"status": 503}, exceptions.ServiceUnavailable, "currently unavailable"),
        ({"code": "INTERNAL"}, exceptions.InternalServerError, "Internal error"),
        ({"code": "RESOURCE_EXHAUSTED", "retry_after": 7}, exceptions.ResourceExhausted, "Too many operations"),
        ({"code": "FAILED_PRECONDITION"}, exceptions.FailedPrecondition, "incompatible operation"),
        ({"code": "CLUSTER_ALREADY_HAS_OPERATION"}, exceptions.FailedPrecondition, "incompatible operation"),
        ({"message": "odd"}, exceptions.InternalServerError, "odd"),
        ({"status": 429, "code": "RATE_LIMIT_EXCEEDED"}, exceptions.ResourceExhausted, "Too many"),
    ],
)
def test_a_call_fails_once(
    instant: Sandbox, client: Any, fault: dict[str, Any], raised: type[Exception], said: str
) -> None:
    instant.world.faults.add("gke", "CreateNodePool", **fault)

    with pytest.raises(raised, match=said):
        create(client, a100())
    create(client, a100())


def test_a_busy_cluster_has_its_reason(instant: Sandbox, client: Any) -> None:
    instant.world.faults.add("gke", "CreateNodePool", code="FAILED_PRECONDITION")

    with pytest.raises(exceptions.FailedPrecondition) as caught:
        create(client, a100())
    assert caught.value.reason == "CLUSTER_ALREADY_HAS_OPERATION"


def test_an_answer_gets_lost(instant: Sandbox, client: Any) -> None:
    instant.world.faults.add("gke", "CreateNodePool", drop=True)

    with pytest.raises(exceptions.ServiceUnavailable):
        create(client, a100())
    assert read(client).status == NodePool.Status.RUNNING


def test_an_answer_gets_lost_over_rest(instant: Sandbox, rest: Any) -> None:
    instant.world.faults.add("gke", "CreateNodePool", drop=True)

    with pytest.raises(Exception, match="Connection"):
        create(rest, a100())
    assert read(rest).status == NodePool.Status.RUNNING


def test_a_stockout_leaves_a_pool_in_error(instant: Sandbox, client: Any) -> None:
    instant.world.faults.add("gke", "CreateNodePool", outcome="failed")

    done = operation(client, create(client, a100()))
    assert done.status == Operation.Status.DONE
    assert "[GCE_STOCKOUT]: Instance 'gke-regional-sandbox-p-" in done.error.message
    assert "does not have enough resources available to fulfill the request" in done.error.message
    assert done.nodepool_conditions[0].code == StatusCondition.Code.GCE_STOCKOUT
    pool = read(client)
    assert pool.status == NodePool.Status.ERROR
    assert pool.conditions[0].message == done.error.message
    assert client.get_cluster(name=CLUSTER).current_node_count == 3
    with pytest.raises(exceptions.AlreadyExists):
        create(client, a100())


def test_some_of_the_nodes(instant: Sandbox, client: Any) -> None:
    instant.world.faults.add("gke", "CreateNodePool", outcome="partial")

    done = operation(client, create(client, a100()))
    assert "Expected 3, running 2, transitioning 1." in done.error.message
    assert read(client).status == NodePool.Status.RUNNING_WITH_ERROR
    assert client.get_cluster(name=CLUSTER).current_node_count == 3 + 2


def test_a_pool_recovers_when_it_is_resized(instant: Sandbox, client: Any) -> None:
    instant.world.faults.add("gke", "CreateNodePool", outcome="failed")
    create(client, a100())
    read(client)
    client.set_node_pool_size(request={"name": POOL, "node_count": 1})

    pool = read(client)
    assert pool.status == NodePool.Status.RUNNING
    assert not pool.conditions


@pytest.mark.parametrize("outcome", ["failed", "partial"])
def test_a_resize_that_finds_no_room(instant: Sandbox, client: Any, outcome: str) -> None:
    create(client, a100())
    read(client)
    instant.world.faults.add("gke", "SetNodePoolSize", outcome=outcome)

    done = operation(client, client.set_node_pool_size(request={"name": POOL, "node_count": 2}))
    assert "GCE_STOCKOUT" in done.error.message
    assert read(client).status == NodePool.Status.RUNNING_WITH_ERROR
    assert client.get_cluster(name=CLUSTER).current_node_count == 3 + {"failed": 3, "partial": 5}[outcome]


def test_an_update_that_fails_changes_nothing(instant: Sandbox, client: Any) -> None:
    create(client, a100())
    instant.world.faults.add("gke", "UpdateNodePool", outcome="failed")

    started = client.update_node_pool(request={"name": POOL, "labels": {"labels": {"a": "b"}}})
    assert operation(client, started).error.code == 13
    assert read(client).status == NodePool.Status.RUNNING_WITH_ERROR
    assert not read(client).config.labels


def test_a_delete_that_fails_leaves_the_pool(instant: Sandbox, client: Any) -> None:
    create(client, a100())
    instant.world.faults.add("gke", "DeleteNodePool", outcome="failed")

    assert operation(client, client.delete_node_pool(name=POOL)).error.code == 13
    assert read(client).status == NodePool.Status.ERROR
    client.delete_node_pool(name=POOL)
    with pytest.raises(exceptions.NotFound):
        read(client)


def test_an_operation_without_end_can_be_cancelled(slow: Sandbox, client: Any) -> None:
    slow.world.faults.add("gke", "CreateNodePool", outcome="endless")
    started = create(client, a100())
    slow.advance(10**6)
    assert operation(client, started).status == Operation.Status.RUNNING

    client.cancel_operation(name=f"{LOCATION}/operations/{started.name}")
    assert operation(client, started).status == Operation.Status.ABORTING
    slow.advance(3600)

    done = operation(client, started)
    assert (done.status, done.error.code) == (Operation.Status.DONE, 1)
    assert read(client).status == NodePool.Status.ERROR
    with pytest.raises(exceptions.FailedPrecondition, match="cannot be cancelled"):
        client.cancel_operation(name=f"{LOCATION}/operations/{started.name}")


def test_a_cancelled_update_leaves_the_pool_as_it_was(slow: Sandbox, client: Any) -> None:
    create(client, a100())
    slow.advance(3600)
    started = client.update_node_pool(request={"name": POOL, "labels": {"labels": {"a": "b"}}})
    client.cancel_operation(name=f"{LOCATION}/operations/{started.name}")
    slow.advance(3600)

    assert operation(client, started).error.code == 1
    pool = read(client)
    assert pool.status == NodePool.Status.RUNNING
    assert not pool.config.labels
