"""What the API server refuses, and what it fills in, as far as programs come across it.

Wording: https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/core/validation/validation.go
"""

from __future__ import annotations

import re

from fracgpu.sandbox.kubernetes import resources, status
from fracgpu.sandbox.kubernetes.quantity import number
from fracgpu.sandbox.kubernetes.resources import Resource
from fracgpu.sandbox.world import Json

Cause = tuple[str, str, str]

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_NAME_PART = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_LABEL_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_NAME_TEXT = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_FROZEN = "Forbidden: field is immutable when `immutable` is set"
_POD_FROZEN = "Forbidden: pod updates may not change fields other than `spec.containers[*].image`"
_ANY_NAME = {"clusterroles", "clusterrolebindings", "roles", "rolebindings"}
_KNOWN: dict[Resource, set[str]] = {
    resources.CONFIG_MAPS: {"apiVersion", "kind", "metadata", "data", "binaryData", "immutable"},
    **{
        row: {"apiVersion", "kind", "metadata", "spec", "status"}
        for row in (resources.NODES, resources.PODS, resources.NAMESPACES, resources.DAEMON_SETS, resources.DEPLOYMENTS)
    },
}
_NATIVE = ("cpu", "memory", "ephemeral-storage", "pods")


def validate(resource: Resource, body: Json, before: Json | None = None) -> None:
    """Raise 400 for what cannot be decoded and 422 for what is not allowed."""
    _decodable(resource, body)
    name = body["metadata"].get("name") or ""
    causes = [*_metadata(resource, body["metadata"]), *_immutable(resource, body, before)]
    if resource is resources.NODES:
        causes += _taints(body)
    if before is None:
        causes += _containers(resource, body)
    if causes:
        raise status.invalid(resource, name, causes)


def _decodable(resource: Resource, body: Json) -> None:
    unknown = sorted(set(body) - _KNOWN.get(resource, set(body)))
    if unknown:
        raise status.bad_request(
            f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: '
            f'strict decoding error: unknown field "{unknown[0]}"'
        )
    texts = {f".metadata.{part}": body["metadata"].get(part) or {} for part in ("labels", "annotations")}
    if resource is resources.CONFIG_MAPS:
        texts[".data"] = body.get("data") or {}
    for where, values in texts.items():
        if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
            field = f"ObjectMeta{where}" if "metadata" in where else f"{resource.kind}{where}"
            raise status.bad_request(
                f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: '
                f"json: cannot unmarshal into Go struct field {field} of type string"
            )


def _metadata(resource: Resource, metadata: Json) -> list[Cause]:
    name = metadata.get("name") or ""
    causes: list[Cause] = []
    if not name:
        causes.append(("FieldValueRequired", "metadata.name", "Required value: name or generateName is required"))
    elif resource.plural not in _ANY_NAME and (len(name) > 253 or not _SUBDOMAIN.fullmatch(name)):
        causes.append(("FieldValueInvalid", "metadata.name", f'Invalid value: "{name}": {_SUBDOMAIN_TEXT}'))
    for key, value in (metadata.get("labels") or {}).items():
        causes += _label("metadata.labels", key, value)
    return causes


def _label(field: str, key: str, value: str) -> list[Cause]:
    part = key.rpartition("/")[2]
    if not _NAME_PART.fullmatch(part) or len(part) > 63:
        return [("FieldValueInvalid", field, f'Invalid value: "{key}": {_NAME_TEXT}')]
    if len(value) > 63:
        return [("FieldValueInvalid", field, f'Invalid value: "{value}": must be no more than 63 bytes')]
    if not _LABEL_VALUE.fullmatch(value):
        return [("FieldValueInvalid", field, f'Invalid value: "{value}": {_LABEL_TEXT}')]
    return []


def _immutable(resource: Resource, body: Json, before: Json | None) -> list[Cause]:
    if before is None:
        return []
    if resource is resources.CONFIG_MAPS and before.get("immutable"):
        same = body.get("data") == before.get("data") and body.get("immutable")
        return [] if same else [("FieldValueForbidden", "data", _FROZEN)]
    if resource is resources.PODS and body["spec"].get("nodeName") != before["spec"].get("nodeName"):
        return [("FieldValueForbidden", "spec", _POD_FROZEN)]
    return []


