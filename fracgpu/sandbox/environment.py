"""What `fracgpu sandbox env` gives a shell, and the files that its variables point to.

The clouds' own tools then talk to the sandbox and to nothing else: their endpoints are overridden, their credentials
are dummies, and the user's own configuration is out of their sight.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from fracgpu.sandbox import az_config, folder
from fracgpu.sandbox.folder import Endpoints
from fracgpu.sandbox.tls import Identity
from fracgpu.sandbox.world import DEFAULT_CLUSTERS, Cloud

DUMMY_TOKEN = "sandbox"  # noqa: S105
"""What every tool signs in with; the sandbox takes any, a real cloud takes none of it."""

TENANT = "00000000-0000-0000-0000-000000000000"
"""The one Entra tenant of the sandbox."""

ACCOUNT = "123456789012"
"""The AWS account of the sandbox (moto's own)."""

KUBECONFIG = "kubeconfig"
_GCLOUD_TOKEN = "gcloud-token"  # noqa: S105
_AZURE = "azure"
_AUTHORITIES = "authorities.pem"
_AWS_CONFIG = "aws-config"
_AWS_CREDENTIALS = "aws-credentials"


def exports(endpoints: Endpoints, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables to export into that environment, by name; their values are text, not shell."""
    home = folder.state_folder()
    own = _no_proxy(environ)
    return {
        "FRACGPU_SANDBOX": "1",
        # Every other service as well, which the sandbox then says it does not have: nothing goes to the real AWS.
        "AWS_ENDPOINT_URL": endpoints.http,
        **{f"AWS_ENDPOINT_URL_{service}": endpoints.http for service in ("EKS", "EC2", "IAM", "STS")},
        "AWS_ACCESS_KEY_ID": "sandbox",
        "AWS_SECRET_ACCESS_KEY": "sandbox",
        "AWS_SESSION_TOKEN": "sandbox",
        "AWS_PROFILE": "default",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_CONFIG_FILE": str(home / _AWS_CONFIG),
        "AWS_SHARED_CREDENTIALS_FILE": str(home / _AWS_CREDENTIALS),
        "AWS_EC2_METADATA_DISABLED": "true",
        "AZURE_CONFIG_DIR": str(home / _AZURE),
        "REQUESTS_CA_BUNDLE": str(home / _AUTHORITIES),
        "CLOUDSDK_API_ENDPOINT_OVERRIDES_CONTAINER": f"{endpoints.http}/",
        "CLOUDSDK_CORE_PROJECT": "sandbox",
        "CLOUDSDK_COMPUTE_REGION": "us-central1",
        "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE": str(home / _GCLOUD_TOKEN),
        "KUBECONFIG": str(home / KUBECONFIG),
        "NO_PROXY": own,
        "no_proxy": own,
    }


UNSET: tuple[str, ...] = (
    "FRACGPU_SANDBOX",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_EKS",
    "AWS_ENDPOINT_URL_EC2",
    "AWS_ENDPOINT_URL_IAM",
    "AWS_ENDPOINT_URL_STS",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_PROFILE",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_EC2_METADATA_DISABLED",
    "AZURE_CONFIG_DIR",
    "REQUESTS_CA_BUNDLE",
    "CLOUDSDK_API_ENDPOINT_OVERRIDES_CONTAINER",
    "CLOUDSDK_CORE_PROJECT",
    "CLOUDSDK_COMPUTE_REGION",
    "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE",
    "KUBECONFIG",
    "NO_PROXY",
    "no_proxy",
)
"""The variables that `env --unset` takes away, known without a sandbox."""

KEPT = "FRACGPU_SANDBOX_KEPT_"
"""Before the name of a variable that had a value of the user's own: where that value waits for `env --unset`."""


def script(endpoints: Endpoints, environ: Mapping[str, str]) -> list[str]:
    """Shell lines that point a shell with that environment at the sandbox.

    What its variables held is kept by the shell itself, so that no secret of the user's is printed.
    """
    values = exports(endpoints, environ)
    own = [] if "FRACGPU_SANDBOX" in environ else [name for name in values if name in environ]
    kept = [f'export {KEPT}{name}="${name}"' for name in own]
    return kept + [f"export {name}={shlex.quote(value)}" for name, value in values.items()]


def undo(environ: Mapping[str, str]) -> list[str]:
    """Shell lines that give a shell with that environment back what it had before `script`."""
    lines = []
    for name in UNSET:
        kept = KEPT + name
        lines += [f'export {name}="${kept}"', f"unset {kept}"] if kept in environ else [f"unset {name}"]
    return lines


def write_files(home: Path, http: str, tls: Identity) -> None:
    """Write the files that the variables point to; called by a sandbox when it comes up."""
    folder.write(home / _GCLOUD_TOKEN, DUMMY_TOKEN)
    folder.write(home / _AWS_CONFIG, "[default]\nregion = us-east-1\n")
    folder.write(home / _AWS_CREDENTIALS, "")
    folder.write(home / KUBECONFIG, json.dumps(_kubeconfig(http, tls.authority_data), indent=1))
    folder.write(home / _AUTHORITIES, _authorities() + tls.authority)
    az_config.write(home / _AZURE, secure(http), DEFAULT_CLUSTERS[1][1][0], TENANT, DUMMY_TOKEN)


def kubernetes_url(http: str, cloud: Cloud, path: tuple[str, ...]) -> str:
    """Where the Kubernetes API of that cluster answers; `http` is the sandbox's own address, of either scheme."""
    return f"{http}/k8s/{cloud}/{'~'.join(path)}"


def secure(http: str) -> str:
    """The same address over https, with the certificate of `World.tls`."""
    return "https://" + http.split("://", 1)[1]


def context_name(cloud: Cloud, path: tuple[str, ...]) -> str:
    """What the cloud's own tool would call the kubectl context of that cluster."""
    if cloud is Cloud.GKE:
        return "gke_" + "_".join(path)
    if cloud is Cloud.EKS:
        return f"arn:aws:eks:{path[0]}:{ACCOUNT}:cluster/{path[1]}"
    return path[-1]


def user_name(cloud: Cloud, path: tuple[str, ...]) -> str:
    """What the cloud's own tool would call the user there; az tells by it which resource group the cluster is of."""
    return f"clusterUser_{path[-2]}_{path[-1]}" if cloud is Cloud.AKS else context_name(cloud, path)


def _kubeconfig(http: str, authority: str) -> dict[str, object]:
    https = secure(http)
    names = [(context_name(cloud, path), kubernetes_url(https, cloud, path)) for cloud, path in DEFAULT_CLUSTERS]
    users = [user_name(cloud, path) for cloud, path in DEFAULT_CLUSTERS]
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": names[0][0],
        "clusters": [
            {"name": name, "cluster": {"server": url, "certificate-authority-data": authority}} for name, url in names
        ],
        "users": [{"name": user, "user": {"token": DUMMY_TOKEN}} for user in users],
        "contexts": [
            {"name": name, "context": {"cluster": name, "user": user}}
            for (name, _), user in zip(names, users, strict=True)
        ],
    }


def _authorities() -> str:
    """Whom a Python client trusts anyway, as it would without REQUESTS_CA_BUNDLE or with the user's own."""
    import certifi

    own = Path(os.environ.get("REQUESTS_CA_BUNDLE") or certifi.where())
    return (own if own.is_file() else Path(certifi.where())).read_text(encoding="utf-8").rstrip("\n") + "\n"


def _no_proxy(environ: Mapping[str, str]) -> str:
    known = environ.get("NO_PROXY") or environ.get("no_proxy") or ""
    entries = [entry.strip() for entry in known.split(",") if entry.strip()]
    return ",".join(dict.fromkeys([*entries, "127.0.0.1", "localhost"]))
