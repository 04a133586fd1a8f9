"""`fracgpu pool scale`."""

from __future__ import annotations

from typing import Annotated

import typer

from fracgpu.cli.choices import WaitOption
from fracgpu.cli.cluster_flags import ClusterFlags, with_cluster_flags
from fracgpu.cli.connect import named_cluster
from fracgpu.cli.duration import TimeoutOption, seconds
from fracgpu.cli.output import Output, OutputOption
from fracgpu.cli.pool.revising import revise
from fracgpu.operations.apply import How
from fracgpu.operations.scale import scaled


def _number(flag: str, what: str) -> object:
    return typer.Option(flag, help=what, metavar="N", show_default=False)


@with_cluster_flags
def scale(
    cluster: ClusterFlags,
    name: Annotated[str, typer.Argument(help="Name of the pool")],
    nodes: Annotated[int | None, _number("--nodes", "Nodes over all zones")] = None,
    low: Annotated[int | None, _number("--min", "Fewest nodes (autoscaling)")] = None,
    high: Annotated[int | None, _number("--max", "Most nodes; equal to --min turns autoscaling off")] = None,
    wait: WaitOption = True,
    timeout: TimeoutOption = "45m",
    out: OutputOption = Output.TABLE,
) -> None:
    """Change the number of nodes: a count, or limits for the autoscaler."""
    edit = scaled(nodes, low, high)
    where = named_cluster(cluster.spec(), yes=cluster.yes)
    limit = seconds(timeout)
    revise(name, where, edit, How(wait), out, limit=limit, may_replace=False, yes=cluster.yes)
