"""`fracgpu pool list`, `show` and `export`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fracgpu.catalog.load import load
from fracgpu.cli import output
from fracgpu.cli.cluster_flags import ClusterFlags, with_cluster_flags
from fracgpu.cli.connect import connect, named_account, named_cluster
from fracgpu.cli.output import DocumentOption, Output, WideOption, say_notes
from fracgpu.operations.everywhere import listed_everywhere
from fracgpu.operations.listing import found, notes_on, pool_document
from fracgpu.operations.sync import Listed, listed
from fracgpu.providers import provider

COLUMNS = ("NAME", "PHASE", "NODES", "MACHINE", "GPU", "SHARING", "PER NODE", "USED", "FREE", "DRIFT")
WIDE = ("CAPACITY", "MANAGED", "FLEET", "CLUSTER")


@with_cluster_flags
def list_pools(
    cluster: ClusterFlags,
    all_pools: Annotated[bool, typer.Option("--all", help="Also pools without a GPU")] = False,
    all_clusters: Annotated[
        bool, typer.Option("--all-clusters", help="Of every cluster of the subscription, project or region")
    ] = False,
    slices: Annotated[bool, typer.Option(help="Ask the cluster's Kubernetes API what is used and free")] = True,
    out: WideOption = Output.TABLE,
) -> None:
    """The pools of a cluster: what their nodes advertise, how much of it is used, and where nodes differ from that."""
    slices = slices and out is not Output.NAME
    if all_clusters:
        account = named_account(cluster.spec(), yes=cluster.yes)
        found, error = listed_everywhere(account, connect, load(), without_gpu=all_pools, slices=slices)
        show_list(found, out, by_cluster=True)
        if error:
            raise error
        return
    where = named_cluster(cluster.spec(), yes=cluster.yes)
    show_list(listed(connect(where), where, load(), without_gpu=all_pools, slices=slices), out)


def show_list(found: Listed, out: Output, *, by_cluster: bool = False) -> None:
    """The table of pools, or the NodePoolList; `by_cluster` says of which cluster each is."""
    notes = [note.to_json() for note in found.notes]
    if output.write_document(out, "NodePoolList", {"items": list(found.items), "notes": notes}):
        return
    if out is Output.NAME:
        if found.items:
            output.write("\n".join(f"nodepool/{item['metadata']['name']}" for item in found.items))
        return
    wide = out is Output.WIDE
    heads, rows = [*COLUMNS, *(WIDE if wide else ())], [_row(item, wide=wide) for item in found.items]
    if by_cluster:
        heads = ["CLUSTER", *(head for head in heads if head != "CLUSTER")]
        rows = [
            [cluster_words(item), *(row[:-1] if wide else row)] for item, row in zip(found.items, rows, strict=True)
        ]
    output.table(tuple(heads), rows)
    say_notes(found.notes)


def _row(item: dict[str, Any], *, wide: bool = False) -> list[Any]:
    spec, status = item["spec"], item["status"]
    cells = [
        item["metadata"]["name"],
        status["phase"],
        status["nodes"],
        spec.get("machine"),
        spec.get("gpu"),
        sharing_words(spec.get("sharing") or {}),
        _counts(status.get("advertises")),
        _counts(_column(status, "used")),
        _counts(_column(status, "free")),
        drift_word(status.get("drift")),
    ]
    return [*cells, *_wide(item)] if wide else cells


def _wide(item: dict[str, Any]) -> list[Any]:
    spec, status = item["spec"], item["status"]
    return [spec.get("capacity"), status["managed"], status["fleet"], cluster_words(item)]


def cluster_words(item: dict[str, Any]) -> str:
    """The cluster of a pool, with what tells it from one of the same name elsewhere."""
    cluster = item["spec"]["cluster"]
    place = cluster.get("resourceGroup") or cluster.get("location") or cluster.get("region")
    return "/".join(filter(None, (cluster["provider"], place, cluster["name"])))


def _column(status: dict[str, Any], name: str) -> dict[str, int] | None:
    slices = status.get("slices")
    return None if slices is None else {resource: counts[name] for resource, counts in slices.items()}


def _counts(resources: dict[str, int] | None) -> str | None:
    """`gpu=7`, `mig-1g.5gb=2,mig-3g.20gb=1`; the domain is NVIDIA's for all of them."""
    if resources is None:
        return None
    return ",".join(f"{name.removeprefix('nvidia.com/')}={count}" for name, count in resources.items()) or "0"


def drift_word(drift: list[str] | None) -> str | None:
    """How many ways nodes differ from the promise; `no` where none does."""
    if drift is None:
        return None
    return f"yes ({len(drift)})" if drift else "no"


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
        output.table(COLUMNS, [_row(document)])
    else:
        output.write_document(out, "NodePool", body)
