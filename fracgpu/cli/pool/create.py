"""`fracgpu pool create`."""

from __future__ import annotations

from typing import Annotated

import typer

from fracgpu.catalog.load import load
from fracgpu.cli.choices import (
    PENDING,
    AdoptOption,
    DetailedOption,
    PreflightOption,
    RecreateOption,
    StrictOption,
    WaitOption,
    WithPluginOption,
    YesOption,
)
from fracgpu.cli.consent import choose_machine, consent_to_clusters
from fracgpu.cli.duration import TimeoutOption, seconds
from fracgpu.cli.flags import SpecFlags, with_spec
from fracgpu.cli.output import Output, OutputOption
from fracgpu.cli.spec_of import one_document
from fracgpu.operations.prepare import prepare

NAME_HELP = "Name of the pool (default: from what it shares, as mig1g5gb)"


@with_spec
def create(
    flags: SpecFlags,
    name: Annotated[str | None, typer.Argument(help=NAME_HELP, show_default=False)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan of a first creation; offline")] = False,
    detailed: DetailedOption = False,
    wait: WaitOption = True,
    timeout: TimeoutOption = "45m",
    adopt: AdoptOption = False,
    recreate: RecreateOption = False,
    strict: StrictOption = False,
    preflight: PreflightOption = True,
    verify: Annotated[bool, typer.Option("--verify/--no-verify", help="Look at the nodes afterwards")] = True,
    with_plugin: WithPluginOption = False,
    yes: YesOption = False,
    out: OutputOption = Output.TABLE,
) -> int:
    """Make one pool; waits. The same call again says "unchanged" and exits 0."""
    if detailed and not dry_run:
        raise typer.BadParameter("it goes with --dry-run, and with pool plan", param_hint="--detailed-exitcode")
    document = one_document(name, flags)
    offline = prepare(document.pool, load(), strict=strict, origin=document.origin)
    if dry_run:
        from fracgpu.cli.show_plan import show_plan

        show_plan(offline.plan(), out)
        return PENDING if detailed else 0
    from fracgpu.cli.pool.making import Proof, make
    from fracgpu.operations.apply import How
    from fracgpu.operations.drain import Drain
    from fracgpu.operations.planning import Choices

    consent_to_clusters([document], yes=yes)
    choose_machine([offline.pool], yes=yes)
    limit = seconds(timeout)
    choices = Choices(adopt=adopt, recreate=recreate)
    proof = Proof(verify, with_plugin, yes)
    make(document, offline, choices, How(wait, preflight, Drain()), out, timeout=limit, strict=strict, proof=proof)
    return 0
