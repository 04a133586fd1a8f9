"""Make one pool: once, whatever happens. The same call again finds it and says so."""

from __future__ import annotations

from dataclasses import replace

from fracgpu.operations.apply import How, apply
from fracgpu.operations.outcome import Work
from fracgpu.operations.planning import Choices, plan_pool
from fracgpu.operations.prepare import Prepared
from fracgpu.operations.wait import Wait, looked
from fracgpu.providers import Session


def create(prepared: Prepared, session: Session, wait: Wait, choices: Choices, how: How) -> Work:
    """Make the pool unless it is there, and wait until it is ready.

    Raises ExistsDifferently where a pool of that name differs, the cause where it is in a failed state (unless
    `choices.recreate`), and whatever the cloud refuses. A pool that is being made as wanted, by an earlier run on any
    machine, is waited for; one that is being changed or deleted is looked at again when that has ended.
    """
    choices = replace(choices, change=False)
    seen = yield from looked(lambda: session.observe(prepared.pool.name), wait)
    return (yield from apply(plan_pool(prepared, seen, choices), session, wait, choices, how))
