"""What happens to a node group while time passes: it comes up, is scaled, loses its nodes, goes away, or fails."""

from __future__ import annotations

import time

from fracgpu.sandbox.aws.backend import Backend
from fracgpu.sandbox.eks import capacity
from fracgpu.sandbox.eks.bottlerocket import BadUserData, parse
from fracgpu.sandbox.eks.shape import never_joins
from fracgpu.sandbox.eks.userdata import decode, scripts
from fracgpu.sandbox.world import Cluster, Json, Operation, Pool, World


def come_up(world: World, aws: Backend, operation: Operation) -> None:
    """The end of CreateNodegroup: ACTIVE, or CREATE_FAILED without nodes, or DEGRADED with some of them."""
    pool = operation.cluster.pools[operation.pool or ""]
    wanted = pool.body["scalingConfig"]["desiredSize"]
    size, trouble = _launched(world, aws, operation.cluster, pool, wanted, operation.outcome)
    pool.size = size
    pool.body["modifiedAt"] = time.time()
    if trouble is None:
        pool.state = "ACTIVE"
        return
    pool.body["health"] = {"issues": [trouble]}
    pool.state = "DEGRADED" if size else "CREATE_FAILED"
    operation.error = trouble


def scale(world: World, aws: Backend, cluster: Cluster, pool: Pool, outcome: str | None = None) -> Json | None:
    """Bring a group to its desired size; ACTIVE, or DEGRADED with the issue that is returned."""
    wanted = pool.body["scalingConfig"]["desiredSize"]
    trouble: Json | None = None
    if wanted > pool.size:
        came, trouble = _launched(world, aws, cluster, pool, wanted, outcome)
        pool.size = max(pool.size, came)
    else:
        pool.size = wanted
    pool.state = "DEGRADED" if trouble else "ACTIVE"
    pool.body["health"] = {"issues": [trouble] if trouble else []}
    return trouble


def recover(world: World, aws: Backend, cluster: Cluster) -> None:
    """Auto scaling groups try again by themselves: what EC2 launches now is no longer missing."""
    for pool in cluster.pools.values():
        wanted = pool.body["scalingConfig"]["desiredSize"]
        if pool.state == "DEGRADED" and not pool.extra.get("stuck") and pool.size < wanted:
            size, trouble = capacity.launch(world, aws, cluster, pool, wanted)
            if trouble is None:
                pool.size, pool.state = size, "ACTIVE"
                pool.body["health"] = {"issues": []}
                world.touch(cluster)


def go_away(operation: Operation) -> None:
    """The end of DeleteNodegroup: no such group any more, or DELETE_FAILED."""
    cluster, name = operation.cluster, operation.pool or ""
    pool = cluster.pools[name]
    if operation.outcome is not None:
        pool.state = "DELETE_FAILED"
        text = "DependencyViolation - resource has a dependent object"
        pool.body["health"] = {"issues": [capacity.issue(pool, text, "Ec2SecurityGroupDeletionFailure")]}
        return
    del cluster.pools[name]
    updates = cluster.extra["updates"]
    for update_id in [key for key, row in updates.items() if row["nodegroup"] == name]:
        del updates[update_id]
    tokens = cluster.extra["tokens"]
    for key in [key for key, row in tokens.items() if row["nodegroup"] == name]:
        del tokens[key]


def _launched(
    world: World, aws: Backend, cluster: Cluster, pool: Pool, wanted: int, outcome: str | None
) -> tuple[int, Json | None]:
    if outcome in ("failed", "partial"):
        pool.extra["stuck"] = True
        return (wanted // 2 if outcome == "partial" else 0), capacity.no_stock(pool)
    trouble = _bad_user_data(pool)
    if trouble is not None:
        return 0, trouble
    size, short = capacity.launch(world, aws, cluster, pool, wanted)
    if size and never_joins(pool):
        pool.extra["stuck"] = True
        return 0, capacity.issue(pool, "Instances failed to join the kubernetes cluster", "NodeCreationFailure")
    return size, short


def _bad_user_data(pool: Pool) -> Json | None:
    text = decode(pool.extra["template"].get("UserData"))
    if pool.body["amiType"] == "CUSTOM" or not text:
        return None
    try:
        parse(text) if pool.body["amiType"].startswith("BOTTLEROCKET") else scripts(text)
    except BadUserData as error:
        return capacity.issue(pool, str(error), "Ec2LaunchTemplateInvalidConfiguration") | {"resourceIds": []}
    return None
