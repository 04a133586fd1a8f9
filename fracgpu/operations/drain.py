"""Empty the nodes of a pool before they are deleted, as `kubectl drain` does: cordon, evict, wait, name who blocks."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from fracgpu.errors import (
    CloudFailure,
    DrainBlocked,
    Finding,
    Forbidden,
    FracgpuError,
    NoAccess,
    NotSignedIn,
    warning,
)
from fracgpu.kube.occupants import Occupant, occupants
from fracgpu.kube.promise import POOL_LABELS
from fracgpu.operations.kube import Asking, open_kube
from fracgpu.operations.outcome import Event
from fracgpu.operations.wait import Wait, pause
from fracgpu.providers import Observed, Session

if TYPE_CHECKING:
    from fracgpu.kube.session import Kube

DRAIN_SECONDS = 900.0
"""How long a drain may take unless said."""
Draining = Generator[Event, None, tuple[Finding, ...]]


@dataclass(frozen=True, slots=True)
class Drain:
    """How a pool is emptied. With `force` every pod is asked once, and those that may not go end with their nodes."""

    limit: float = DRAIN_SECONDS
    force: bool = False

    def __call__(self, seen: Observed, session: Session, wait: Wait) -> Draining:
        """Empty the pool. Raises DrainBlocked when the limit passes, with its nodes open for pods again.

        A Kubernetes API that cannot be asked is a note: the clouds drain nodes that they delete too, by their own
        rules and limits.
        """
        if seen.status.nodes == 0:
            return ()
        with Asking(session) as kube:
            try:
                nodes = kube.ask(partial(_cordoned, seen=seen))
            except (CloudFailure, NoAccess) as error:
                return (_not_drained(seen.name, error),)
            return (yield from _emptied(kube, nodes, wait, self))


def _not_drained(name: str, error: FracgpuError) -> Finding:
    message = f"{name} was not drained by fracgpu: {error.message}"
    return warning("not-drained", message, hint="the cloud drains its nodes as it deletes them")


def _cordoned(kube: Kube, seen: Observed) -> list[str]:
    """The pool's nodes, onto which no pod comes any more."""
    nodes = _nodes(kube, seen)
    _cordon(kube, nodes, on=True)
    return nodes


def _cordon(kube: Kube, nodes: list[str], *, on: bool) -> None:
    for node in nodes:
        kube.cordon(node, on=on)


def residents(seen: Observed, session: Session) -> list[Occupant]:
    """Who would have to leave the pool's nodes. Raises what reaching the cluster's Kubernetes API raises."""
    with open_kube(session) as kube:
        return _residents(kube, _nodes(kube, seen))


def _nodes(kube: Kube, seen: Observed) -> list[str]:
    label = POOL_LABELS[seen.cluster.provider]
    return [node["metadata"]["name"] for node in kube.nodes({label: seen.name})]


def _residents(kube: Kube, nodes: list[str]) -> list[Occupant]:
    return occupants(pod for node in nodes for pod in kube.pods_on(node))


def _emptied(kube: Asking, nodes: list[str], wait: Wait, how: Drain) -> Draining:
    try:
        return (yield from _moved(kube, nodes, wait, how))
    except (FracgpuError, KeyboardInterrupt):
        with contextlib.suppress(FracgpuError):  # the first error is the one to tell
            kube.ask(partial(_cordon, nodes=nodes, on=False))
        raise


def _moved(kube: Asking, nodes: list[str], wait: Wait, how: Drain) -> Draining:
    """Evict until nobody is left. A pod that goes is still there until its grace period is over.

    Who has begun to evict does not delete a pool of which nothing is known any more: a cluster that is out of reach, or
    takes a token for ended, is asked again until the limit. One that never permits to evict is left to its cloud.
    """
    since = wait.clock.now()
    left: list[Occupant] = []
    blocked: dict[Occupant, str] = {}
    while True:
        lost: FracgpuError | None = None
        try:
            left, blocked = kube.ask(partial(_evicted, nodes=nodes))
        except Forbidden as error:
            return (_not_drained(wait.pool, error),)
        except (CloudFailure, NotSignedIn) as error:
            lost = error
        if not left and not lost:
            return ()
        if how.force:
            return (_not_drained(wait.pool, lost),) if lost else tuple(map(partial(_ends, blocked), blocked))
        passed = wait.clock.now() - since
        if passed >= how.limit:
            raise _blocked(wait.pool, left, blocked, lost)
        yield wait.event(f"{lost.message}; asking again" if lost else _progress(left, blocked))
        wait.clock.sleep(min(pause(passed), how.limit - passed))


def _evicted(kube: Kube, nodes: list[str]) -> tuple[list[Occupant], dict[Occupant, str]]:
    """Who is on the nodes and is asked to go, and what keeps those that may not go yet."""
    left = _residents(kube, nodes)
    return left, {one: said for one in left if (said := kube.evict(one.namespace, one.name))}


def _progress(left: list[Occupant], blocked: dict[Occupant, str]) -> str:
    pods = f"draining: {len(left)} pods to go" if len(left) > 1 else f"draining: {left[0]} to go"
    first = next(iter(blocked.items()), None)
    return f"{pods}; {first[0]} may not go yet: {first[1]}" if first else pods


def _ends(blocked: dict[Occupant, str], pod: Occupant) -> Finding:
    return warning("pod-ends-with-node", f"{pod} ends with its node: {blocked[pod]}")


def _blocked(pool: str, left: list[Occupant], blocked: dict[Occupant, str], lost: FracgpuError | None) -> DrainBlocked:
    """Who blocks the drain and what forbids that they go, as far as the cluster could be asked in the end."""
    said = [f"{pod}: {blocked[pod]}" if pod in blocked else f"{pod} has not ended yet" for pod in left]
    said += [lost.message] if lost else []
    message = f"{pool} could not be drained: {'; '.join(said[:5])}"
    hint = "relax the PodDisruptionBudget or move the pods; --drain-timeout waits longer, --force does not ask"
    detail = {"pods": [str(one) for one in left], "blocked": {str(one): why for one, why in blocked.items()}}
    return DrainBlocked(message, hint=hint, detail=detail)
