"""Signing in: AWS's own endpoints and identity, or the sandbox's."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError

from fracgpu.errors import Invalid, NotSignedIn, Unreachable
from fracgpu.providers.access import Access
from fracgpu.providers.eks.failures import SIGN_IN
from fracgpu.providers.eks.session.calls import IDENTITY, no_identity
from fracgpu.resolve import ClusterRef

SANDBOX_REGION = "us-east-1"
_SANDBOX_KEYS = {"aws_access_key_id": "AKIASANDBOX", "aws_secret_access_key": "sandbox"}
"""They open nothing; the sandbox reads region and service from the signature."""

_TIMES = {"connect_timeout": 4, "read_timeout": 30, "retries": {"mode": "standard", "total_max_attempts": 3}}
"""Said in full, since botocore's own defaults have changed with its versions."""

_NOTHING_OF_THE_USER = {
    "profile": (None, None, None, None),
    "config_file": (None, None, os.devnull, None),
    "credentials_file": (None, None, os.devnull, None),
}
"""Variables of a botocore session, so that none of them is read from environment or home."""


@dataclass(slots=True)
class Door:
    """A signed-in botocore session and the cluster with its region filled in; clients are made when first used.

    A client takes tens of MB and a good part of a second to make, and may be used by many threads: the sessions of all
    clusters of a region have one.
    """

    session: Any
    cluster: ClusterRef
    endpoint: str | None
    access: Access

    @property
    def region(self) -> str:
        return self.cluster.region or SANDBOX_REGION

    def client(self, service: str) -> Any:
        """The client of a service, in the cluster's region."""
        return self.access.shared(("eks", service, self.region), lambda: self._client(service))

    def _client(self, service: str) -> Any:
        sandbox = self.access.sandbox
        return self.session.create_client(
            service,
            region_name=self.region,
            endpoint_url=self.endpoint,
            config=_config(sandbox=sandbox),
            **(_SANDBOX_KEYS if sandbox else {}),
        )


def _config(*, sandbox: bool) -> Any:
    make: Any = Config  # its stubs lack members
    if sandbox:
        return make(**_TIMES, proxies={}, ignore_configured_endpoint_urls=True)
    return make(**_TIMES)


def sign_in(cluster: ClusterRef, access: Access) -> Door:
    """Raises NotSignedIn without credentials, Invalid without a region or with an endpoint in the clear."""
    return _sandbox(cluster, access) if access.sandbox else _aws(cluster, access)


def _sandbox(cluster: ClusterRef, access: Access) -> Door:
    if not access.aws_endpoint:
        raise Unreachable("the sandbox has no AWS endpoint", hint="fracgpu sandbox start")
    session = access.shared("eks", lambda: botocore.session.Session(session_vars=_NOTHING_OF_THE_USER))
    found = replace(cluster, region=cluster.region or SANDBOX_REGION)
    return Door(session, found, access.aws_endpoint, access)


def _aws(cluster: ClusterRef, access: Access) -> Door:
    endpoint = _secure(access.aws_endpoint)
    session = access.shared("eks", botocore.session.Session)
    try:
        region = cluster.region or session.get_config_variable("region")
        credentials = session.get_credentials()
    except IDENTITY as error:
        raise no_identity(error) from error
    except (BotoCoreError, OSError) as error:
        message = "the AWS configuration cannot be used"
        raise NotSignedIn(f"{message}: {error}", hint=SIGN_IN) from error
    if credentials is None:
        raise NotSignedIn("no AWS credentials were found", hint=SIGN_IN)
    if not region:
        hint = "--region REGION, or aws configure set region REGION"
        raise Invalid.one("missing-field", "no region is named", field="spec.cluster.region", hint=hint)
    return Door(session, replace(cluster, region=region), endpoint, access)


def configured_region(access: Access) -> str | None:
    """The region that AWS's own configuration names; None where there is none, or it cannot be read."""
    if access.sandbox:
        return None
    try:
        region: str | None = access.shared("eks", botocore.session.Session).get_config_variable("region")
    except BotoCoreError:  # signing in says what is wrong with it
        return None
    return region


def _secure(endpoint: str | None) -> str | None:
    """Raises Invalid for an endpoint that is not https, which would show signed requests to anyone."""
    if endpoint is not None and not endpoint.startswith("https://"):
        message = f"{endpoint} is not https, and signed requests would travel in the clear"
        raise Invalid.one("invalid-value", message, field="awsEndpoint", hint="https://HOST, or --sandbox")
    return endpoint
