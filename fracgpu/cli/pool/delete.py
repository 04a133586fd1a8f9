"""`fracgpu pool delete`."""

from __future__ import annotations

from typing import Annotated

import typer

from fracgpu.cli.cluster_flags import ClusterFlags, with_cluster_flags
from fracgpu.cli.connect import confirm, connect, named_cluster
from fracgpu.cli.duration import TimeoutOption, seconds
from fracgpu.cli.output import Output, OutputOption
from fracgpu.cli.pool.making import wait_command
from fracgpu.cli.progress import watch
from fracgpu.cli.show_result import show_result
from fracgpu.operations.delete import delete as delete_pool
from fracgpu.operations.listing import found
from fracgpu.operations.outcome import Result
from fracgpu.operations.wait import Wait


@with_cluster_flags
def delete(
    cluster: ClusterFlags,
    names: Annotated[list[str], typer.Argument(help="Names of pools")],
    not_ours: Annotated[bool, typer.Option("--not-ours", help="Also pools that fracgpu did not make")] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until they are gone")] = True,
    timeout: TimeoutOption = "45m",
    out: OutputOption = Output.TABLE,
) -> None:
    """Delete pools; asks first."""
    where = named_cluster(cluster.spec(), yes=cluster.yes)
    session = connect(where)
    pools = [found(session, name) for name in dict.fromkeys(names)]
    what = f"deletes {', '.join(pool.name for pool in pools)} of {where.provider.upper()} cluster {where.name}"
    confirm(f"This {what}. Go on?", what, yes=cluster.yes)
    items = []
    for pool in pools:
        again = wait_command(pool.name, where, "deleted")
        limits = Wait.start(pool.name, where, seconds(timeout), again)
        items.append(watch(delete_pool(pool, session, limits, not_ours=not_ours, wait_for_end=wait), again))
    show_result(Result(items), out)
