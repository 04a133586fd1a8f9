"""What the service refuses, and in which words."""

from __future__ import annotations

from typing import Any
from urllib.request import ProxyHandler, build_opener

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import (
    HttpResponseError,
    ResourceExistsError,
    ResourceModifiedError,
    ResourceNotFoundError,
)

from tests.sandbox.aks.pools import HOUR, PLAIN_POOL, SUBSCRIPTION, Client, Put, code_of
from tests.sandbox.conftest import Sandbox


@pytest.mark.parametrize(
    ("properties", "code", "text"),
    [
        ({"vmSize": "Standard_NC24ads_A100_v5"}, "BadRequest", "is not allowed in your subscription in location"),
        ({"vmsize": "x"}, "BadRequest", "properties.vmsize"),
        ({"gpuProfile": {"diver": "None"}}, "BadRequest", "properties.gpuProfile.diver"),
        ({"count": "2"}, "BadRequest", "properties.count"),
        ({"count": True}, "BadRequest", "properties.count"),
        ({"nodeTaints": "a=b:NoSchedule"}, "BadRequest", "properties.nodeTaints"),
        ({"gpuInstanceProfile": "MIG5g"}, "InvalidParameter", "gpuInstanceProfile"),
        ({"gpuInstanceProfile": "1g.5gb"}, "InvalidParameter", "gpuInstanceProfile"),
        ({"mode": "user"}, "InvalidParameter", "mode"),
        ({"mode": None}, "BadRequest", "mode"),
        ({"count": -1}, "InvalidParameter", "count"),
        ({"count": 1001}, "InvalidParameter", "count"),
        ({"count": 0, "mode": "System"}, "InvalidParameter", "count"),
        ({"minCount": 1, "maxCount": 2}, "InvalidParameter", "enableAutoScaling"),
        ({"enableAutoScaling": True}, "InvalidParameter", "minCount"),
        ({"enableAutoScaling": True, "minCount": 3, "maxCount": 2}, "InvalidParameter", "min <= max"),
        (
            {"enableAutoScaling": True, "minCount": 0, "maxCount": 2, "mode": "System"},
            "InvalidParameter",
            "1 <= min <= max",
        ),
        ({"scaleSetPriority": "Spot", "mode": "System"}, "InvalidParameter", "System"),
        ({"scaleSetPriority": "Spot", "spotMaxPrice": 0}, "InvalidParameter", "spotMaxPrice"),
        ({"scaleSetPriority": "Spot", "upgradeSettings": {"maxSurge": "1"}}, "InvalidParameter", "maxSurge"),
        ({"scaleSetEvictionPolicy": "Deallocate"}, "InvalidParameter", "Spot"),
        ({"nodeLabels": {"kubernetes.azure.com/x": "y"}}, "InvalidParameter", "reserved"),
        ({"nodeLabels": {"kubernetes.io/x": "y"}}, "InvalidParameter", "reserved"),
        ({"nodeLabels": {"kubernetes.azure.com/scalesetpriority": "spot"}}, "InvalidParameter", "reserved"),
        ({"nodeLabels": {"a b": "y"}}, "InvalidParameter", "label key"),
        ({"nodeLabels": {"a": "y" * 64}}, "InvalidParameter", "label value"),
        ({"nodeTaints": ["nvidia.com/gpu=present"]}, "InvalidParameter", "key=value:Effect"),
        ({"nodeTaints": ["nvidia.com/gpu=present:Never"]}, "InvalidParameter", "key=value:Effect"),
        ({"nodeTaints": ["a b=c:NoSchedule"]}, "InvalidParameter", "taint"),
        ({"tags": {"a/b": "c"}}, "InvalidTagNameCharacters", "reserved characters"),
        ({"tags": {"a": "b", "A": "c"}}, "BadRequest", "case"),
        ({"tags": {"SkipGPUDriverInstall": "true"}}, "BadRequest", "gpuProfile.driver"),
    ],
)
def test_what_the_service_refuses(put: Put, properties: dict[str, Any], code: str, text: str) -> None:
    with pytest.raises(HttpResponseError) as refused:
        put(**properties)
    assert refused.value.status_code == 400
    assert refused.value.error is not None
    assert refused.value.error.code == code
    assert text in (refused.value.error.message or "")


