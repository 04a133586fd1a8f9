"""`fracgpu doctor`: what keeps fracgpu from working here, and the fix."""

from __future__ import annotations

from fracgpu.catalog.load import load
from fracgpu.cli import output
from fracgpu.cli.cluster_flags import ClusterFlags, with_cluster_flags
from fracgpu.cli.connect import connect, named_cluster
from fracgpu.cli.output import Output, TableOption
from fracgpu.operations.doctor import Check, State, examine

WORDS = {State.OK: "ok  ", State.WARNING: "warn", State.FAILED: "FAIL"}


@with_cluster_flags
def doctor(cluster: ClusterFlags, out: TableOption = Output.TABLE) -> None:
    """Look at sign-in, permissions, the cluster's API and NVIDIA's parts in it. Ends with the exit code of the first
    failure."""
    where = named_cluster(cluster.spec(), yes=cluster.yes)
    checks: list[Check] = []
    for check in examine(where, connect, load()):
        checks.append(check)
        if out not in (Output.JSON, Output.YAML):
            output.write(check_text(check))
    failed = next((check.error for check in checks if check.error), None)
    body = {"cluster": where.to_json(), "ok": failed is None, "checks": [check.to_json() for check in checks]}
    output.write_document(out, "Doctor", body)
    if failed:
        raise failed


def check_text(check: Check) -> str:
    line = f"{WORDS[check.state]}  {check.name}: {check.message}"
    return f"{line}\n      fix: {check.hint}" if check.hint else line
