"""`fracgpu pool list`, `show` and `export`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fracgpu.cli import output
from fracgpu.cli.cluster_flags import ClusterFlags, with_cluster_flags
from fracgpu.cli.connect import connect, named_cluster
from fracgpu.cli.output import Output, OutputOption, say_notes
from fracgpu.operations.listing import found, has_gpu, notes_on, pool_document
from fracgpu.providers import provider

COLUMNS = ("NAME", "PHASE", "NODES", "MACHINE", "GPU", "SHARING", "CAPACITY", "MANAGED")


@with_cluster_flags
def list_pools(
    cluster: ClusterFlags,
    all_pools: Annotated[bool, typer.Option("--all", help="Also pools without a GPU")] = False,
    out: OutputOption = Output.TABLE,
) -> None:
    """The pools of a cluster."""
    where = named_cluster(cluster.spec(), yes=cluster.yes)
    cloud = provider(where.provider)
    items = [pool_document(seen, cloud) for seen in connect(where).list()]
    items = [item for item in items if all_pools or has_gpu(item)]
    if output.write_document(out, "NodePoolList", {"items": items}):
        return
    if out is Output.NAME:
        output.write("\n".join(f"nodepool/{item['metadata']['name']}" for item in items))
        return
    output.table(COLUMNS, [_row(item) for item in items])


def _row(item: dict[str, Any]) -> list[Any]:
    spec, status = item["spec"], item["status"]
    return [
        item["metadata"]["name"],
        status["phase"],
        status["nodes"],
        spec.get("machine"),
        spec.get("gpu"),
        sharing_words(spec.get("sharing") or {}),
        spec.get("capacity"),
        status["managed"],
    ]


def sharing_words(sharing: dict[str, Any]) -> str:
    """What a pool does with its GPUs, in a few words: `mig 1g.5gb`, `time-slicing 10`, `mig 1g.5gb x mps 2`."""
    mig = sharing.get("mig") or {}
    words = []
    if mig:
        cut = (
            mig.get("profile")
            or ",".join(f"{name}={count}" for name, count in (mig.get("layout") or {}).items())
            or "by device"
        )
        words.append(f"mig {cut}")
    if sharing.get("timeSlicing"):
        words.append(f"time-slicing {sharing['timeSlicing']['replicas']}")
    if sharing.get("mps"):
        words.append(f"mps {sharing['mps']['replicas']}")
    return " x ".join(words) or "whole"


@with_cluster_flags
def show(
    cluster: ClusterFlags,
    name: Annotated[str, typer.Argument(help="Name of the pool")],
    out: OutputOption = Output.YAML,
) -> None:
    """One pool in the file form, with its status."""
    _print(cluster, name, out, status=True)


@with_cluster_flags
def export(
    cluster: ClusterFlags,
    name: Annotated[str, typer.Argument(help="Name of the pool")],
    out: OutputOption = Output.YAML,
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
        output.table(COLUMNS, [_row(document)])
    else:
        output.write_document(out, "NodePool", body)
