"""A node pool's life as the SDK sees it over gRPC: made, changed, resized, deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from google.api_core import exceptions
from google.cloud.container_v1.types import NodePool, Operation

from tests.sandbox.gke.pools import CLUSTER, LOCATION, ZONAL, a100, create, operation, read

if TYPE_CHECKING:
    from tests.sandbox.conftest import Sandbox

POOL = f"{CLUSTER}/nodePools/p"


def test_a_pool_is_provisioning_until_its_operation_is_done(slow: Sandbox, client: Any) -> None:
    started = create(client, a100())

    assert started.status == Operation.Status.RUNNING
    assert started.operation_type == Operation.Type.CREATE_NODE_POOL
    assert started.target_link.endswith(POOL)
    assert read(client).status == NodePool.Status.PROVISIONING

    slow.advance(3600)

    done = operation(client, started)
    assert done.status == Operation.Status.DONE
    assert "error" not in done
    assert done.end_time > done.start_time
    assert read(client).status == NodePool.Status.RUNNING


def test_a_pool_of_a_region_has_its_nodes_in_each_zone(instant: Sandbox, client: Any) -> None:
    create(client, a100())

    assert list(read(client).locations) == ["us-central1-a", "us-central1-b", "us-central1-c"]
    assert client.get_cluster(name=CLUSTER).current_node_count == 6


def test_a_pool_of_a_zone_has_its_nodes_there(instant: Sandbox, client: Any) -> None:
    create(client, a100(), ZONAL)

    pool = read(client, cluster=ZONAL)
    assert list(pool.locations) == ["us-central1-a"]
    assert pool.self_link.endswith("/projects/sandbox/zones/us-central1-a/clusters/zonal/nodePools/p")
    assert client.get_cluster(name=ZONAL).current_node_count == 2


def test_what_the_server_adds(instant: Sandbox, client: Any) -> None:
    create(client, a100(partition="1g.5gb"))

    shown = NodePool.to_dict(read(client), use_integers_for_enums=False)
    config = shown["config"]
    assert (config["disk_size_gb"], config["disk_type"], config["image_type"]) == (100, "pd-balanced", "COS_CONTAINERD")
    assert config["service_account"] == "default"
    assert config["metadata"] == {"disable-legacy-endpoints": "true"}
    assert config["shielded_instance_config"]["enable_integrity_monitoring"]
    assert config["taints"] == [{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}]
    assert config["accelerators"][0]["gpu_driver_installation_config"] == {"gpu_driver_version": "DEFAULT"}
    assert config["resource_labels"] == {}
    assert shown["upgrade_settings"]["max_surge"] == 1
    assert shown["max_pods_constraint"] == {"max_pods_per_node": "110"}
    assert len(shown["instance_group_urls"]) == 3
    assert shown["version"]
    assert shown["etag"]


def test_no_gpu_taint_where_no_other_pool_is(instant: Sandbox, client: Any) -> None:
    client.delete_node_pool(name=f"{CLUSTER}/nodePools/default-pool")
    client.get_cluster(name=CLUSTER)
    create(client, a100())

    assert not read(client).config.taints


def test_a_gpu_taint_of_ones_own_is_kept(instant: Sandbox, client: Any) -> None:
    mine = {"key": "nvidia.com/gpu", "value": "mine", "effect": "NO_EXECUTE"}
    create(client, a100(config={"taints": [mine]}))

    assert [(taint.value, taint.effect.name) for taint in read(client).config.taints] == [("mine", "NO_EXECUTE")]


@pytest.mark.parametrize(
    ("initial", "scaling", "nodes"),
    [
        (1, {}, 3),
        (0, {"enabled": True, "total_min_node_count": 1, "total_max_node_count": 4}, 0),
        (1, {"enabled": True, "total_min_node_count": 4, "total_max_node_count": 9}, 4),
        (1, {"enabled": True, "min_node_count": 2, "max_node_count": 3}, 6),
        (2, {"enabled": True, "total_max_node_count": 6}, 6),
    ],
)
def test_nodes_at_the_start(instant: Sandbox, client: Any, initial: int, scaling: dict[str, Any], nodes: int) -> None:
    create(client, a100(initial_node_count=initial, autoscaling=scaling))

    before = 3
    assert client.get_cluster(name=CLUSTER).current_node_count == before + nodes


def test_resizing_counts_for_each_zone(slow: Sandbox, client: Any) -> None:
    create(client, a100())
    slow.advance(3600)

    started = client.set_node_pool_size(request={"name": POOL, "node_count": 2})
    assert started.operation_type == Operation.Type.SET_NODE_POOL_SIZE
    assert read(client).status == NodePool.Status.RECONCILING
    slow.advance(3600)

    assert read(client).initial_node_count == 2
    assert client.get_cluster(name=CLUSTER).current_node_count == 3 + 6


def test_a_deleted_pool_is_stopping_and_then_gone(slow: Sandbox, client: Any) -> None:
    create(client, a100())
    slow.advance(3600)

    started = client.delete_node_pool(name=POOL)
    assert read(client).status == NodePool.Status.STOPPING
    slow.advance(3600)

    assert operation(client, started).status == Operation.Status.DONE
    with pytest.raises(exceptions.NotFound, match=rf"Not found: {POOL}\."):
        read(client)


def test_autoscaling_either_way(instant: Sandbox, client: Any) -> None:
    create(client, a100(initial_node_count=0))
    client.set_node_pool_autoscaling(
        request={"name": POOL, "autoscaling": {"enabled": True, "total_max_node_count": 4}}
    )
    assert read(client).autoscaling.total_max_node_count == 4

    scaling = {"enabled": True, "total_min_node_count": 1, "total_max_node_count": 5}
    update = {"desired_node_pool_id": "p", "desired_node_pool_autoscaling": scaling}
    client.update_cluster(request={"name": CLUSTER, "update": update})
    shown = read(client).autoscaling
    assert (shown.total_min_node_count, shown.total_max_node_count) == (1, 5)
    assert shown.location_policy.name == "BALANCED"

    client.set_node_pool_autoscaling(request={"name": POOL, "autoscaling": {"enabled": False}})
    assert not read(client).autoscaling.enabled


def test_management(instant: Sandbox, client: Any) -> None:
    create(client, a100())
    client.set_node_pool_management(request={"name": POOL, "management": {"auto_repair": True}})

    shown = read(client).management
    assert (shown.auto_repair, shown.auto_upgrade) == (True, False)


def test_lists(instant: Sandbox, client: Any) -> None:
    create(client, a100("one"))
    create(client, a100("two"), ZONAL)

    here = client.list_node_pools(parent=CLUSTER).node_pools
    assert [pool.name for pool in here] == ["default-pool", "one"]
    everywhere = client.list_clusters(parent="projects/sandbox/locations/-").clusters
    assert {cluster.name for cluster in everywhere} == {"sandbox", "regional-sandbox", "zonal"}
    assert len(client.list_operations(parent="projects/sandbox/locations/-").operations) == 2
    assert len(client.list_operations(parent=LOCATION).operations) == 1
    assert not client.list_clusters(parent="projects/other/locations/-").clusters


def test_versions(sandbox: Sandbox, client: Any) -> None:
    config = client.get_server_config(name=LOCATION)

    assert config.default_cluster_version in config.valid_node_versions
    assert config.default_image_type == "COS_CONTAINERD"
