"""Objects in Kubernetes' protobuf form, as far as `kubectl create` sends them; nothing is ever answered in it.

The envelope: https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding. Field numbers:
https://github.com/kubernetes/api/blob/master/core/v1/generated.proto and its neighbours.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from fracgpu.sandbox.kubernetes import status
from fracgpu.sandbox.world import Json

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\x00"

Read = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Field:
    """`read` turns the wire's value into JSON's; `many` is a list, `map` a map of names to such values."""

    name: str
    read: Read
    many: bool = False
    map: bool = False


Message = dict[int, Field]


def _text(raw: bytes) -> str:
    return raw.decode()


def _encoded(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _message(fields: Message) -> Read:
    return lambda raw: _read(raw, fields)


def _map(name: str, read: Read = _text) -> Field:
    return Field(name, read, map=True)


_META = Field(
    "metadata",
    _message(
        {
            1: Field("name", _text),
            2: Field("generateName", _text),
            3: Field("namespace", _text),
            11: _map("labels"),
            12: _map("annotations"),
        }
    ),
)
_QUANTITY = _message({1: Field("", _text)})
_RESOURCES: Message = {1: _map("limits", _QUANTITY), 2: _map("requests", _QUANTITY)}
_PORT: Message = {1: Field("name", _text), 3: Field("containerPort", int), 4: Field("protocol", _text)}
_CONTAINER: Message = {
    1: Field("name", _text),
    2: Field("image", _text),
    3: Field("command", _text, many=True),
    4: Field("args", _text, many=True),
    6: Field("ports", _message(_PORT), many=True),
    7: Field("env", _message({1: Field("name", _text), 2: Field("value", _text)}), many=True),
    8: Field("resources", _message(_RESOURCES)),
}
_POD_SPEC: Message = {
    2: Field("containers", _message(_CONTAINER), many=True),
    3: Field("restartPolicy", _text),
    7: _map("nodeSelector"),
}
_TEMPLATE = Field("template", _message({1: _META, 2: Field("spec", _message(_POD_SPEC))}))
_SELECTOR = Field("selector", _message({1: _map("matchLabels")}))
_INT_OR_TEXT: Message = {1: Field("type", int), 2: Field("int", int), 3: Field("text", _text)}


def _int_or_text(raw: bytes) -> int | str:
    value = _read(raw, _INT_OR_TEXT)
    return str(value.get("text", "")) if value.get("type") else int(value.get("int", 0))


_BUDGET: Message = {
    1: Field("minAvailable", _int_or_text),
    2: _SELECTOR,
    3: Field("maxUnavailable", _int_or_text),
}
_ATTRIBUTES = {
    number + 1: Field(name, _text) for number, name in enumerate(["namespace", "verb", "group", "version", "resource"])
}
_JOB: Message = {
    1: Field("parallelism", int),
    2: Field("completions", int),
    6: _TEMPLATE,
    7: Field("backoffLimit", int),
}
_CRON_JOB: Message = {
    1: Field("schedule", _text),
    3: Field("concurrencyPolicy", _text),
    5: Field("jobTemplate", _message({1: _META, 2: Field("spec", _message(_JOB))})),
}
_SECONDS = Field("expirationSeconds", int)
_RULE = ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")
_RULES = Field(
    "rules", _message({number: Field(name, _text, many=True) for number, name in enumerate(_RULE, 1)}), many=True
)
_SUBJECT = ("kind", "apiGroup", "name", "namespace")
_SUBJECTS = Field(
    "subjects", _message({number: Field(name, _text) for number, name in enumerate(_SUBJECT, 1)}), many=True
)
_ROLE = Field(
    "roleRef", _message({number: Field(name, _text) for number, name in enumerate(("apiGroup", "kind", "name"), 1)})
)
_SERVICE_PORT: Message = {
    1: Field("name", _text),
    2: Field("protocol", _text),
    3: Field("port", int),
    4: Field("targetPort", _int_or_text),
}
_SERVICE: Message = {
    1: Field("ports", _message(_SERVICE_PORT), many=True),
    2: _map("selector"),
    3: Field("clusterIP", _text),
    4: Field("type", _text),
    10: Field("externalName", _text),
}
_KINDS: dict[str, Message] = {
    "Namespace": {1: _META},
    "ServiceAccount": {1: _META},
    "ConfigMap": {1: _META, 2: _map("data"), 3: _map("binaryData", _encoded)},
    "Secret": {1: _META, 2: _map("data", _encoded), 3: Field("type", _text)},
    "Deployment": {
        1: _META,
        2: Field("spec", _message({1: Field("replicas", int), 2: _SELECTOR, 3: _TEMPLATE})),
    },
    "Job": {1: _META, 2: Field("spec", _message(_JOB))},
    "CronJob": {1: _META, 2: Field("spec", _message(_CRON_JOB))},
    "PodDisruptionBudget": {1: _META, 2: Field("spec", _message(_BUDGET))},
    "SelfSubjectAccessReview": {
        1: _META,
        2: Field("spec", _message({1: Field("resourceAttributes", _message(_ATTRIBUTES))})),
    },
    "SelfSubjectReview": {1: _META},
    "SelfSubjectRulesReview": {1: _META, 2: Field("spec", _message({1: Field("namespace", _text)}))},
    "TokenRequest": {1: _META, 2: Field("spec", _message({1: Field("audiences", _text, many=True), 4: _SECONDS}))},
    "Role": {1: _META, 2: _RULES},
    "ClusterRole": {1: _META, 2: _RULES},
    "RoleBinding": {1: _META, 2: _SUBJECTS, 3: _ROLE},
    "ClusterRoleBinding": {1: _META, 2: _SUBJECTS, 3: _ROLE},
    "PriorityClass": {
        1: _META,
        2: Field("value", int),
        3: Field("globalDefault", bool),
        4: Field("description", _text),
        5: Field("preemptionPolicy", _text),
    },
    "ResourceQuota": {
        1: _META,
        2: Field("spec", _message({1: _map("hard", _QUANTITY), 2: Field("scopes", _text, many=True)})),
    },
    "Service": {1: _META, 2: Field("spec", _message(_SERVICE))},
}


def decode(data: bytes) -> Json:
    """The object; raises 400 for what is no such message, 415 for a kind whose fields are not known here."""
    if not data.startswith(MAGIC):
        raise status.bad_request("the body is not in Kubernetes' protobuf form")
    try:
        head: Message = {1: Field("apiVersion", _text), 2: Field("kind", _text)}
        envelope = _read(data[len(MAGIC) :], {1: Field("type", _message(head)), 2: Field("raw", bytes)})
        type_ = envelope["type"]
        if type_["kind"] not in _KINDS:
            raise status.unsupported_media(("application/json", "application/yaml"))
        return {**type_, **_read(envelope.get("raw", b""), _KINDS[type_["kind"]])}
    except (IndexError, KeyError, UnicodeDecodeError) as error:
        raise status.bad_request(f"error decoding the body: {error!r}") from error


def _read(raw: bytes, fields: Message) -> Json:
    found: Json = {}
    for number, value in _wire(raw):
        field = fields.get(number)
        if field is None:
            continue
        if field.map:
            pair = _read(value, {1: Field("key", _text), 2: Field("value", bytes)})
            found.setdefault(field.name, {})[pair.get("key", "")] = _bare(field.read(pair.get("value", b"")))
        elif field.many:
            found.setdefault(field.name, []).append(field.read(value))
        elif value != b"":
            # Texts that are not set are on the wire all the same, empty.
            found[field.name] = field.read(value)
    return found


def _bare(value: Any) -> Any:
    """A quantity is a message with its text as the one nameless field."""
    return value[""] if isinstance(value, dict) and set(value) == {""} else value


def _wire(raw: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a message as (number, value): an int, or the bytes of a text or an inner message."""
    at = 0
    while at < len(raw):
        tag, at = _varint(raw, at)
        number, form = tag >> 3, tag & 7
        if form == 0:
            value: Any
            value, at = _varint(raw, at)
        elif form == 2:
            length, at = _varint(raw, at)
            value, at = raw[at : at + length], at + length
        else:
            width = 8 if form == 1 else 4
            value, at = int.from_bytes(raw[at : at + width], "little"), at + width
        yield number, value


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = raw[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
