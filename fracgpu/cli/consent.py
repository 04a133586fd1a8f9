"""What is asked before anything is sent: whether that cluster, that machine, that deletion is meant."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from fracgpu.cli.globals import GLOBALS
from fracgpu.cli.streams import to_stderr
from fracgpu.errors import Finding, Invalid
from fracgpu.manifest import Document
from fracgpu.resolve import ResolvedPool
from fracgpu.spec import Cluster


def interactive() -> bool:
    """A person is there to be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirm(question: str, what: str, *, yes: bool) -> None:
    """Ask, or take --yes for an answer. Raises Invalid `confirmation-required` where nobody can be asked or the answer
    is no."""
    if yes:
        return
    if not interactive() or GLOBALS.json:
        raise Invalid.one("confirmation-required", f"{what}; nothing was sent", hint="--yes says yes")
    to_stderr(f"{question} [y/N] \n")  # -q too: who is asked has to know
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Invalid.one("confirmation-required", "not confirmed; nothing was sent")


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


def confirm_guess(cluster: Cluster, *, yes: bool) -> None:
    """A cluster that nobody named, the one of the current kubectl context, is asked about."""
    name = f"{cluster.provider} cluster {cluster.name}"
    confirm(
        f"Use {name} of the current kubectl context?",
        f"the cluster ({name}) is known from the kubectl context only",
        yes=yes,
    )


def consent_to_clusters(documents: Sequence[Document], *, yes: bool) -> None:
    """Before anything is sent: pools of the sandbox are refused elsewhere, and each cluster that nobody named is asked
    about once."""
    refuse_sandboxed(documents)
    for cluster in guessed_clusters(documents):
        confirm_guess(cluster, yes=yes)


def refuse_sandboxed(documents: Sequence[Document]) -> None:
    """Raises Invalid for pools that were exported from the sandbox, where another place is meant."""
    if GLOBALS.sandbox:
        return
    findings = [_sandboxed(one) for one in documents if one.pool.sandbox]
    if findings:
        raise Invalid(findings)


def _sandboxed(document: Document) -> Finding:
    message = f"{document.pool.metadata.name or 'the pool'} was exported from the sandbox, and --sandbox was not said"
    hint = "--sandbox; or take `sandbox: true` out of the file and name a cluster of your own"
    return document.origin.place(Finding("conflicting-fields", message, field="sandbox", hint=hint))


def guessed_clusters(documents: Sequence[Document]) -> list[Cluster]:
    """The clusters that are known from the current kubectl context alone."""
    found: list[Cluster] = []
    for one in documents:
        if one.guessed and one.pool.spec.cluster not in found:
            found.append(one.pool.spec.cluster)
    return found
