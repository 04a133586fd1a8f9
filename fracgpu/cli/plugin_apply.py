"""`fracgpu plugin apply`: the ConfigMap, into the clusters that the pools are in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from fracgpu.catalog.load import load
from fracgpu.cli import output
from fracgpu.cli.choices import YesOption
from fracgpu.cli.connect import connect
from fracgpu.cli.consent import confirm
from fracgpu.cli.flags import SpecFlags, with_spec
from fracgpu.cli.output import Output, OutputOption
from fracgpu.cli.plugin import PoolName
from fracgpu.cli.promised import cluster_meant
from fracgpu.cli.show_plan import show_plan
from fracgpu.cli.spec_of import documents
from fracgpu.kube.plugin import NAME
from fracgpu.kube.promise import Promise
from fracgpu.operations.plugin import ConfigPlan, apply_config, plan_config
from fracgpu.operations.promises import Promises, declared, existing
from fracgpu.plan import Plan
from fracgpu.providers import Session
from fracgpu.resolve import ClusterRef


@with_spec
def apply(
    flags: SpecFlags,
    name: PoolName = None,
    namespace: Annotated[
        str | None,
        typer.Option("--namespace", help="Default: where the plugin runs, else gpu-operator", show_default=False),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change, and stop")] = False,
    yes: YesOption = False,
    out: OutputOption = Output.TABLE,
) -> None:
    """Write the plugin's ConfigMap into the cluster. The difference is shown first; what others own is left alone."""
    found = list(_found(name, flags, yes=yes))
    planned = [plan_config(session, cluster, promises.items, namespace) for session, cluster, promises in found]
    notes = [note for _, _, promises in found for note in promises.notes]
    changes = tuple(change for one in planned for change in one.plan.changes)
    show_plan(Plan(changes, (*notes, *(note for one in planned for note in one.plan.notes))), out)
    for one in planned:
        if one.problem:
            raise one.problem
    if dry_run:
        return
    for one in planned:
        consent(one, yes=yes)
    for (session, cluster, _), one in zip(found, planned, strict=True):
        if one.pending:
            apply_config(session, one)
            _say_applied(one, cluster)


def _say_applied(planned: ConfigPlan, cluster: ClusterRef) -> None:
    if planned.manifest:
        output.say(f"applied {planned.manifest['metadata']['namespace']}/{NAME} in {cluster.name}")


def write_config(session: Session, cluster: ClusterRef, promises: Sequence[Promise], *, yes: bool) -> None:
    """The plugin config that pools of a cluster need, before they are made; nothing where they need none."""
    planned = plan_config(session, cluster, promises)
    if planned.problem:
        raise planned.problem
    consent(planned, yes=yes)
    if planned.pending:
        apply_config(session, planned)
        _say_applied(planned, cluster)


def consent(planned: ConfigPlan, *, yes: bool) -> None:
    """A key that changes its meaning under nodes is asked about. Raises Invalid `confirmation-required`."""
    if planned.in_use:
        keys = ", ".join(planned.in_use)
        confirm(
            f"Nodes are labelled {keys}, whose meaning changes. Go on?", f"nodes use {keys}, which changes", yes=yes
        )


def _found(name: str | None, flags: SpecFlags, *, yes: bool) -> Iterator[tuple[Session, ClusterRef, Promises]]:
    """Each cluster, and its pools: those of files or flags, else those that exist."""
    if not flags.describes:
        cluster = cluster_meant(flags, yes=yes)
        session = connect(cluster)
        yield session, cluster, existing(session, load(), name)
        return
    by_cluster: dict[ClusterRef, list[Promise]] = {}
    for promise in declared(documents(name, flags), load(), placeholder=False).items:
        by_cluster.setdefault(promise.pool.cluster, []).append(promise)
    for cluster, promises in by_cluster.items():
        yield connect(cluster), cluster, Promises(tuple(promises))
