"""What the API server fills into an object that a client wrote.

Defaults: https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/core/v1/defaults.go and its neighbours.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from typing import Any

from fracgpu.sandbox.kubernetes import resources
from fracgpu.sandbox.kubernetes.quantity import requests_of
from fracgpu.sandbox.kubernetes.resources import Resource
from fracgpu.sandbox.world import Json

_POD_SPEC: Json = {
    "dnsPolicy": "ClusterFirst",
    "restartPolicy": "Always",
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "terminationGracePeriodSeconds": 30,
}
_ALONE: Json = {
    "enableServiceLinks": True,
    "preemptionPolicy": "PreemptLowerPriority",
    "priority": 0,
    "serviceAccount": "default",
    "serviceAccountName": "default",
}
"""What a pod has and a template has not."""

_CONTAINER: Json = {
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
_STAYS: list[Json] = [
    {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for key in ("not-ready", "unreachable")
]
"""https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#defaulttolerationseconds"""

_SPECS: dict[Resource, Json] = {
    resources.DEPLOYMENTS: {
        "progressDeadlineSeconds": 600,
        "replicas": 1,
        "revisionHistoryLimit": 10,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
    },
    resources.DAEMON_SETS: {
        "revisionHistoryLimit": 10,
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
    },
    resources.REPLICA_SETS: {"replicas": 1},
    resources.STATEFUL_SETS: {
        "podManagementPolicy": "OrderedReady",
        "replicas": 1,
        "revisionHistoryLimit": 10,
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
    },
    resources.JOBS: {
        "backoffLimit": 6,
        "completionMode": "NonIndexed",
        "completions": 1,
        "parallelism": 1,
        "suspend": False,
    },
    resources.SERVICES: {
        "internalTrafficPolicy": "Cluster",
        "ipFamilies": ["IPv4"],
        "ipFamilyPolicy": "SingleStack",
        "sessionAffinity": "None",
        "type": "ClusterIP",
    },
}


def complete(resource: Resource, body: Json, before: Json | None = None) -> Json:
    """The object with the server's defaults, its status and its generation."""
    body = dict(body)
    if resource in _SPECS:
        body["spec"] = {**_SPECS[resource], **(body.get("spec") or {})}
    if isinstance(body.get("spec"), dict) and "containers" in ((body["spec"].get("template") or {}).get("spec") or {}):
        template = body["spec"]["template"]
        body["spec"] = {**body["spec"], "template": {**template, "spec": _pod_spec(template["spec"])}}
    if resource in _OWN:
        _OWN[resource](body, before)
    if "spec" in body and resource not in (resources.PODS, resources.NODES, resources.NAMESPACES):
        generation = (before or {"metadata": {}})["metadata"].get("generation", 0)
        changed = before is None or before.get("spec") != body["spec"]
        body["metadata"] = {**body["metadata"], "generation": generation + changed}
    return body


def with_texts(body: Json) -> Json:
    """The object with the quantities of its containers as text, as they are kept, and nothing else filled in."""
    spec = body.get("spec")
    if not isinstance(spec, dict):
        return body
    if isinstance(spec.get("template"), dict):
        return {**body, "spec": {**spec, "template": with_texts(spec["template"])}}
    parts: Json = {
        name: [
            {**one, **({"resources": _quantities(one["resources"])} if one.get("resources") else {})} for one in rows
        ]
        for name in ("initContainers", "containers")
        if (rows := spec.get(name))
    }
    return {**body, "spec": {**spec, **parts}} if parts else body


def _pod(body: Json, _: Json | None) -> None:
    spec = {**_ALONE, **_pod_spec(body["spec"])}
    keys = {(one.get("key"), one.get("effect")) for one in spec.get("tolerations") or ()}
    everything = (None, None) in keys
    own = [] if everything else [one for one in _STAYS if (one["key"], "NoExecute") not in keys]
    body["spec"] = {**spec, "tolerations": [*(spec.get("tolerations") or ()), *own]}
    body.setdefault("status", {"phase": "Pending", "qosClass": quality(spec)})


def _pod_spec(spec: Json) -> Json:
    parts: Json = {
        name: [_container(one) for one in spec[name]] for name in ("initContainers", "containers") if name in spec
    }
    return {**_POD_SPEC, **spec, **parts}


