"""Letting a cluster's controllers run until nothing changes any more."""

from __future__ import annotations

from fracgpu.sandbox.kubernetes.controllers import (
    budgets,
    daemonsets,
    device_plugin,
    kubelet,
    nodes,
    operator,
    scheduler,
    workloads,
)
from fracgpu.sandbox.kubernetes.life import Controller, Life

CONTROLLERS: tuple[Controller, ...] = (
    nodes.run,
    operator.run,
    daemonsets.run,
    workloads.run,
    scheduler.run,
    kubelet.run,
    device_plugin.run,
    budgets.run,
)
"""In the order in which they run."""

ROUNDS = 200
"""More rounds than any chain of causes has; reached only by controllers that disagree for ever."""


def settle(life: Life) -> None:
    """Let everything happen that is due. With `World.lock` held."""
    for _ in range(ROUNDS):
        batch = life.batch()
        if batch is None:
            return
        for run in CONTROLLERS:
            run(life, batch)
        if batch.pools:
            life.dirty_at = None
