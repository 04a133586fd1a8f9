"""Changing one existing pool for real: what scale and update have in common."""

from __future__ import annotations

from collections.abc import Iterator

from fracgpu.catalog.load import load
from fracgpu.cli import consent, output
from fracgpu.cli.again import wait_command
from fracgpu.cli.connect import connect
from fracgpu.cli.output import Output
from fracgpu.cli.progress import watch
from fracgpu.cli.show_result import show_result
from fracgpu.differences import Effect
from fracgpu.operations.apply import How, apply
from fracgpu.operations.listing import found
from fracgpu.operations.outcome import Result
from fracgpu.operations.planning import Choices, PoolPlan
from fracgpu.operations.revise import Edit, revision
from fracgpu.operations.wait import Wait
from fracgpu.plan import Action
from fracgpu.resolve import ClusterRef


def revise(
    name: str, cluster: ClusterRef, edit: Edit, how: How, out: Output, *, limit: float, may_replace: bool, yes: bool
) -> None:
    """Look at the pool, plan the edit, say what it does to whom, carry it out, report. `limit` in seconds."""
    session = connect(cluster)
    seen = found(session, name)
    planned = revision(seen, edit, load(), session.cluster_facts()).plan(may_replace=may_replace)
    if planned.action is Action.REPLACE and not planned.problem:
        consent.removal([f"{name} (cluster {cluster.name})"], "replace", yes=yes)
    for line in doing(planned):
        output.say(line)
    again = wait_command(name, cluster)
    wait = Wait.start(name, cluster, limit, again)
    choices = Choices(replace=may_replace, not_ours=True)
    show_result(Result([watch(apply(planned, session, wait, choices, how), again)]), out)


def doing(planned: PoolPlan) -> Iterator[str]:
    """Every field that will change, and whether nodes are replaced for it, which moves their pods."""
    if planned.problem:
        return
    fields = [one for change in planned.changes for one in change.fields if one.effect is not Effect.IGNORED]
    yield from (f"  {one}  [{one.effect.value}]" for one in fields)
    if any(one.effect is Effect.ROLLING for one in fields):
        yield f"{planned.name}: the cloud replaces the nodes one after another, and moves their pods"