def _container(container: Json) -> Json:
    image = str(container.get("image", "")).rpartition("/")[2]
    moving = "@" not in image and image.rpartition(":")[2] in (image, "latest")
    found = {**_CONTAINER, "imagePullPolicy": "Always" if moving else "IfNotPresent", **container}
    found["resources"] = _resources(found["resources"] or {})
    if ports := found.get("ports"):
        found["ports"] = [{"protocol": "TCP", **port} for port in ports]
    return found


def _resources(parts: Json) -> Json:
    """What is not asked for is asked for as far as it is allowed."""
    found = _quantities(parts)
    if limits := found.get("limits"):
        found["requests"] = {**limits, **(found.get("requests") or {})}
    return found


def _quantities(parts: Json) -> Json:
    """Quantities are text, whatever they were."""
    rows = {name: parts[name] for name in ("limits", "requests") if parts.get(name)}
    return {**parts, **{row: {name: str(value) for name, value in found.items()} for row, found in rows.items()}}


def quality(spec: Json) -> str:
    """The quality of service, which devices have no part in.

    https://kubernetes.io/docs/concepts/workloads/pods/pod-qos/
    """
    every = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    asked = [{name: value for name, value in requests_of(one).items() if name in ("cpu", "memory")} for one in every]
    limits = [{n: v for n, v in _limits(one).items() if n in ("cpu", "memory")} for one in every]
    if not any(asked) and not any(limits):
        return "BestEffort"
    full = all(set(limit) == {"cpu", "memory"} for limit in limits)
    same = all(requests_of({"resources": {"limits": limit}}) == ask for limit, ask in zip(limits, asked, strict=True))
    return "Guaranteed" if full and same else "Burstable"


def _limits(container: Json) -> Json:
    return (container.get("resources") or {}).get("limits") or {}


def _namespace(body: Json, _: Json | None) -> None:
    labels = {"kubernetes.io/metadata.name": body["metadata"]["name"], **(body["metadata"].get("labels") or {})}
    body["metadata"] = {**body["metadata"], "labels": labels}
    body.setdefault("spec", {"finalizers": ["kubernetes"]})
    body.setdefault("status", {"phase": "Active"})


def _secret(body: Json, _: Json | None) -> None:
    texts = body.pop("stringData", None) or {}
    if texts:
        encoded = {name: base64.b64encode(text.encode()).decode() for name, text in texts.items()}
        body["data"] = {**(body.get("data") or {}), **encoded}
    body.setdefault("type", "Opaque")


def _job(body: Json, before: Json | None) -> None:
    """A job selects its pods by its own uid, which their labels have from its template; kept once it is there."""
    if before is not None:
        kept = before["spec"]
        body["spec"] = {"selector": kept.get("selector"), **body["spec"]}
        return
    metadata, spec = body["metadata"], body["spec"]
    label = {"batch.kubernetes.io/job-name": metadata["name"], "job-name": metadata["name"]}
    template = spec.get("template") or {}
    inner = template.get("metadata") or {}
    labelled = {**template, "metadata": {**inner, "labels": {**(inner.get("labels") or {}), **label}}}
    selector = {"matchLabels": {"batch.kubernetes.io/job-name": metadata["name"]}}
    body["spec"] = {"selector": selector, **spec, "template": labelled}


def _service(body: Json, before: Json | None) -> None:
    spec, kept = body["spec"], (before or {}).get("spec") or {}
    address = spec.get("clusterIP") or kept.get("clusterIP")
    if not address and spec["type"] != "ExternalName":
        digest = hashlib.sha256("{namespace}/{name}".format(**body["metadata"]).encode()).digest()
        address = f"10.0.{digest[0]}.{max(digest[1], 2)}"
    ports = [{"protocol": "TCP", "targetPort": port.get("port"), **port} for port in spec.get("ports") or ()]
    body["spec"] = {**spec, **({"clusterIP": address, "clusterIPs": [address]} if address else {}), "ports": ports}
    body.setdefault("status", {"loadBalancer": {}})


_OWN: dict[Resource, Callable[[Json, Any], None]] = {
    resources.PODS: _pod,
    resources.NAMESPACES: _namespace,
    resources.SECRETS: _secret,
    resources.JOBS: _job,
    resources.SERVICES: _service,
}
