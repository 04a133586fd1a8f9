"""The ARM front, as azure-mgmt-containerservice meets it."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.request import ProxyHandler, build_opener

import pytest
from azure.core import MatchConditions
from azure.core.credentials import AccessToken
from azure.core.exceptions import (
    HttpResponseError,
    ResourceExistsError,
    ResourceModifiedError,
    ResourceNotFoundError,
    ServiceRequestError,
    ServiceResponseError,
)
from azure.core.pipeline.policies import SansIOHTTPPolicy
from azure.mgmt.containerservice import ContainerServiceClient

from fracgpu.sandbox.settings import change
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


def _client(sandbox: Sandbox, **more: Any) -> Client:
    return ContainerServiceClient(
        _Credential(),
        SUBSCRIPTION,
        base_url=sandbox.http,
        authentication_policy=SansIOHTTPPolicy(),
        polling_interval=0.02,
        use_env_settings=False,
        **{"retry_total": 0, **more},
    )


@pytest.fixture
def client(sandbox: Sandbox) -> Iterator[Client]:
    with _client(sandbox) as made:
        yield made


Put = Callable[..., Any]


@pytest.fixture
def put(client: Client) -> Put:
    """Create or update a pool of the cluster `sandbox` and wait for the end."""

    def _put(name: str = "gpu", **properties: Any) -> Any:
        body = {"properties": {**PLAIN_POOL, **properties}}
        return client.agent_pools.begin_create_or_update("sandbox", "sandbox", name, body).result()

    return _put


def _pool(sandbox: Sandbox, name: str = "gpu") -> Pool:
    return sandbox.world.cluster(Cloud.AKS, SUBSCRIPTION, "sandbox", "sandbox").pools[name]


def _get(sandbox: Sandbox, path: str) -> Any:
    opener = build_opener(ProxyHandler({}))
    with opener.open(f"{sandbox.http}/subscriptions/{SUBSCRIPTION}{path}") as answer:
        return json.load(answer)


def test_a_pool_is_made_and_shows_what_the_service_adds(client: Client, sandbox: Sandbox) -> None:
    body = {"properties": MIG_POOL}
    made = client.agent_pools.begin_create_or_update("sandbox", "sandbox", "a100mig7", body).result()
    shown = made.properties.as_dict()
    changed = {name: shown[name] for name in MIG_POOL if shown[name] != MIG_POOL[name]}
    assert changed == {
        "nodeTaints": [
            "nvidia.com/gpu=present:NoSchedule",
            "kubernetes.azure.com/scalesetpriority=spot:NoSchedule",
        ]
    }
    assert shown["provisioningState"] == "Succeeded"
    assert shown["nodeLabels"] == {"kubernetes.azure.com/scalesetpriority": "spot"}
    assert shown["gpuProfile"] == {"driver": "Install"}
    assert shown["osDiskType"] == "Ephemeral"
    assert shown["maxPods"] == 110
    assert shown["orchestratorVersion"] == shown["currentOrchestratorVersion"]
    assert "maxSurge" not in shown["upgradeSettings"]
    assert _pool(sandbox, "a100mig7").size == 1


def test_a_regular_pool_has_a_surge_and_no_priority(put: Put) -> None:
    shown = put(scaleSetPriority="Regular").properties.as_dict()
    assert shown["upgradeSettings"] == {"maxSurge": "10%", "maxUnavailable": "0"}
    assert not {"scaleSetPriority", "spotMaxPrice", "scaleSetEvictionPolicy", "nodeLabels", "nodeTaints"} & set(shown)


def test_a_pool_without_a_gpu_has_no_gpu_profile(put: Put) -> None:
    assert put(vmSize="Standard_D4s_v5").properties.gpu_profile is None


def test_a_pool_goes_through_its_states(client: Client, sandbox: Sandbox) -> None:
    sandbox.world.operation_seconds = HOUR
    pools = client.agent_pools
    assert (
        pools.begin_create_or_update("sandbox", "sandbox", "gpu", {"properties": PLAIN_POOL}, polling=False)
        .result()
        .provisioning_state
        == "Creating"
    )
    assert _pool(sandbox).size == 0
    sandbox.advance(HOUR)
    assert pools.get("sandbox", "sandbox", "gpu").provisioning_state == "Succeeded"
    assert _pool(sandbox).size == 2
    update = {"properties": {**PLAIN_POOL, "count": 3}}
    assert (
        pools.begin_create_or_update("sandbox", "sandbox", "gpu", update, polling=False).result().provisioning_state
        == "Updating"
    )
    sandbox.advance(HOUR)
    assert _pool(sandbox).size == 3
    pools.begin_delete("sandbox", "sandbox", "gpu", polling=False)
    assert pools.get("sandbox", "sandbox", "gpu").provisioning_state == "Deleting"
    sandbox.advance(HOUR)
    with pytest.raises(ResourceNotFoundError):
        pools.get("sandbox", "sandbox", "gpu")


def test_a_second_process_can_take_up_the_wait(client: Client, sandbox: Sandbox) -> None:
    sandbox.world.operation_seconds = HOUR
    poller = client.agent_pools.begin_create_or_update("sandbox", "sandbox", "gpu", {"properties": PLAIN_POOL})
    token = poller.continuation_token()
    sandbox.advance(HOUR)
    poller.result()
    again = client.agent_pools.begin_create_or_update("sandbox", "sandbox", "gpu", {}, continuation_token=token)
    assert again.result().provisioning_state == "Succeeded"


def test_list_is_paged(client: Client, sandbox: Sandbox) -> None:
    cluster = sandbox.world.cluster(Cloud.AKS, SUBSCRIPTION, "sandbox", "sandbox")
    for number in range(60):
        cluster.pools[f"p{number}"] = Pool(Cloud.AKS, f"p{number}", cluster.pools["system"].body, "Succeeded")
    assert len(list(client.agent_pools.list("sandbox", "sandbox"))) == 61


def test_names_in_a_path_compare_whatever_their_case(client: Client, put: Put) -> None:
    put()
    assert client.agent_pools.get("SANDBOX", "Sandbox", "gpu").name == "gpu"


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
        ({"scaleSetEvictionPolicy": "Delete"}, "InvalidParameter", "Spot"),
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


def test_what_can_change_in_place(put: Put) -> None:
    put(nodeLabels={"a": "b", "c": "d"}, tags={"t": "1"})
    shown = put(
        nodeLabels={"a": "x"}, tags={"t": "2"}, nodeTaints=["k=v:NoExecute"], scaleDownMode="Deallocate"
    ).properties.as_dict()
    assert shown["nodeLabels"] == {"a": "x"}
    assert shown["tags"] == {"t": "2"}
    assert shown["nodeTaints"] == ["k=v:NoExecute"]
    assert shown["scaleDownMode"] == "Deallocate"


def test_a_spot_pool_read_and_sent_back_is_no_change(client: Client) -> None:
    pools = client.agent_pools
    first = pools.begin_create_or_update("sandbox", "sandbox", "spot", {"properties": MIG_POOL}).result()
    again = pools.begin_create_or_update("sandbox", "sandbox", "spot", first).result()
    before, after = (pool.properties.as_dict() for pool in (first, again))
    assert before.pop("eTag") != after.pop("eTag")
    assert before == after


def test_autoscaling_off_takes_its_bounds_away(put: Put) -> None:
    put(enableAutoScaling=True, minCount=1, maxCount=4)
    assert put(enableAutoScaling=True, minCount=0, maxCount=8).max_count == 8
    off = put(enableAutoScaling=False)
    assert off.min_count is None
    assert off.max_count is None


def test_a_count_outside_the_bounds_is_brought_within(put: Put, sandbox: Sandbox) -> None:
    assert put(count=0, enableAutoScaling=True, minCount=3, maxCount=4).count == 3
    assert _pool(sandbox).size == 3


def test_create_only_if_missing(client: Client, put: Put) -> None:
    body = {"properties": PLAIN_POOL}
    missing = {"match_condition": MatchConditions.IfMissing}
    client.agent_pools.begin_create_or_update("sandbox", "sandbox", "gpu", body, **missing).result()
    with pytest.raises(ResourceExistsError) as refused:
        client.agent_pools.begin_create_or_update("sandbox", "sandbox", "gpu", body, **missing)
    assert refused.value.status_code == 412


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


def test_deleting_what_is_not_there_is_no_error(client: Client) -> None:
    client.agent_pools.begin_delete("sandbox", "sandbox", "absent").result()


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


def test_abort_ends_what_is_in_flight(client: Client, sandbox: Sandbox) -> None:
    sandbox.world.faults.add("aks", "AgentPools_CreateOrUpdate", outcome="endless")
    client.agent_pools.begin_create_or_update("sandbox", "sandbox", "gpu", {"properties": PLAIN_POOL}, polling=False)
    sandbox.advance(1000 * HOUR)
    assert client.agent_pools.get("sandbox", "sandbox", "gpu").provisioning_state == "Creating"
    client.agent_pools.begin_abort_latest_operation("sandbox", "sandbox", "gpu").result()
    assert client.agent_pools.get("sandbox", "sandbox", "gpu").provisioning_state == "Canceled"
    client.agent_pools.begin_delete("sandbox", "sandbox", "gpu").result()


def _error_code(error: HttpResponseError) -> str | None:
    return error.error.code if error.error else None


def test_what_is_not_found(client: Client) -> None:
    with pytest.raises(ResourceNotFoundError) as pool:
        client.agent_pools.get("sandbox", "sandbox", "absent")
    with pytest.raises(ResourceNotFoundError) as parent:
        client.agent_pools.get("sandbox", "missing-cluster", "gpu")
    with pytest.raises(ResourceNotFoundError) as cluster:
        client.managed_clusters.get("sandbox", "missing-cluster")
    with pytest.raises(ResourceNotFoundError) as group:
        client.managed_clusters.get("missing-group", "sandbox")
    codes = [_error_code(found.value) for found in (pool, parent, cluster, group)]
    assert codes == ["ResourceNotFound", "ParentResourceNotFound", "ResourceNotFound", "ResourceGroupNotFound"]


def test_a_failed_operation_says_why(client: Client, put: Put, sandbox: Sandbox) -> None:
    sandbox.world.faults.add("aks", "AgentPools_CreateOrUpdate", outcome="failed")
    with pytest.raises(HttpResponseError) as failed:
        put()
    assert failed.value.status_code == 200
    assert _error_code(failed.value) == "SkuNotAvailable"
    shown = client.agent_pools.get("sandbox", "sandbox", "gpu")
    assert shown.provisioning_state == "Failed"
    assert shown.properties.status.provisioning_error.code == "SkuNotAvailable"
    assert _pool(sandbox).size == 0
    assert put().provisioning_state == "Succeeded"
    assert client.agent_pools.get("sandbox", "sandbox", "gpu").properties.status is None


def test_a_failed_operation_says_what_it_was_told(put: Put, sandbox: Sandbox) -> None:
    sandbox.world.faults.add(
        "aks", "AgentPools_CreateOrUpdate", outcome="failed", code="AllocationFailed", message="Allocation failed."
    )
    with pytest.raises(HttpResponseError) as failed:
        put()
    assert _error_code(failed.value) == "AllocationFailed"


def test_a_partial_outcome_leaves_some_nodes(put: Put, sandbox: Sandbox) -> None:
    sandbox.world.faults.add("aks", "AgentPools_CreateOrUpdate", outcome="partial")
    with pytest.raises(HttpResponseError) as failed:
        put(count=4)
    assert _error_code(failed.value) == "ZonalAllocationFailed"
    assert _pool(sandbox).size == 2
    assert _pool(sandbox).state == "Failed"


def test_a_delete_that_fails_leaves_the_pool(client: Client, put: Put, sandbox: Sandbox) -> None:
    put()
    sandbox.world.faults.add("aks", "AgentPools_Delete", outcome="failed")
    with pytest.raises(HttpResponseError) as failed:
        client.agent_pools.begin_delete("sandbox", "sandbox", "gpu").result()
    assert _error_code(failed.value) == "PodDrainFailure"
    assert client.agent_pools.get("sandbox", "sandbox", "gpu").provisioning_state == "Failed"


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        ({"status": 403}, 403, "AuthorizationFailed"),
        ({"status": 500}, 500, "InternalServerError"),
        ({"retry_after": 7}, 429, "Throttled"),
        ({"status": 400, "code": "ErrCode_Odd", "message": "odd"}, 400, "ErrCode_Odd"),
    ],
)
def test_a_call_fails_as_it_was_told_to(
    client: Client, sandbox: Sandbox, fault: dict[str, Any], status: int, code: str
) -> None:
    sandbox.world.faults.add("aks", "AgentPools_List", **fault)
    with pytest.raises(HttpResponseError) as failed:
        list(client.agent_pools.list("sandbox", "sandbox"))
    assert failed.value.status_code == status
    assert _error_code(failed.value) == code
    response: Any = failed.value.response
    assert response.headers.get("Retry-After") == (str(fault["retry_after"]) if "retry_after" in fault else None)
    assert len(list(client.agent_pools.list("sandbox", "sandbox"))) == 1


def test_an_answer_that_is_lost_was_a_call_that_was_done(put: Put, sandbox: Sandbox) -> None:
    sandbox.world.faults.add("aks", "AgentPools_CreateOrUpdate", drop=True)
    with pytest.raises((ServiceRequestError, ServiceResponseError)):
        put()
    assert _pool(sandbox).state in ("Creating", "Succeeded")


def test_a_dropped_refusal_did_nothing(put: Put, sandbox: Sandbox) -> None:
    sandbox.world.faults.add("aks", "AgentPools_CreateOrUpdate", drop=True, status=500)
    with pytest.raises((ServiceRequestError, ServiceResponseError)):
        put()
    assert "gpu" not in sandbox.world.cluster(Cloud.AKS, SUBSCRIPTION, "sandbox", "sandbox").pools


def test_the_sdk_retries_what_it_may(sandbox: Sandbox) -> None:
    fault = sandbox.world.faults.add("aks", "AgentPools_Get", status=503, times=2)
    with _client(sandbox, retry_total=3, retry_backoff_factor=0.001) as client:
        assert client.agent_pools.get("sandbox", "sandbox", "system").name == "system"
    assert fault.seen == 2


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        ("cores", "left regional vcpu quota 26, requested quota 48"),
        ("StandardNCADSA100v4Family", "requested 48, remaining 30 for family StandardNCADSA100v4Family"),
    ],
)
def test_a_regular_pool_over_quota_is_refused_at_once(put: Put, sandbox: Sandbox, metric: str, text: str) -> None:
    change(sandbox.world, "quota", {"cloud": "aks", "metric": metric, "limit": 30, "region": "eastus"})
    with pytest.raises(HttpResponseError) as refused:
        put()
    assert refused.value.status_code == 400
    assert _error_code(refused.value) == "ErrCode_InsufficientVCPUQuota"
    assert text in str(refused.value)
    assert put(count=1).count == 1


def test_a_spot_pool_over_quota_ends_in_an_error(put: Put, sandbox: Sandbox) -> None:
    change(sandbox.world, "quota", {"cloud": "aks", "metric": "lowPriorityCores", "limit": 3})
    with pytest.raises(HttpResponseError) as failed:
        put(scaleSetPriority="Spot", count=1)
    assert failed.value.status_code == 200
    assert _error_code(failed.value) == "QuotaExceeded"
    assert failed.value.error is not None
    assert [inner.code for inner in failed.value.error.details] == ["OperationNotAllowed"]
    assert "(Minimum) New Limit Required: 24" in (failed.value.error.message or "")


def test_usages_say_what_is_used_and_allowed(put: Put, sandbox: Sandbox) -> None:
    change(sandbox.world, "quota", {"cloud": "aks", "metric": "lowPriorityCores", "limit": 100})
    put("regular")
    put("spot", scaleSetPriority="Spot", count=1)
    rows = _get(sandbox, "/providers/Microsoft.Compute/locations/eastus/usages?api-version=2024-07-01")["value"]
    used = {row["name"]["value"]: (row["currentValue"], row["limit"]) for row in rows}
    assert used["lowPriorityCores"] == (24, 100)
    assert used["StandardNCADSA100v4Family"][0] == 48
    assert used["cores"][0] == 52


def _skus(sandbox: Sandbox) -> dict[str, Any]:
    path = "/providers/Microsoft.Compute/skus?api-version=2021-07-01&$filter=location%20eq%20'eastus'"
    return {row["name"]: row for row in _get(sandbox, path)["value"]}


def test_skus_have_zones_gpus_and_restrictions(sandbox: Sandbox) -> None:
    change(
        sandbox.world,
        "offering",
        {"cloud": "aks", "machine": "Standard_NC24ads_A100_v4", "zone": "2", "on": False},
    )
    sku = _skus(sandbox)["Standard_NC24ads_A100_v4"]
    capabilities = {pair["name"]: pair["value"] for pair in sku["capabilities"]}
    assert capabilities["GPUs"] == "1"
    assert capabilities["vCPUs"] == "24"
    assert sku["locationInfo"][0]["zones"] == ["1", "2", "3"]
    assert [row["restrictionInfo"]["zones"] for row in sku["restrictions"]] == [["2"]]
    assert _skus(sandbox)["Standard_NV6ads_A10_v5"]["restrictions"] == []


def test_a_zone_that_is_off_is_refused(put: Put, sandbox: Sandbox) -> None:
    off = {"cloud": "aks", "machine": "Standard_NC24ads_A100_v4", "on": False}
    change(sandbox.world, "offering", {**off, "zone": "1"})
    with pytest.raises(HttpResponseError) as refused:
        put(availabilityZones=["1"])
    assert _error_code(refused.value) == "AvailabilityZoneNotSupported"
    assert "are '2', '3'" in str(refused.value)
    assert put(availabilityZones=["2"]).availability_zones == ["2"]


def test_a_region_that_is_out_of_stock_ends_in_an_error(put: Put, sandbox: Sandbox) -> None:
    off = {"cloud": "aks", "machine": "Standard_NC24ads_A100_v4", "zone": "eastus", "on": False}
    change(sandbox.world, "offering", off)
    with pytest.raises(HttpResponseError) as failed:
        put()
    assert _error_code(failed.value) == "SkuNotAvailable"
    assert put("zero", count=0).provisioning_state == "Succeeded"


def test_clusters_are_listed_with_their_pools(client: Client, put: Put) -> None:
    put()
    cluster = client.managed_clusters.get("sandbox", "sandbox")
    assert cluster.location == "eastus"
    assert [pool.name for pool in cluster.agent_pool_profiles] == ["system", "gpu"]
    assert client.managed_clusters.get("other", "another").name == "another"
    assert [found.name for found in client.managed_clusters.list_by_resource_group("other")] == ["another"]
    assert [found.name for found in client.managed_clusters.list()] == ["sandbox", "another"]


def test_the_kubeconfig_leads_to_the_sandbox(client: Client, sandbox: Sandbox) -> None:
    found = client.managed_clusters.list_cluster_user_credentials("sandbox", "sandbox")
    assert found.kubeconfigs is not None
    value = found.kubeconfigs[0].value
    assert value is not None
    text = value if value.lstrip().startswith(b"{") else base64.b64decode(value)
    config = json.loads(text)
    assert (
        config["clusters"][0]["cluster"]["server"]
        == f"https://127.0.0.1:{sandbox.server.port}/k8s/aks/{SUBSCRIPTION}~sandbox~sandbox"
    )
    assert config["current-context"] == "sandbox"


def test_a_call_without_a_version_is_refused(sandbox: Sandbox) -> None:
    opener = build_opener(ProxyHandler({}))
    path = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.ContainerService/managedClusters"
    with pytest.raises(OSError, match="400"):
        opener.open(sandbox.http + path)


def _shape(sandbox: Sandbox, name: str = "gpu") -> Any:
    cluster = sandbox.world.cluster(Cloud.AKS, SUBSCRIPTION, "sandbox", "sandbox")
    return sandbox.world.shapes[Cloud.AKS](cluster, cluster.pools[name])


@pytest.mark.parametrize(
    ("size", "profile", "slices"),
    [
        ("Standard_NC24ads_A100_v4", "MIG1g", {"1g.10gb": 7}),
        ("Standard_ND96asr_v4", "MIG1g", {"1g.5gb": 7}),
        ("Standard_ND96asr_v4", "MIG2g", {"2g.10gb": 3}),
        ("Standard_NC40ads_H100_v5", "MIG3g", {"3g.47gb": 2}),
        ("Standard_ND96isr_H100_v5", "MIG4g", {"4g.40gb": 1}),
        ("Standard_ND96isr_H200_v5", "MIG7g", {"7g.141gb": 1}),
    ],
)
def test_what_a_profile_cuts(put: Put, sandbox: Sandbox, size: str, profile: str, slices: dict[str, int]) -> None:
    put(vmSize=size, gpuInstanceProfile=profile, count=1)
    shape = _shape(sandbox)
    assert shape.slices == (slices,) * shape.gpu_count != ()
    assert shape.broken is None
    assert shape.allocatable is None


@pytest.mark.parametrize(
    ("properties", "why"),
    [
        ({"vmSize": "Standard_NC4as_T4_v3", "gpuInstanceProfile": "MIG1g"}, "no profile of the GPUs"),
        ({"gpuInstanceProfile": "MIG1g", "gpuProfile": {"driver": "None"}}, "mig-partition"),
        ({"vmSize": "Standard_NV36ads_A10_v5", "gpuProfile": {"driver": "None"}}, "GRID"),
    ],
)
def test_nodes_that_never_advertise(put: Put, sandbox: Sandbox, properties: dict[str, Any], why: str) -> None:
    put(**properties)
    assert why in (_shape(sandbox).broken or "")


def test_nodes_carry_the_labels_and_taints_of_the_service(put: Put, sandbox: Sandbox) -> None:
    put(
        scaleSetPriority="Spot",
        availabilityZones=["1", "3"],
        nodeLabels={"nvidia.com/device-plugin.config": "time-sliced-10"},
        nodeTaints=["nvidia.com/gpu=present:NoSchedule"],
    )
    shape = _shape(sandbox)
    assert shape.labels["kubernetes.azure.com/scalesetpriority"] == "spot"
    assert shape.labels["kubernetes.azure.com/accelerator"] == "nvidia"
    assert shape.labels["nvidia.com/device-plugin.config"] == "time-sliced-10"
    assert shape.taints == [
        {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"},
        {"key": "kubernetes.azure.com/scalesetpriority", "value": "spot", "effect": "NoSchedule"},
    ]
    assert shape.zones == ("eastus-1", "eastus-3")


def test_every_gpu_size_of_the_catalog_is_offered(sandbox: Sandbox) -> None:
    from fracgpu.sandbox import hardware

    names = {machine.name for machine in hardware.machines("aks")}
    assert names
    assert names - set(_skus(sandbox)) == set()
