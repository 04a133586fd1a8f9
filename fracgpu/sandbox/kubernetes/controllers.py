"""The controllers of a cluster, in the order in which they run."""

from __future__ import annotations

from fracgpu.sandbox.kubernetes import (
    budgets,
    daemonsets,
    device_plugin,
    kubelet,
    nodes,
    operator,
    scheduler,
    workloads,
)
from fracgpu.sandbox.kubernetes.life import Controller

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
