"""What GKE refuses, in its own words where they are known, through the SDK over gRPC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from google.api_core import exceptions

from tests.sandbox.gke.pools import CLUSTER, ZONAL, a100, create, operation, read

if TYPE_CHECKING:
    from tests.sandbox.conftest import Sandbox


def on(machine: str, kind: str, count: int, **gpu: Any) -> dict[str, Any]:
    accelerator = {"accelerator_type": kind, "accelerator_count": count, **gpu}
    return {"name": "p", "config": {"machine_type": machine, "accelerators": [accelerator]}}


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "name": (a100("Bad"), r'Invalid value for field "node_pool.name": "Bad". Must be a match of regex'),
    "long name": (a100("a" * 41), "Must be a match of regex"),
    "machine": (a100(config={"machine_type": "a2-highgpu-3g"}), 'Invalid machine type "a2-highgpu-3g" in zone'),
    "machine's case": (a100(config={"machine_type": "A2-highgpu-1g"}), "GCE_NOT_FOUND"),
    "no machine": (
        {"name": "p", "config": {"accelerators": [{"accelerator_type": "nvidia-l4", "accelerator_count": 1}]}},
        r"Cannot use default machine type \(e2-medium\) with GPUs; choose a different machine type\.",
    ),
    "accelerator": (a100(gpu={"accelerator_type": "nvidia-a30"}), "no such accelerator type"),
    "count of a2": (on("a2-highgpu-2g", "nvidia-tesla-a100", 1), "has 2 of nvidia-tesla-a100"),
    "other accelerator": (on("a2-highgpu-1g", "nvidia-a100-80gb", 1), "has 1 of nvidia-tesla-a100"),
    "count of n1": (on("n1-standard-8", "nvidia-tesla-t4", 3), "comes in 1, 2, 4 a node"),
    "vCPUs of n1": (on("n1-standard-96", "nvidia-tesla-t4", 1), "at most 48 vCPUs"),
    "GPU on e2": (on("e2-standard-4", "nvidia-tesla-t4", 1), "features are not compatible"),
    "A100 on n1": (on("n1-standard-8", "nvidia-tesla-a100", 1), "features are not compatible"),
    "size of another GPU": (a100(partition="1g.10gb"), 'gpu_partition_size": "1g.10gb".*1g.5gb, 2g.10gb'),
    "size on L4": (on("g2-standard-8", "nvidia-l4", 1, gpu_partition_size="1g.5gb"), "Valid sizes .*: none"),
    "size on a part": (on("g4-standard-6", "nvidia-rtx-pro-6000", 1, gpu_partition_size="1g.24gb"), "part of a GPU"),
    "49 clients": (a100(sharing=("TIME_SHARING", 49)), "Must be from 2 to 48"),
    "1 client": (a100(sharing=("MPS", 1)), "Must be from 2 to 48"),
    "no strategy": (a100(sharing=(0, 4)), "A strategy must be given"),
    "both limits": (
        a100(autoscaling={"enabled": True, "max_node_count": 3, "total_max_node_count": 3}),
        "exclude one another",
    ),
    "min over max": (
        a100(autoscaling={"enabled": True, "total_min_node_count": 5, "total_max_node_count": 3}),
        "minimum 5, maximum 3",
    ),
    "too many at first": (
        a100(initial_node_count=2, autoscaling={"enabled": True, "total_max_node_count": 4}),
        "6 nodes are more than the autoscaling maximum 4",
    ),
    "zone": (a100(locations=["europe-west4-a"]), 'is not a zone of region "us-central1"'),
    "disk": (a100(config={"disk_size_gb": 5}), "disk_size_gb"),
    "disk type": (a100(config={"disk_type": "floppy"}), "disk_type"),
    "image": (a100(config={"image_type": "BeOS"}), "image_type"),
    "label": (a100(config={"labels": {"a b": "c"}}), "not a valid label key"),
    "reserved label": (a100(config={"labels": {"node.kubernetes.io/x": "c"}}), "reserved"),
    "taint": (a100(config={"taints": [{"key": "k", "value": "v"}]}), "The effect is one of"),
    "tag": (a100(config={"tags": ["Tag"]}), "not a valid network tag"),
    "resource label": (a100(config={"resource_labels": {"Team": "a"}}), "resource_labels"),
    "spot twice": (a100(config={"spot": True, "preemptible": True}), "Only one of spot and preemptible"),
    "spot reserved": (
        a100(config={"spot": True, "reservation_affinity": {"consume_reservation_type": "ANY_RESERVATION"}}),
        "cannot consume reservations",
    ),
    "reservation": (
        a100(config={"reservation_affinity": {"consume_reservation_type": "SPECIFIC_RESERVATION"}}),
        "needs the key",
    ),
    "surge": (a100(upgrade_settings={"max_surge": 15, "max_unavailable": 15}), "from 1 to 20"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_pool_is_refused_and_not_made(instant: Sandbox, client: Any, case: str) -> None:
    pool, said = REFUSED[case]

    with pytest.raises(exceptions.InvalidArgument, match=said):
        create(client, pool)
    assert [pool.name for pool in client.list_node_pools(parent=CLUSTER).node_pools] == ["default-pool"]


@pytest.mark.parametrize(
    ("machine", "kind", "count"),
    [
        ("a2-ultragpu-2g", "nvidia-a100-80gb", 2),
        ("a3-highgpu-8g", "nvidia-h100-80gb", 8),
        ("a3-megagpu-8g", "nvidia-h100-mega-80gb", 8),
        ("g4-standard-6", "nvidia-rtx-pro-6000", 1),
        ("n1-standard-8", "nvidia-tesla-t4", 4),
    ],
)
def test_good_pairs_of_machine_and_accelerator(
    instant: Sandbox, client: Any, machine: str, kind: str, count: int
) -> None:
    create(client, on(machine, kind, count))

    assert read(client).config.accelerators[0].accelerator_count == count


def test_a_pool_that_exists(instant: Sandbox, client: Any) -> None:
    create(client, a100())

    with pytest.raises(exceptions.AlreadyExists, match=rf"Already exists: {CLUSTER}/nodePools/p\."):
        create(client, a100())


def test_zonal_names_say_zones(instant: Sandbox, client: Any) -> None:
    create(client, a100(), ZONAL)

    with pytest.raises(
        exceptions.AlreadyExists, match=r"projects/sandbox/zones/us-central1-a/clusters/zonal/nodePools/p"
    ):
        create(client, a100(), ZONAL)


@pytest.mark.parametrize("call", ["get_cluster", "list_node_pools", "get_node_pool", "delete_node_pool"])
def test_a_cluster_that_is_missing(sandbox: Sandbox, client: Any, call: str) -> None:
    name = "projects/p/locations/us-central1/clusters/missing-one"
    named = {"parent": name} if call == "list_node_pools" else {"name": name}
    if call.endswith("_pool"):
        named = {"name": f"{name}/nodePools/p"}

    with pytest.raises(exceptions.NotFound, match=rf"Not found: {name}\."):
        getattr(client, call)(**named)


def test_an_operation_that_is_missing(sandbox: Sandbox, client: Any) -> None:
    with pytest.raises(exceptions.NotFound, match=r"operations/operation-1"):
        client.get_operation(name="projects/sandbox/locations/us-central1/operations/operation-1")


def test_a_location_that_is_none(sandbox: Sandbox, client: Any) -> None:
    with pytest.raises(exceptions.InvalidArgument, match='Location "mars" does not exist'):
        client.get_cluster(name="projects/p/locations/mars/clusters/c")


def test_one_operation_at_a_time_on_a_pool(slow: Sandbox, client: Any) -> None:
    started = create(client, a100())

    with pytest.raises(exceptions.FailedPrecondition, match=f"incompatible operation {started.name}") as caught:
        client.delete_node_pool(name=f"{CLUSTER}/nodePools/p")

    assert caught.value.reason == "CLUSTER_ALREADY_HAS_OPERATION"
    assert caught.value.domain == "container.googleapis.com"
    slow.advance(3600)
    client.delete_node_pool(name=f"{CLUSTER}/nodePools/p")


def test_five_operations_at_a_time_on_a_cluster(slow: Sandbox, client: Any) -> None:
    for number in range(5):
        create(client, a100(f"p{number}"))

    with pytest.raises(
        exceptions.ResourceExhausted, match='cluster "regional-sandbox" hits the concurrent operations quota 5'
    ):
        create(client, a100("p5"))

    slow.advance(3600)
    assert operation(client, create(client, a100("p5"))).operation_type.name == "CREATE_NODE_POOL"


@pytest.mark.parametrize(
    ("config", "metric"), [({}, "NVIDIA_A100_GPUS"), ({"spot": True}, "PREEMPTIBLE_NVIDIA_A100_GPUS"), ({}, "CPUS")]
)
def test_quota(instant: Sandbox, client: Any, config: dict[str, Any], metric: str) -> None:
    limit = {"cloud": "gke", "metric": metric, "region": "us-central1", "limit": 2}
    instant.world.settings["quota"] = [limit]

    with pytest.raises(
        exceptions.PermissionDenied, match=f'resource "{metric}": request requires .* and is short'
    ) as e:
        create(client, a100(config=config))

    assert "View and manage quotas at" in str(e.value)
    create(client, a100(initial_node_count=0))


def test_quota_counts_what_is_there(instant: Sandbox, client: Any) -> None:
    instant.world.settings["quota"] = [{"cloud": "gke", "metric": "NVIDIA_A100_GPUS", "region": "", "limit": 4}]
    create(client, a100())

    with pytest.raises(exceptions.PermissionDenied, match=r"requires '3.0' and is short '2.0'. .*'4.0' with '1.0'"):
        create(client, a100("q"))
    with pytest.raises(exceptions.PermissionDenied, match=r"requires '3.0'"):
        client.set_node_pool_size(request={"name": f"{CLUSTER}/nodePools/p", "node_count": 2})
    create(client, a100("q", locations=["us-central1-a"]))


def test_a_machine_that_is_not_offered(instant: Sandbox, client: Any) -> None:
    off = {"cloud": "gke", "machine": "a2-highgpu-1g", "zone": "us-central1-b", "on": False}
    instant.world.settings["offering"] = [off]

    with pytest.raises(exceptions.InvalidArgument, match='in zone "us-central1-b": GCE_NOT_FOUND'):
        create(client, a100())
    create(client, a100(locations=["us-central1-a", "us-central1-c"]))
