"""`fracgpu pool explain`: the contract of a pool, offline."""

from __future__ import annotations

from typing import Annotated

import typer

from fracgpu.cli.choices import ContextYesOption, StrictOption
from fracgpu.cli.flags import SpecFlags, with_spec
from fracgpu.cli.output import DrawnOption, Output


@with_spec
def explain(
    flags: SpecFlags,
    name: Annotated[str | None, typer.Argument(help="Name of the pool", show_default=False)] = None,
    strict: StrictOption = False,
    yes: ContextYesOption = False,
    out: DrawnOption = Output.TABLE,
) -> None:
    """What the nodes of a pool will advertise, and what a pod must ask for.

    Of a file or of flags, offline; a NAME alone is a pool that exists. -o wide and -o svg draw its GPUs.
    """
    from fracgpu.advertise import explain as contract
    from fracgpu.catalog.load import load
    from fracgpu.cli.pool.contract import show_contract
    from fracgpu.cli.pool.meant import pool_meant
    from fracgpu.operations.prepare import prepare

    document = pool_meant(name, flags, yes=yes)
    prepared = prepare(document.pool, load(), placeholder=True, strict=strict, origin=document.origin)
    show_contract(contract(prepared.pool, prepared.provider.node_facts(prepared.pool)), out)
