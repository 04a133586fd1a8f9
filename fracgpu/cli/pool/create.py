"""`fracgpu pool create`."""

from __future__ import annotations

from typing import Annotated

import typer

from fracgpu.catalog.load import load
from fracgpu.cli.connect import confirm
from fracgpu.cli.duration import TimeoutOption, seconds
from fracgpu.cli.flags import SpecFlags, with_spec
from fracgpu.cli.output import Output, OutputOption
from fracgpu.cli.spec_of import one_document
from fracgpu.operations.prepare import prepare
from fracgpu.resolve import ResolvedPool

NAME_HELP = "Name of the pool (default: from what it shares, as mig1g5gb)"


@with_spec
def create(
    flags: SpecFlags,
    name: Annotated[str | None, typer.Argument(help=NAME_HELP, show_default=False)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan of a first creation; offline")] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until the pool is ready")] = True,
    timeout: TimeoutOption = "45m",
    adopt: Annotated[
        bool, typer.Option("--adopt", help="Mark an existing pool that is as wanted as fracgpu's")
    ] = False,
    recreate: Annotated[
        bool, typer.Option("--recreate", help="Delete the pool first where it is in a failed state")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings fail")] = False,
    preflight: Annotated[
        bool, typer.Option("--preflight/--no-preflight", help="Ask for quota and offerings first")
    ] = True,
    verify: Annotated[bool, typer.Option("--verify/--no-verify", help="Look at the nodes afterwards")] = True,
    with_plugin: Annotated[bool, typer.Option("--with-plugin", help="Write the plugin config it needs too")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask")] = False,
    out: OutputOption = Output.TABLE,
) -> None:
    """Make one pool; waits. The same call again says "unchanged" and exits 0."""
    document = one_document(name, flags)
    offline = prepare(document.pool, load(), strict=strict, origin=document.origin)
    if dry_run:
        from fracgpu.cli.show_plan import show_plan

        show_plan(offline.plan(), out)
        return
    from fracgpu.cli.pool.making import Making, make

    consent(offline.pool, yes=yes)
    how = Making(wait, seconds(timeout), adopt, recreate, strict, preflight, verify, with_plugin, yes)
    make(document, offline, how, out)


def consent(pool: ResolvedPool, *, yes: bool) -> None:
    """Several GPUs a node that the user did not name are asked about."""
    if pool.machine_chosen and pool.gpus_per_node > 1:
        what = f"{pool.machine.name} was chosen and has {pool.gpus_per_node} GPUs"
        confirm(f"{what}. Make the pool?", f"{what}: name it with --machine {pool.machine.name}", yes=yes)
