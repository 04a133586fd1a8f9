"""What is asked before something is made, replaced or deleted."""

from __future__ import annotations

from collections.abc import Sequence

from fracgpu.cli.connect import confirm
from fracgpu.cli.streams import to_stderr
from fracgpu.resolve import ResolvedPool


def choose_machine(pools: Sequence[ResolvedPool], *, yes: bool) -> None:
    """Machines with several GPUs that the user did not name are asked about."""
    several = [pool for pool in pools if pool.machine_chosen and pool.gpus_per_node > 1]
    machines = {pool.machine.name: pool.gpus_per_node for pool in several}
    if not machines:
        return
    what = "; ".join(f"{name} was chosen and has {count} GPUs" for name, count in machines.items())
    make = "Make the pool?" if len(several) == 1 else f"Make the {len(several)} pools?"
    confirm(f"{what}. {make}", f"{what}: name it with --machine {next(iter(machines))}", yes=yes)


def removal(names: Sequence[str], doing: str, *, yes: bool) -> None:
    """List what will go, one a line, and ask. Raises Invalid `confirmation-required`."""
    if not names:
        return
    if not yes:
        to_stderr("".join(f"  {doing} {name}\n" for name in names))
    count = "a pool" if len(names) == 1 else f"{len(names)} pools"
    shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    confirm(f"This {doing}s {count}. Go on?", f"this {doing}s {count} ({shown})", yes=yes)
