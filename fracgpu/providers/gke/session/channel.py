"""Signing in, and the connection: Google's own endpoint and identity, or the sandbox's."""

from __future__ import annotations

import calendar
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from fracgpu.errors import Invalid, NotSignedIn, Unreachable
from fracgpu.providers import Identity
from fracgpu.providers.access import Access
from fracgpu.providers.gke.failures import SIGN_IN
from fracgpu.resolve import ClusterRef

Tokens = Callable[[], tuple[str, float | None]]
"""Gives a token and the time at which it ends, in seconds since the epoch."""

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
SANDBOX_TOKEN = "sandbox"  # noqa: S105 - opens nothing
_OPTIONS = (("grpc.max_receive_message_length", -1), ("grpc.enable_http_proxy", 0))


@dataclass(frozen=True, slots=True)
class Door:
    """A client, the cluster with its project filled in, and a source of tokens for its Kubernetes API."""

    client: Any
    cluster: ClusterRef
    tokens: Tokens


def sign_in(cluster: ClusterRef, access: Access) -> Door:
    """Raises NotSignedIn without credentials, Invalid where neither cluster nor credentials name a project."""
    return _sandbox(cluster, access) if access.sandbox else _google(cluster, access)


def _sandbox(cluster: ClusterRef, access: Access) -> Door:
    """No identity, no proxy, no endpoint of the environment."""
    if not access.gke_endpoint:
        raise Unreachable("the sandbox has no GKE endpoint", hint="fracgpu sandbox start")
    endpoint = access.gke_endpoint
    client = access.shared("gke", lambda: _sandbox_client(endpoint))
    return Door(client, replace(cluster, project=cluster.project or "sandbox"), lambda: (SANDBOX_TOKEN, None))


def _sandbox_client(endpoint: str) -> Any:
    import grpc
    from google.api_core.client_options import ClientOptions
    from google.cloud.container_v1 import ClusterManagerClient
    from google.cloud.container_v1.services.cluster_manager.transports import ClusterManagerGrpcTransport

    return ClusterManagerClient(
        transport=ClusterManagerGrpcTransport(channel=grpc.insecure_channel(endpoint, options=_OPTIONS)),
        client_options=ClientOptions(universe_domain="googleapis.com"),
    )


def _google(cluster: ClusterRef, access: Access) -> Door:
    from google.api_core.client_options import ClientOptions
    from google.cloud.container_v1 import ClusterManagerClient

    endpoint = _secure(access.gke_endpoint)
    credentials, project = _default(access)
    found = cluster.project or project
    if not found:
        hint = "--project PROJECT, or gcloud config set project PROJECT"
        raise Invalid.one("missing-field", "no project is named", field="spec.cluster.project", hint=hint)
    options = ClientOptions(api_endpoint=endpoint, universe_domain=credentials.universe_domain)
    client = access.shared("gke", lambda: ClusterManagerClient(credentials=credentials, client_options=options))
    return Door(client, replace(cluster, project=found), lambda: _token(credentials))


def _default(access: Access) -> tuple[Any, str | None]:
    """Application default credentials, and the project that comes with them."""
    import google.auth
    from google.auth.exceptions import GoogleAuthError

    try:
        found: tuple[Any, str | None] = access.shared("gke identity", lambda: google.auth.default(scopes=[SCOPE]))
    except GoogleAuthError as error:
        raise NotSignedIn("no Google credentials were found", hint=SIGN_IN, detail={"message": str(error)}) from error
    return found


def _secure(endpoint: str | None) -> str | None:
    """host[:port] of an endpoint; gRPC speaks TLS with it. Raises Invalid for http, which would show the token."""
    if endpoint and endpoint.startswith("http://"):
        message = f"{endpoint} is not https, and the token would travel in the clear"
        raise Invalid.one("invalid-value", message, field="gkeEndpoint", hint="https://HOST, or --sandbox")
    return endpoint.removeprefix("https://").rstrip("/") if endpoint else None


def _token(credentials: Any) -> tuple[str, float | None]:
    from google.auth.exceptions import GoogleAuthError
    from google.auth.transport.requests import Request

    if not credentials.valid:
        try:
            credentials.refresh(Request())
        except GoogleAuthError as error:
            message = "Google does not accept the credentials"
            raise NotSignedIn(message, hint=SIGN_IN, detail={"message": str(error)}) from error
    expiry = credentials.expiry
    return credentials.token, float(calendar.timegm(expiry.utctimetuple())) if expiry else None


def identity(access: Access) -> Identity:
    """Whose the default credentials are; refreshed, so that ended ones are found out. Raises NotSignedIn."""
    if access.sandbox:
        return Identity("the sandbox's user", "sandbox")
    credentials, project = _default(access)
    _token(credentials)
    who = getattr(credentials, "service_account_email", None) or getattr(credentials, "account", None)
    return Identity(who or KINDS.get(type(credentials).__module__, type(credentials).__module__), project)


KINDS = {"google.oauth2.credentials": "a user (gcloud auth application-default login)"}
"""Credentials that do not say whose they are."""
