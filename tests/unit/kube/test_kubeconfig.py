"""A kubeconfig is read as kubectl reads it, or refused; nothing that it says is left out."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from fracgpu.errors import FracgpuError
from fracgpu.kube.access import KubeAccess
from fracgpu.kube.kubeconfig import login_of

PEM = "-----BEGIN CERTIFICATE-----"
DATA = base64.b64encode(PEM.encode()).decode()


def access(cluster: dict[str, Any] | None = None, user: dict[str, Any] | None = None, **more: Any) -> KubeAccess:
    config = {
        "current-context": "here",
        "clusters": [{"name": "c", "cluster": {"server": "https://api", **(cluster or {})}}],
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": user or {}}, {"name": "u", "user": {"token": "of another"}}],
    }
    return KubeAccess(**{"server": "https://api", "kubeconfig": config, **more})


def test_what_a_cluster_says() -> None:
    said = {"tls-server-name": "kubernetes.default", "proxy-url": "http://proxy:3128", "certificate-authority": "/ca"}
    login = login_of(access(said, {"client-certificate-data": "x"}))
    assert (login.tls_name, login.proxy, login.authority_file) == ("kubernetes.default", "http://proxy:3128", "/ca")
    assert login.user == {"client-certificate-data": "x"}
    assert login_of(access({"certificate-authority-data": DATA})).authority_pem == PEM
    assert login_of(access({"insecure-skip-tls-verify": True})).insecure


def test_data_stands_above_a_file_and_a_token_above_a_user() -> None:
    login = login_of(
        access({"certificate-authority-data": DATA, "certificate-authority": "/ca"}, {"exec": {}}, token="t")
    )
    assert (login.authority_pem, login.authority_file, login.user) == (PEM, None, {"token": "t"})


def test_without_a_kubeconfig() -> None:
    login = login_of(KubeAccess("https://api", ca_pem=PEM, token="t"))
    assert (login.server, login.authority_pem, login.user, login.insecure) == (
        "https://api",
        PEM,
        {"token": "t"},
        False,
    )


@pytest.mark.parametrize(
    ("cluster", "user", "code", "words"),
    [
        ({"insecure-skip-tls-verify": True, "certificate-authority": "/ca"}, {}, "conflicting-fields", "insecure"),
        ({}, {"auth-provider": {"name": "gcp"}}, "not-signed-in", "auth-provider gcp"),
        ({}, {"as": "root"}, "invalid-value", "somebody else"),
        ({}, {"as-groups": ["system:masters"]}, "invalid-value", "as-groups"),
        ({"certificate-authority-data": "!"}, {}, "not-signed-in", "certificate-authority-data"),
    ],
)
def test_what_cannot_be_done_is_refused(cluster: dict[str, Any], user: dict[str, Any], code: str, words: str) -> None:
    with pytest.raises(FracgpuError) as caught:
        login_of(access(cluster, user))
    assert caught.value.code == code
    assert words in caught.value.message


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"current-context": None}, "no context"),
        ({"current-context": "there"}, "no context"),
        ({"contexts": [{"name": "here", "context": {"cluster": "gone"}}]}, "no cluster gone"),
        ({"contexts": "nonsense"}, "no context"),
    ],
)
def test_names_that_lead_nowhere(change: dict[str, Any], words: str) -> None:
    found = access()
    with pytest.raises(FracgpuError, match=words):
        login_of(KubeAccess("https://api", kubeconfig={**(found.kubeconfig or {}), **change}))


def test_secrets_are_not_shown() -> None:
    assert "hush" not in repr(login_of(access(user={"token": "hush", "password": "hush"})))
