"""The columns that kubectl shows of each kind, and what stands in them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

from fracgpu.sandbox.kubernetes import resources
from fracgpu.sandbox.kubernetes.resources import Resource
from fracgpu.sandbox.kubernetes.selectors import labels_of
from fracgpu.sandbox.world import Json

Cell = Callable[[Json], Any]


class Column(NamedTuple):
    """`wide` columns are shown with `-o wide` only."""

    name: str
    cell: Cell
    type: str = "string"
    wide: bool = False


def age(since: str | None, until: str | None = None) -> str:
    """A span, until now unless said, as kubectl writes it: `45s`, `3m20s`, `5h`, `12d`."""
    if not since:
        return "<unknown>"
    end = datetime.fromisoformat(until) if until else datetime.now(UTC)
    seconds = int((end - datetime.fromisoformat(since)).total_seconds())
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 120:
        return f"{max(seconds, 0)}s"
    if minutes < 10:
        return f"{minutes}m{seconds % 60}s" if seconds % 60 else f"{minutes}m"
    if hours < 3:
        return f"{minutes}m"
    if hours < 8:
        return f"{hours}h{minutes % 60}m" if minutes % 60 else f"{hours}h"
    if hours < 48:
        return f"{hours}h"
    return f"{days}d" if days >= 8 or not hours % 24 else f"{days}d{hours % 24}h"


def _at(*path: str, default: Any = "<none>") -> Cell:
    def cell(body: Json) -> Any:
        value: Any = body
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        return default if value in (None, "", [], {}) else value

    return cell


def _selector(*path: str) -> Cell:
    find = _at(*path, default={})
    return lambda body: ",".join(f"{key}={value}" for key, value in sorted(find(body).items())) or "<none>"


def _length(*path: str) -> Cell:
    find = _at(*path, default={})
    return lambda body: len(find(body))


def _containers(part: str) -> Cell:
    def cell(body: Json) -> str:
        spec = body["spec"].get("template", body).get("spec", body["spec"])
        return ",".join(container.get(part, "") for container in spec.get("containers") or ())

    return cell


NAME = Column("Name", lambda body: body["metadata"]["name"])
AGE = Column("Age", lambda body: age(body["metadata"].get("creationTimestamp")))
PLAIN = (NAME, Column("Created At", lambda body: body["metadata"].get("creationTimestamp", "")))
_IMAGES = (
    Column("Containers", _containers("name"), wide=True),
    Column("Images", _containers("image"), wide=True),
    Column("Selector", _selector("spec", "selector", "matchLabels"), wide=True),
)


def _node_status(node: Json) -> str:
    ready = next((one for one in node["status"].get("conditions") or () if one["type"] == "Ready"), None)
    text = "Ready" if ready and ready["status"] == "True" else "NotReady" if ready else "Unknown"
    return text + (",SchedulingDisabled" if node["spec"].get("unschedulable") else "")


def _roles(node: Json) -> str:
    prefix = "node-role.kubernetes.io/"
    roles = sorted(label.removeprefix(prefix) for label in labels_of(node) if label.startswith(prefix))
    return ",".join(filter(None, roles)) or "<none>"


def _address(type: str) -> Cell:
    def cell(node: Json) -> str:
        addresses = node["status"].get("addresses") or ()
        return next((str(one["address"]) for one in addresses if one["type"] == type), "<none>")

    return cell


def pod_status(pod: Json) -> str:
    """The STATUS column: the phase, or what stands in its way."""
    if pod["metadata"].get("deletionTimestamp"):
        return "Terminating"
    status = pod.get("status") or {}
    text = str(status.get("reason") or status.get("phase") or "Unknown")
    for prefix, name in (("Init:", "initContainerStatuses"), ("", "containerStatuses")):
        for one in status.get(name) or ():
            state = one.get("state") or {}
            why = (state.get("waiting") or {}).get("reason") or (state.get("terminated") or {}).get("reason")
            if why and (prefix == "" or why != "Completed"):
                return prefix + str(why)
    return text


def _pod_ready(pod: Json) -> str:
    statuses = pod.get("status", {}).get("containerStatuses") or ()
    return f"{sum(one.get('ready', False) for one in statuses)}/{len(pod['spec']['containers'])}"


def _restarts(pod: Json) -> str:
    status = pod.get("status", {})
    every = (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ()))
    return str(sum(one.get("restartCount", 0) for one in every))


def _counts(of: str, wanted: str) -> Cell:
    def cell(body: Json) -> str:
        return f"{body.get('status', {}).get(of, 0)}/{body['spec'].get(wanted, 1)}"

    return cell


def _number(*path: str) -> Cell:
    return _at(*path, default=0)


def _seen(event: Json) -> str:
    return age(event.get("lastTimestamp") or event.get("eventTime") or event["metadata"].get("creationTimestamp"))


def _involved(event: Json) -> str:
    involved = event.get("involvedObject") or {}
    return f"{involved.get('kind', '').lower()}/{involved.get('name', '')}"


def _duration(job: Json) -> str:
    status = job.get("status") or {}
    return age(status.get("startTime"), status.get("completionTime"))


def _external(service: Json) -> str:
    spec = service["spec"]
    if spec.get("type") == "ExternalName":
        return str(spec.get("externalName", "<none>"))
    return "<pending>" if spec.get("type") == "LoadBalancer" else "<none>"


def _ports(service: Json) -> str:
    rows = service["spec"].get("ports") or ()
    return ",".join(f"{row['port']}/{row.get('protocol', 'TCP')}" for row in rows) or "<none>"


def _reference(scaler: Json) -> str:
    about = scaler["spec"].get("scaleTargetRef") or {}
    return f"{about.get('kind', '')}/{about.get('name', '')}"


def of(resource: Resource) -> tuple[Column, ...]:
    """The columns of a kind; those of a custom kind are what its definition says, or its age."""
    if resource in COLUMNS:
        return COLUMNS[resource]
    if not resource.custom:
        return PLAIN
    said = tuple(Column(name, _json_path(path)) for name, path in resource.columns)
    return (NAME, *(said or (AGE,)))


def _json_path(path: str) -> Cell:
    """The value at a plain JSONPath (`.status.phase`); a path with more to it than names finds nothing."""
    if path == ".metadata.creationTimestamp":
        return AGE.cell
    return _at(*path.strip(".").split("."), default="")


COLUMNS: dict[Resource, tuple[Column, ...]] = {
    resources.NODES: (
        NAME,
        Column("Status", _node_status),
        Column("Roles", _roles),
        AGE,
        Column("Version", _at("status", "nodeInfo", "kubeletVersion")),
        Column("Internal-IP", _address("InternalIP"), wide=True),
        Column("External-IP", _address("ExternalIP"), wide=True),
        Column("OS-Image", _at("status", "nodeInfo", "osImage"), wide=True),
        Column("Kernel-Version", _at("status", "nodeInfo", "kernelVersion"), wide=True),
        Column("Container-Runtime", _at("status", "nodeInfo", "containerRuntimeVersion"), wide=True),
    ),
    resources.PODS: (
        NAME,
        Column("Ready", _pod_ready),
        Column("Status", pod_status),
        Column("Restarts", _restarts),
        AGE,
        Column("IP", _at("status", "podIP"), wide=True),
        Column("Node", _at("spec", "nodeName"), wide=True),
        Column("Nominated Node", _at("status", "nominatedNodeName"), wide=True),
        Column("Readiness Gates", _at("spec", "readinessGates"), wide=True),
    ),
    resources.NAMESPACES: (NAME, Column("Status", _at("status", "phase")), AGE),
    resources.CONFIG_MAPS: (NAME, Column("Data", _length("data"), "integer"), AGE),
    resources.SECRETS: (
        NAME,
        Column("Type", _at("type")),
        Column("Data", _length("data"), "integer"),
        AGE,
    ),
    resources.EVENTS: (
        Column("Last Seen", _seen),
        Column("Type", _at("type")),
        Column("Reason", _at("reason")),
        Column("Object", _involved),
        Column("Message", _at("message")),
        Column("Count", _at("count", default=1), "integer", wide=True),
        Column("Name", lambda body: body["metadata"]["name"], wide=True),
    ),
    resources.DAEMON_SETS: (
        NAME,
        Column("Desired", _number("status", "desiredNumberScheduled"), "integer"),
        Column("Current", _number("status", "currentNumberScheduled"), "integer"),
        Column("Ready", _number("status", "numberReady"), "integer"),
        Column("Up-to-date", _number("status", "updatedNumberScheduled"), "integer"),
        Column("Available", _number("status", "numberAvailable"), "integer"),
        Column("Node Selector", _selector("spec", "template", "spec", "nodeSelector")),
        AGE,
        *_IMAGES,
    ),
    resources.DEPLOYMENTS: (
        NAME,
        Column("Ready", _counts("readyReplicas", "replicas")),
        Column("Up-to-date", _number("status", "updatedReplicas"), "integer"),
        Column("Available", _number("status", "availableReplicas"), "integer"),
        AGE,
        *_IMAGES,
    ),
    resources.REPLICA_SETS: (
        NAME,
        Column("Desired", _number("spec", "replicas"), "integer"),
        Column("Current", _number("status", "replicas"), "integer"),
        Column("Ready", _number("status", "readyReplicas"), "integer"),
        AGE,
        *_IMAGES,
    ),
    resources.JOBS: (
        NAME,
        Column("Status", lambda job: "Complete" if job.get("status", {}).get("completionTime") else "Running"),
        Column("Completions", _counts("succeeded", "completions")),
        Column("Duration", _duration),
        AGE,
        *_IMAGES,
    ),
    resources.BUDGETS: (
        NAME,
        Column("Min Available", _at("spec", "minAvailable", default="N/A")),
        Column("Max Unavailable", _at("spec", "maxUnavailable", default="N/A")),
        Column("Allowed Disruptions", _number("status", "disruptionsAllowed"), "integer"),
        AGE,
    ),
    resources.STATEFUL_SETS: (NAME, Column("Ready", _counts("readyReplicas", "replicas")), AGE, *_IMAGES),
    resources.SERVICE_ACCOUNTS: (NAME, Column("Secrets", _length("secrets"), "integer"), AGE),
    resources.SERVICES: (
        NAME,
        Column("Type", _at("spec", "type")),
        Column("Cluster-IP", _at("spec", "clusterIP")),
        Column("External-IP", _external),
        Column("Port(s)", _ports),
        AGE,
        Column("Selector", _selector("spec", "selector"), wide=True),
    ),
    resources.SCALERS: (
        NAME,
        Column("Reference", _reference),
        Column("Targets", lambda _: "<unknown>"),
        Column("MinPods", _at("spec", "minReplicas", default="<unset>")),
        Column("MaxPods", _at("spec", "maxReplicas"), "integer"),
        Column("Replicas", _number("status", "currentReplicas"), "integer"),
        AGE,
    ),
    resources.LEASES: (NAME, Column("Holder", _at("spec", "holderIdentity", default="")), AGE),
}
