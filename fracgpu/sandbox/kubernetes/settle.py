"""Letting a cluster's controllers run until nothing changes any more."""

from __future__ import annotations

import sys
import traceback

from fracgpu.sandbox.kubernetes.controllers import (
    budgets,
    daemonsets,
    definitions,
    device_plugin,
    kubelet,
    nodes,
    operator,
    scheduler,
    workloads,
)
from fracgpu.sandbox.kubernetes.life import Batch, Controller, Life

CONTROLLERS: tuple[Controller, ...] = (
    definitions.run,
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


def _run(controller: Controller, life: Life, batch: Batch) -> None:
    """A controller that an object makes fail leaves a traceback in the log, and the rest of the cluster as it is."""
    try:
        controller(life, batch)
    except Exception:  # noqa: BLE001
        traceback.print_exc(file=sys.stderr)


def settle(life: Life) -> None:
    """Let everything happen that is due. With `World.lock` held."""
    for _ in range(ROUNDS):
        batch = life.batch()
        if batch is None:
            return
        for run in CONTROLLERS:
            _run(run, life, batch)
        if batch.pools:
            life.dirty_at = None
