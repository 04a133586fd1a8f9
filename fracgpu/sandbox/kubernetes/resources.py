"""The kinds that the sandbox's API serves. A kind without a controller is stored and given back, no more."""

from __future__ import annotations

from dataclasses import dataclass

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, slots=True, eq=False)
class Resource:
    """One row of discovery. `subresources` are path segments below an object; `verbs` what may be done to it.

    There is one object a kind, so that kinds are compared and hashed as the objects that they are.
    """

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    short: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ALL_VERBS

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        """The name as error messages have it: `daemonsets.apps`, `nodes`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


def _core(
    plural: str, kind: str, namespaced: bool, *short: str, sub: tuple[str, ...] = (), in_all: bool = False
) -> Resource:
    return Resource("", "v1", plural, kind, namespaced, short, sub, ("all",) if in_all else ())


def _workload(plural: str, kind: str, *short: str, scale: bool = True) -> Resource:
    return Resource("apps", "v1", plural, kind, True, short, ("status", "scale") if scale else ("status",), ("all",))


PODS = _core("pods", "Pod", True, "po", sub=("status", "eviction", "binding", "log"), in_all=True)
NODES = _core("nodes", "Node", False, "no", sub=("status",))
NAMESPACES = _core("namespaces", "Namespace", False, "ns", sub=("status", "finalize"))
CONFIG_MAPS = _core("configmaps", "ConfigMap", True, "cm")
EVENTS = _core("events", "Event", True, "ev")
SERVICE_ACCOUNTS = _core("serviceaccounts", "ServiceAccount", True, "sa")
DAEMON_SETS = _workload("daemonsets", "DaemonSet", "ds", scale=False)
DEPLOYMENTS = _workload("deployments", "Deployment", "deploy")
REPLICA_SETS = _workload("replicasets", "ReplicaSet", "rs")
STATEFUL_SETS = _workload("statefulsets", "StatefulSet", "sts")
JOBS = Resource("batch", "v1", "jobs", "Job", True, (), ("status",), ("all",))
BUDGETS = Resource("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", True, ("pdb",), ("status",))
LEASES = Resource("coordination.k8s.io", "v1", "leases", "Lease", True)


def _plain(group: str, version: str, *rows: tuple[str, str, bool]) -> tuple[Resource, ...]:
    return tuple(Resource(group, version, plural, kind, namespaced) for plural, kind, namespaced in rows)


RESOURCES: tuple[Resource, ...] = (
    CONFIG_MAPS,
    EVENTS,
    NAMESPACES,
    NODES,
    PODS,
    SERVICE_ACCOUNTS,
    _core("secrets", "Secret", True),
    _core("services", "Service", True, "svc", sub=("status",), in_all=True),
    _core("endpoints", "Endpoints", True, "ep"),
    _core("limitranges", "LimitRange", True, "limits"),
    _core("resourcequotas", "ResourceQuota", True, "quota", sub=("status",)),
    _core("persistentvolumeclaims", "PersistentVolumeClaim", True, "pvc", sub=("status",)),
    _core("persistentvolumes", "PersistentVolume", False, "pv", sub=("status",)),
    _core("replicationcontrollers", "ReplicationController", True, "rc", sub=("status", "scale"), in_all=True),
    DAEMON_SETS,
    DEPLOYMENTS,
    REPLICA_SETS,
    STATEFUL_SETS,
    JOBS,
    Resource("batch", "v1", "cronjobs", "CronJob", True, ("cj",), ("status",), ("all",)),
    BUDGETS,
    LEASES,
    *_plain(
        "rbac.authorization.k8s.io",
        "v1",
        ("clusterrolebindings", "ClusterRoleBinding", False),
        ("clusterroles", "ClusterRole", False),
        ("rolebindings", "RoleBinding", True),
        ("roles", "Role", True),
    ),
    *_plain("scheduling.k8s.io", "v1", ("priorityclasses", "PriorityClass", False)),
    *_plain("node.k8s.io", "v1", ("runtimeclasses", "RuntimeClass", False)),
    *_plain(
        "storage.k8s.io",
        "v1",
        ("csinodes", "CSINode", False),
        ("storageclasses", "StorageClass", False),
        ("volumeattachments", "VolumeAttachment", False),
    ),
    *_plain(
        "resource.k8s.io",
        "v1",
        ("deviceclasses", "DeviceClass", False),
        ("resourceclaims", "ResourceClaim", True),
        ("resourceclaimtemplates", "ResourceClaimTemplate", True),
        ("resourceslices", "ResourceSlice", False),
    ),
    Resource(
        "authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", False, verbs=("create",)
    ),
    Resource("authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview", False, verbs=("create",)),
)

BY_PATH: dict[tuple[str, str, str], Resource] = {(row.group, row.version, row.plural): row for row in RESOURCES}
"""(group, version, plural) -> the kind."""

BY_KIND: dict[tuple[str, str], Resource] = {(row.api_version, row.kind): row for row in RESOURCES}


def groups() -> dict[str, list[Resource]]:
    """Every group with its kinds; the core group is the empty name."""
    found: dict[str, list[Resource]] = {}
    for row in RESOURCES:
        found.setdefault(row.group, []).append(row)
    return found
