"""Credentials from a kubeconfig's command, with real commands."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from fracgpu.errors import NotSignedIn, PartNotInstalled
from fracgpu.kube.exec_plugin import credentials
from fracgpu.kube.kubeconfig import Login


@pytest.fixture
def command(tmp_path: Path) -> Any:
    """`command(code, *args, env={})`: the `exec` member of a kubeconfig that runs Python code."""

    def make(code: str, *args: str, name: str = "login", **env: str) -> dict[str, Any]:
        script = tmp_path / name
        script.write_text(f"#!{sys.executable}\nimport json, os, sys\n{code}\n", encoding="utf-8")
        script.chmod(0o700)
        return {
            "apiVersion": "client.authentication.k8s.io/v1beta1",
            "command": str(script),
            "args": list(args),
            "env": [{"name": key, "value": value} for key, value in env.items()],
        }

    return make


def test_a_token(command: Any) -> None:
    code = 'print(json.dumps({"status": {"token": sys.argv[1] + os.environ["WHO"], "expirationTimestamp": "later"}}))'
    assert credentials(command(code, "abc", WHO="me"))["token"] == "abcme"


def test_the_command_is_told_what_is_asked(command: Any) -> None:
    code = 'print(json.dumps({"status": {"token": os.environ["KUBERNETES_EXEC_INFO"]}}))'
    said = json.loads(credentials(command(code))["token"])
    assert said == {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "kind": "ExecCredential",
        "spec": {"interactive": False},
    }


def test_kubelogin_never_waits_for_a_person(command: Any) -> None:
    code = 'print(json.dumps({"status": {"token": " ".join(sys.argv[1:])}}))'
    arguments = ("get-token", "--login", "devicecode")
    assert credentials(command(code, *arguments, name="kubelogin"))["token"] == "get-token --login azurecli"
    assert credentials(command(code, *arguments))["token"] == "get-token --login devicecode"


def test_a_command_that_is_not_here() -> None:
    said = {"command": "no-such-login-command", "installHint": "Install it from somewhere."}
    with pytest.raises(PartNotInstalled) as caught:
        credentials(said)
    assert caught.value.hint == "Install it from somewhere."


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ('sys.exit("first line\\nplease run az login")', "please run az login"),
        ("sys.exit(3)", "it says nothing"),
        ('print("hello")', "no ExecCredential"),
        ("print('[1]')", "no ExecCredential"),
        ("""print('{"status": {}}')""", "neither a token nor a certificate"),
        ("""print('{"status": {"clientCertificateData": "x"}}')""", "neither a token nor a certificate"),
    ],
    ids=["refused", "silent", "no JSON", "other JSON", "empty", "half"],
)
def test_a_command_that_gives_nothing(command: Any, code: str, why: str) -> None:
    with pytest.raises(NotSignedIn) as caught:
        credentials(command(code))
    assert why in caught.value.message


def test_a_command_that_never_ends(command: Any) -> None:
    with pytest.raises(NotSignedIn) as caught:
        credentials(command("import time; time.sleep(60)"), timeout=0.2)
    assert "no answer" in caught.value.message


def test_a_plugin_that_wants_to_know_the_cluster_is_told(command: Any) -> None:
    code = 'print(json.dumps({"status": {"token": os.environ["KUBERNETES_EXEC_INFO"]}}))'
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}
    cluster = {"server": "https://api", "tls-server-name": "n", "extensions": [extension, {"name": "other"}]}
    login = Login("https://api", cluster=cluster)
    told = json.loads(credentials({**command(code), "provideClusterInfo": True}, login)["token"])["spec"]
    assert told["cluster"] == {"server": "https://api", "tls-server-name": "n", "config": {"audience": "x"}}
    assert "cluster" not in json.loads(credentials(command(code), login)["token"])["spec"]


def test_a_plugin_that_asks_a_person_is_not_started(command: Any) -> None:
    with pytest.raises(NotSignedIn, match="asks a person"):
        credentials({**command("sys.exit('started')"), "interactiveMode": "Always"})


def test_what_is_no_program(tmp_path: Path) -> None:
    text = tmp_path / "login"
    text.write_text("no program", encoding="utf-8")
    for mode in (0o600, 0o700):
        text.chmod(mode)
        with pytest.raises(PartNotInstalled):
            credentials({"command": str(text)})
    with pytest.raises(PartNotInstalled):
        credentials({})
