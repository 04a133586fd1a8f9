"""The command that takes a wait up again, from any machine."""

from __future__ import annotations

import shlex

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
