"""The cluster of the current kubectl context, where the names in it tell which cloud made it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fracgpu.kube.access import KubeAccess
from fracgpu.resolve import ClusterRef
from fracgpu.spec import Cluster
from fracgpu.textfile import read_text

EKS_ARN = re.compile(r"arn:[\w-]+:eks:(?P<region>[\w-]+):\d*:cluster/(?P<name>[\w-]+)")
"""As `aws eks update-kubeconfig` names a cluster."""
EKSCTL = re.compile(r"(?P<name>[\w-]+)\.(?P<region>[\w-]+)\.eksctl\.io")
GKE = re.compile(r"gke_(?P<project>[^_]+)_(?P<location>[^_]+)_(?P<name>.+)")
"""As `gcloud container clusters get-credentials` does."""
NAMES = re.compile(r"[\x21-\x7e]+")
AKS_USERS = ("clusterUser_", "clusterAdmin_")
"""Before GROUP_NAME, as `az aks get-credentials` names a user; the cluster has its bare name."""


def current_cluster() -> Cluster | None:
    """The cluster; None where there is no context, or its names tell nothing."""
    wanted: str | None = None
    contexts: dict[str, dict[str, Any]] = {}
    for config in _configs():
        wanted = wanted or config.get("current-context")
        for one in _mappings(config.get("contexts")):
            contexts.setdefault(str(one.get("name")), one.get("context") or {})
    context = contexts.get(str(wanted))
    if not isinstance(context, dict):
        return None
    return named(str(context.get("cluster", "")), str(context.get("user", "")))


def access_by_context(cluster: ClusterRef) -> KubeAccess | None:
    """The way that the kubeconfig knows to a cluster, by the first context whose names mean it; None where none does.

    Every file is read; what several have, the first says, and their relative paths stay their own, as for kubectl.
    """
    whole: dict[str, Any] = {kind: [] for kind in ENTRIES}
    for config, folder in _configs_with_folders():
        for kind, member in ENTRIES.items():
            whole[kind] += [_with_paths(one, member, folder) for one in _mappings(config.get(kind))]
    servers = {one.get("name"): (one.get("cluster") or {}).get("server") for one in reversed(whole["clusters"])}
    for one in whole["contexts"]:
        said = one.get("context") or {}
        if _means(said, cluster):
            server = str(servers.get(said.get("cluster")) or "")
            return KubeAccess(server=server, kubeconfig=whole, context=str(one.get("name")))
    return None


ENTRIES = {"clusters": "cluster", "contexts": "context", "users": "user"}
PATHS = ("certificate-authority", "client-certificate", "client-key", "tokenFile")


def _means(context: Any, cluster: ClusterRef) -> bool:
    if not isinstance(context, dict):
        return False
    meant = named(str(context.get("cluster", "")), str(context.get("user", "")))
    if meant is None or (meant.provider, meant.name) != (cluster.provider.value, cluster.name):
        return False
    said = ((key, getattr(meant, key)) for key in ("resource_group", "project", "location", "region"))
    return all(value is None or value == getattr(cluster, key) for key, value in said)


def _with_paths(entry: dict[str, Any], member: str, folder: Path) -> dict[str, Any]:
    """The entry with paths that hold wherever it is read."""
    said = entry.get(member)
    if not isinstance(said, dict):
        return entry
    absolute: dict[str, Any] = {key: str(folder / str(said[key])) for key in PATHS if said.get(key)}
    command = (said.get("exec") or {}).get("command")
    if isinstance(command, str) and os.sep in command:
        absolute["exec"] = {**said["exec"], "command": str(folder / command)}
    return {**entry, member: {**said, **absolute}}


def _mappings(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _configs() -> Iterator[dict[str, Any]]:
    """The files of KUBECONFIG, or the usual one; in what several say, the first counts, as for kubectl."""
    for config, _ in _configs_with_folders():
        yield config


def _configs_with_folders() -> Iterator[tuple[dict[str, Any], Path]]:
    places = os.environ.get("KUBECONFIG") or _usual()
    for place in places.split(os.pathsep):
        if place:
            yield _read(Path(place)), Path(place).absolute().parent


def _usual() -> str:
    try:
        return str(Path.home() / ".kube" / "config")
    except RuntimeError:  # a user without a home, as in many containers
        return ""


def _read(path: Path) -> dict[str, Any]:
    """A kubeconfig; empty where it cannot be read, since a guess is all that it is wanted for."""
    try:
        if not path.is_file():
            return {}
        text = read_text(path)
    except (OSError, ValueError):
        return {}
    import yaml

    from fracgpu.yamltext import load_all

    try:
        value = next(load_all(text), None)
    except yaml.YAMLError:
        return {}
    return value if isinstance(value, dict) else {}


def named(cluster: str, user: str) -> Cluster | None:
    """The cluster that these names in a kubeconfig mean. No cloud has a name with blanks or control characters."""
    if not NAMES.fullmatch(cluster + user):
        return None
    if match := GKE.fullmatch(cluster):
        return Cluster(provider="gke", **match.groupdict())
    if match := EKS_ARN.fullmatch(cluster) or EKSCTL.fullmatch(cluster):
        return Cluster(provider="eks", **match.groupdict())
    start = next((word for word in AKS_USERS if user.startswith(word)), None)
    if start and cluster and user.endswith(f"_{cluster}"):
        group = user.removeprefix(start).removesuffix(f"_{cluster}")
        return Cluster(provider="aks", name=cluster, resource_group=group) if group else None
    return None
