"""Prove a pool that has no node: start one, look at what it shows, and put the pool back as it was."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from fracgpu.catalog.load import Catalog
from fracgpu.errors import Finding, FracgpuError, Invalid, TimedOut, info
from fracgpu.kube.promise import Promise
from fracgpu.kube.verify import Verification
from fracgpu.operations.afterwards import SLICES_TAKE
from fracgpu.operations.apply import How, apply
from fracgpu.operations.outcome import Event
from fracgpu.operations.planning import Choices
from fracgpu.operations.revise import Edit, Revision, revision
from fracgpu.operations.scale import scaled
from fracgpu.operations.verify import until_verified, verify
from fracgpu.operations.wait import Wait
from fracgpu.providers import Observed, Session, provider
from fracgpu.spec import NodePool


def prove(
    session: Session, seen: Observed, catalog: Catalog, wait: Wait, promise: Promise | None = None
) -> Generator[Event, None, Verification]:
    """The verification of a node that is started for it. The pool's counts are put back whatever comes out.

    Raises what making a node raises: Quota, Stock, PoolFailed ... A node that is up and not as promised in time is a
    verification that is not ok, as it would be with one look.
    """
    yield wait.event("starting a node to prove its slices")
    problem: FracgpuError | None = None
    result: Verification | None = None
    try:
        yield from _revise(session, _one_node(session, seen, catalog), wait)
        result = yield from _look(session, seen, catalog, wait, promise)
    except FracgpuError as error:
        problem = error
    yield wait.event("putting the pool back as it was")
    now = session.observe(seen.name)
    if now is not None:
        yield from _revise(session, revision(now, _as_before(seen), catalog, session.cluster_facts()), wait)
    if problem is not None:
        raise problem
    assert result is not None
    after = session.observe(seen.name)
    left = after.status.nodes if after is not None else None
    return replace(result, notes=(*result.notes, _left(seen.name))) if left else result


def _left(name: str) -> Finding:
    message = f"{name} has its limits back; its autoscaler ends the node once it has been idle for a while"
    return info("node-ends-later", message, hint=f"fracgpu pool show {name}")


def _one_node(session: Session, seen: Observed, catalog: Catalog) -> Revision:
    """The pool with one node, or with as few as can be had: one a zone, where counts are per zone. An autoscaled pool
    gets a minimum too, since AKS leaves a count to the autoscaler."""
    facts = session.cluster_facts()
    limits = provider(seen.cluster.provider).read(seen)[0].spec.nodes
    autoscaled = limits.max is not None and limits.max != limits.min
    try:
        return revision(seen, scaled(1, 1 if autoscaled else None, None), catalog, facts)
    except Invalid as error:
        counts = [int(count) for count in error.nearest if count.isdecimal() and int(count) > 0]
        if error.code != "nodes-out-of-range" or not counts:
            raise
        fewest = min(counts)
        return revision(seen, scaled(fewest, fewest if autoscaled else None, None), catalog, facts)


def _as_before(seen: Observed) -> Edit:
    written, _ = provider(seen.cluster.provider).read(seen)
    nodes = written.spec.nodes.model_copy(update={"count": 0})

    def edit(pool: NodePool) -> NodePool:
        return pool.model_copy(update={"spec": pool.spec.model_copy(update={"nodes": nodes})})

    return edit


def _revise(session: Session, revised: Revision, wait: Wait) -> Generator[Event, None, None]:
    yield from apply(revised.plan(), session, wait, Choices(not_ours=True), How())


def _look(
    session: Session, seen: Observed, catalog: Catalog, wait: Wait, promise: Promise | None
) -> Generator[Event, None, Verification]:
    begun = wait.clock.now()
    limited = replace(wait, began=begun, limit=min(wait.left, SLICES_TAKE))
    try:
        return (yield from until_verified(session, seen, catalog, limited, promise, fewest=1))
    except TimedOut:
        last = verify(session, session.observe(seen.name) or seen, catalog, promise)
        if last.proven:
            return last
        raise
