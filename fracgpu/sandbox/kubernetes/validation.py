"""What the API server refuses of an object that it could read, as far as programs come across it.

Wording: https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/core/validation/validation.go
"""

from __future__ import annotations

import json
import re

from fracgpu.sandbox.kubernetes import resources, status
from fracgpu.sandbox.kubernetes.quantity import number
from fracgpu.sandbox.kubernetes.resources import Resource
from fracgpu.sandbox.kubernetes.selectors import matches
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
_POD_FROZEN = (
    "Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
    "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_POD_OPEN = {"activeDeadlineSeconds", "terminationGracePeriodSeconds", "tolerations", "schedulingGates"}
_MISMATCH = "`selector` does not match template `labels`"
_FIXED = "field is immutable"
_ANY_NAME = {"clusterroles", "clusterrolebindings", "roles", "rolebindings"}
_NATIVE = ("cpu", "memory", "ephemeral-storage", "pods")


def validate(resource: Resource, body: Json) -> None:
    """Raise 422 for what is not allowed, 400 for a quantity that is none."""
    causes = _metadata(resource, body["metadata"])
    if resource is resources.NODES:
        causes += _taints(body)
    causes += [*_selects_itself(resource, body), *_numbers(resource, body), *_containers(resource, body)]
    if causes:
        raise status.invalid(resource, body["metadata"].get("name") or "", causes)


def check_unchanged(resource: Resource, body: Json, before: Json | None) -> None:
    """Raise 422 for a change, with the defaults filled in, of what stays as it was made."""
    causes = [] if before is None else _immutable(resource, body, before)
    if causes:
        raise status.invalid(resource, body["metadata"]["name"], causes)


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


def _immutable(resource: Resource, body: Json, before: Json) -> list[Cause]:
    if resource is resources.CONFIG_MAPS and before.get("immutable"):
        same = body.get("data") == before.get("data") and body.get("immutable")
        return [] if same else [("FieldValueForbidden", "data", _FROZEN)]
    if resource is resources.PODS and _fixed_part(body["spec"]) != _fixed_part(before["spec"]):
        return [("FieldValueForbidden", "spec", _POD_FROZEN)]
    return [
        ("FieldValueInvalid", f"spec.{field}", f"Invalid value: {json.dumps(body['spec'].get(field))}: {_FIXED}")
        for field in _FIXED_FIELDS.get(resource, ())
        if before["spec"].get(field) != (body.get("spec") or {}).get(field)
    ]


_FIXED_FIELDS: dict[Resource, tuple[str, ...]] = {
    resources.DEPLOYMENTS: ("selector",),
    resources.DAEMON_SETS: ("selector",),
    resources.REPLICA_SETS: ("selector",),
    resources.STATEFUL_SETS: ("selector", "serviceName", "podManagementPolicy"),
    resources.JOBS: ("selector", "template", "completions", "completionMode"),
}
"""Members of a spec that stay as they were made."""


def _fixed_part(spec: Json) -> Json:
    """What of a pod's spec nobody may change: all but a few fields and the images."""
    fixed = {name: value for name, value in spec.items() if name not in _POD_OPEN}
    for part in ("containers", "initContainers"):
        rows = [{name: row[name] for name in row if name != "image"} for row in spec.get(part) or ()]
        fixed[part] = rows
    return fixed


_COUNTS = ("replicas", "parallelism", "completions", "backoffLimit", "revisionHistoryLimit", "minReadySeconds")
_NOT_NEGATIVE = "must be greater than or equal to 0"
_SHARE = re.compile(r"[0-9]+%")


def _numbers(resource: Resource, body: Json) -> list[Cause]:
    """Counts are not negative; a budget's are numbers or percentages."""
    spec = body.get("spec")
    if not isinstance(spec, dict) or resource.custom:
        return []
    counts = [(name, spec[name]) for name in _COUNTS if isinstance(spec.get(name), int)]
    wrong = [(name, value, _NOT_NEGATIVE) for name, value in counts if value < 0]
    if resource is resources.BUDGETS:
        shares = [(name, spec[name]) for name in ("minAvailable", "maxUnavailable") if name in spec]
        form = "a valid percent string must be a numeric string followed by an ending '%' (regex used is '[0-9]+%')"
        wrong += [(name, value, form) for name, value in shares if not _is_share(value)]
    texts = [(f"spec.{name}", f"Invalid value: {json.dumps(value)}: {why}") for name, value, why in wrong]
    return [("FieldValueInvalid", field, text) for field, text in texts]


def _is_share(value: object) -> bool:
    if isinstance(value, str):
        return _SHARE.fullmatch(value) is not None
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_SELECTING = (resources.DEPLOYMENTS, resources.DAEMON_SETS, resources.REPLICA_SETS, resources.STATEFUL_SETS)
_WITH_TEMPLATE = (*_SELECTING, resources.JOBS)


def _selects_itself(resource: Resource, body: Json) -> list[Cause]:
    """The pods of a workload must be those that it selects."""
    if resource not in _SELECTING:
        return []
    spec = body.get("spec") or {}
    if not spec.get("selector"):
        return [("FieldValueRequired", "spec.selector", "Required value")]
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    if matches(spec["selector"], labels):
        return []
    text = f"Invalid value: {json.dumps(labels, separators=(',', ':'))}: {_MISMATCH}"
    return [("FieldValueInvalid", "spec.template.metadata.labels", text)]


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
    elif resource in _WITH_TEMPLATE:
        spec, where = ((body.get("spec") or {}).get("template") or {}).get("spec") or {}, "spec.template.spec"
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
