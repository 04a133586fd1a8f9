"""A written pool made ready: resolved, held against its cloud's rules, and turned into the bodies its cloud will
receive."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from fracgpu.advertise import remarks
from fracgpu.catalog.load import Catalog
from fracgpu.errors import Finding, Invalid, Level
from fracgpu.manifest import Document, Origin
from fracgpu.plan import Plan, Resource, creation
from fracgpu.providers import FLEET, ClusterFacts, Provider, provider
from fracgpu.resolve import ResolvedPool, resolve
from fracgpu.spec import NodePool

READING_ORDER = (
    "apiVersion",
    "kind",
    "spec.cluster",
    "spec.machine",
    "spec.gpu",
    "spec.sharing",
    "spec.nodes",
    "spec.capacity",
    "spec.disk",
    "spec.zones",
    "metadata",
    "spec.labels",
    "spec.taints",
    "spec.tags",
)
"""Findings are sorted by what they are about: which hardware first, since most of the rest follows from it."""
MANY = 200
"""Documents beyond which a note is placed by the document that it is about, since exact places must be looked for."""
LEVELS = (Level.ERROR, Level.WARNING, Level.INFO)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A pool that its cloud's rules accept, and its bodies."""

    written: NodePool
    pool: ResolvedPool
    provider: Provider
    resources: tuple[Resource, ...]
    notes: tuple[Finding, ...]
    facts: ClusterFacts | None = None

    def marked(self, fleet: str | None) -> Prepared:
        """With the mark of a fleet beside the mark of ownership; itself for None."""
        if fleet is None:
            return self
        pool = replace(self.pool, tags={**self.pool.tags, FLEET: fleet})
        return replace(self, resources=self.provider.desired(pool, self.facts))

    def plan(self) -> Plan:
        """The plan of a first creation; it knows nothing of what exists."""
        return Plan(tuple(creation(resource) for resource in self.resources), self.notes)


def prepare(
    written: NodePool,
    catalog: Catalog,
    *,
    facts: ClusterFacts | None = None,
    placeholder: bool = False,
    strict: bool = False,
    origin: Origin | None = None,
    one_of_many: bool = False,
) -> Prepared:
    """Resolve a pool and check it. Raises Invalid with every finding at once, each with its place in the file.

    Of `one_of_many` the notes are placed by the line of their document alone, and the pool has those of `resolve`.
    """
    findings, pool = examined(written, catalog, facts, placeholder=placeholder)
    placed = sorted_findings(_placed(finding, origin, one_of_many) for finding in findings)
    raise_errors(placed, strict=strict)
    assert pool is not None, "no pool and no error"
    cloud = provider(pool.provider)
    if not one_of_many:
        pool = replace(pool, notes=tuple(placed))
    return Prepared(written, pool, cloud, cloud.desired(pool, facts), tuple(placed), facts)


def _placed(finding: Finding, origin: Origin | None, roughly: bool) -> Finding:
    if origin is None or not origin.file:
        return finding
    return origin.place_roughly(finding) if roughly and finding.level is not Level.ERROR else origin.place(finding)


def examined(
    written: NodePool, catalog: Catalog, facts: ClusterFacts | None, *, placeholder: bool = False
) -> tuple[list[Finding], ResolvedPool | None]:
    """Every finding about a pool, and the pool; None where machine, GPU or cluster could not be told."""
    resolution = resolve(written, catalog, placeholder=placeholder)
    findings = list(resolution.findings)
    if resolution.pool is not None:
        findings += provider(resolution.pool.provider).rules(resolution.pool, facts)
        if not any(finding.level is Level.ERROR for finding in findings):
            findings += remarks(resolution.pool)
    return _once(findings), resolution.pool


def _once(findings: Iterable[Finding]) -> list[Finding]:
    """Equal findings are said once (a Finding has a mapping in it and cannot be hashed)."""
    seen: list[Finding] = []
    for finding in findings:
        if finding not in seen:
            seen.append(finding)
    return seen


def raise_errors(findings: Sequence[Finding], *, strict: bool = False) -> None:
    """Raise Invalid where there are errors, or with `strict` warnings."""
    errors = [finding for finding in findings if finding.level is Level.ERROR]
    if errors:
        raise Invalid(errors)
    warnings = [finding for finding in findings if finding.level is Level.WARNING]
    if strict and warnings:
        words = "a warning" if len(warnings) == 1 else f"{len(warnings)} warnings"
        message, hint = f"{words}, and --strict was said: {warnings[0].message}", "mend it, or leave --strict out"
        first = Finding("warnings-as-errors", message, field=warnings[0].field, hint=hint)
        raise Invalid([first, *warnings])


def sorted_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Errors first; then by what they are about; then by where they stand."""
    return sorted(findings, key=_rank)


def _rank(finding: Finding) -> tuple[int, int, int, int, str]:
    about = finding.field or ""
    return (LEVELS.index(finding.level), _order(about), finding.line or 0, finding.column or 0, about)


@lru_cache(maxsize=1024)
def _order(about: str) -> int:
    return next((i for i, start in enumerate(READING_ORDER) if about.startswith(start)), len(READING_ORDER))


def prepare_all(
    documents: Sequence[Document], catalog: Catalog, *, placeholder: bool = False, strict: bool = False
) -> list[Prepared]:
    """Prepare every document offline. Raises Invalid with the findings of all of them."""
    prepared: list[Prepared] = []
    findings: list[Finding] = []
    many = len(documents) > MANY
    for document in documents:
        try:
            prepared.append(
                prepare(
                    document.pool,
                    catalog,
                    placeholder=placeholder,
                    strict=strict,
                    origin=document.origin,
                    one_of_many=many,
                )
            )
        except Invalid as error:
            findings += error.findings
    if findings:
        raise Invalid(findings)
    return prepared
