"""Pools as promises, made the way the command line makes them, but without its cloud's rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fracgpu.catalog.load import load
from fracgpu.kube.promise import Promise
from fracgpu.operations.promises import of_pool
from fracgpu.resolve import resolve
from fracgpu.spec import NodePool

Promised = Callable[..., Promise]


@pytest.fixture
def promised() -> Promised:
    """`promised("aks", gpu="t4", timeSlicing={"replicas": 10})`: sharing's members stand beside the spec's."""

    def make(provider: str, name: str | None = None, **spec: Any) -> Promise:
        sharing = {key: spec.pop(key) for key in SHARING if key in spec}
        body = {"cluster": {"provider": provider}, **spec, "sharing": sharing}
        written = NodePool.model_validate({"metadata": {"name": name}, "spec": body})
        pool = resolve(written, load(), placeholder=True).pool
        assert pool is not None
        return of_pool(pool)

    return make


SHARING = ("mig", "timeSlicing", "mps", "renameByDefault", "configKey")