def _taints(node: Json) -> list[Cause]:
    causes: list[Cause] = []
    for index, taint in enumerate(node.get("spec", {}).get("taints") or ()):
        if taint.get("effect") not in ("NoSchedule", "PreferNoSchedule", "NoExecute"):
            field = f"metadata.taints[{index}].effect"
            known = '"NoExecute", "NoSchedule", "PreferNoSchedule"'
            text = f'Unsupported value: "{taint.get("effect")}": supported values: {known}'
            causes.append(("FieldValueNotSupported", field, text))
        causes += _label(f"metadata.taints[{index}].value", taint.get("key", ""), taint.get("value") or "")
    return causes


def _containers(resource: Resource, body: Json) -> list[Cause]:
    if resource is resources.PODS:
        spec, where = body.get("spec") or {}, "spec"
    elif "template" in (body.get("spec") or {}):
        spec, where = body["spec"]["template"].get("spec") or {}, "spec.template.spec"
    else:
        return []
    containers = spec.get("containers") or []
    if not containers:
        return [("FieldValueRequired", f"{where}.containers", "Required value")]
    causes: list[Cause] = []
    for index, container in enumerate(containers):
        field = f"{where}.containers[{index}]"
        if not container.get("name"):
            causes.append(("FieldValueRequired", f"{field}.name", "Required value"))
        if not container.get("image"):
            causes.append(("FieldValueRequired", f"{field}.image", "Required value"))
        causes += _quantities(f"{field}.resources", container.get("resources") or {})
    return causes


def _quantities(field: str, parts: Json) -> list[Cause]:
    """Devices are whole numbers, and what is asked for is what is allowed."""
    causes: list[Cause] = []
    limits, requests = parts.get("limits") or {}, parts.get("requests") or {}
    for part, values in (("limits", limits), ("requests", requests)):
        for name, value in values.items():
            causes += _quantity(f"{field}.{part}[{name}]", name, value)
    for name, value in requests.items():
        if "/" not in name:
            continue
        if name not in limits:
            text = "Required value: Limit must be set for non overcommitable resources"
            causes.append(("FieldValueRequired", f"{field}.limits", text))
        elif str(value) != str(limits[name]):
            text = f'Invalid value: "{value}": must be equal to {name} limit of {limits[name]}'
            causes.append(("FieldValueInvalid", f"{field}.requests", text))
    return causes


def _quantity(field: str, name: str, value: object) -> list[Cause]:
    try:
        amount = number(value)
    except ValueError:
        raise status.bad_request(
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        ) from None
    if amount < 0:
        return [("FieldValueInvalid", field, f'Invalid value: "{value}": must be greater than or equal to 0')]
    if name not in _NATIVE and "/" in name and amount != int(amount):
        return [("FieldValueInvalid", field, f'Invalid value: "{value}": must be an integer')]
    return []


def complete(resource: Resource, body: Json, before: Json | None = None) -> Json:
    """The object with the server's defaults, its status and its generation."""
    body = dict(body)
    if resource is resources.PODS:
        body["spec"] = _with_requests({**_POD_SPEC, **body["spec"]})
        body.setdefault("status", {"phase": "Pending", "qosClass": "Burstable"})
    elif isinstance(body.get("spec"), dict) and "containers" in (body["spec"].get("template") or {}).get("spec", {}):
        template = body["spec"]["template"]
        body["spec"] = {**body["spec"], "template": {**template, "spec": _with_requests(template["spec"])}}
    if resource is resources.NAMESPACES:
        labels = {"kubernetes.io/metadata.name": body["metadata"]["name"], **(body["metadata"].get("labels") or {})}
        body["metadata"] = {**body["metadata"], "labels": labels}
        body.setdefault("spec", {"finalizers": ["kubernetes"]})
        body.setdefault("status", {"phase": "Active"})
    if "spec" in body and resource not in (resources.PODS, resources.NODES, resources.NAMESPACES):
        generation = (before or {"metadata": {}})["metadata"].get("generation", 0)
        changed = before is None or before.get("spec") != body["spec"]
        body["metadata"] = {**body["metadata"], "generation": generation + changed}
    return body


def _with_requests(spec: Json) -> Json:
    """What is not asked for is asked for as far as it is allowed."""
    containers = []
    for container in spec["containers"]:
        parts = container.get("resources") or {}
        limits = parts.get("limits") or {}
        requests = {**limits, **(parts.get("requests") or {})}
        containers.append({**container, "resources": {**parts, "requests": requests}} if limits else container)
    return {**spec, "containers": containers}


_POD_SPEC: Json = {
    "dnsPolicy": "ClusterFirst",
    "enableServiceLinks": True,
    "restartPolicy": "Always",
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "serviceAccountName": "default",
    "terminationGracePeriodSeconds": 30,
}
