"""The SDK's client against the sandbox, and pools to send."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any
from urllib.request import ProxyHandler, build_opener

from azure.core.credentials import AccessToken
from azure.core.exceptions import HttpResponseError
from azure.core.pipeline.policies import SansIOHTTPPolicy
from azure.mgmt.containerservice import ContainerServiceClient

from fracgpu.sandbox.world import Cloud, Pool
from tests.sandbox.conftest import Sandbox

Client = Any
"""ContainerServiceClient, whose annotations do not admit the plain dict that its documentation gives for a body."""

SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
HOUR = 3600.0
MIG_POOL: dict[str, Any] = {
    "vmSize": "Standard_NC24ads_A100_v4",
    "osType": "Linux",
    "osSKU": "Ubuntu",
    "enableNodePublicIP": False,
    "count": 1,
    "enableAutoScaling": True,
    "minCount": 1,
    "maxCount": 20,
    "scaleSetPriority": "Spot",
    "scaleSetEvictionPolicy": "Delete",
    "spotMaxPrice": -1,
    "nodeTaints": ["nvidia.com/gpu=present:NoSchedule"],
    "osDiskSizeGB": 200,
    "upgradeSettings": {"undrainableNodeBehavior": "Schedule"},
    "type": "VirtualMachineScaleSets",
    "enableEncryptionAtHost": False,
    "enableUltraSSD": False,
    "enableFIPS": False,
    "mode": "User",
    "scaleDownMode": "Delete",
    "gpuInstanceProfile": "MIG1g",
}
"""What `az aks nodepool add` 2.91.0 sends for a MIG pool on Spot."""

PLAIN_POOL: dict[str, Any] = {"vmSize": "Standard_NC24ads_A100_v4", "mode": "User", "count": 2}


class _Credential:
    def get_token(self, *_: str, **__: Any) -> AccessToken:
        return AccessToken("sandbox", int(time.time()) + 3600)


def client_of(sandbox: Sandbox, **more: Any) -> Client:
    return ContainerServiceClient(
        _Credential(),
        SUBSCRIPTION,
        base_url=sandbox.http,
        authentication_policy=SansIOHTTPPolicy(),
        polling_interval=0.02,
        use_env_settings=False,
        **{"retry_total": 0, **more},
    )


Put = Callable[..., Any]


def pool_of(sandbox: Sandbox, name: str = "gpu") -> Pool:
    return sandbox.world.cluster(Cloud.AKS, SUBSCRIPTION, "sandbox", "sandbox").pools[name]


def get(sandbox: Sandbox, path: str) -> Any:
    opener = build_opener(ProxyHandler({}))
    with opener.open(f"{sandbox.http}/subscriptions/{SUBSCRIPTION}{path}") as answer:
        return json.load(answer)


def code_of(error: HttpResponseError) -> str | None:
    return error.error.code if error.error else None


def skus_of(sandbox: Sandbox) -> dict[str, Any]:
    path = "/providers/Microsoft.Compute/skus?api-version=2021-07-01&$filter=location%20eq%20'eastus'"
    return {row["name"]: row for row in get(sandbox, path)["value"]}
