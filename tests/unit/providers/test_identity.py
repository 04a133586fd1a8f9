"""Whose credentials those are: what each cloud's own say, and that there are none."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from fracgpu.catalog.models import ProviderName
from fracgpu.errors import NotSignedIn
from fracgpu.providers import provider
from fracgpu.providers.access import Access
from fracgpu.providers.aks.session.cluster import entra_server
from fracgpu.providers.aks.session.identity import claims_of
from fracgpu.providers.gke.session.cluster import name_from_outside


@pytest.mark.parametrize("cloud", [ProviderName.GKE, ProviderName.EKS])
def test_nobody_is_signed_in(cloud: ProviderName, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    with pytest.raises(NotSignedIn) as caught:
        provider(cloud).identity(Access())
    assert caught.value.hint


def test_keys_that_aws_cannot_be_asked_about_are_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "none-of-that-name")
    with pytest.raises(NotSignedIn, match="none-of-that-name"):
        provider("eks").identity(Access())


@pytest.mark.parametrize("token", ["sandbox", "", "a.b.c", "a.bnVsbA.c", "a.!.c"])
def test_a_token_that_says_nothing_of_itself(token: str) -> None:
    assert claims_of(token) == {}


def test_a_token_says_whose_it_is() -> None:
    body = base64.urlsafe_b64encode(json.dumps({"upn": "ada@example.com"}).encode()).decode().rstrip("=")
    assert claims_of(f"x.{body}.y") == {"upn": "ada@example.com"}


def kubelogin(*args: str, command: str = "kubelogin") -> dict[str, Any]:
    return {"users": [{"name": "u", "user": {"exec": {"command": command, "args": ["get-token", *args]}}}]}


@pytest.mark.parametrize(
    ("config", "server"),
    [
        (kubelogin("--login", "devicecode", "--server-id", "6dae"), "6dae"),
        (kubelogin("--server-id", "6dae", command="/opt/bin/kubelogin"), "6dae"),
        (kubelogin("--server-id", "6dae", "--pop-enabled"), None),
        (kubelogin("--server-id", "6dae", command="other"), None),
        (kubelogin(), None),
        ({"users": [{"name": "u", "user": {"token": "t"}}]}, None),
        ({}, None),
    ],
)
def test_the_application_that_kubelogin_would_get_a_token_for(config: dict[str, Any], server: str | None) -> None:
    assert entra_server(config) == server


NAME = {"endpoint": "gke-1.us-central1.gke.goog", "allowExternalTraffic": True}


@pytest.mark.parametrize(
    ("cluster", "found"),
    [
        ({}, None),
        ({"controlPlaneEndpointsConfig": {"dnsEndpointConfig": NAME}}, None),
        ({"controlPlaneEndpointsConfig": {"dnsEndpointConfig": NAME, "ipEndpointsConfig": {"enabled": False}}}, True),
        (
            {
                "controlPlaneEndpointsConfig": {
                    "dnsEndpointConfig": NAME,
                    "ipEndpointsConfig": {"enabled": True, "enablePublicEndpoint": False},
                }
            },
            True,
        ),
        (
            {
                "privateClusterConfig": {"enablePrivateEndpoint": True},
                "controlPlaneEndpointsConfig": {"dnsEndpointConfig": NAME},
            },
            True,
        ),
        (
            {
                "privateClusterConfig": {"enablePrivateEndpoint": True},
                "controlPlaneEndpointsConfig": {"dnsEndpointConfig": {"endpoint": "x"}},
            },
            None,
        ),
    ],
)
def test_a_private_control_plane_is_reached_by_its_name(cluster: dict[str, Any], found: bool | None) -> None:
    assert name_from_outside(cluster) == (NAME["endpoint"] if found else None)
