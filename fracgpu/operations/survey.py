"""Declared pools and the clusters that they are in -> what each pool needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fracgpu.catalog.load import Catalog
from fracgpu.errors import Finding, FracgpuError, Invalid, Level
from fracgpu.manifest import Document
from fracgpu.operations.engine import ask_all
from fracgpu.operations.planning import Choices, PoolPlan, plan_deletion, plan_pool
from fracgpu.operations.prepare import Prepared, prepare
from fracgpu.operations.wait import asked
from fracgpu.plan import Plan
from fracgpu.providers import ClusterFacts, Connect, Observed, Session
from fracgpu.resolve import ClusterRef


@dataclass(frozen=True, slots=True)
class Seen:
    """A cluster as one look found it."""

    session: Session
    facts: ClusterFacts
    pools: Mapping[str, Observed]


@dataclass(frozen=True, slots=True)
class Survey:
    """The plans of all declared pools, and the clusters that could not be asked."""

    plans: tuple[PoolPlan, ...]
    clusters: Mapping[ClusterRef, Seen]
    failed: Mapping[ClusterRef, FracgpuError]
    unplanned: tuple[Prepared, ...] = ()
    """Pools of the clusters that could not be asked."""

    def plan(self) -> Plan:
        """All changes in the order of the files, those of pools to be deleted last."""
        notes = [note for one in self.plans for note in (*one.notes, *_told(one))]
        return Plan(tuple(change for one in self.plans for change in one.changes), tuple(notes))


def _told(planned: PoolPlan) -> Iterator[Finding]:
    """What would stop `apply` from carrying the plan out."""
    if planned.problem:
        for finding in planned.problem.findings:
            yield Finding(finding.code, finding.message, Level.WARNING, hint=finding.hint)


def look_around(
    documents: Sequence[Document],
    offline: Sequence[Prepared],
    connect: Connect,
    catalog: Catalog,
    choices: Choices,
    *,
    prune: bool = False,
    strict: bool = False,
) -> Survey:
    """Ask every cluster once, side by side, and plan every pool. Raises Invalid with the findings of all pools."""
    refs = dict.fromkeys(one.pool.cluster for one in offline)
    answers = ask_all({ref: _looking(ref, connect) for ref in refs})
    pairs = list(zip(documents, offline, strict=True))
    reached = [(document, one) for document, one in pairs if one.pool.cluster in answers.found]
    prepared = _prepared(reached, answers.found, catalog, strict=strict)
    plans = [plan_pool(one, answers.found[one.pool.cluster].pools.get(one.pool.name), choices) for one in prepared]
    if prune:
        plans += prunable(prepared, answers.found, choices)
    lost = tuple(one for _, one in pairs if one.pool.cluster in answers.failed)
    return Survey(tuple(plans), answers.found, answers.failed, lost)


def _looking(cluster: ClusterRef, connect: Connect) -> Callable[[], Seen]:
    def look() -> Seen:
        session = connect(cluster)
        facts = asked(session.cluster_facts)
        return Seen(session, facts, {pool.name: pool for pool in asked(session.list)})

    return look


def _prepared(
    pairs: Iterable[tuple[Document, Prepared]],
    clusters: Mapping[ClusterRef, Seen],
    catalog: Catalog,
    *,
    strict: bool,
) -> list[Prepared]:
    """Every pool with what its cluster says. Raises Invalid with all findings."""
    found: list[Prepared] = []
    findings: list[Finding] = []
    for document, offline in pairs:
        facts = clusters[offline.pool.cluster].facts
        try:
            found.append(prepare(document.pool, catalog, facts=facts, strict=strict, origin=document.origin))
        except Invalid as error:
            findings += error.findings
    if findings:
        raise Invalid(findings)
    return found


def prunable(declared: Sequence[Prepared], clusters: Mapping[ClusterRef, Seen], choices: Choices) -> list[PoolPlan]:
    """The deletion of every pool of the fleet that no file declares, in the clusters that the files name."""
    keep = {(one.pool.cluster, one.pool.name) for one in declared}
    return [
        plan_deletion(pool, f"of fleet {choices.fleet}, and no file declares it")
        for ref, cluster in clusters.items()
        for pool in cluster.pools.values()
        if pool.ours and choices.fleet and pool.fleet == choices.fleet and (ref, pool.name) not in keep
    ]


def refuse_twins(documents: Sequence[Document], prepared: Sequence[Prepared]) -> None:
    """Raises Invalid where two documents declare one pool."""
    first: dict[tuple[ClusterRef, str], Document] = {}
    findings: list[Finding] = []
    for document, one in zip(documents, prepared, strict=True):
        key = (one.pool.cluster, one.pool.name)
        if key in first:
            where = first[key].origin
            message = f"the pool {one.pool.name} of cluster {one.pool.cluster.name} is declared twice ({where.file})"
            finding = Finding("conflicting-fields", message, field="metadata.name", hint="give one another name")
            findings.append(document.origin.place(finding))
        first.setdefault(key, document)
    if findings:
        raise Invalid(findings)
