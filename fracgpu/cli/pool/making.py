"""Making a pool for real: the part of `pool create` that needs a cloud."""

from __future__ import annotations

from dataclasses import dataclass

from fracgpu.catalog.load import load
from fracgpu.cli.again import wait_command
from fracgpu.cli.connect import connect
from fracgpu.cli.output import Output
from fracgpu.cli.plugin_apply import write_config
from fracgpu.cli.progress import watch
from fracgpu.cli.show_result import show_result
from fracgpu.manifest import Document
from fracgpu.operations.afterwards import CONFIG_NEEDED, answered, verified
from fracgpu.operations.apply import How
from fracgpu.operations.create import create
from fracgpu.operations.outcome import Result
from fracgpu.operations.planning import Choices
from fracgpu.operations.prepare import Prepared, prepare
from fracgpu.operations.promises import of_pool
from fracgpu.operations.wait import Wait


@dataclass(frozen=True, slots=True)
class Proof:
    """What is done for the pool's slices beside making it."""

    verify: bool = True
    with_plugin: bool = False
    yes: bool = False


def make(
    document: Document,
    offline: Prepared,
    choices: Choices,
    how: How,
    out: Output,
    *,
    timeout: float,
    strict: bool,
    proof: Proof,
) -> None:
    """Connect, prepare with what the cluster says, create, wait, verify, report. `timeout` in seconds."""
    session = connect(offline.pool.cluster)
    prepared = prepare(document.pool, load(), facts=session.cluster_facts(), strict=strict, origin=document.origin)
    name, cluster = prepared.pool.name, prepared.pool.cluster
    again = wait_command(name, cluster)
    wait = Wait.start(name, cluster, timeout, again)
    promise = of_pool(prepared.pool)
    if proof.with_plugin:
        write_config(session, cluster, [promise], yes=proof.yes)
    work = create(prepared, session, wait, choices, how)
    item = watch(verified(work, promise, session, wait, load()) if proof.verify else work, again)
    if proof.with_plugin:
        item = answered(item, CONFIG_NEEDED)
    show_result(Result([item]), out)
    if item.error:
        raise item.error
