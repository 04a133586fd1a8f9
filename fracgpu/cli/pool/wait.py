"""`fracgpu pool wait`: take up a wait, from any machine."""

from __future__ import annotations

from typing import Annotated

import typer

from fracgpu.cli.again import wait_command
from fracgpu.cli.cluster_flags import ClusterFlags, with_cluster_flags
from fracgpu.cli.connect import connect, named_cluster
from fracgpu.cli.duration import TimeoutOption, seconds
from fracgpu.cli.output import Output, OutputOption
from fracgpu.cli.progress import watch
from fracgpu.cli.show_result import show_result
from fracgpu.operations.outcome import Result
from fracgpu.operations.wait import Wait
from fracgpu.operations.waiting import Goal, wait_for


@with_cluster_flags
def wait(
    cluster: ClusterFlags,
    name: Annotated[str, typer.Argument(help="Name of the pool")],
    goal: Annotated[Goal, typer.Option("--for", help="What to wait for")] = Goal.READY,
    timeout: TimeoutOption = "45m",
    out: OutputOption = Output.TABLE,
) -> None:
    """Wait until a pool is ready, deleted or verified."""
    where = named_cluster(cluster.spec(), yes=cluster.yes)
    limit = seconds(timeout)
    session = connect(where)
    again = wait_command(name, where, goal.value)
    limits = Wait.start(name, where, limit, again)
    item = watch(wait_for(session, limits, goal), again)
    show_result(Result([item]), out)
