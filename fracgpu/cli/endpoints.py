"""How the clouds and the clusters' Kubernetes APIs are reached: endpoints of the user's own file, or the sandbox's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from fracgpu.cli import output
from fracgpu.cli.config_file import document, user_file
from fracgpu.cli.globals import GLOBALS
from fracgpu.errors import Invalid
from fracgpu.nearest import nearest_words
from fracgpu.providers.access import Access

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
KNOWN = (*ENDPOINTS, KUBERNETES)
EXAMPLE = "endpoints: {azureEndpoint: 'https://...'}"


def access() -> Access:
    """How the clouds are reached. Endpoints are read from the user's own file only: whoever sets them receives the
    token, and a folder may be anybody's."""
    if GLOBALS.sandbox:
        return _sandbox()
    file = user_file()
    given = {key: value for key, value in _endpoints(file).items() if key != KUBERNETES}
    for key, value in given.items():
        if key not in ENDPOINTS:
            near = nearest_words(str(key), KNOWN, cutoff=0.4) or KNOWN
            raise Invalid.one("unknown-key", f"endpoints.{key} in {file}", field=f"endpoints.{key}", nearest=near)
        if not isinstance(value, str):
            raise Invalid.one(
                "invalid-value", f"endpoints.{key} in {file} is a text", field=f"endpoints.{key}", hint=EXAMPLE
            )
    return Access(**{ENDPOINTS[key]: value for key, value in given.items()})


def _endpoints(file: Path) -> dict[str, Any]:
    given = document(file).get("endpoints") or {}
    if not isinstance(given, dict):
        raise Invalid.one("invalid-value", f"endpoints in {file} is not a mapping", field="endpoints", hint=EXAMPLE)
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
