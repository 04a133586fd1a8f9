"""A client of AKS's own SDK, and a way to make pools with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.sandbox.aks.pools import PLAIN_POOL, Client, Put, client_of
from tests.sandbox.conftest import Sandbox


@pytest.fixture
def client(sandbox: Sandbox) -> Iterator[Client]:
    with client_of(sandbox) as made:
        yield made


@pytest.fixture
def put(client: Client) -> Put:
    """Create or update a pool of the cluster `sandbox` and wait for the end."""

    def _put(name: str = "gpu", **properties: Any) -> Any:
        body = {"properties": {**PLAIN_POOL, **properties}}
        return client.agent_pools.begin_create_or_update("sandbox", "sandbox", name, body).result()

    return _put
