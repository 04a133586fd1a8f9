"""`fracgpu pool apply`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from fracgpu.catalog.load import load
from fracgpu.cli import consent
from fracgpu.cli.again import apply_command, apply_saved_command, wait_command
from fracgpu.cli.choices import (
    AdoptOption,
    DrainTimeoutOption,
    FilesOption,
    FleetOption,
    ForceOption,
    PreflightOption,
    PruneOption,
    RecreateOption,
    ReplaceOption,
    StrictOption,
    WaitOption,
    WithPluginOption,
    YesOption,
)
from fracgpu.cli.consent import consent_to_clusters
from fracgpu.cli.declared import declared, promised
from fracgpu.cli.duration import TimeoutOption, seconds
from fracgpu.cli.output import Output, OutputOption
from fracgpu.cli.progress import follow
from fracgpu.cli.show_result import show_result
from fracgpu.errors import Invalid
from fracgpu.operations.afterwards import CONFIG_NEEDED, answered, verified
from fracgpu.operations.apply import How
from fracgpu.operations.apply import apply as carry_out
from fracgpu.operations.drain import Drain
from fracgpu.operations.engine import Job
from fracgpu.operations.outcome import Item, Outcome, Result, Work, verdict
from fracgpu.operations.planning import Choices, PoolPlan
from fracgpu.operations.promises import of_pool
from fracgpu.operations.survey import Survey
from fracgpu.operations.wait import Wait
from fracgpu.plan import Action
from fracgpu.providers import Session

GOING = {Action.DELETE: "delete", Action.REPLACE: "replace"}


def apply(
    files: FilesOption = None,
    plan_file: Annotated[
        Path | None, typer.Option("--plan", help="Do what a saved plan says, if it is still true", metavar="PLAN.json")
    ] = None,
    wait: WaitOption = True,
    timeout: TimeoutOption = "45m",
    fleet: FleetOption = None,
    prune: PruneOption = False,
    adopt: AdoptOption = False,
    recreate: RecreateOption = False,
    replace: ReplaceOption = False,
    strict: StrictOption = False,
    preflight: PreflightOption = True,
    verify: Annotated[bool, typer.Option("--verify/--no-verify", help="Look at the nodes of each pool too")] = False,
    with_plugin: WithPluginOption = False,
    force: ForceOption = False,
    drain_timeout: DrainTimeoutOption = "15m",
    yes: YesOption = False,
    out: OutputOption = Output.TABLE,
) -> None:
    """Make the pools of files so: create, change, replace, and with --prune delete. Many clusters at once."""
    choices = Choices(adopt=adopt, recreate=recreate, replace=replace, fleet=fleet)
    limit = seconds(timeout)
    how = How(wait, preflight, Drain(seconds(drain_timeout, "--drain-timeout"), force), force)
    if plan_file is not None:
        _alone(files, choices, prune=prune)
        found = promised(plan_file, strict=strict)
    else:
        found = declared(files, choices, prune=prune, strict=strict)
        consent_to_clusters(found.documents, yes=yes)
    survey = found.survey()
    _ask(survey, yes=yes)
    if with_plugin:
        _write_configs(survey, yes=yes)
    flags = {
        "--prune": prune,
        "--adopt": adopt,
        "--recreate": recreate,
        "--replace": replace,
        "--with-plugin": with_plugin,
    }
    said = [flag for flag, is_said in flags.items() if is_said]
    again = apply_saved_command(plan_file) if plan_file else apply_command(files or (), fleet, said)
    items = list(_unasked(survey))
    items += follow(list(_jobs(survey, found.choices, how, limit, verify=verify)), again)
    if with_plugin:
        items = [answered(item, CONFIG_NEEDED) for item in items]
    show_result(Result(items), out)
    error = verdict(items, again)
    if error:
        raise error


def _alone(files: list[str] | None, choices: Choices, *, prune: bool) -> None:
    """A saved plan says it all."""
    if files or prune or choices != Choices():
        message = "--plan has its pools, fleet and permissions in it"
        hint = "leave the other flags out, or plan again with them"
        raise Invalid.one("conflicting-fields", message, field="--plan", hint=hint)


def _ask(survey: Survey, *, yes: bool) -> None:
    """What was chosen for the user, and what will go, is asked about before anything is sent."""
    new = [one.prepared.pool for one in survey.plans if one.action is Action.CREATE and one.prepared]
    consent.choose_machine(new, yes=yes)
    for action, word in GOING.items():
        going = [one for one in survey.plans if one.action is action and not one.problem]
        consent.removal([f"{one.name} (cluster {one.cluster.name})" for one in going], word, yes=yes)


def _write_configs(survey: Survey, *, yes: bool) -> None:
    """The plugin configs that the pools will need, cluster by cluster."""
    from fracgpu.cli.plugin_apply import write_config
    from fracgpu.operations.promises import of_pool

    for cluster, seen in survey.clusters.items():
        wanted = [one.prepared.pool for one in survey.plans if one.cluster == cluster and one.prepared]
        write_config(seen.session, cluster, [of_pool(pool) for pool in wanted], yes=yes)


def _unasked(survey: Survey) -> Iterator[Item]:
    """The pools of clusters that could not be asked."""
    for one in survey.unplanned:
        cluster = one.pool.cluster
        yield Item(one.pool.name, cluster, Action.NO_OP, Outcome.FAILED, error=survey.failed[cluster])


def _jobs(survey: Survey, choices: Choices, how: How, limit: float, *, verify: bool) -> Iterator[Job]:
    for planned in survey.plans:
        session = survey.clusters[planned.cluster].session
        start = _start(planned, session, choices, how, limit, verify=verify)
        yield Job(planned.name, planned.cluster, planned.action, start)


def _start(
    planned: PoolPlan, session: Session, choices: Choices, how: How, limit: float, *, verify: bool
) -> Callable[[], Work]:
    goal = "deleted" if planned.action is Action.DELETE else "ready"

    def start() -> Work:
        again = wait_command(planned.name, planned.cluster, goal)
        wait = Wait.start(planned.name, planned.cluster, limit, again)
        work = carry_out(planned, session, wait, choices, how)
        if not verify or planned.prepared is None:
            return work
        return verified(work, of_pool(planned.prepared.pool), session, wait, load())

    return start
