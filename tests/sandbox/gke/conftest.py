"""Google's own clients, pointed at the sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from google.api_core.client_options import ClientOptions
from google.auth.credentials import AnonymousCredentials
from google.cloud.container_v1 import ClusterManagerClient
from google.cloud.container_v1.services.cluster_manager.transports import ClusterManagerGrpcTransport

if TYPE_CHECKING:
    from tests.sandbox.conftest import Sandbox


@pytest.fixture
def instant(sandbox: Sandbox) -> Sandbox:
    """A sandbox whose operations are done when next looked at."""
    sandbox.world.operation_seconds = 0
    return sandbox


@pytest.fixture
def slow(sandbox: Sandbox) -> Sandbox:
    """A sandbox whose operations take an hour of its own clock."""
    sandbox.world.operation_seconds = 3600
    return sandbox


@pytest.fixture
def client(sandbox: Sandbox) -> Iterator[Any]:
    """The SDK over gRPC."""
    channel = grpc.insecure_channel(sandbox.grpc, options=[("grpc.enable_http_proxy", 0)])
    yield ClusterManagerClient(transport=ClusterManagerGrpcTransport(channel=channel))
    channel.close()


@pytest.fixture
def rest(sandbox: Sandbox) -> Iterator[Any]:
    """The SDK over REST."""
    options = ClientOptions(api_endpoint=sandbox.http)
    nobody: Any = AnonymousCredentials  # its constructor is untyped
    with ClusterManagerClient(transport="rest", credentials=nobody(), client_options=options) as made:
        yield made
