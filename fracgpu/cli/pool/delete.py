"""`fracgpu pool delete`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from fracgpu.cli import consent, output
from fracgpu.cli.again import wait_command
from fracgpu.cli.choices import DrainTimeoutOption, ForceOption, NotOursOption, WaitOption, YesOption
from fracgpu.cli.cluster_flags import ClusterFlags, with_cluster_flags
from fracgpu.cli.connect import connect, named_cluster
from fracgpu.cli.duration import TimeoutOption, seconds
from fracgpu.cli.output import Output, OutputOption
from fracgpu.cli.progress import follow
from fracgpu.cli.show_result import show_result
from fracgpu.errors import FracgpuError
from fracgpu.operations.apply import How
from fracgpu.operations.delete import delete as delete_pool
from fracgpu.operations.delete import deletion_of
from fracgpu.operations.drain import Drain, residents
from fracgpu.operations.engine import Job
from fracgpu.operations.outcome import Result, Work, verdict
from fracgpu.operations.planning import PoolPlan
from fracgpu.operations.wait import Wait
from fracgpu.plan import Action
from fracgpu.providers import Observed, Session


@with_cluster_flags
def delete(
    cluster: ClusterFlags,
    names: Annotated[list[str], typer.Argument(help="Names of pools")],
    not_ours: NotOursOption = False,
    force: ForceOption = False,
    drain_timeout: DrainTimeoutOption = "15m",
    wait: WaitOption = True,
    timeout: TimeoutOption = "45m",
    yes: YesOption = False,
    out: OutputOption = Output.TABLE,
) -> None:
    """Drain and delete pools; lists the pods that use their GPUs and asks first."""
    where = named_cluster(cluster.spec(), yes=yes)
    limit = seconds(timeout)
    drain = Drain(seconds(drain_timeout, "--drain-timeout"), force)
    session = connect(where)
    plans = [deletion_of(session, where, name, not_ours=not_ours) for name in dict.fromkeys(names)]
    for one in plans:
        if one.problem:
            raise one.problem
    if not yes:
        tell_residents([one.seen for one in plans if one.seen], session)
    consent.removal([f"{one.name} (cluster {where.name})" for one in plans], "delete", yes=yes)
    how = How(wait, drain=drain, force=force)
    jobs = [Job(one.name, where, Action.DELETE, _start(one, session, how, limit)) for one in plans]
    again = wait_command(plans[-1].name, where, "deleted")
    items = follow(jobs, again)
    show_result(Result(items), out)
    error = verdict(items, f"fracgpu pool delete {' '.join(names)}")
    if error:
        raise error


def tell_residents(pools: Sequence[Observed], session: Session) -> None:
    """The pods that use the GPUs of what will go, as far as the cluster's Kubernetes API can be asked."""
    for pool in pools:
        try:
            using = [str(one) for one in residents(pool, session) if one.gpus]
        except FracgpuError as error:
            output.say(f"  the pods of {pool.name} are not known: {error.message}")
            continue
        if using:
            shown = ", ".join(using[:10]) + (", ..." if len(using) > 10 else "")
            output.say(f"  {len(using)} pods use the GPUs of {pool.name}: {shown}")


def _start(planned: PoolPlan, session: Session, how: How, limit: float) -> Callable[[], Work]:
    def start() -> Work:
        again = wait_command(planned.name, planned.cluster, "deleted")
        wait = Wait.start(planned.name, planned.cluster, limit, again)
        return delete_pool(planned, session, wait, how)

    return start
