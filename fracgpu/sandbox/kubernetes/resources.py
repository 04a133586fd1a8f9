"""The kinds that the sandbox's API serves. A kind without a controller is stored and given back, no more."""

from __future__ import annotations

from dataclasses import dataclass

from fracgpu.sandbox.world import Json

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(slots=True, eq=False)
class Resource:
    """One row of discovery. `subresources` are path segments below an object; `verbs` what may be done to it.

    There is one object a kind, so that kinds are compared and hashed as the objects that they are. Only that of a
    custom kind ever changes, with its definition.
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
    columns: tuple[tuple[str, str], ...] = ()
    """Of a kind that a CustomResourceDefinition made: (name, JSONPath) of what kubectl shows of it."""
    schema: Json | None = None
    """Of such a kind: its OpenAPI schema."""

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def custom(self) -> bool:
        """Whether a CustomResourceDefinition made it."""
        return self.schema is not None

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


PODS = _core(
    "pods",
    "Pod",
    True,
    "po",
    sub=("status", "eviction", "binding", "log", "exec", "attach", "portforward", "proxy", "ephemeralcontainers"),
    in_all=True,
)
NODES = _core("nodes", "Node", False, "no", sub=("status",))
NAMESPACES = _core("namespaces", "Namespace", False, "ns", sub=("status", "finalize"))
CONFIG_MAPS = _core("configmaps", "ConfigMap", True, "cm")
EVENTS = _core("events", "Event", True, "ev")
SECRETS = _core("secrets", "Secret", True)
SERVICE_ACCOUNTS = _core("serviceaccounts", "ServiceAccount", True, "sa", sub=("token",))
SERVICES = _core("services", "Service", True, "svc", sub=("status",), in_all=True)
DAEMON_SETS = _workload("daemonsets", "DaemonSet", "ds", scale=False)
DEPLOYMENTS = _workload("deployments", "Deployment", "deploy")
REPLICA_SETS = _workload("replicasets", "ReplicaSet", "rs")
STATEFUL_SETS = _workload("statefulsets", "StatefulSet", "sts")
JOBS = Resource("batch", "v1", "jobs", "Job", True, (), ("status",), ("all",))
BUDGETS = Resource("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", True, ("pdb",), ("status",))
LEASES = Resource("coordination.k8s.io", "v1", "leases", "Lease", True)
SCALERS = Resource(
    "autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", True, ("hpa",), ("status",), ("all",)
)
DEFINITIONS = Resource(
    "apiextensions.k8s.io",
    "v1",
    "customresourcedefinitions",
    "CustomResourceDefinition",
    False,
    ("crd", "crds"),
    ("status",),
    ("api-extensions",),
)


def _plain(group: str, version: str, *rows: tuple[str, str, bool]) -> tuple[Resource, ...]:
    return tuple(Resource(group, version, plural, kind, namespaced) for plural, kind, namespaced in rows)


RESOURCES: tuple[Resource, ...] = (
    CONFIG_MAPS,
    EVENTS,
    NAMESPACES,
    NODES,
    PODS,
    SERVICE_ACCOUNTS,
    SECRETS,
    SERVICES,
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
    DEFINITIONS,
    SCALERS,
    Resource("networking.k8s.io", "v1", "ingresses", "Ingress", True, ("ing",), ("status",)),
    Resource("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", True, ("netpol",)),
    *_plain("networking.k8s.io", "v1", ("ingressclasses", "IngressClass", False)),
    *_plain("apps", "v1", ("controllerrevisions", "ControllerRevision", True)),
    *_plain("discovery.k8s.io", "v1", ("endpointslices", "EndpointSlice", True)),
    *_plain(
        "admissionregistration.k8s.io",
        "v1",
        ("mutatingwebhookconfigurations", "MutatingWebhookConfiguration", False),
        ("validatingadmissionpolicies", "ValidatingAdmissionPolicy", False),
        ("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", False),
        ("validatingwebhookconfigurations", "ValidatingWebhookConfiguration", False),
    ),
    *_plain(
        "rbac.authorization.k8s.io",
        "v1",
        ("clusterrolebindings", "ClusterRoleBinding", False),
        ("clusterroles", "ClusterRole", False),
        ("rolebindings", "RoleBinding", True),
        ("roles", "Role", True),
    ),
    Resource("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", False, ("pc",)),
    *_plain("node.k8s.io", "v1", ("runtimeclasses", "RuntimeClass", False)),
    *_plain(
        "storage.k8s.io",
        "v1",
        ("csidrivers", "CSIDriver", False),
        ("csinodes", "CSINode", False),
        ("volumeattachments", "VolumeAttachment", False),
    ),
    Resource("storage.k8s.io", "v1", "storageclasses", "StorageClass", False, ("sc",)),
    *_plain(
        "resource.k8s.io",
        "v1",
        ("deviceclasses", "DeviceClass", False),
        ("resourceclaims", "ResourceClaim", True),
        ("resourceclaimtemplates", "ResourceClaimTemplate", True),
        ("resourceslices", "ResourceSlice", False),
    ),
    *(
        Resource("authorization.k8s.io", "v1", plural, kind, False, verbs=("create",))
        for plural, kind in (
            ("selfsubjectaccessreviews", "SelfSubjectAccessReview"),
            ("selfsubjectrulesreviews", "SelfSubjectRulesReview"),
            ("subjectaccessreviews", "SubjectAccessReview"),
        )
    ),
    Resource("authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview", False, verbs=("create",)),
)

BY_PATH: dict[tuple[str, str, str], Resource] = {(row.group, row.version, row.plural): row for row in RESOURCES}
"""(group, version, plural) -> the kind."""
