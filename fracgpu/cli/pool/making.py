"""Making a pool for real: the part of `pool create` that needs a cloud."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from fracgpu.catalog.load import load
from fracgpu.cli.connect import connect
from fracgpu.cli.output import Output
from fracgpu.cli.progress import watch
from fracgpu.cli.show_result import show_result
from fracgpu.manifest import Document
from fracgpu.operations.create import CreateOptions, create
from fracgpu.operations.outcome import Result
from fracgpu.operations.prepare import Prepared, prepare, raise_errors
from fracgpu.operations.wait import Wait
from fracgpu.providers import Session
from fracgpu.resolve import ClusterRef


@dataclass(frozen=True, slots=True)
class Making:
    """The choices of `pool create` that matter once a cloud is asked. `timeout` in seconds."""

    wait: bool
    timeout: float
    adopt: bool
    recreate: bool
    strict: bool
    preflight: bool
    verify: bool
    with_plugin: bool
    yes: bool


def make(document: Document, offline: Prepared, how: Making, out: Output) -> None:
    """Connect, prepare with what the cluster says, create, wait, report."""
    session = connect(offline.pool.cluster)
    prepared = _prepared(document, session, how)
    if how.preflight:
        raise_errors(tuple(session.preflight(prepared.pool)), strict=how.strict)
    pool = prepared.pool
    again = wait_command(pool.name, pool.cluster)
    wait = Wait.start(pool.name, pool.cluster, how.timeout, again)
    item = watch(create(prepared, session, wait, CreateOptions(how.wait, how.adopt)), again)
    show_result(Result([item]), out)


def _prepared(document: Document, session: Session, how: Making) -> Prepared:
    facts = session.cluster_facts()
    return prepare(document.pool, load(), facts=facts, strict=how.strict, origin=document.origin)


def cluster_flags(cluster: ClusterRef) -> str:
    """The cluster as flags that a shell takes."""
    words = {
        "--provider": cluster.provider.value,
        "--cluster": cluster.name,
        "--resource-group": cluster.resource_group,
        "--subscription": cluster.subscription,
        "--project": cluster.project,
        "--location": cluster.location,
        "--region": cluster.region,
    }
    return " ".join(f"{flag} {shlex.quote(value)}" for flag, value in words.items() if value)


def wait_command(name: str, cluster: ClusterRef, goal: str = "ready") -> str:
    """The command that waits on, from any machine."""
    from fracgpu.cli.globals import GLOBALS

    sandbox = "--sandbox " if GLOBALS.sandbox else ""
    return f"fracgpu {sandbox}pool wait {shlex.quote(name)} --for {goal} {cluster_flags(cluster)}"
