"""`fracgpu pool plan`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fracgpu.cli import output
from fracgpu.cli.choices import (
    PENDING,
    AdoptOption,
    DetailedOption,
    FilesOption,
    FleetOption,
    PruneOption,
    RecreateOption,
    ReplaceOption,
    StrictOption,
)
from fracgpu.cli.consent import guessed_clusters, refuse_sandboxed
from fracgpu.cli.declared import Declared, declared
from fracgpu.cli.output import Output, OutputOption
from fracgpu.cli.pool.plan_parts import plan_in_parts
from fracgpu.cli.show_plan import show_plan
from fracgpu.errors import Finding, info
from fracgpu.operations.planning import Choices
from fracgpu.operations.saved import save, saved_members
from fracgpu.plan import Plan, creation
from fracgpu.spec import Cluster


def plan(
    files: FilesOption = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Ask no cluster: plan as if none of the pools existed")
    ] = False,
    save_as: Annotated[
        Path | None, typer.Option("--out", help="Keep the plan for apply --plan", metavar="PLAN.json")
    ] = None,
    detailed: DetailedOption = False,
    fleet: FleetOption = None,
    prune: PruneOption = False,
    adopt: AdoptOption = False,
    recreate: RecreateOption = False,
    replace: ReplaceOption = False,
    strict: StrictOption = False,
    out: OutputOption = Output.TABLE,
) -> int:
    """What apply would change."""
    choices = Choices(adopt=adopt, recreate=recreate, replace=replace, fleet=fleet)
    if offline and files and not (save_as or prune or fleet) and plan_in_parts(files, choices, out, strict=strict):
        return PENDING if detailed else 0
    found = declared(files, choices, prune=prune, strict=strict)
    planned = offline_plan(found) if offline else _asked(found)
    planned = Plan(planned.changes, (*map(_guessed, guessed_clusters(found.documents)), *planned.notes))
    if save_as:
        members = saved_members(found.documents, choices, prune=prune)
        save(output.document("Plan", {**planned.to_json(), **members}), save_as)
    show_plan(planned, out)
    return PENDING if detailed and planned.pending else 0


def _guessed(cluster: Cluster) -> Finding:
    message = f"the cluster is that of the current kubectl context: {cluster.provider} cluster {cluster.name}"
    return info("cluster-guessed", message, field="spec.cluster", hint="apply asks, or needs --yes")


def offline_plan(found: Declared) -> Plan:
    """The plan of a first creation of all pools."""
    prepared = [one.marked(found.choices.fleet) for one in found.prepared]
    changes = tuple(creation(resource) for one in prepared for resource in one.resources)
    return Plan(changes, tuple(note for one in prepared for note in one.notes))


def _asked(found: Declared) -> Plan:
    refuse_sandboxed(found.documents)
    survey = found.survey()
    for error in survey.failed.values():
        raise error
    return survey.plan()
