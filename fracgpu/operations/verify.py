"""Prove that a pool's slices are there: one look, a wait until they are, or a node started to show them."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial

from fracgpu.catalog.load import Catalog
from fracgpu.catalog.models import ProviderName
from fracgpu.errors import SlicesMissing, TimedOut
from fracgpu.kube.promise import Promise
from fracgpu.kube.verify import Verification, failures
from fracgpu.kube.verify import verify as hold
from fracgpu.operations.kube import open_kube
from fracgpu.operations.outcome import Event
from fracgpu.operations.promises import of_existing
from fracgpu.operations.wait import Wait, looked
from fracgpu.providers import Observed, Session

FOLLOW_UP = "fracgpu pool verify {name} shows it again; fracgpu pool explain shows what was promised"


def verify(session: Session, seen: Observed, catalog: Catalog, promise: Promise | None = None) -> Verification:
    """One look at a pool's nodes, held against `promise`, by default what the pool as it exists promises.

    Raises what reaching the cluster's API raises: Unreachable, NotSignedIn, Forbidden ...
    """
    promised = promise or of_existing(seen, catalog)
    with open_kube(session) as kube:
        nodes = kube.nodes(dict([promised.pool_label]))
        return hold(promised, nodes, kube.pods_on, _wanted(seen, promise, found=bool(nodes)))


def _wanted(seen: Observed, promise: Promise | None, *, found: bool) -> int | None:
    """How many nodes there should be; None where nobody knows.

    GKE reports the count that a pool was made with, whatever it was resized to since, so that is only believed where
    no node is found at all. https://cloud.google.com/kubernetes-engine/docs/reference/rest/v1/projects.zones.clusters.nodePools
    """
    if seen.cluster.provider is not ProviderName.GKE or not found:
        return seen.status.nodes
    return promise.pool.nodes.count if promise and not promise.pool.nodes.autoscaling else None


def until_verified(
    session: Session, seen: Observed, catalog: Catalog, wait: Wait, promise: Promise | None = None, fewest: int = 0
) -> Generator[Event, None, Verification]:
    """Look until all is as promised, on `fewest` nodes at least: plugins take minutes after a node has joined. Raises
    TimedOut, with what was wrong at the last look."""
    since = wait.clock.now()
    while True:
        pool = (yield from looked(lambda: session.observe(wait.pool), wait)) or seen
        found = yield from looked(partial(verify, session, pool, catalog, promise), wait)
        if found.ok and len(found.nodes) >= fewest:
            return found
        yield wait.event(f"waiting for slices: {_first(found)}")
        try:
            wait.rest(since)
        except TimedOut as error:
            raise _late(found, error) from error


def _first(found: Verification) -> str:
    return next((one.message for one in failures(found)), "no node has joined yet")


def _late(found: Verification, error: TimedOut) -> TimedOut:
    message = f"{found.pool} was not as promised in time: {_first(found)}"
    return TimedOut(message, hint=error.hint, detail={**error.detail, "verification": found.to_json()})


def missing(found: Verification) -> SlicesMissing:
    """A verification that failed, as an error."""
    problems = failures(found)
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    hint = problems[0].hint or FOLLOW_UP.format(name=found.pool)
    return SlicesMissing(
        f"{found.pool}: {problems[0].message}{more}", hint=hint, detail={"verification": found.to_json()}
    )
