"""GKE over HTTP and JSON: the SDK's REST transport, gcloud's recorded bodies, the old paths, the error form."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest
from google.api_core import exceptions
from google.cloud.container_v1.types import NodePool

from tests.sandbox.gke.pools import CLUSTER, a100, create, operation, read, recorded

if TYPE_CHECKING:
    from tests.sandbox.conftest import Sandbox


def ask(sandbox: Sandbox, method: str, path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
    data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{sandbox.http}/{path}", data, method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_one_state_behind_both_protocols(instant: Sandbox, client: Any, rest: Any) -> None:
    create(rest, a100(partition="1g.5gb", sharing=("MPS", 4)))
    create(client, a100("q"))

    assert read(client) == read(rest)
    assert read(client, "q") == read(rest, "q")
    assert client.get_cluster(name=CLUSTER) == rest.get_cluster(name=CLUSTER)
    assert read(rest).config.accelerators[0].gpu_sharing_config.gpu_sharing_strategy.name == "MPS"


def test_the_rest_transport_through_a_life(instant: Sandbox, rest: Any) -> None:
    name = f"{CLUSTER}/nodePools/p"
    started = create(rest, a100())
    assert operation(rest, started).status.name == "DONE"
    rest.set_node_pool_size(request={"name": name, "node_count": 0})
    rest.update_node_pool(request={"name": name, "labels": {"labels": {"a": "b"}}})
    rest.set_node_pool_management(request={"name": name, "management": {"auto_repair": True}})
    rest.set_node_pool_autoscaling(request={"name": name, "autoscaling": {"enabled": True, "total_max_node_count": 3}})
    pool = read(rest)
    assert (pool.initial_node_count, dict(pool.config.labels), pool.management.auto_repair) == (0, {"a": "b"}, True)
    assert pool.autoscaling.total_max_node_count == 3
    rest.delete_node_pool(name=name)
    assert [pool.name for pool in rest.list_node_pools(parent=CLUSTER).node_pools] == ["default-pool"]
    assert len(rest.list_operations(parent="projects/sandbox/locations/-").operations) == 6
    assert rest.get_server_config(name="projects/sandbox/locations/us-central1").valid_image_types


@pytest.mark.parametrize("name", ["a100-40-mig-1g5gb", "a100-40-frac-10", "l4-mps-8"])
def test_what_gcloud_sends_is_what_is_read_back(instant: Sandbox, client: Any, name: str) -> None:
    body = recorded(name)
    status, started = ask(instant, "POST", f"v1/{body['parent']}/nodePools", body)

    assert (status, started["operationType"]) == (200, "CREATE_NODE_POOL")
    sent = NodePool.from_json(json.dumps(body["nodePool"]))
    shown = read(client, name, body["parent"])
    assert shown.status.name == "RUNNING"
    assert shown.initial_node_count == sent.initial_node_count
    assert shown.config.oauth_scopes == sent.config.oauth_scopes
    assert shown.autoscaling.total_max_node_count == sent.autoscaling.total_max_node_count
    assert shown.config.accelerators[0].gpu_partition_size == sent.config.accelerators[0].gpu_partition_size
    assert shown.config.accelerators[0].gpu_sharing_config == sent.config.accelerators[0].gpu_sharing_config


def test_gclouds_updates(instant: Sandbox, client: Any) -> None:
    made = recorded("a100-40-frac-10")
    pool = f"v1/{made['parent']}/nodePools/a100-40-frac-10"
    ask(instant, "POST", f"v1/{made['parent']}/nodePools", made)
    ask(instant, "PUT", pool, recorded("update-node-labels"))
    ask(instant, "PUT", pool, recorded("update-node-taints"))
    ask(instant, "PUT", f"v1/{made['parent']}", recorded("update-autoscaling"))
    ask(instant, "POST", f"{pool}:setSize", recorded("resize-to-2"))

    shown = read(client, "a100-40-frac-10", made["parent"])
    assert shown.config.labels == {"a": "b"}
    assert [taint.key for taint in shown.config.taints] == ["k"]
    assert shown.autoscaling.total_max_node_count == 6
    assert shown.initial_node_count == 2


def test_json_has_words_and_texts_and_no_zeros(instant: Sandbox, rest: Any) -> None:
    create(rest, a100(initial_node_count=0, sharing=("TIME_SHARING", 10)))
    _, shown = ask(instant, "GET", f"v1/{CLUSTER}/nodePools/p")

    gpu = shown["config"]["accelerators"][0]
    assert gpu["gpuSharingConfig"] == {"gpuSharingStrategy": "TIME_SHARING", "maxSharedClientsPerGpu": "10"}
    assert gpu["acceleratorCount"] == "1"
    assert shown["status"] == "RUNNING"
    assert "initialNodeCount" not in shown


def test_enums_as_numbers_on_request(instant: Sandbox) -> None:
    _, shown = ask(instant, "GET", f"v1/{CLUSTER}/nodePools/default-pool?$alt=json%3Benum-encoding%3Dint")

    assert shown["status"] == 2


@pytest.mark.parametrize("version", ["v1", "v1beta1", "v1alpha1"])
def test_the_old_paths(instant: Sandbox, version: str) -> None:
    cluster = f"{version}/projects/sandbox/zones/us-central1-a/clusters/c"
    gpu = {"acceleratorCount": 1, "acceleratorType": "nvidia-tesla-a100"}
    pool = {"name": "p", "config": {"machineType": "a2-highgpu-1g", "accelerators": [gpu]}}

    assert ask(instant, "POST", f"{cluster}/nodePools", {"nodePool": pool})[0] == 200
    for path, body in {
        "setSize": {"nodeCount": 1},
        "autoscaling": {"autoscaling": {"enabled": True, "maxNodeCount": 3}},
        "setManagement": {"management": {"autoRepair": True}},
        "update": {"imageType": "ubuntu_containerd", "nodeVersion": "-"},
    }.items():
        assert ask(instant, "POST", f"{cluster}/nodePools/p/{path}", body)[0] == 200, path
    _, shown = ask(instant, "GET", f"{cluster}/nodePools/p")
    assert (shown["initialNodeCount"], shown["autoscaling"]["maxNodeCount"]) == (1, 3)
    assert shown["config"]["imageType"] == "ubuntu_containerd"
    operations = ask(instant, "GET", f"{version}/projects/sandbox/zones/us-central1-a/operations")[1]["operations"]
    assert [done["status"] for done in operations] == ["DONE"] * 5
    assert ask(instant, "GET", f"{version}/projects/sandbox/zones/us-central1-a/serverconfig")[0] == 200


def test_an_unknown_field_is_refused(instant: Sandbox) -> None:
    body = {"nodePool": {"name": "p", "config": {"machineTyp": "x"}}}
    status, shown = ask(instant, "POST", f"v1/{CLUSTER}/nodePools", body)

    assert status == 400
    said = """Invalid JSON payload received. Unknown name "machineTyp" at 'node_pool.config': Cannot find field."""
    assert shown["error"]["message"] == said
    assert shown["error"]["status"] == "INVALID_ARGUMENT"


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"nodePool": 3}', b'{"nodePool": {"initialNodeCount": "x"}}'])
def test_what_is_no_json_of_the_call(instant: Sandbox, body: bytes) -> None:
    status, shown = ask(instant, "POST", f"v1/{CLUSTER}/nodePools", body)

    assert (status, shown["error"]["status"]) == (400, "INVALID_ARGUMENT")
    assert shown["error"]["message"].startswith("Invalid JSON payload received.")


def test_the_form_of_an_error(slow: Sandbox, rest: Any) -> None:
    create(rest, a100())
    status, shown = ask(slow, "DELETE", f"v1/{CLUSTER}/nodePools/p")

    error = shown["error"]
    assert (status, error["code"], error["status"]) == (400, 400, "FAILED_PRECONDITION")
    assert error["errors"] == [{"message": error["message"], "domain": "global", "reason": "failedPrecondition"}]
    detail = error["details"][0]
    assert detail["@type"] == "type.googleapis.com/google.rpc.ErrorInfo"
    assert (detail["reason"], detail["domain"]) == ("CLUSTER_ALREADY_HAS_OPERATION", "container.googleapis.com")


def test_how_the_sdk_takes_errors_over_rest(instant: Sandbox, rest: Any) -> None:
    create(rest, a100())
    with pytest.raises(exceptions.Conflict, match="Already exists"):
        create(rest, a100())
    with pytest.raises(exceptions.BadRequest, match="Must be a match of regex"):
        create(rest, a100("BAD"))
    with pytest.raises(exceptions.NotFound, match="missing-c"):
        rest.get_cluster(name="projects/p/locations/us-central1/clusters/missing-c")


def test_a_path_that_is_none(sandbox: Sandbox) -> None:
    status, shown = ask(sandbox, "POST", "v1/weather", {})

    assert (status, shown["error"]["status"]) == (404, "NOT_FOUND")


def test_a_call_that_the_sandbox_lacks_is_not_taken_for_a_pool_that_is_not_there(instant: Sandbox) -> None:
    path = "v1/projects/sandbox/locations/us-central1/clusters/sandbox/nodePools/default-pool:rollback"
    status, body = ask(instant, "POST", path, {})
    assert (status, body["error"]["status"]) == (501, "UNIMPLEMENTED")


def test_retry_after_is_a_header(instant: Sandbox) -> None:
    instant.world.faults.add("gke", "GetCluster", status=429, retry_after=3)
    request = urllib.request.Request(f"{instant.http}/v1/{CLUSTER}")

    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request)
    with caught.value as error:
        assert (error.code, error.headers["Retry-After"]) == (429, "3")
