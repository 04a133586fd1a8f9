"""Credentials from the command that a kubeconfig names (`users[].user.exec`), as kubectl gets them.

https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from fracgpu.errors import NotSignedIn, PartNotInstalled
from fracgpu.kube.kubeconfig import Login

TIMEOUT = 60.0
"""Seconds for a command that asks nobody anything."""


def credentials(said: Mapping[str, Any], login: Login | None = None, timeout: float = TIMEOUT) -> dict[str, str]:
    """`status` of the command's ExecCredential: token, or clientCertificateData and clientKeyData (PEM).

    Raises PartNotInstalled where the command is not on this machine, NotSignedIn where it gives no credentials.
    """
    command = [str(said.get("command") or ""), *_arguments(said)]
    if said.get("interactiveMode") == "Always":
        raise _no_credentials(command[0], "it asks a person, and nobody would see the question")
    try:
        done = subprocess.run(
            command,
            env=_environment(said, login),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    except OSError as error:
        hint = str(said.get("installHint") or f"install {command[0]}").strip()
        raise PartNotInstalled(f"the kubeconfig signs in with {command[0]}, which is not here", hint=hint) from error
    except subprocess.TimeoutExpired as error:
        raise _no_credentials(command[0], f"no answer in {error.timeout:.0f} s") from error
    if done.returncode != 0:
        raise _no_credentials(command[0], _last_line(done.stderr))
    return _status(done.stdout, command[0])


def _arguments(said: Mapping[str, Any]) -> Sequence[str]:
    """The command's arguments. Azure's kubeconfig has kubelogin ask a person for a device code, which would wait for
    ever where nobody sees it; the Azure CLI's login is used instead.

    https://azure.github.io/kubelogin/concepts/login-modes.html
    """
    arguments = [str(one) for one in said.get("args") or ()]
    if PurePath(str(said.get("command") or "")).stem == "kubelogin":
        return ["azurecli" if one == "devicecode" else one for one in arguments]
    return arguments


def _environment(said: Mapping[str, Any], login: Login | None) -> dict[str, str]:
    spec: dict[str, Any] = {"interactive": False}
    if said.get("provideClusterInfo") and login:
        spec["cluster"] = _cluster(login)
    info = {"apiVersion": said.get("apiVersion"), "kind": "ExecCredential", "spec": spec}
    own = {str(one["name"]): str(one["value"]) for one in said.get("env") or ()}
    return {**os.environ, "KUBERNETES_EXEC_INFO": json.dumps(info), **own}


def _cluster(login: Login) -> dict[str, Any]:
    """What a plugin may want to know of the cluster, without the proxy's credentials going anywhere else.

    https://kubernetes.io/docs/reference/config-api/client-authentication.v1/#client-authentication-k8s-io-v1-Cluster
    """
    extensions = {one.get("name"): one.get("extension") for one in login.cluster.get("extensions") or ()}
    known = {key: login.cluster[key] for key in CLUSTER_KEYS if login.cluster.get(key)}
    config = extensions.get("client.authentication.k8s.io/exec")
    return {**known, **({"config": config} if config is not None else {})}


CLUSTER_KEYS = ("server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority-data", "proxy-url")


def _status(output: bytes, command: str) -> dict[str, str]:
    try:
        status = json.loads(output)["status"]
        given = {key: value for key, value in status.items() if isinstance(value, str)}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _no_credentials(command, "its answer is no ExecCredential") from error
    if not given.get("token") and not (given.get("clientCertificateData") and given.get("clientKeyData")):
        raise _no_credentials(command, "its answer has neither a token nor a certificate with its key")
    return given


def _last_line(text: bytes) -> str:
    lines = text.decode(errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else "it says nothing"


def _no_credentials(command: str, why: str) -> NotSignedIn:
    return NotSignedIn(f"{command} gave no credentials: {why}", hint="sign in, and try with: kubectl get nodes")
