"""What keeps fracgpu from working here: one check after another, each with its fix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from fracgpu.catalog.load import Catalog
from fracgpu.catalog.models import ProviderName
from fracgpu.errors import Finding, FracgpuError, Invalid, Level
from fracgpu.kube.installed import charts, mismatches, plugins
from fracgpu.kube.plugin import NAMESPACE
from fracgpu.operations.kube import open_kube
from fracgpu.operations.promises import existing
from fracgpu.plan import Json
from fracgpu.providers import Connect, Identity, Session
from fracgpu.resolve import ClusterRef

Identify = Callable[[ProviderName], Identity]
Clusters = Callable[[ProviderName], Sequence[tuple[str, str]]]
"""The clusters of the account that a cloud takes where none is named: name, and the flags that name it."""


class State(StrEnum):
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at. `error` is what a command would end in because of it."""

    name: str
    state: State
    message: str
    hint: str | None = None
    error: FracgpuError | None = None

    def to_json(self) -> Json:
        return {
            "name": self.name,
            "state": self.state.value,
            "message": self.message,
            "hint": self.hint,
            "code": self.error.code if self.error else None,
        }


def examine_clouds(clouds: Iterable[ProviderName], identify: Identify, clusters: Clusters) -> Iterator[Check]:
    """Where no cluster is named: who is signed in at each cloud, which clusters are there, and what to do next. A cloud
    that nobody is signed in at is a failure only where there is no other."""
    checks = {cloud: _identity(cloud, identify) for cloud in clouds}
    able = [cloud for cloud, check in checks.items() if check.error is None]
    seen: list[str] = []
    for cloud, check in checks.items():
        yield check if not able else _no_failure(check)
        if cloud in able:
            found, names = _clusters(cloud, clusters)
            yield found
            seen += names
    message = "no cluster is named" + ("" if able else ", and nobody is signed in at a cloud")
    first = seen[0] if seen else f"--provider {able[0].value if able else 'aks|gke|eks'} --cluster NAME"
    hint = f"fracgpu doctor {first}; fracgpu --sandbox works without an account"
    yield Check("cluster", State.WARNING, message, hint)


def _clusters(cloud: ProviderName, clusters: Clusters) -> tuple[Check, list[str]]:
    """A check of what there is, and each cluster as flags."""
    try:
        found = clusters(cloud)
    except FracgpuError as error:
        return _no_failure(_failed("clusters", error)), []
    names = ", ".join(name for name, _ in found[:SHOWN]) + (", ..." if len(found) > SHOWN else "")
    message = f"{cloud.upper()} has {len(found)} clusters there" + (f": {names}" if names else "")
    return Check("clusters", State.OK, message), [flags for _, flags in found]


SHOWN = 5


def _identity(cloud: ProviderName, identify: Identify) -> Check:
    try:
        found = identify(cloud)
    except FracgpuError as error:
        return _failed(cloud.value, error)
    account = f", account {found.account}" if found.account else ""
    return Check(cloud.value, State.OK, f"signed in as {found.who}{account}")


def _no_failure(check: Check) -> Check:
    return Check(check.name, State.WARNING, check.message, check.hint) if check.error else check


def examine(cluster: ClusterRef, connect: Connect, identify: Identify, catalog: Catalog) -> Iterator[Check]:
    """The checks of one cluster, in the order in which a command needs what they look at. What cannot be looked at
    because of an earlier failure is left out."""
    who = _identity(cluster.provider, identify)
    yield who
    if who.error:
        return
    try:
        session = connect(cluster)
        facts = session.cluster_facts()
    except FracgpuError as error:
        yield _failed("cloud", error)
        return
    version = f", Kubernetes {facts.version}" if facts.version else ""
    yield Check("cloud", State.OK, f"{cluster.provider.upper()} has the cluster {cluster.name}{version}")
    try:
        pools = session.list()
    except FracgpuError as error:
        yield _failed("pools", error)
        return
    # No cloud says beforehand, to everybody, what a caller may write: AWS and Google ask for permissions of their own.
    beyond = "making them needs more, which the README lists as the least role"
    yield Check("pools", State.OK, f"may list node pools; there are {len(pools)}; {beyond}")
    try:
        yield from _kubernetes(session, catalog)
    except FracgpuError as error:
        yield _failed("kubernetes", error)


def _kubernetes(session: Session, catalog: Catalog) -> Iterator[Check]:
    with open_kube(session) as kube:
        who = kube.whoami()
        yield Check("kubernetes", State.OK, f"{kube.server} answers" + (f"; there you are {who}" if who else ""))
        for verb, resource, namespace, why in RIGHTS:
            if not kube.allowed(verb, resource, namespace):
                message = f"may not {verb} {resource}" + (f" in {namespace}" if namespace else "") + f": {why} needs it"
                yield Check("permissions", State.WARNING, message, "ask for a role in the cluster that permits it")
        daemon_sets = kube.daemon_sets()
        maps = kube.config_maps([NAMESPACE, *(part.namespace for part in plugins(daemon_sets))])
    yield _parts(daemon_sets)
    promises = existing(session, catalog)
    for finding in (*promises.notes, *mismatches(promises.items, daemon_sets, maps)):
        yield _told(finding)


def _parts(daemon_sets: Sequence[Json]) -> Check:
    found = ", ".join(map(str, plugins(daemon_sets))) or "no device plugin runs as a DaemonSet"
    installed = charts(daemon_sets)
    return Check("plugin", State.OK, found + (f"; installed by {', '.join(installed)}" if installed else ""))


RIGHTS = (
    ("list", "nodes", None, "pool verify"),
    ("list", "pods", None, "pool verify"),
    ("list", "daemonsets.apps", None, "pool create, to see whether there is a plugin,"),
    ("patch", "configmaps", NAMESPACE, "plugin apply"),
    ("patch", "nodes", None, "draining before a delete"),
    ("create", "pods/eviction", None, "draining before a delete"),
)
"""Verb, resource, namespace, and what needs it."""


def _failed(name: str, error: FracgpuError) -> Check:
    return Check(name, State.FAILED, error.message, error.hint, error)


def _told(finding: Finding) -> Check:
    if finding.level is Level.ERROR:
        return Check(finding.code, State.FAILED, finding.message, finding.hint, Invalid([finding]))
    state = State.WARNING if finding.level is Level.WARNING else State.OK
    return Check(finding.code, state, finding.message, finding.hint)
