"""What the API says about itself: versions, groups, kinds, and as much OpenAPI as clients need to go on.

Both the plain and the aggregated form (https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/3352-aggregated-discovery).
"""

from __future__ import annotations

from fracgpu.sandbox.kubernetes.resources import RESOURCES, Resource, groups
from fracgpu.sandbox.world import Cloud, Json

MINOR = "34"
GIT_VERSIONS = {Cloud.AKS: "v1.34.1", Cloud.GKE: "v1.34.1-gke.2037001", Cloud.EKS: "v1.34.1-eks-3cfe0ce"}
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def version(cloud: Cloud) -> Json:
    """`/version`."""
    return {
        "major": "1",
        "minor": MINOR,
        "gitVersion": GIT_VERSIONS[cloud],
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "2025-10-01T00:00:00Z",
        "goVersion": "go1.24.6",
        "compiler": "gc",
        "platform": "linux/amd64",
    }


def answer(path: list[str], accept: str, host: str) -> tuple[Json, str] | None:
    """The document at a discovery path with its content type; None where the path is not one of discovery."""
    named = [group for group in groups() if group]
    if "g=apidiscovery.k8s.io;v=v2" in accept and path in (["api"], ["apis"]):
        return _aggregated([""] if path == ["api"] else named), AGGREGATED
    found = _document(path, named, host)
    return None if found is None else (found, "application/json")


def _document(path: list[str], named: list[str], host: str) -> Json | None:
    match path:
        case ["api"]:
            addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": host}]
            return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses}
        case ["apis"]:
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(group) for group in named]}
        case ["apis", group] if group in named:
            return {"kind": "APIGroup", "apiVersion": "v1", **_group(group)}
        case ["openapi", "v3"]:
            return {"paths": {_gv(one): {"serverRelativeURL": f"/openapi/v3/{_gv(one)}?hash=1"} for one in groups()}}
        case ["openapi", "v3", *rest]:
            return next((_openapi(one) for one in groups() if rest == _gv(one).split("/")), None)
        case _:
            return next((_resource_list(one, "v1") for one in groups() if path == _gv(one).split("/")), None)


def _gv(group: str) -> str:
    return f"apis/{group}/v1" if group else "api/v1"


def _group(group: str) -> Json:
    row = {"groupVersion": f"{group}/v1", "version": "v1"}
    return {"name": group, "versions": [row], "preferredVersion": row}


def _resource_list(group: str, version: str) -> Json:
    rows: list[Json] = []
    for resource in groups()[group]:
        row: Json = {"name": resource.plural, "singularName": resource.kind.lower(), "namespaced": resource.namespaced}
        row |= {"kind": resource.kind, "verbs": list(resource.verbs)}
        if resource.short:
            row["shortNames"] = list(resource.short)
        if resource.categories:
            row["categories"] = list(resource.categories)
        rows += [row, *(_subresource(resource, name) for name in resource.subresources)]
    gv = f"{group}/{version}" if group else version
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": gv, "resources": rows}


_OTHER_KINDS = {"eviction": ("policy", "Eviction"), "scale": ("autoscaling", "Scale"), "binding": ("", "Binding")}
_VERBS = {"eviction": ["create"], "binding": ["create"], "log": ["get"], "finalize": ["update"]}


def _subresource(resource: Resource, name: str) -> Json:
    row: Json = {"name": f"{resource.plural}/{name}", "singularName": "", "namespaced": resource.namespaced}
    group, kind = _OTHER_KINDS.get(name, (resource.group, resource.kind))
    if group != resource.group:
        row |= {"group": group, "version": "v1"}
    return {**row, "kind": kind, "verbs": _VERBS.get(name, ["get", "patch", "update"])}


def _aggregated(names: list[str]) -> Json:
    items = [_discovered(group, groups()[group]) for group in names]
    return {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}


def _discovered(group: str, rows: list[Resource]) -> Json:
    resources = [_discovered_resource(group, resource) for resource in rows]
    metadata = {"name": group, "creationTimestamp": None} if group else {"creationTimestamp": None}
    return {"metadata": metadata, "versions": [{"version": "v1", "resources": resources, "freshness": "Current"}]}


def _discovered_resource(group: str, resource: Resource) -> Json:
    row: Json = {
        "resource": resource.plural,
        "responseKind": {"group": group, "version": "v1", "kind": resource.kind},
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.kind.lower(),
        "verbs": list(resource.verbs),
    }
    if resource.short:
        row["shortNames"] = list(resource.short)
    if resource.categories:
        row["categories"] = list(resource.categories)
    if resource.subresources:
        row["subresources"] = [_discovered_sub(resource, name) for name in resource.subresources]
    return row


def _discovered_sub(resource: Resource, name: str) -> Json:
    group, kind = _OTHER_KINDS.get(name, (resource.group, resource.kind))
    response = {"group": group, "version": "v1", "kind": kind}
    return {"subresource": name, "responseKind": response, "verbs": _VERBS.get(name, ["get", "patch", "update"])}


def _openapi(group: str) -> Json:
    """Paths only: kubectl looks here for `fieldValidation`, to know that the server validates."""
    paths: Json = {}
    for resource in (row for row in RESOURCES if row.group == group):
        scope = "namespaces/{namespace}/" if resource.namespaced else ""
        gvk = {"group": group, "version": "v1", "kind": resource.kind}
        operation = {
            "parameters": [{"name": name, "in": "query", "schema": {"type": "string"}} for name in _WRITE_PARAMETERS],
            "responses": {"200": {"description": "OK"}},
            "x-kubernetes-group-version-kind": gvk,
        }
        where = f"/{_gv(group)}/{scope}{resource.plural}"
        paths[where] = {"post": {**operation, "x-kubernetes-action": "post"}}
        paths[where + "/{name}"] = {
            "patch": {**operation, "x-kubernetes-action": "patch"},
            "put": {**operation, "x-kubernetes-action": "put"},
        }
    info = {"title": "Kubernetes", "version": f"v1.{MINOR}.1"}
    return {"openapi": "3.0.0", "info": info, "paths": paths, "components": {"schemas": {}}}


_WRITE_PARAMETERS = ("dryRun", "fieldManager", "fieldValidation", "force")
