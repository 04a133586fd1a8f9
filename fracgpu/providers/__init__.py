"""The contract of a cloud, and the registry of the clouds.

A cloud is a package `fracgpu.providers.<name>` that has the members of `Provider`. All but `connect` are pure functions
of plain data and load no SDK; `connect` imports the cloud's SDK and gives a `Session`, the only thing that has effects.
Only our own frozen types and plain JSON cross this line.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Any, Protocol, cast

from fracgpu.advertise import NodeFacts
from fracgpu.catalog.models import ProviderName
from fracgpu.differences import Comparison
from fracgpu.errors import Finding, FracgpuError
from fracgpu.kube.access import KubeAccess as KubeAccess
from fracgpu.plan import Change, Json, Resource
from fracgpu.providers.access import Access
from fracgpu.resolve import ClusterRef, ResolvedPool
from fracgpu.sharing import SharingKind
from fracgpu.spec import NodePool

MANAGED = "fracgpu-managed"
"""The mark of ownership: this tag with the value "true" on what fracgpu made."""
FLEET = "fracgpu-fleet"


class Form(StrEnum):
    """What a pool's bodies can be rendered as."""

    AZ = "az"
    GCLOUD = "gcloud"
    AWS = "aws"
    EKSCTL = "eksctl"
    KARPENTER = "karpenter"
    TERRAFORM = "terraform"


@dataclass(frozen=True, slots=True)
class Support:
    """Whether a cloud has one kind of sharing, how it is said there, and why not where it has not."""

    possible: bool
    how: str
    link: str | None = None


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """What only the cloud knows about a cluster and a desired body needs.

    `zones` are those that a pool without zones of its own would span; `subnets` and `node_role` are EKS's, from the
    cluster and the groups that it has. `extra` are the cloud's own words for what a message may name.
    """

    zones: tuple[str, ...] = ()
    version: str | None = None
    subnets: tuple[str, ...] = ()
    node_role: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


class Phase(StrEnum):
    CREATING = "Creating"
    READY = "Ready"
    UPDATING = "Updating"
    DELETING = "Deleting"
    FAILED = "Failed"
    DEGRADED = "Degraded"


@dataclass(frozen=True, slots=True)
class PoolStatus:
    """Where a pool is in its life. `nodes` is how many the cloud says it has, None where it does not say."""

    phase: Phase
    nodes: int | None = None
    message: str | None = None
    conditions: tuple[Json, ...] = ()
    problem: FracgpuError | None = None
    """For a failed or degraded pool: the cause, as the error that it would be."""

    def to_json(self) -> Json:
        return {
            "phase": self.phase.value,
            "nodes": self.nodes,
            "message": self.message,
            "conditions": [dict(condition) for condition in self.conditions],
        }


@dataclass(frozen=True, slots=True)
class Observed:
    """A pool as its cloud reports it: its resources (the pool itself last), whose it is, and how it is.

    Bodies are what the API returned, in the shape in which it is sent, before `settled`. `tag` is the version to guard
    a change with, where the cloud has one. `uses` is what belongs to somebody else and the pool is made with, such as
    a launch template of the user's own: read, never written.
    """

    name: str
    cluster: ClusterRef
    resources: tuple[Resource, ...]
    status: PoolStatus
    ours: bool
    fleet: str | None = None
    tag: str | None = None
    uses: tuple[Resource, ...] = ()

    @property
    def body(self) -> Json:
        return self.resources[-1].body


class OperationKind(StrEnum):
    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Operation:
    """Work that a cloud has in flight. `id` and `token` are enough to look at it again from another process."""

    id: str
    kind: OperationKind
    pool: str | None
    cluster: ClusterRef
    token: str | None = None
    finished: bool = False
    """Nothing is left to wait for (the call was synchronous)."""


@dataclass(frozen=True, slots=True)
class Progress:
    """One look at an operation: what the cloud says is going on, in words, and whether it has ended."""

    done: bool
    message: str
    percent: int | None = None
    next_look: float | None = None
    """Seconds after which the cloud wants to be asked again; None: the caller's own pace."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who is signed in, in the cloud's own words, and the account that is used where none is named."""

    who: str
    account: str | None = None
    """Subscription, project or account number."""


@dataclass(frozen=True, slots=True)
class Inventory:
    """The clusters of an account, in the cloud's order, and what it could not say."""

    clusters: tuple[ClusterRef, ...]
    notes: tuple[Finding, ...] = ()


