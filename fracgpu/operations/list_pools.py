"""Pools of a cluster, listed: what each advertises, what of it is free, and whether its nodes are what it promises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fracgpu.catalog.load import Catalog
from fracgpu.errors import Finding, FracgpuError, Invalid, info
from fracgpu.kube.promise import Promise
from fracgpu.kube.usage import Usage, usage
from fracgpu.operations.kube import open_kube
from fracgpu.operations.listing import has_gpu, pool_document
from fracgpu.operations.promises import of_existing
from fracgpu.operations.wait import asked
from fracgpu.plan import Json
from fracgpu.providers import Observed, Session, provider
from fracgpu.resolve import ClusterRef


@dataclass(frozen=True, slots=True)
class Listed:
    """The pools of one cluster as NodePool documents, and what could not be found out."""

    items: tuple[Json, ...]
    notes: tuple[Finding, ...] = ()


def listed(
    session: Session, cluster: ClusterRef, catalog: Catalog, *, without_gpu: bool = False, slices: bool = True
) -> Listed:
    """The cluster's pools. With `slices` its Kubernetes API is asked too, hastily: where it does not answer, what only
    it knows is null and a note says why.

    A document's `status` has `advertises` (resource -> how many a node), `slices` (resource -> total, used, free) and
    `drift` (how nodes differ from the promise; null where there is none to differ). Raises what the cloud answers.
    """
    cloud = provider(cluster.provider)
    pairs = [(seen, pool_document(seen, cloud)) for seen in asked(session.list)]
    pairs = [(seen, document) for seen, document in pairs if without_gpu or has_gpu(document)]
    promises = {seen.name: promise for seen, _ in pairs if (promise := _promise(seen, catalog))}
    found: Mapping[str, Usage] = {}
    notes: tuple[Finding, ...] = ()
    if slices and promises:
        try:
            found = _usage(session, promises)
        except FracgpuError as error:
            notes = (_unknown(cluster, error),)
    items = tuple(_with_slices(document, promises.get(seen.name), found.get(seen.name)) for seen, document in pairs)
    return Listed(items, (*notes, *(_drifted(name, one.drift) for name, one in found.items() if one.drift)))


def _promise(seen: Observed, catalog: Catalog) -> Promise | None:
    """None for a pool without a GPU, and for one whose hardware nobody knows."""
    try:
        return of_existing(seen, catalog)
    except Invalid:
        return None


def _usage(session: Session, promises: Mapping[str, Promise]) -> dict[str, Usage]:
    label = next(iter(promises.values())).pool_label[0]
    with open_kube(session, hasty=True) as kube:
        nodes = _by_pool(kube.nodes_with(label), label)
        pods = kube.pods() if nodes else []
    return {name: usage(promise, nodes.get(name, ()), pods) for name, promise in promises.items()}


def _by_pool(nodes: Sequence[Json], label: str) -> dict[str, list[Json]]:
    found: dict[str, list[Json]] = {}
    for node in nodes:
        found.setdefault(node["metadata"]["labels"][label], []).append(node)
    return found


def _with_slices(document: Json, promise: Promise | None, found: Usage | None) -> Json:
    status = {
        **document["status"],
        "advertises": promise.resources if promise else None,
        "slices": found.to_json() if found else None,
        "drift": list(found.drift) if found and found.nodes else None,
    }
    if found and status["nodes"] is None:
        status["nodes"] = found.nodes
    return {**document, "status": status}


def _drifted(name: str, drift: Sequence[str]) -> Finding:
    more = f" (and {len(drift) - 1} more)" if len(drift) > 1 else ""
    message = f"{name} is not as promised: {drift[0]}{more}"
    return info("nodes-drifted", message, hint=f"fracgpu pool verify {name} shows all of it")


def _unknown(cluster: ClusterRef, error: FracgpuError) -> Finding:
    message = f"what is used and free in {cluster.name} is not known: {error.message}"
    then = "--no-slices does not ask"
    return info("slices-unknown", message, hint=f"{error.hint}; {then}" if error.hint else then)
