"""Signing in as `az` does: an authority of the AD FS kind, which asks nobody whether it is known to Microsoft.

Whoever asks gets a token; the sandbox takes any.
https://learn.microsoft.com/azure-stack/user/azure-stack-version-profiles-azurecli2
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from werkzeug.wrappers import Request, Response

from fracgpu.sandbox.environment import DUMMY_TOKEN
from fracgpu.sandbox.http import json_response
from fracgpu.sandbox.world import Json, World

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

LIFE = 24 * 3600


def app(_: World) -> WSGIApplication:
    """The authority under `/adfs`, and the list of a cloud's endpoints under `/metadata`."""

    @Request.application
    def front(request: Request) -> Response:
        base = request.host_url.rstrip("/")
        answers: dict[str, Callable[[str], Json]] = {
            "/metadata/endpoints": _cloud,
            "/adfs/.well-known/openid-configuration": _authority,
            "/adfs/oauth2/token": _token,
        }
        answer = answers.get(request.path.rstrip("/"))
        return json_response({"error": "invalid_request"}, 404) if answer is None else json_response(answer(base))

    return front


def _cloud(base: str) -> Json:
    """What `az cloud register --endpoint-resource-manager` asks for."""
    authentication = {
        "loginEndpoint": f"{base}/adfs",
        "audiences": [base],
        "tenant": "adfs",
        "identityProvider": "ADFS",
    }
    others = dict.fromkeys(("graphAudience", "portal", "gallery", "batch", "microsoftGraphResourceId"), base)
    return {"name": "sandbox", "resourceManager": base, "authentication": authentication, "suffixes": {}, **others}


def _authority(base: str) -> Json:
    oauth2 = f"{base}/adfs/oauth2"
    endpoints = {"authorization_endpoint": f"{oauth2}/authorize", "token_endpoint": f"{oauth2}/token"}
    return {"issuer": f"{base}/adfs", **endpoints}


def _token(_: str) -> Json:
    lasts = {"expires_in": LIFE, "expires_on": int(time.time()) + LIFE}
    return {"token_type": "bearer", "access_token": DUMMY_TOKEN, **lasts}
