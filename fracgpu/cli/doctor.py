"""`fracgpu doctor`: what keeps fracgpu from working here, and the fix."""

from __future__ import annotations

from fracgpu.catalog.load import load
from fracgpu.catalog.models import ProviderName
from fracgpu.cli import output
from fracgpu.cli.again import cluster_words
from fracgpu.cli.cluster_flags import ClusterFlags, with_cluster_flags
from fracgpu.cli.cluster_sources import cluster_of
from fracgpu.cli.connect import connect, identity, named_account, named_cluster
from fracgpu.cli.output import Output, TableOption
from fracgpu.operations.doctor import Check, State, examine, examine_clouds
from fracgpu.spec import Cluster

WORDS = {State.OK: "ok  ", State.WARNING: "warn", State.FAILED: "FAIL"}


@with_cluster_flags
def doctor(cluster: ClusterFlags, out: TableOption = Output.TABLE) -> None:
    """Look at sign-in, permissions, the cluster's API and NVIDIA's parts in it; without a cluster, at each cloud's
    sign-in. Ends with the exit code of the first failure."""
    meant = cluster_of(cluster.spec()).cluster
    if meant.name is None:
        where, examined = None, examine_clouds(_clouds(meant.provider), identity, _clusters)
    else:
        where = named_cluster(cluster.spec(), yes=cluster.yes)
        examined = examine(where, connect, identity, load())
    checks: list[Check] = []
    for check in examined:
        checks.append(check)
        if out not in (Output.JSON, Output.YAML):
            output.write(check_text(check))
    failed = next((check.error for check in checks if check.error), None)
    named = where.to_json() if where else None
    body = {"cluster": named, "ok": failed is None, "checks": [check.to_json() for check in checks]}
    output.write_document(out, "Doctor", body)
    if failed:
        raise failed


def _clouds(named: str | None) -> tuple[ProviderName, ...]:
    return (ProviderName(named),) if named else tuple(ProviderName)


def _clusters(cloud: ProviderName) -> list[tuple[str, str]]:
    """The clusters of a cloud's own account, as flags that a shell takes. Raises what connecting raises."""
    found = connect(named_account(Cluster(provider=cloud.value))).clusters()
    return [(one.name, cluster_words(one)) for one in found.clusters]


def check_text(check: Check) -> str:
    line = f"{WORDS[check.state]}  {check.name}: {check.message}"
    return f"{line}\n      fix: {check.hint}" if check.hint else line
