"""`fracgpu config`: which cluster is meant, and who said so."""

from __future__ import annotations

from fracgpu.cli import output
from fracgpu.cli.cluster_sources import sources
from fracgpu.cli.config_file import user_file
from fracgpu.cli.lazy import group
from fracgpu.cli.output import Output, TableOption
from fracgpu.model import camel
from fracgpu.spec import Cluster

app = group(
    {"show": ("fracgpu.cli.config", "show", "Every source of a cluster, the one that counts first")},
    "Which cluster is meant",
)


def show(out: TableOption = Output.TABLE) -> None:
    """Where the cluster comes from: every source that names one, the one that counts first."""
    found = list(sources(Cluster()))
    items = [
        {"source": one.source, "used": index == 0, "cluster": one.cluster.model_dump(by_alias=True, exclude_none=True)}
        for index, one in enumerate(found)
    ]
    if output.write_document(out, "Config", {"items": items, "userFile": str(user_file())}):
        return
    if not found:
        output.say(
            f"no source names a cluster; flags, FRACGPU_*, ./fracgpu.yaml, {user_file()} and kubectl were looked at"
        )
        return
    rows = [
        [camel(name), getattr(one.cluster, name), one.source, "yes" if index == 0 else "no (a source before it counts)"]
        for index, one in enumerate(found)
        for name in Cluster.model_fields
        if getattr(one.cluster, name) is not None
    ]
    output.table(("KEY", "VALUE", "FROM", "USED"), rows)
