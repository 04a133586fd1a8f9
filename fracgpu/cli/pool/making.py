"""Making a pool for real: the part of `pool create` that needs a cloud."""

from __future__ import annotations

from fracgpu.catalog.load import load
from fracgpu.cli.again import wait_command
from fracgpu.cli.connect import connect
from fracgpu.cli.output import Output
from fracgpu.cli.progress import watch
from fracgpu.cli.show_result import show_result
from fracgpu.manifest import Document
from fracgpu.operations.apply import How
from fracgpu.operations.create import create
from fracgpu.operations.outcome import Result
from fracgpu.operations.planning import Choices
from fracgpu.operations.prepare import Prepared, prepare
from fracgpu.operations.wait import Wait


def make(
    document: Document, offline: Prepared, choices: Choices, how: How, out: Output, *, timeout: float, strict: bool
) -> None:
    """Connect, prepare with what the cluster says, create, wait, report. `timeout` in seconds."""
    session = connect(offline.pool.cluster)
    prepared = prepare(document.pool, load(), facts=session.cluster_facts(), strict=strict, origin=document.origin)
    name, cluster = prepared.pool.name, prepared.pool.cluster
    again = wait_command(name, cluster)
    wait = Wait.start(name, cluster, timeout, again)
    item = watch(create(prepared, session, wait, choices, how), again)
    show_result(Result([item]), out)
