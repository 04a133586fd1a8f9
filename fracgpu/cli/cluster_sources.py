"""Which cluster is meant: the sources, in their order, and where each value came from."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fracgpu.cli import output
from fracgpu.cli.config_file import cluster_in, document, user_file
from fracgpu.cli.globals import GLOBALS
from fracgpu.cli.kubectl_context import current_cluster
from fracgpu.errors import Invalid
from fracgpu.spec import Cluster

VARIABLES = {
    "provider": "FRACGPU_PROVIDER",
    "name": "FRACGPU_CLUSTER",
    "resource_group": "FRACGPU_RESOURCE_GROUP",
    "subscription": "FRACGPU_SUBSCRIPTION",
    "project": "FRACGPU_PROJECT",
    "location": "FRACGPU_LOCATION",
    "region": "FRACGPU_REGION",
}
FOLDER_FILE = "fracgpu.yaml"
SANDBOX_SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
SANDBOX_CLUSTERS: dict[str, dict[str, str]] = {
    "gke": {"name": "sandbox", "project": "sandbox", "location": "us-central1"},
    "aks": {"name": "sandbox", "resource_group": "sandbox", "subscription": SANDBOX_SUBSCRIPTION},
    "eks": {"name": "sandbox", "region": "us-east-1"},
}


@dataclass(frozen=True, slots=True)
class Sourced:
    """A cluster and the source that said it."""

    cluster: Cluster
    source: str
    guessed: bool = False
    """Known only from the kubectl context: a person is asked, a script needs --yes."""


def cluster_of(flags: Cluster) -> Sourced:
    """The cluster, whole, from the first source that says anything of it."""
    for found in sources(flags):
        return _completed(found)
    return Sourced(Cluster.model_construct(), "nowhere")


def sources(flags: Cluster) -> Iterator[Sourced]:
    """Every source that names a cluster, first the one that counts."""
    if names_something(flags):
        yield Sourced(flags, "flags")
    if environment := {name: os.environ[variable] for name, variable in VARIABLES.items() if os.environ.get(variable)}:
        yield Sourced(_read(environment, "the environment"), "environment")
    if folder := _of_folder():
        yield Sourced(_read(folder, FOLDER_FILE), f"./{FOLDER_FILE}")
    user = user_file()
    if own := cluster_in(user):
        yield Sourced(_read(own, str(user)), str(user))
    if GLOBALS.sandbox:
        yield Sourced(sandbox_cluster("gke"), "sandbox")
    elif context := current_cluster():
        yield Sourced(context, "kubectl context", guessed=True)


def _of_folder() -> dict[str, Any] | None:
    """The cluster of this folder's file. What else one may hope to set there is said to be of no effect."""
    path = Path(FOLDER_FILE)
    if "endpoints" in document(path):
        output.say(f"endpoints in ./{FOLDER_FILE} are not read; they belong into {user_file()}")
    return cluster_in(path)


def sandbox_cluster(provider: str) -> Cluster:
    """The sandbox's own cluster of a cloud."""
    return Cluster.model_validate({"provider": provider, **SANDBOX_CLUSTERS[provider]})


def names_something(cluster: Cluster) -> bool:
    """Whether anything of a cluster is said."""
    return any(value is not None for _, value in cluster)


def _completed(found: Sourced) -> Sourced:
    """In the sandbox what is left open of a cluster is as the sandbox's own cluster of that cloud has it; which cloud,
    the other words say, and GKE where they do not."""
    cluster = found.cluster
    if not GLOBALS.sandbox or found.source == "sandbox":
        return found
    said = {name: value for name, value in cluster if value is not None}
    cloud: str = cluster.provider or next(
        (name for name, own in SANDBOX_CLUSTERS.items() if said.keys() <= own.keys()), "gke"
    )
    whole = sandbox_cluster(cloud).model_copy(update=said)
    return found if whole == cluster else Sourced(whole, f"{found.source}, sandbox")


def _read(values: dict[str, Any], where: str) -> Cluster:
    """The cluster that a file or the environment says. Raises Invalid with all that is wrong with it."""
    from pydantic import ValidationError

    from fracgpu.mistakes import explain_problem

    try:
        return Cluster.model_validate(values)
    except ValidationError as error:
        found = []
        for one in error.errors(include_url=False):
            path = ".".join(("spec.cluster", *map(str, one["loc"])))
            finding = explain_problem(one["type"], path, one.get("input"), one["msg"], one.get("ctx") or {})
            message = f"{where}: {finding.message.replace('spec.cluster.', 'cluster.')}"
            found.append(replace(finding, message=message, field=path.removeprefix("spec.")))
        raise Invalid(found) from error
