"""The cluster of the current kubectl context, where the names in it tell which cloud made it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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


def _mappings(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _configs() -> Iterator[dict[str, Any]]:
    """The files of KUBECONFIG, or the usual one; in what several say, the first counts, as for kubectl."""
    places = os.environ.get("KUBECONFIG") or _usual()
    for place in places.split(os.pathsep):
        if place:
            yield _read(Path(place))


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
