"""Which cluster is meant, and how its cloud is reached: the sources, in their order, and where each value came from."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fracgpu.cli.globals import GLOBALS
from fracgpu.cli.kubectl_context import current_cluster
from fracgpu.errors import Finding, Invalid
from fracgpu.nearest import nearest_words
from fracgpu.providers.access import Access
from fracgpu.spec import Cluster
from fracgpu.textfile import read_text

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
KEYS = ("cluster", "endpoints")
ENDPOINTS = {
    "azureEndpoint": "azure_endpoint",
    "azureScope": "azure_scope",
    "gkeEndpoint": "gke_endpoint",
    "awsEndpoint": "aws_endpoint",
}
KUBERNETES = "kubernetes"
KUBERNETES_VARIABLE = "FRACGPU_KUBERNETES"
WAYS = ("cloud", "kubeconfig")
"""How a cluster's Kubernetes API is reached: with what the cloud gives, or by the user's own kubeconfig."""
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
        _say(f"endpoints in ./{FOLDER_FILE} are not read; they belong into {user_file()}")
    return cluster_in(path)


def _say(text: str) -> None:
    from fracgpu.cli import output

    output.say(text)


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


def user_file() -> Path:
    """The user's own configuration: --config, else FRACGPU_CONFIG, else XDG's place; the null device without a home."""
    if named := _named_file():
        return named[0]
    base = Path(os.environ.get("XDG_CONFIG_HOME") or "")
    try:
        # A relative one would let the folder decide: https://specifications.freedesktop.org/basedir/latest/
        folder = base if base.is_absolute() else Path.home() / ".config"
    except RuntimeError:
        return Path(os.devnull)
    return folder / "fracgpu" / "config.yaml"


def _named_file() -> tuple[Path, str] | None:
    """The file that the user named, and where."""
    if GLOBALS.config:
        return GLOBALS.config, "--config"
    named = os.environ.get("FRACGPU_CONFIG")
    return (Path(named), "FRACGPU_CONFIG") if named else None


def document(path: Path) -> dict[str, Any]:
    """A configuration file as a mapping; empty where there is none. Raises Invalid for one that cannot be read."""
    text = _text(path)
    if text is None:
        return {}
    import yaml

    from fracgpu.yamltext import load_all, problem_of

    try:
        value = next(load_all(text), None)
    except yaml.YAMLError as error:
        problem, place = problem_of(error, text)
        line, column = place or (None, None)
        found = Finding("invalid-value", f"not valid YAML: {problem}", file=str(path), line=line, column=column)
        raise Invalid([found]) from error
    if value is not None and not isinstance(value, dict):
        raise Invalid.one(
            "invalid-value", f"{path} is not a mapping", field=str(path), hint="cluster: {provider: gke, ...}"
        )
    return value or {}


def _text(path: Path) -> str | None:
    """The text of a file; None where there is none. One that was named has to be there."""
    named = _named_file()
    field = named[1] if named and named[0] == path else str(path)
    try:
        if path.is_file():
            return read_text(path)
        wanted = named and named[0] == path and not path.is_char_device()
    except UnicodeDecodeError as error:
        raise Invalid.one("invalid-value", f"{path} is not UTF-8 text", field=field, hint="save it as UTF-8") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Invalid.one("invalid-value", f"{path} cannot be read: {reason}", field=field) from error
    if wanted:
        what = "is not a file" if path.exists() else "does not exist"
        raise Invalid.one("usage", f"{path} {what}", field=field, hint=f"{field} names your configuration file")
    return None


def cluster_in(path: Path) -> dict[str, Any] | None:
    """The `cluster` of a configuration file. A NodePool that happens to lie there has none at its top."""
    whole = document(path)
    value = whole.get("cluster")
    if value is not None and not isinstance(value, dict):
        message = f"cluster in {path} is not a mapping"
        raise Invalid.one("invalid-value", message, field="cluster", hint="cluster: {provider: gke, ...}")
    for key in whole:
        near = nearest_words(str(key), KEYS, 1, 0.7)
        if near and key not in KEYS:
            _say(f"{key} in {path} is not read; did you mean {near[0]}?")
    return value or None


def access() -> Access:
    """How the clouds are reached. Endpoints are read from the user's own file only: whoever sets them receives the
    token, and a folder may be anybody's."""
    if GLOBALS.sandbox:
        return _sandbox()
    file = user_file()
    given = {key: value for key, value in _endpoints(file).items() if key != KUBERNETES}
    for key, value in given.items():
        if key not in ENDPOINTS:
            near = nearest_words(str(key), ENDPOINTS, cutoff=0.4) or tuple(ENDPOINTS)
            raise Invalid.one("unknown-key", f"endpoints.{key} in {file}", field=f"endpoints.{key}", nearest=near)
        if not isinstance(value, str):
            raise Invalid.one("invalid-value", f"endpoints.{key} in {file} is a text", field=f"endpoints.{key}")
    return Access(**{ENDPOINTS[key]: value for key, value in given.items()})


def _endpoints(file: Path) -> dict[str, Any]:
    given = document(file).get("endpoints") or {}
    if not isinstance(given, dict):
        raise Invalid.one("invalid-value", f"endpoints in {file} is not a mapping", field="endpoints")
    return given


def by_kubeconfig() -> bool:
    """The user wants the Kubernetes API reached by the kubeconfig. Raises Invalid for another word."""
    file = user_file()
    said, where = os.environ.get(KUBERNETES_VARIABLE), KUBERNETES_VARIABLE
    if not said:
        said, where = _endpoints(file).get(KUBERNETES), f"endpoints.{KUBERNETES}"
    if said and said not in WAYS:
        raise Invalid.one("invalid-value", f"{where} is {said!r}", field=where, nearest=WAYS, hint=" or ".join(WAYS))
    return said == "kubeconfig"


def _sandbox() -> Access:
    from fracgpu.cli import output
    from fracgpu.sandbox import process

    running = process.find()
    if running is None:
        output.say("sandbox: starting")
        running = process.ensure()
    output.say(f"sandbox: {running.http}")
    return Access(
        sandbox=True,
        azure_endpoint=running.http,
        gke_endpoint=running.grpc,
        aws_endpoint=running.http,
    )
