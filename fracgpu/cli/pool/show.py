"""`fracgpu pool show` and `export`."""

from __future__ import annotations

from typing import Annotated

import typer

from fracgpu.cli import output
from fracgpu.cli.cluster_flags import ClusterFlags, with_cluster_flags
from fracgpu.cli.connect import connect, named_cluster
from fracgpu.cli.output import DocumentOption, Output, say_notes
from fracgpu.cli.pool.pool_table import pool_table
from fracgpu.operations.listing import found, notes_on, pool_document
from fracgpu.providers import provider


@with_cluster_flags
def show(
    cluster: ClusterFlags,
    name: Annotated[str, typer.Argument(help="Name of the pool")],
    out: DocumentOption = Output.YAML,
) -> None:
    """One pool in the file form, with its status."""
    _print(cluster, name, out, status=True)


@with_cluster_flags
def export(
    cluster: ClusterFlags,
    name: Annotated[str, typer.Argument(help="Name of the pool")],
    out: DocumentOption = Output.YAML,
) -> None:
    """The file form of an existing pool: planning it changes nothing."""
    _print(cluster, name, out, status=False)


def _print(cluster: ClusterFlags, name: str, out: Output, *, status: bool) -> None:
    where = named_cluster(cluster.spec(), yes=cluster.yes)
    cloud = provider(where.provider)
    seen = found(connect(where), name)
    document = pool_document(seen, cloud)
    body = {
        key: value
        for key, value in document.items()
        if key not in ("apiVersion", "kind") and (status or key != "status")
    }
    say_notes(notes_on(seen, cloud))
    if out is Output.NAME:
        output.write(f"nodepool/{name}")
    elif out is Output.TABLE or out is Output.WIDE:
        pool_table([document], wide=out is Output.WIDE)
    else:
        output.write_document(out, "NodePool", body)
