"""`fracgpu pool list`."""

from __future__ import annotations

from typing import Annotated

import typer

from fracgpu.catalog.load import load
from fracgpu.catalog.models import ProviderName
from fracgpu.cli import output
from fracgpu.cli.cluster_flags import ClusterFlags, with_cluster_flags
from fracgpu.cli.cluster_sources import names_something
from fracgpu.cli.connect import connect, named_account, named_cluster
from fracgpu.cli.output import Output, WideOption, say_notes
from fracgpu.cli.pool.pool_table import pool_table
from fracgpu.errors import FracgpuError, Invalid
from fracgpu.operations.everywhere import listed_everywhere, listed_in_all_clouds
from fracgpu.operations.list_pools import Listed, listed
from fracgpu.resolve import ClusterRef
from fracgpu.spec import Cluster


@with_cluster_flags
def list_pools(
    cluster: ClusterFlags,
    all_pools: Annotated[bool, typer.Option("--all", help="Also pools without a GPU")] = False,
    all_clusters: Annotated[
        bool, typer.Option("--all-clusters", help="Of every cluster of the subscription, project or region")
    ] = False,
    all_clouds: Annotated[
        bool, typer.Option("--all-clouds", help="Of every cluster of every cloud where you are signed in")
    ] = False,
    slices: Annotated[bool, typer.Option(help="Ask the cluster's Kubernetes API what is used and free")] = True,
    out: WideOption = Output.TABLE,
) -> None:
    """The pools of a cluster: what their nodes advertise, how much of it is used, and where nodes differ from that."""
    slices = slices and out is not Output.NAME
    if all_clouds:
        _show_all(listed_in_all_clouds(_accounts(cluster), connect, load(), without_gpu=all_pools, slices=slices), out)
        return
    if all_clusters:
        account = named_account(cluster.spec(), yes=cluster.yes)
        _show_all(listed_everywhere(account, connect, load(), without_gpu=all_pools, slices=slices), out)
        return
    where = named_cluster(cluster.spec(), yes=cluster.yes)
    _show(listed(connect(where), where, load(), without_gpu=all_pools, slices=slices), out)


def _accounts(cluster: ClusterFlags) -> list[ClusterRef]:
    """The account of each cloud. Raises Invalid where a flag means one cloud alone."""
    if names_something(cluster.spec()):
        message = "--all-clouds lists every cloud, and another flag names one"
        raise Invalid.one("conflicting-fields", message, field="--all-clouds", hint="--all-clusters lists one cloud")
    return [named_account(Cluster(provider=cloud.value)) for cloud in ProviderName]


def _show_all(answer: tuple[Listed, FracgpuError | None], out: Output) -> None:
    found, error = answer
    _show(found, out, by_cluster=True)
    if error:
        raise error


def _show(found: Listed, out: Output, *, by_cluster: bool = False) -> None:
    """The table of pools, their names, or the NodePoolList."""
    notes = [note.to_json() for note in found.notes]
    if output.write_document(out, "NodePoolList", {"items": list(found.items), "notes": notes}):
        return
    if out is Output.NAME:
        if found.items:
            output.write("\n".join(f"nodepool/{item['metadata']['name']}" for item in found.items))
        return
    pool_table(found.items, wide=out is Output.WIDE, by_cluster=by_cluster)
    say_notes(found.notes)
