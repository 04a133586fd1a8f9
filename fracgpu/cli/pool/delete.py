"""`fracgpu pool delete`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from fracgpu.cli import consent
from fracgpu.cli.again import wait_command
from fracgpu.cli.choices import NotOursOption, WaitOption
from fracgpu.cli.cluster_flags import ClusterFlags, with_cluster_flags
from fracgpu.cli.connect import connect, named_cluster
from fracgpu.cli.duration import TimeoutOption, seconds
from fracgpu.cli.output import Output, OutputOption
from fracgpu.cli.progress import follow
from fracgpu.cli.show_result import show_result
from fracgpu.operations.apply import How
from fracgpu.operations.delete import delete as delete_pool
from fracgpu.operations.engine import Job
from fracgpu.operations.listing import found
from fracgpu.operations.outcome import Result, Work, verdict
from fracgpu.operations.planning import plan_deletion
from fracgpu.operations.wait import Wait
from fracgpu.plan import Action
from fracgpu.providers import Observed, Session


@with_cluster_flags
def delete(
    cluster: ClusterFlags,
    names: Annotated[list[str], typer.Argument(help="Names of pools")],
    not_ours: NotOursOption = False,
    wait: WaitOption = True,
    timeout: TimeoutOption = "45m",
    out: OutputOption = Output.TABLE,
) -> None:
    """Delete pools; asks first."""
    where = named_cluster(cluster.spec(), yes=cluster.yes)
    limit = seconds(timeout)
    session = connect(where)
    pools = [found(session, name) for name in dict.fromkeys(names)]
    for pool in pools:
        problem = plan_deletion(pool, "asked for", not_ours=not_ours).problem
        if problem:
            raise problem
    consent.removal([f"{pool.name} (cluster {where.name})" for pool in pools], "delete", yes=cluster.yes)
    how = How(wait)
    jobs = [
        Job(pool.name, where, Action.DELETE, _start(pool, session, how, limit, not_ours=not_ours)) for pool in pools
    ]
    again = wait_command(pools[-1].name, where, "deleted")
    items = follow(jobs, again)
    show_result(Result(items), out)
    error = verdict(items, f"fracgpu pool delete {' '.join(names)}")
    if error:
        raise error


def _start(pool: Observed, session: Session, how: How, limit: float, *, not_ours: bool) -> Callable[[], Work]:
    def start() -> Work:
        again = wait_command(pool.name, pool.cluster, "deleted")
        wait = Wait.start(pool.name, pool.cluster, limit, again)
        return delete_pool(pool, session, wait, not_ours=not_ours, how=how)

    return start
