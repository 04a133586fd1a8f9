"""Signing in: Azure's own endpoint and identity, a sovereign or private endpoint, or the sandbox's."""

from __future__ import annotations

import base64
import json
import logging
import os
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from azure.core import AzureClouds
from azure.core.credentials import AccessToken
from azure.core.pipeline.policies import SansIOHTTPPolicy
from azure.core.settings import settings
from azure.mgmt.core.tools import get_arm_endpoints

from fracgpu.errors import Invalid, NotSignedIn, Unreachable
from fracgpu.providers import Identity
from fracgpu.providers.access import Access
from fracgpu.providers.aks.failures import SIGN_IN
from fracgpu.resolve import ClusterRef

SANDBOX_SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
SANDBOX_TOKEN = "sandbox"  # noqa: S105 - opens nothing

for _name in ("azure", "msal", "urllib3"):
    logging.getLogger(_name).addHandler(logging.NullHandler())  # they would write to stderr, which is ours


@dataclass(frozen=True, slots=True)
class Door:
    """A credential, what else the client is made with, and the cluster with its subscription filled in."""

    credential: Any
    cluster: ClusterRef
    endpoint: str
    options: dict[str, Any]


class _SandboxCredential:
    """A token that is none."""

    def get_token(self, *_: str, **__: Any) -> AccessToken:
        return AccessToken(SANDBOX_TOKEN, int(time.time()) + 3600)


def sign_in(cluster: ClusterRef, access: Access) -> Door:
    """Raises NotSignedIn where neither subscription nor credentials are found, Invalid where the first is missing."""
    return _sandbox(cluster, access) if access.sandbox else _azure(cluster, access)


def _sandbox(cluster: ClusterRef, access: Access) -> Door:
    """No identity, no proxy, no endpoint or cloud of the environment."""
    if not access.azure_endpoint:
        raise Unreachable("the sandbox has no Azure endpoint", hint="fracgpu sandbox start")
    options = {
        "authentication_policy": SansIOHTTPPolicy(),
        "use_env_settings": False,
        "cloud_setting": AzureClouds.AZURE_PUBLIC_CLOUD,
    }
    known = replace(cluster, subscription=cluster.subscription or SANDBOX_SUBSCRIPTION)
    return Door(_SandboxCredential(), known, access.azure_endpoint, options)


def _azure(cluster: ClusterRef, access: Access) -> Door:
    endpoint, scope, credential = _credential(access)
    subscription = cluster.subscription or os.environ.get("AZURE_SUBSCRIPTION_ID") or _of_az()
    if not subscription:
        _prove(credential, scope)
        hint = "--subscription ID, or az account set --subscription ID"
        raise Invalid.one("missing-field", "no subscription is named", field="spec.cluster.subscription", hint=hint)
    options = {"credential_scopes": [scope]}
    return Door(credential, replace(cluster, subscription=subscription), endpoint, options)


def _credential(access: Access) -> tuple[str, str, Any]:
    """Azure's endpoint, its OAuth scope, and the credential that signs in there."""
    from azure.identity import DefaultAzureCredential

    endpoint = _secure(access.azure_endpoint or get_arm_endpoints(settings.azure_cloud())["resource_manager"])
    scope = access.azure_scope or f"{endpoint}/.default"
    return endpoint, scope, access.shared("aks", lambda: DefaultAzureCredential(process_timeout=30))


def _secure(endpoint: str) -> str:
    """Raises Invalid for anything but https, since the token would travel in the clear."""
    if endpoint.startswith("https://"):
        return endpoint.rstrip("/")
    message = f"{endpoint} is not https, and the token would travel in the clear"
    raise Invalid.one("invalid-value", message, field="azureEndpoint", hint="https://HOST, or --sandbox")


def _prove(credential: Any, scope: str) -> None:
    """Raises NotSignedIn where there are no credentials."""
    from azure.core.exceptions import ClientAuthenticationError

    try:
        credential.get_token(scope)
    except ClientAuthenticationError as error:
        raise not_signed_in(error) from error


def not_signed_in(error: Exception) -> NotSignedIn:
    """What an identity says is long and names every way there is; it goes into detail."""
    detail = {"message": str(error)}
    return NotSignedIn("no Azure credentials were found, or Azure does not take them", hint=SIGN_IN, detail=detail)


def _of_az() -> str | None:
    """The subscription that az uses, from its own profile."""
    folder = Path(os.environ.get("AZURE_CONFIG_DIR") or Path.home() / ".azure")
    try:
        profile = json.loads((folder / "azureProfile.json").read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return None
    rows = profile.get("subscriptions", ()) if isinstance(profile, dict) else ()
    return next((row.get("id") for row in rows if row.get("isDefault")), None)


def identity(access: Access) -> Identity:
    """Whom Entra ID takes the caller for, by a fresh token's own claims. Raises NotSignedIn."""
    if access.sandbox:
        return Identity("the sandbox's user", SANDBOX_SUBSCRIPTION)
    from azure.core.exceptions import ClientAuthenticationError

    _, scope, credential = _credential(access)
    try:
        claims = claims_of(credential.get_token(scope).token)
    except ClientAuthenticationError as error:
        raise not_signed_in(error) from error
    who = next((str(claims[name]) for name in CLAIMS if claims.get(name)), "somebody")
    tenant = f" of tenant {claims['tid']}" if claims.get("tid") else ""
    return Identity(f"{who}{tenant}", os.environ.get("AZURE_SUBSCRIPTION_ID") or _of_az())


CLAIMS = ("upn", "unique_name", "preferred_username", "app_displayname", "appid", "oid")
"""Of a token, whose it is; the first that it has.
https://learn.microsoft.com/entra/identity-platform/access-token-claims-reference"""


def claims_of(token: str) -> dict[str, Any]:
    """What a token says of itself. It is only shown, so nothing has to prove it."""
    try:
        body = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    except (IndexError, ValueError):
        return {}
    return claims if isinstance(claims, dict) else {}
