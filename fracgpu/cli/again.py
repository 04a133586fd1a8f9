"""The command that takes a wait or an apply up again, from any machine."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from fracgpu.cli.globals import GLOBALS
from fracgpu.resolve import ClusterRef


def cluster_words(cluster: ClusterRef) -> str:
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
    """The command that waits on."""
    sandbox = "--sandbox " if GLOBALS.sandbox else ""
    return f"fracgpu {sandbox}pool wait {shlex.quote(name)} --for {goal} {cluster_words(cluster)}"


def apply_command(files: Sequence[str], fleet: str | None, flags: Sequence[str]) -> str:
    """The command that applies the same files with the same permissions; consent is not among them."""
    sandbox = ["--sandbox"] if GLOBALS.sandbox else []
    named = [word for file in files for word in ("-f", file)] + (["--fleet", fleet] if fleet else [])
    return shlex.join(["fracgpu", *sandbox, "pool", "apply", *named, *flags])


def apply_saved_command(plan: Path) -> str:
    """The commands that plan anew and apply that: a plan of which a part is done is stale."""
    program = f"fracgpu {'--sandbox ' if GLOBALS.sandbox else ''}pool"
    name = shlex.quote(str(plan))
    return f"{program} plan -f FILE --out {name} && {program} apply --plan {name}"