class Session(Protocol):
    """A signed-in connection to the cluster's cloud; the only place with effects, and the only one that imports its
    SDK.

    Every method raises our errors alone: NotSignedIn, Forbidden, NotFound (the cluster, with `nearest`), Quota, Stock,
    Busy, Throttled, Unreachable, CloudError, each `from` the SDK's own, with the cloud's code, message and request id
    in `detail`. Calls have explicit time limits and retries; a retry after a lost answer never does a thing twice.
    """

    def preflight(self, pool: ResolvedPool) -> Sequence[Finding]:
        """What keeps the pool from being made that only the cloud knows: quota, offering in its zones. Reads only."""

    def clusters(self) -> Inventory:
        """All clusters of the session's account: of an Azure subscription, a Google project, an AWS region. Where the
        session's own cluster names a resource group or a location (other than ANY), those in it alone."""

    def cluster_facts(self) -> ClusterFacts:
        """Zones, version, subnets, node role. Raises NotFound for an unknown cluster, naming those there are."""

    def observe(self, name: str) -> Observed | None:
        """The pool of that name; None where the cluster has none. Reads only."""

    def list(self) -> Sequence[Observed]:
        """All pools of the cluster, GPU or not, in the cloud's order."""

    def leftovers(self, pool: str) -> Sequence[Resource]:
        """What a pool that is gone has left behind: resources with its marks that a delete, broken off, did not reach.

        Empty where the pool is there.
        """

    def apply(self, change: Change) -> Operation:
        """Start a create, update or delete of one resource. The same change again is harmless.

        A create is create-only-if-missing: where the resource exists by now with the same body (a lost answer, a second
        run) the operation in flight is returned; with another body ExistsDifferently is raised. An update or delete is
        guarded by `change.tag` where the cloud has such tags. Raises Busy while another operation holds the pool or
        cluster.
        """

    def operations(self, pool: str) -> Sequence[Operation]:
        """What is in flight for a pool, so that a second run can pick it up."""

    def usual(self, kind: OperationKind) -> float | None:
        """Seconds that such operations have lately taken here, by the cloud's own record; None where it keeps none."""

    def watch(self, operation: Operation) -> Progress:
        """One look at an operation; never sleeps. Raises what the operation ended in: PoolFailed, Quota, Stock ..."""

    def kube_access(self) -> KubeAccess:
        """The way to the cluster's Kubernetes API, by the caller's own identity at the cloud."""


Connect = Callable[[ClusterRef], Session]
"""Opens a session on a cluster; what asks many clusters is handed it. Raises what `Provider.connect` raises."""


class Provider(Protocol):
    """The members of a cloud's package."""

    NAME: ProviderName
    TITLE: str
    SUPPORT: Mapping[SharingKind, Support]
    FORMS: Mapping[Form, str]
    POOL_KIND: str
    """The `resource` word of the pool itself, such as gke.nodePool."""

    def rules(self, pool: ResolvedPool, facts: ClusterFacts | None) -> Iterator[Finding]:
        """What this cloud refuses or warns of, given the cluster where it is known."""

    def node_facts(self, pool: ResolvedPool) -> NodeFacts:
        """Labels, taints and names of what the nodes will show."""

    def desired(self, pool: ResolvedPool, facts: ClusterFacts | None) -> tuple[Resource, ...]:
        """The exact bodies, in the order in which they are made; the pool last. Carries the mark of ownership.

        Offline (`facts` None) what only the cloud knows is left out, and `rules` notes it.
        """

    def comparison(self, kind: str) -> Comparison:
        """What is owned, and what can be changed in place, in resources of this kind."""

    def settled(self, observed: Resource) -> Resource:
        """An observed resource without what the cloud adds itself and without the mark, comparable with `unmarked`
        desired."""

    def read(self, observed: Observed) -> tuple[NodePool, tuple[Finding, ...]]:
        """The file form of an existing pool, ours or not, and notes on what the form cannot say."""

    def render(self, form: Form, resources: Sequence[Resource], pool: ResolvedPool) -> tuple[str, tuple[Finding, ...]]:
        """The bodies as a command or a configuration of another tool; what it cannot say is a note."""

    def sign_in_hint(self) -> str:
        """The command that signs a person in."""

    def identity(self, access: Access) -> Identity:
        """Whom the cloud takes the caller for; no cluster is needed. Asks the cloud, so that credentials which have
        ended are found out. Raises NotSignedIn, PartNotInstalled, Unreachable."""

    def connect(self, cluster: ClusterRef, access: Access) -> Session:
        """Import the SDK and sign in. Raises NotSignedIn, PartNotInstalled, Unreachable."""


REGISTRY: Mapping[ProviderName, str] = {
    ProviderName.AKS: "fracgpu.providers.aks",
    ProviderName.GKE: "fracgpu.providers.gke",
    ProviderName.EKS: "fracgpu.providers.eks",
}
"""A new cloud is one line here, one folder beside this file and one machines file; see docs/adding-a-cloud.md."""


@cache
def provider(name: ProviderName | str) -> Provider:
    """The cloud of that name; its package is loaded at first use."""
    return cast(Provider, importlib.import_module(REGISTRY[ProviderName(name)]))
