"""One request: which object or collection it is about, what it asks, and its body."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import yaml
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Request

from fracgpu.sandbox.kubernetes import decoding, protobuf, status
from fracgpu.sandbox.kubernetes.kinds import Kinds
from fracgpu.sandbox.kubernetes.resources import NAMESPACES, Resource
from fracgpu.sandbox.kubernetes.store import Key
from fracgpu.sandbox.world import Json

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
PATCHES = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH)
WARNINGS = "fracgpu.warnings"
"""Where in the WSGI environment of a request its answer's warnings are gathered."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a path points. `name` None is the collection, `namespace` None all namespaces or none."""

    resource: Resource
    namespace: str | None
    name: str | None
    subresource: str = ""

    @property
    def key(self) -> Key:
        assert self.name is not None
        return Key(self.namespace or "", self.name)


def target(kinds: Kinds, path: list[str]) -> Target | None:
    """The target of `api/v1/...` or `apis/<group>/<version>/...`; None where no kind is served there."""
    match path:
        case ["api", "v1", *rest]:
            group, version = "", "v1"
        case ["apis", group, version, *rest]:
            pass
        case _:
            return None
    namespace = None
    if len(rest) >= 3 and rest[0] == "namespaces" and rest[2] not in NAMESPACES.subresources:
        namespace, rest = rest[1], rest[2:]
    if not rest or (len(rest) > 3 and rest[2] != "proxy"):
        return None
    resource = kinds.at(group, version, rest[0])
    name = rest[1] if len(rest) > 1 else None
    subresource = rest[2] if len(rest) > 2 else ""
    if resource is None or (subresource and subresource not in resource.subresources):
        return None
    if namespace is not None and not resource.namespaced:
        return None
    if resource.namespaced and name is not None and namespace is None:
        return None
    return Target(resource, namespace, name, subresource)


def body_of(request: Request) -> Json:
    """The object in a request's body, JSON or YAML; raises 400 and 415."""
    if request.mimetype == protobuf.MEDIA_TYPE:
        return protobuf.decode(request.get_data())
    value = any_body(request, ("application/json", "application/yaml", protobuf.MEDIA_TYPE, *PATCHES))
    if not isinstance(value, dict):
        raise status.bad_request("the object provided is unrecognized (must be of type object)")
    return value


def any_body(request: Request, accepted: tuple[str, ...]) -> object:
    kind = request.mimetype or "application/json"
    if kind not in accepted:
        raise status.unsupported_media(accepted)
    text = request.get_data()
    try:
        return yaml.safe_load(text) if "yaml" in kind else json.loads(text or b"{}")
    except (ValueError, yaml.YAMLError) as error:
        raise status.bad_request(f"error decoding the body: {error}") from error


def manager(request: Request) -> str:
    """The field manager: what the query says, else the first word of the user agent."""
    said = request.args.get("fieldManager")
    return said or request.headers.get("User-Agent", "unknown").split("/", 1)[0] or "unknown"


def flag(arguments: MultiDict[str, str], name: str) -> bool:
    return arguments.get(name, "").lower() in ("true", "1")


def dry_run(request: Request) -> bool:
    """Whether nothing shall be kept; raises 400 for a value other than All."""
    values = request.args.getlist("dryRun")
    if any(value != "All" for value in values):
        raise status.bad_request(f'Invalid value: "{values[0]}": dryRun must be "All"')
    return bool(values)


def read(request: Request, resource: Resource, body: Json, refusal: Callable[[str], status.ApiError]) -> Json:
    """The object as its kind declares it; what it does not know is refused, told of or dropped, as the query says."""
    directive = request.args.get("fieldValidation", decoding.WARN)
    if directive not in (decoding.STRICT, decoding.WARN, decoding.IGNORE):
        known = '"Ignore", "Strict", "Warn"'
        raise status.invalid_options(
            "fieldValidation", f'Unsupported value: "{directive}": supported values: {known}', "FieldValueNotSupported"
        )
    found = decoding.decode(resource, body)
    if found.unknown and directive == decoding.STRICT:
        raise refusal(decoding.strict_error(found.unknown))
    if directive == decoding.WARN:
        warnings = request.environ.setdefault(WARNINGS, [])
        warnings += [f'unknown field "{path}"' for path in found.unknown]
    must_have(resource, found)
    return found.body


def must_have(resource: Resource, found: decoding.Decoded) -> None:
    """Raise 422 where the object's spec lacks what its kind needs."""
    if found.missing:
        causes = [("FieldValueRequired", path, "Required value") for path in found.missing]
        raise status.invalid(resource, (found.body.get("metadata") or {}).get("name") or "", causes)


def bad_patch(patch: object) -> Callable[[str], status.ApiError]:
    """422 for a patch after which the object has fields that nobody knows."""

    def refusal(why: str) -> status.ApiError:
        text = f"Invalid value: {json.dumps(json.dumps(patch))}: {why}"
        cause = {"reason": "FieldValueInvalid", "message": text, "field": "patch"}
        return status.ApiError(422, "Invalid", f' "" is invalid: patch: {text}', {"causes": [cause]})

    return refusal
