"""Pools, declared or existing, as promises to their cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fracgpu.catalog.load import Catalog
from fracgpu.errors import Finding, Invalid, Level, info
from fracgpu.kube.promise import Promise
from fracgpu.manifest import Document
from fracgpu.operations.listing import found, has_gpu, pool_document
from fracgpu.operations.prepare import Prepared, prepare
from fracgpu.providers import Observed, Session, provider
from fracgpu.resolve import ResolvedPool, resolve


@dataclass(frozen=True, slots=True)
class Promises:
    """Promises, and notes on pools that none could be made of."""

    items: tuple[Promise, ...]
    notes: tuple[Finding, ...] = ()


def of_pool(pool: ResolvedPool) -> Promise:
    return Promise(pool, provider(pool.provider).node_facts(pool))


def declared(documents: Sequence[Document], catalog: Catalog, *, placeholder: bool = True) -> Promises:
    """The promises of files or flags. With `placeholder` no cluster is needed. Raises Invalid with every finding."""
    prepared: list[Prepared] = []
    findings: list[Finding] = []
    for one in documents:
        try:
            prepared.append(prepare(one.pool, catalog, placeholder=placeholder, origin=one.origin))
        except Invalid as error:
            findings += error.findings
    if findings:
        raise Invalid(findings)
    return Promises(tuple(of_pool(one.pool) for one in prepared))


def existing(session: Session, catalog: Catalog, name: str | None = None) -> Promises:
    """The promises of the cluster's GPU pools, or of the one called `name`.

    Raises NotFound for a name that the cluster does not have, and Invalid where that one cannot be understood.
    """
    if name is not None:
        return Promises((of_existing(found(session, name), catalog),))
    return _all(session.list(), catalog)


def of_existing(seen: Observed, catalog: Catalog) -> Promise:
    """What a pool promises as it exists. Raises Invalid where its hardware cannot be told."""
    promise, findings = _understood(seen, catalog)
    if promise is None:
        raise Invalid(findings)
    return promise


def _all(pools: Iterable[Observed], catalog: Catalog) -> Promises:
    promises: list[Promise] = []
    notes: list[Finding] = []
    for seen in pools:
        if not has_gpu(pool_document(seen, provider(seen.cluster.provider))):
            continue
        promise, findings = _understood(seen, catalog)
        if promise is None:
            why = findings[0].message if findings else "its hardware is not in the catalog"
            notes.append(info("pool-not-understood", f"{seen.name} was passed over: {why}"))
        else:
            promises.append(promise)
    return Promises(tuple(promises), tuple(notes))


def _understood(seen: Observed, catalog: Catalog) -> tuple[Promise | None, tuple[Finding, ...]]:
    """An existing pool is what it is, so its cloud's rules are not asked."""
    written, _ = provider(seen.cluster.provider).read(seen)
    resolution = resolve(written, catalog)
    errors = tuple(one for one in resolution.findings if one.level is Level.ERROR)
    if resolution.pool is None:
        return None, errors
    return of_pool(resolution.pool), ()
