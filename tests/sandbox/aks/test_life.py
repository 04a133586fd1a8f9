"""How a pool is made, changed and ended, as azure-mgmt-containerservice meets it."""

from __future__ import annotations

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import ResourceExistsError, ResourceNotFoundError

from fracgpu.sandbox.world import Cloud
from tests.sandbox.aks.pools import HOUR, MIG_POOL, PLAIN_POOL, SUBSCRIPTION, Client, Put, get, pool_of
from tests.sandbox.conftest import Sandbox


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
    assert pool_of(sandbox, "a100mig7").size == 1


def test_a_regular_pool_has_a_surge_and_no_priority(put: Put) -> None:
    said = {"scaleSetPriority": "Regular", "scaleSetEvictionPolicy": "Delete", "spotMaxPrice": -1.0}
    shown = put(**said).properties.as_dict()
    assert shown["upgradeSettings"] == {"maxSurge": "10%", "maxUnavailable": "0"}
    assert not {"scaleSetPriority", "spotMaxPrice", "scaleSetEvictionPolicy", "nodeLabels", "nodeTaints"} & set(shown)


def test_the_defaults_of_spot_in_a_regular_pool_say_nothing(put: Put) -> None:
    """az 2.80 sends them with every pool, new or not."""
    unsaid = {"scaleSetPriority": "Regular", "scaleSetEvictionPolicy": "Delete", "spotMaxPrice": -1.0}
    for count in (1, 2):
        shown = put(count=count, **unsaid).properties.as_dict()
        assert not set(unsaid) & set(shown)


def test_a_stopped_pool_has_no_nodes_and_keeps_its_count(put: Put, sandbox: Sandbox) -> None:
    put(count=2)
    stopped = put(count=2, powerState={"code": "Stopped"})
    assert (stopped.properties.count, pool_of(sandbox).size) == (2, 0)
    put(count=2, powerState={"code": "Running"})
    assert pool_of(sandbox).size == 2


def test_a_new_node_image_makes_the_nodes_anew(client: Client, put: Put, sandbox: Sandbox) -> None:
    put()
    before = pool_of(sandbox).incarnation
    client.agent_pools.begin_upgrade_node_image_version("sandbox", "sandbox", "gpu").result()
    assert (pool_of(sandbox).incarnation, pool_of(sandbox).state) == (before + 1, "Succeeded")
    # az looks at the operation's result, which is the pool.
    last = list(sandbox.world.cluster(Cloud.AKS, SUBSCRIPTION, "sandbox", "sandbox").operations)[-1]
    where = f"/providers/Microsoft.ContainerService/locations/eastus/operationresults/{last}?api-version=2025-09-01"
    assert get(sandbox, where)["name"] == "gpu"


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
    assert pool_of(sandbox).size == 0
    sandbox.advance(HOUR)
    assert pools.get("sandbox", "sandbox", "gpu").provisioning_state == "Succeeded"
    assert pool_of(sandbox).size == 2
    update = {"properties": {**PLAIN_POOL, "count": 3}}
    assert (
        pools.begin_create_or_update("sandbox", "sandbox", "gpu", update, polling=False).result().provisioning_state
        == "Updating"
    )
    sandbox.advance(HOUR)
    assert pool_of(sandbox).size == 3
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
    assert pool_of(sandbox).size == 3


def test_create_only_if_missing(client: Client, put: Put) -> None:
    body = {"properties": PLAIN_POOL}
    missing = {"match_condition": MatchConditions.IfMissing}
    client.agent_pools.begin_create_or_update("sandbox", "sandbox", "gpu", body, **missing).result()
    with pytest.raises(ResourceExistsError) as refused:
        client.agent_pools.begin_create_or_update("sandbox", "sandbox", "gpu", body, **missing)
    assert refused.value.status_code == 412


def test_deleting_what_is_not_there_is_no_error(client: Client) -> None:
    client.agent_pools.begin_delete("sandbox", "sandbox", "absent").result()


def test_abort_ends_what_is_in_flight(client: Client, sandbox: Sandbox) -> None:
    sandbox.world.faults.add("aks", "AgentPools_CreateOrUpdate", outcome="endless")
    client.agent_pools.begin_create_or_update("sandbox", "sandbox", "gpu", {"properties": PLAIN_POOL}, polling=False)
    sandbox.advance(1000 * HOUR)
    assert client.agent_pools.get("sandbox", "sandbox", "gpu").provisioning_state == "Creating"
    client.agent_pools.begin_abort_latest_operation("sandbox", "sandbox", "gpu").result()
    assert client.agent_pools.get("sandbox", "sandbox", "gpu").provisioning_state == "Canceled"
    client.agent_pools.begin_delete("sandbox", "sandbox", "gpu").result()
