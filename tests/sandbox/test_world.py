"""The world behind all fronts: operations that end, and what is forgotten of them."""

from __future__ import annotations

from fracgpu.sandbox.world import KEPT_OPERATIONS, Cloud, Operation, World


def test_the_oldest_operations_that_are_done_are_forgotten_and_none_that_runs() -> None:
    now = 0.0
    world = World(operation_seconds=1, now=lambda: now)
    cluster = world.cluster(Cloud.GKE, "p", "us-central1", "c")
    ended: list[str] = []

    def finish(operation: Operation) -> None:
        ended.append(operation.id)

    endless = world.begin(cluster, "CREATE", None, finish, id="endless", outcome="endless")
    for number in range(KEPT_OPERATIONS + 20):
        world.begin(cluster, "CREATE", None, finish, id=f"o{number}")
        now += 2
        world.settle()
    world.begin(cluster, "CREATE", None, finish, id="last")
    done = [operation.id for operation in cluster.operations.values() if operation.done]
    assert done == ended[-KEPT_OPERATIONS:]
    assert len(ended) == KEPT_OPERATIONS + 20
    assert [operation.id for operation in cluster.running()] == [endless.id, "last"]
