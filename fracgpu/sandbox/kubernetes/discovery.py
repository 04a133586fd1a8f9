"""What the API says about itself: versions, groups and kinds.

Both the plain and the aggregated form (https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/3352-aggregated-discovery).
"""

from __future__ import annotations

from fracgpu.sandbox.kubernetes import openapi
from fracgpu.sandbox.kubernetes.kinds import Kinds
from fracgpu.sandbox.kubernetes.resources import Resource
from fracgpu.sandbox.world import Cloud, Json

GIT_VERSIONS = {Cloud.AKS: "v1.34.2", Cloud.GKE: "v1.35.3-gke.1389000", Cloud.EKS: "v1.34.4-eks-3cfe0ce"}
"""What each cloud's own API says its clusters run, which their nodes do too."""

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
Groups = dict[str, dict[str, list[Resource]]]


def version(cloud: Cloud) -> Json:
    """`/version`."""
    major, minor, _ = GIT_VERSIONS[cloud].removeprefix("v").split(".", 2)
    return {
        "major": major,
        "minor": minor,
        "gitVersion": GIT_VERSIONS[cloud],
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "2025-10-01T00:00:00Z",
        "goVersion": "go1.24.6",
        "compiler": "gc",
        "platform": "linux/amd64",
    }


def answer(kinds: Kinds, path: list[str], accept: str, host: str) -> tuple[Json, str] | None:
    """The document at a discovery path with its content type; None where the path is not one of discovery."""
    groups = kinds.groups()
    if "g=apidiscovery.k8s.io;v=v2" in accept and path in (["api"], ["apis"]):
        core = path == ["api"]
        return _aggregated({name: rows for name, rows in groups.items() if (name == "") == core}), AGGREGATED
    found = _document(path, groups, host)
    return None if found is None else (found, "application/json")


def _document(path: list[str], groups: Groups, host: str) -> Json | None:
    named = {name: versions for name, versions in groups.items() if name}
    match path:
        case ["api"]:
            addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": host}]
            return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses}
        case ["apis"]:
            rows = [_group(name, versions) for name, versions in named.items()]
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": rows}
        case ["apis", group] if group in named:
            return {"kind": "APIGroup", "apiVersion": "v1", **_group(group, named[group])}
        case ["openapi", "v3", *rest]:
            return openapi.answer(rest, groups)
        case ["api", "v1"]:
            return _resource_list("v1", groups[""]["v1"])
        case ["apis", group, version] if version in named.get(group, {}):
            return _resource_list(f"{group}/{version}", named[group][version])
        case _:
            return None


def _group(group: str, versions: dict[str, list[Resource]]) -> Json:
    rows = [{"groupVersion": f"{group}/{version}", "version": version} for version in versions]
    return {"name": group, "versions": rows, "preferredVersion": rows[0]}


def _resource_list(group_version: str, resources: list[Resource]) -> Json:
    rows: list[Json] = []
    for resource in resources:
        row: Json = {"name": resource.plural, "singularName": resource.kind.lower(), "namespaced": resource.namespaced}
        row |= {"kind": resource.kind, "verbs": list(resource.verbs)}
        if resource.short:
            row["shortNames"] = list(resource.short)
        if resource.categories:
            row["categories"] = list(resource.categories)
        rows += [row, *(_subresource(resource, name) for name in resource.subresources)]
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": rows}


_OTHER_KINDS = {
    "eviction": ("policy", "v1", "Eviction"),
    "scale": ("autoscaling", "v1", "Scale"),
    "binding": ("", "v1", "Binding"),
    "token": ("authentication.k8s.io", "v1", "TokenRequest"),
    "exec": ("", "v1", "PodExecOptions"),
    "attach": ("", "v1", "PodAttachOptions"),
    "portforward": ("", "v1", "PodPortForwardOptions"),
    "proxy": ("", "v1", "PodProxyOptions"),
}
_VERBS = {
    "eviction": ["create"],
    "binding": ["create"],
    "token": ["create"],
    "log": ["get"],
    "finalize": ["update"],
    "exec": ["create", "get"],
    "attach": ["create", "get"],
    "portforward": ["create", "get"],
    "proxy": ["create", "delete", "get", "patch", "update"],
}


def _kind_below(resource: Resource, name: str) -> tuple[str, str, str]:
    return _OTHER_KINDS.get(name, (resource.group, resource.version, resource.kind))


def _subresource(resource: Resource, name: str) -> Json:
    row: Json = {"name": f"{resource.plural}/{name}", "singularName": "", "namespaced": resource.namespaced}
    group, version, kind = _kind_below(resource, name)
    if group != resource.group:
        row |= {"group": group, "version": version}
    return {**row, "kind": kind, "verbs": _VERBS.get(name, ["get", "patch", "update"])}


def _aggregated(groups: Groups) -> Json:
    items = [_discovered(group, versions) for group, versions in groups.items()]
    return {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}


def _discovered(group: str, versions: dict[str, list[Resource]]) -> Json:
    rows = [
        {"version": version, "resources": [_discovered_resource(one) for one in resources], "freshness": "Current"}
        for version, resources in versions.items()
    ]
    metadata = {"name": group, "creationTimestamp": None} if group else {"creationTimestamp": None}
    return {"metadata": metadata, "versions": rows}


def _discovered_resource(resource: Resource) -> Json:
    row: Json = {
        "resource": resource.plural,
        "responseKind": {"group": resource.group, "version": resource.version, "kind": resource.kind},
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
    response = dict(zip(("group", "version", "kind"), _kind_below(resource, name), strict=True))
    return {"subresource": name, "responseKind": response, "verbs": _VERBS.get(name, ["get", "patch", "update"])}
