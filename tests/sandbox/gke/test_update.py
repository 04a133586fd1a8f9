"""UpdateNodePool: what changes in place, what does not, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from google.api_core import exceptions
from google.cloud.container_v1.types import NodePool, Operation

from tests.sandbox.gke.pools import CLUSTER, a100, create, read

if TYPE_CHECKING:
    from tests.sandbox.conftest import Sandbox

POOL = f"{CLUSTER}/nodePools/p"


@pytest.fixture
def pool(instant: Sandbox, client: Any) -> Any:
    create(client, a100(partition="1g.5gb", sharing=("TIME_SHARING", 2), config={"labels": {"a": "b"}, "tags": ["t"]}))
    return read(client)


def update(client: Any, **fields: Any) -> Any:
    return client.update_node_pool(request={"name": POOL, **fields})


def gpu(**more: Any) -> dict[str, Any]:
    return {
        "accelerator_type": "nvidia-tesla-a100",
        "accelerator_count": 1,
        "gpu_partition_size": "1g.5gb",
        "gpu_sharing_config": {"gpu_sharing_strategy": "TIME_SHARING", "max_shared_clients_per_gpu": 2},
        **more,
    }


def test_sets_are_replaced_whole(pool: Any, client: Any) -> None:
    update(client, labels={"labels": {"c": "d"}}, tags={"tags": []}, resource_labels={"labels": {"team": "x"}})

    config = read(client).config
    assert dict(config.labels) == {"c": "d"}
    assert not config.tags
    assert dict(config.resource_labels) == {"team": "x"}
    assert [taint.key for taint in config.taints] == ["nvidia.com/gpu"]


def test_taints_that_are_not_sent_again_are_gone(pool: Any, client: Any) -> None:
    update(client, taints={"taints": [{"key": "k", "value": "v", "effect": "NO_SCHEDULE"}]})

    assert [taint.key for taint in read(client).config.taints] == ["k"]


def test_sharing_and_driver_change_in_place(pool: Any, client: Any) -> None:
    sharing = {"gpu_sharing_strategy": "MPS", "max_shared_clients_per_gpu": 8}
    driver = {"gpu_driver_version": "LATEST"}
    started = update(client, accelerators=[gpu(gpu_sharing_config=sharing, gpu_driver_installation_config=driver)])

    assert started.operation_type == Operation.Type.UPGRADE_NODES
    new = read(client).config.accelerators[0]
    assert new.gpu_sharing_config.max_shared_clients_per_gpu == 8
    assert new.gpu_driver_installation_config.gpu_driver_version.name == "LATEST"
    assert new.gpu_partition_size == "1g.5gb"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"accelerator_count": 2}, r"Accelerator count: 2 should not be updated\."),
        ({"accelerator_type": "nvidia-l4"}, r"Accelerator type: nvidia-l4 should not be updated\."),
        ({"gpu_partition_size": "2g.10gb"}, r"GPU partition size: 2g.10gb should not be updated\."),
        ({"gpu_sharing_config": {"gpu_sharing_strategy": "MPS", "max_shared_clients_per_gpu": 99}}, "from 2 to 48"),
    ],
)
def test_gpus_do_not_change(pool: Any, client: Any, change: dict[str, Any], said: str) -> None:
    with pytest.raises(exceptions.InvalidArgument, match=said):
        update(client, accelerators=[gpu(**change)])
    assert read(client) == pool


def test_an_empty_list_of_accelerators_changes_nothing(pool: Any, client: Any) -> None:
    update(client, accelerators=[], labels={"labels": {}})

    assert read(client).config.accelerators == pool.config.accelerators


def test_locations_alone(pool: Any, client: Any) -> None:
    with pytest.raises(exceptions.InvalidArgument, match="request of their own"):
        update(client, locations=["us-central1-a"], labels={"labels": {}})

    update(client, locations=["us-central1-f"])
    assert list(read(client).locations) == ["us-central1-f"]
    assert client.get_cluster(name=CLUSTER).current_node_count == 3 + 1


def test_nothing_to_change(pool: Any, client: Any) -> None:
    with pytest.raises(exceptions.InvalidArgument, match=r"At least one of \['node_version', .*must be specified"):
        update(client)


def test_an_etag_of_yesterday(pool: Any, client: Any) -> None:
    update(client, etag=pool.etag, labels={"labels": {"one": "1"}})

    assert read(client).etag != pool.etag
    with pytest.raises(exceptions.Aborted, match="not the current one"):
        update(client, etag=pool.etag, labels={"labels": {"two": "2"}})


def test_upgrade_settings_and_version(pool: Any, client: Any) -> None:
    update(client, upgrade_settings={"max_surge": 2}, node_version="1.34")
    shown = read(client)
    assert shown.upgrade_settings.max_surge == 2
    assert shown.version.startswith("1.34.")

    update(client, node_version="-")
    assert read(client).version == pool.version
    with pytest.raises(exceptions.InvalidArgument, match=r'Node version "1\.12" is unsupported'):
        update(client, node_version="1.12")


def test_a_version_by_way_of_the_cluster(pool: Any, client: Any, instant: Sandbox) -> None:
    """As `gcloud container clusters upgrade --node-pool` does it."""
    update = {"desired_node_version": "1.34.6-gke.1154000", "desired_node_pool_id": "p"}
    client.update_cluster(request={"name": CLUSTER, "update": update})
    instant.advance(10)
    assert read(client).version == "1.34.6-gke.1154000"


def test_a_pool_that_is_changed_is_reconciling(slow: Sandbox, client: Any) -> None:
    create(client, a100())
    slow.advance(3600)
    update(client, labels={"labels": {"c": "d"}})

    assert read(client).status == NodePool.Status.RECONCILING
    assert not read(client).config.labels
    slow.advance(3600)
    assert read(client).status == NodePool.Status.RUNNING
    assert read(client).config.labels == {"c": "d"}


def test_a_cluster_itself_does_not_change(sandbox: Sandbox, client: Any) -> None:
    with pytest.raises(exceptions.MethodNotImplemented, match="desiredMasterVersion"):
        client.update_cluster(request={"name": CLUSTER, "update": {"desired_master_version": "-"}})
