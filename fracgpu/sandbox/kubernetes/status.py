"""Errors as a Kubernetes API server words them: `Status` objects.

Wording: https://github.com/kubernetes/apimachinery/blob/master/pkg/api/errors/errors.go
"""

from __future__ import annotations

from typing import Any

from fracgpu.sandbox.kubernetes.resources import Resource
from fracgpu.sandbox.world import Json


class ApiError(Exception):
    """Ends a request with a `Status`. `details` is left out where empty."""

    def __init__(self, code: int, reason: str, message: str, details: Json | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details or {}

    def body(self) -> Json:
        status: Json = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "code": self.code,
        }
        if self.reason:
            status["reason"] = self.reason
        if self.details:
            status["details"] = self.details
        return status


def _details(resource: Resource, name: str, **more: Any) -> Json:
    details: Json = {"name": name, "kind": resource.plural, **more}
    if resource.group:
        details["group"] = resource.group
    return {key: value for key, value in details.items() if value != ""}


def not_found(resource: Resource, name: str) -> ApiError:
    return ApiError(404, "NotFound", f'{resource.qualified} "{name}" not found', _details(resource, name))


def no_such_path() -> ApiError:
    # The empty details are the real server's; kubectl debug reads them without a look.
    return ApiError(404, "NotFound", "the server could not find the requested resource", {"causes": []})


def below_a_cluster(path: str) -> ApiError:
    """A path without the cluster that it is about, as `kubectl get --raw` asks for."""
    message = f"the sandbox has several clusters: ask for /k8s/CLOUD/CLUSTER{path}, as the kubeconfig's server begins"
    return ApiError(404, "NotFound", message, {"causes": []})


def immortal(namespace: str) -> ApiError:
    """https://github.com/kubernetes/kubernetes/blob/master/plugin/pkg/admission/namespace/lifecycle/admission.go"""
    message = f'namespaces "{namespace}" is forbidden: this namespace may not be deleted'
    return ApiError(403, "Forbidden", message, {"name": namespace, "kind": "namespaces"})


def nothing_runs(pod: str, what: str) -> ApiError:
    """What would need a container that runs: the sandbox has none, and says so as a kubelet out of reach is told of."""
    message = f"error dialing backend: the sandbox runs no containers: pod {pod} has nothing to {what}"
    return ApiError(500, "InternalError", message)


def not_declared(what: str, paths: list[str]) -> ApiError:
    """A server-side apply with fields that its kind does not know."""
    fields = [f".{path}: field not declared in schema" for path in paths]
    text = fields[0] if len(fields) == 1 else "errors:\n" + "\n".join(f"  {field}" for field in fields)
    return ApiError(500, "", f"failed to create typed patch object ({what}): {text}")


def already_exists(resource: Resource, name: str) -> ApiError:
    message = f'{resource.qualified} "{name}" already exists'
    return ApiError(409, "AlreadyExists", message, _details(resource, name))


def modified(resource: Resource, name: str) -> ApiError:
    message = (
        f'Operation cannot be fulfilled on {resource.qualified} "{name}": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )
    return ApiError(409, "Conflict", message, _details(resource, name))


def bound_already(pod: str, node: str) -> ApiError:
    """A pod stays on the node that it was given."""
    message = f'Operation cannot be fulfilled on pods/binding "{pod}": pod {pod} is already assigned to node "{node}"'
    return ApiError(409, "Conflict", message)


def conflict(message: str, causes: list[Json]) -> ApiError:
    """A server-side apply that meets fields of other managers."""
    return ApiError(409, "Conflict", message, {"causes": causes})


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def invalid(resource: Resource, name: str, causes: list[tuple[str, str, str]]) -> ApiError:
    """422. `causes` are (reason as in `FieldValueInvalid`, field path, message)."""
    lines = [f"{field}: {message}" for _, field, message in causes]
    text = lines[0] if len(lines) == 1 else "[" + ", ".join(lines) + "]"
    details = _details(resource, name, kind=resource.kind)
    details["causes"] = [{"reason": reason, "message": message, "field": field} for reason, field, message in causes]
    kind = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
    return ApiError(422, "Invalid", f'{kind} "{name}" is invalid: {text}', details)


def method_not_allowed() -> ApiError:
    return ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")


def unauthorized() -> ApiError:
    return ApiError(401, "Unauthorized", "Unauthorized")


def unsupported_media(accepted: tuple[str, ...]) -> ApiError:
    message = "the body of the request was in an unknown format - accepted media types include: " + ", ".join(accepted)
    return ApiError(415, "UnsupportedMediaType", message)


def expired(message: str) -> ApiError:
    return ApiError(410, "Expired", message)


def disruption(budget: str, needs: int, has: int) -> ApiError:
    """An eviction that a PodDisruptionBudget forbids."""
    cause = f"The disruption budget {budget} needs {needs} healthy pods and has {has} currently"
    return ApiError(
        429,
        "TooManyRequests",
        "Cannot evict pod as it would violate the pod's disruption budget.",
        {"causes": [{"reason": "DisruptionBudget", "message": cause}]},
    )


def success(resource: Resource, name: str, uid: str) -> Json:
    """What a DELETE answers when the object is gone."""
    details = {key: value for key, value in {**_details(resource, name), "uid": uid}.items() if value}
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}


def invalid_options(field: str, message: str, reason: str = "FieldValueRequired") -> ApiError:
    """422 about the options of a patch."""
    cause = {"reason": reason, "message": message, "field": field}
    text = f'PatchOptions.meta.k8s.io "" is invalid: {field}: {message}'
    return ApiError(422, "Invalid", text, {"group": "meta.k8s.io", "kind": "PatchOptions", "causes": [cause]})