@pytest.mark.parametrize("name", ["A100", "1gpu", "gpu-pool", "abcdefghijklm", "gpu_a"])
def test_a_name_that_the_service_refuses(put: Put, name: str) -> None:
    with pytest.raises(HttpResponseError, match="aks-naming-rules"):
        put(name)


@pytest.mark.parametrize(
    ("path", "change_to"),
    [
        ("vmSize", {"vmSize": "Standard_NC48ads_A100_v4"}),
        ("gpuInstanceProfile", {"gpuInstanceProfile": "MIG2g"}),
        ("gpuProfile.driver", {"gpuProfile": {"driver": "None"}}),
        ("scaleSetPriority", {"scaleSetPriority": "Spot"}),
        ("availabilityZones", {"availabilityZones": ["1"]}),
        ("osDiskSizeGB", {"osDiskSizeGB": 500}),
        ("maxPods", {"maxPods": 30}),
    ],
)
def test_what_cannot_change_in_place(put: Put, path: str, change_to: dict[str, Any]) -> None:
    put()
    with pytest.raises(HttpResponseError) as refused:
        put(**change_to)
    assert refused.value.error is not None
    assert refused.value.error.code == "PropertyChangeNotAllowed"
    assert refused.value.error.message == f"Changing property 'properties.{path}' is not allowed."


def test_an_old_etag_changes_and_deletes_nothing(client: Client, put: Put) -> None:
    old = put().properties.e_tag
    new = put(count=3).properties.e_tag
    unmodified = {"match_condition": MatchConditions.IfNotModified}
    body = {"properties": PLAIN_POOL}
    with pytest.raises(ResourceModifiedError):
        client.agent_pools.begin_create_or_update("sandbox", "sandbox", "gpu", body, etag=old, **unmodified)
    with pytest.raises(ResourceModifiedError):
        client.agent_pools.begin_delete("sandbox", "sandbox", "gpu", etag=old, **unmodified)
    client.agent_pools.begin_delete("sandbox", "sandbox", "gpu", etag=new, **unmodified).result()


def test_the_last_system_pool_stays(client: Client) -> None:
    with pytest.raises(HttpResponseError, match="at least one system agent pool"):
        client.agent_pools.begin_delete("sandbox", "sandbox", "system")


def test_one_write_at_a_time(client: Client, put: Put, sandbox: Sandbox) -> None:
    sandbox.world.operation_seconds = HOUR
    client.agent_pools.begin_create_or_update("sandbox", "sandbox", "one", {"properties": PLAIN_POOL}, polling=False)
    with pytest.raises(ResourceExistsError) as refused:
        put("two")
    assert refused.value.error is not None
    assert refused.value.error.code == "OperationNotAllowed"
    assert "Another agentpool operation (one - Creating) is in progress" in (refused.value.error.message or "")


def test_what_is_not_found(client: Client) -> None:
    with pytest.raises(ResourceNotFoundError) as pool:
        client.agent_pools.get("sandbox", "sandbox", "absent")
    with pytest.raises(ResourceNotFoundError) as parent:
        client.agent_pools.get("sandbox", "missing-cluster", "gpu")
    with pytest.raises(ResourceNotFoundError) as cluster:
        client.managed_clusters.get("sandbox", "missing-cluster")
    with pytest.raises(ResourceNotFoundError) as group:
        client.managed_clusters.get("missing-group", "sandbox")
    codes = [code_of(found.value) for found in (pool, parent, cluster, group)]
    assert codes == ["ResourceNotFound", "ParentResourceNotFound", "ResourceNotFound", "ResourceGroupNotFound"]


def test_a_call_without_a_version_is_refused(sandbox: Sandbox) -> None:
    opener = build_opener(ProxyHandler({}))
    path = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.ContainerService/managedClusters"
    with pytest.raises(OSError, match="400"):
        opener.open(sandbox.http + path)
