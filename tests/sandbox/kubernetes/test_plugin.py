"""What a node advertises, given how its GPUs are cut and what its device plugin is told."""

from __future__ import annotations

from typing import Any

import pytest

from fracgpu.sandbox.settings import change
from tests.sandbox.kubernetes.conftest import AddPool, Api

GPU = "nvidia.com/gpu"
CONFIG = "nvidia.com/device-plugin.config"
MIG = {"gpuInstanceProfile": "MIG1g"}


def shown(api: Api, node: str) -> dict[str, str]:
    """What NVIDIA devices the node has to give."""
    allocatable = api.get(f"api/v1/nodes/{node}")["status"]["allocatable"]
    return {name: count for name, count in allocatable.items() if name.startswith("nvidia.com/")}


def label(api: Api, node: str, name: str) -> str | None:
    found: str | None = api.get(f"api/v1/nodes/{node}")["metadata"]["labels"].get(f"nvidia.com/{name}")
    return found


def config(sharing: str = "", flags: str = "") -> str:
    return f"{{version: v1, flags: {{{flags}}}, sharing: {{{sharing}}}}}"


SLICED = "timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 10}]}"
RENAMED = "timeSlicing: {renameByDefault: true, resources: [{name: nvidia.com/gpu, replicas: 4}]}"
MPS = "mps: {resources: [{name: nvidia.com/gpu, replicas: 4}]}"
SLICED_MIXED = "timeSlicing: {resources: [{name: nvidia.com/mig-1g.10gb, replicas: 3}]}"
MIXED = "migStrategy: mixed"


@pytest.mark.parametrize(
    ("properties", "told", "resources", "product", "replicas", "strategy"),
    [
        ({}, None, {GPU: "1"}, "NVIDIA-A100-80GB-PCIe", "1", "none"),
        ({"vmSize": "Standard_NC96ads_A100_v4"}, None, {GPU: "4"}, "NVIDIA-A100-80GB-PCIe", "1", "none"),
        (MIG, None, {GPU: "7"}, "NVIDIA-A100-80GB-PCIe-MIG-1g.10gb", "1", "none"),
        ({}, config(SLICED), {GPU: "10"}, "NVIDIA-A100-80GB-PCIe-SHARED", "10", "time-slicing"),
        ({}, config(RENAMED), {f"{GPU}.shared": "4"}, "NVIDIA-A100-80GB-PCIe", "4", "time-slicing"),
        ({}, config(MPS), {GPU: "4"}, "NVIDIA-A100-80GB-PCIe-SHARED", "4", "mps"),
        (MIG, config(SLICED), {GPU: "70"}, "NVIDIA-A100-80GB-PCIe-MIG-1g.10gb-SHARED", "10", "time-slicing"),
        (MIG, config("", MIXED), {"nvidia.com/mig-1g.10gb": "7"}, "NVIDIA-A100-80GB-PCIe", "0", "none"),
        (MIG, config(SLICED_MIXED, MIXED), {"nvidia.com/mig-1g.10gb": "21"}, "NVIDIA-A100-80GB-PCIe", "0", "none"),
        (MIG, config("", "migStrategy: none"), {GPU: "1"}, "NVIDIA-A100-80GB-PCIe", "1", "none"),
    ],
)
def test_advertises(
    api: Api,
    add_pool: AddPool,
    properties: dict[str, Any],
    told: str | None,
    resources: dict[str, str],
    product: str,
    replicas: str,
    strategy: str,
) -> None:
    if told is not None:
        api.config_map(key=told)
        properties = {**properties, "nodeLabels": {CONFIG: "key"}}
    (node,) = add_pool(**properties)
    assert shown(api, node) == resources
    assert label(api, node, "gpu.product") == product
    assert label(api, node, "gpu.replicas") == replicas
    assert label(api, node, "gpu.sharing-strategy") == strategy


def test_mixed_slices_have_labels_of_their_own(api: Api, add_pool: AddPool) -> None:
    api.config_map(key=config(SLICED_MIXED, MIXED))
    (node,) = add_pool(gpuInstanceProfile="MIG1g", nodeLabels={CONFIG: "key"})
    assert label(api, node, "gpu.count") == "1"
    assert label(api, node, "mig.strategy") == "mixed"
    own = {"count": "7", "replicas": "3", "memory": "9856", "slices.gi": "1", "sharing-strategy": "time-slicing"}
    assert {name: label(api, node, f"mig-1g.10gb.{name}") for name in own} == own
    assert label(api, node, "mig-1g.10gb.product") == "NVIDIA-A100-80GB-PCIe-MIG-1g.10gb-SHARED"


def plugin_pod(api: Api, node: str) -> dict[str, Any]:
    path = "api/v1/namespaces/gpu-operator/pods"
    (found,) = api.get(path, labelSelector="app=nvidia-device-plugin-daemonset", fieldSelector=f"spec.nodeName={node}")[
        "items"
    ]
    return dict(found)


@pytest.mark.parametrize(
    ("told", "why"),
    [
        (None, "no configuration files available"),
        ("other", "specified config key does not exist"),
        ("version: v2", "unknown version: v2"),
        (config("timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 1}]}"), "must be >= 2"),
        (config("timeSlicing: {resources: []}"), "no resources specified"),
        (config("timeSlicing: {resources: [{name: amd.com/gpu, replicas: 2}]}"), "invalid resource name: amd.com/gpu"),
        (config("timeSlicing: {rename: true, resources: []}"), 'unknown field "rename"'),
        (config("mps: {resources: [{name: nvidia.com/gpu, replicas: 49}]}"), "49 replicas is not supported"),
        (config(f"{SLICED}, {MPS}"), "both time-slicing and MPS"),
        (config("", "migStrategy: double"), "unknown mig strategy: double"),
        ("[", "unable to parse config"),
    ],
)
def test_a_bad_config_advertises_nothing_and_the_pod_says_why(
    api: Api, add_pool: AddPool, told: str | None, why: str
) -> None:
    if told is not None:
        api.config_map(**({"elsewhere": config()} if told == "other" else {"key": told}))
    (node,) = add_pool(nodeLabels={CONFIG: "key"})
    assert shown(api, node) == {}
    status = plugin_pod(api, node)["status"]
    waiting = status["initContainerStatuses"][0]["state"]["waiting"]
    assert (status["phase"], waiting["reason"]) == ("Pending", "CrashLoopBackOff")
    assert why in status["initContainerStatuses"][0]["lastState"]["terminated"]["message"]
    api.config_map(key=config(SLICED))
    assert shown(api, node) == {GPU: "10"}
    assert plugin_pod(api, node)["status"]["phase"] == "Running"


def test_mps_does_not_go_with_mig(api: Api, add_pool: AddPool) -> None:
    api.config_map(key=config(MPS))
    (node,) = add_pool(gpuInstanceProfile="MIG1g", nodeLabels={CONFIG: "key"})
    assert shown(api, node) == {}


def test_an_edited_config_waits_for_the_plugin_to_restart(api: Api, add_pool: AddPool) -> None:
    api.config_map(key=config(SLICED))
    (node,) = add_pool(nodeLabels={CONFIG: "key"})
    api.merge(
        "api/v1/namespaces/gpu-operator/configmaps/fracgpu-device-plugin", {"data": {"key": config(RENAMED), "b": ""}}
    )
    assert shown(api, node) == {GPU: "10"}
    before = plugin_pod(api, node)["metadata"]
    api.call("DELETE", f"api/v1/namespaces/gpu-operator/pods/{before['name']}")
    assert shown(api, node) == {f"{GPU}.shared": "4"}
    assert plugin_pod(api, node)["metadata"]["uid"] != before["uid"]


def test_another_label_changes_the_config_at_once(api: Api, add_pool: AddPool) -> None:
    api.config_map(key=config(SLICED), two=config(RENAMED))
    (node,) = add_pool(nodeLabels={CONFIG: "key"})
    api.merge(f"api/v1/nodes/{node}", {"metadata": {"labels": {CONFIG: "two"}}})
    assert shown(api, node) == {f"{GPU}.shared": "4"}
    api.merge(f"api/v1/nodes/{node}", {"metadata": {"labels": {CONFIG: None}}})
    assert shown(api, node) == {GPU: "1"}


@pytest.mark.parametrize(
    ("taint", "labels", "resources"),
    [
        ("nvidia.com/gpu=present:NoSchedule", {}, {GPU: "1"}),
        ("nvidia.com/gpu=true:NoSchedule", {}, {}),
        ("nvidia.com/gpu=true:NoSchedule", {"nvidia.com/gpu.present": "true"}, {GPU: "1"}),
        ("team=vision:NoSchedule", {}, {}),
        ("team=vision:PreferNoSchedule", {}, {GPU: "1"}),
    ],
)
def test_a_taint_may_keep_the_plugin_off(
    api: Api, add_pool: AddPool, taint: str, labels: dict[str, str], resources: dict[str, str]
) -> None:
    (node,) = add_pool(nodeTaints=[taint], nodeLabels=labels)
    assert shown(api, node) == resources


def test_spot_nodes_are_tolerated_until_somebody_says_otherwise(api: Api, add_pool: AddPool) -> None:
    (node,) = add_pool(scaleSetPriority="Spot")
    assert shown(api, node) == {GPU: "1"}
    sets = "apis/apps/v1/namespaces/gpu-operator/daemonsets"
    for name in ("nvidia-device-plugin-daemonset", "gpu-operator-node-feature-discovery-worker"):
        api.merge(
            f"{sets}/{name}",
            {"spec": {"template": {"spec": {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]}}}},
        )
    assert shown(api, add_pool("later", scaleSetPriority="Spot")[0]) == {}


def test_without_an_operator_there_is_nothing_to_advertise(api: Api, add_pool: AddPool) -> None:
    other = Api(api.sandbox, "aks", "s", "g", "bare")
    api.sandbox.world.settings["plugin"] = {"aks~s~g~bare": "absent"}
    assert "gpu-operator" not in other.names("api/v1/namespaces")
    assert other.names("apis/apps/v1/daemonsets") == []
    assert "gpu-operator" in api.names("api/v1/namespaces")


def test_a_pool_that_nothing_cuts_crashes_its_plugin(api: Api, add_pool: AddPool) -> None:
    (node,) = add_pool(gpuInstanceProfile="MIG1g", gpuProfile={"driver": "None"})
    assert shown(api, node) == {}
    assert "mig-partition" in plugin_pod(api, node)["status"]["message"]


def test_set_node_wins_over_the_plugin(api: Api, add_pool: AddPool) -> None:
    (node,) = add_pool()
    change(api.sandbox.world, "node", {"name": node, "allocatable": {GPU: 3}, "labels": {"nvidia.com/gpu.count": "3"}})
    assert shown(api, node) == {GPU: "3"}
    api.config_map(key=config(SLICED))
    api.merge(f"api/v1/nodes/{node}", {"metadata": {"labels": {CONFIG: "key"}}})
    assert shown(api, node) == {GPU: "3"}
    assert label(api, node, "gpu.count") == "3"


PARTED = """
version: v1
mig-configs:
  halves:
    - {devices: all, mig-enabled: true, mig-devices: {3g.40gb: 2}}
  each:
    - {devices: [0, 1], mig-enabled: true, mig-devices: {1g.10gb: 7}}
    - {devices: [2], mig-enabled: true, mig-devices: {2g.20gb: 3}}
    - {devices: [3], mig-enabled: false, mig-devices: {}}
  elsewhere:
    - {device-filter: ["0x20B010DE"], devices: all, mig-enabled: true, mig-devices: {1g.5gb: 7}}
  here:
    - {device-filter: ["0x20B010DE"], devices: all, mig-enabled: true, mig-devices: {1g.5gb: 7}}
    - {device-filter: ["0x20B510DE"], devices: all, mig-enabled: true, mig-devices: {1g.10gb: 7}}
  too-many:
    - {devices: all, mig-enabled: true, mig-devices: {1g.10gb: 8}}
"""


@pytest.mark.parametrize(
    ("name", "told", "state", "resources"),
    [
        ("halves", "", "success", {GPU: "8"}),
        ("here", "", "success", {GPU: "28"}),
        ("each", MIXED, "success", {GPU: "1", "nvidia.com/mig-1g.10gb": "14", "nvidia.com/mig-2g.20gb": "3"}),
        ("each", "", "success", {}),
        ("elsewhere", "", "failed", {GPU: "4"}),
        ("too-many", "", "failed", {GPU: "4"}),
        ("all-1g.10gb", "", "failed", {GPU: "4"}),
    ],
)
def test_the_mig_managers_file_says_what_each_gpu_is_cut_into(
    api: Api, add_pool: AddPool, name: str, told: str, state: str, resources: dict[str, str]
) -> None:
    path = "api/v1/namespaces/gpu-operator/configmaps"
    api.create(path, {"metadata": {"name": "fracgpu-mig-parted"}, "data": {"config.yaml": PARTED}})
    api.config_map(key=config("", told))
    (node,) = add_pool(vmSize="Standard_NC96ads_A100_v4", nodeLabels={"nvidia.com/mig.config": name, CONFIG: "key"})
    assert shown(api, node) == resources
    if resources:
        assert label(api, node, "mig.config.state") == state


def test_without_a_file_the_mig_manager_knows_what_the_hardware_can_do(api: Api, add_pool: AddPool) -> None:
    for number, (name, count) in enumerate({"all-1g.10gb": "14", "all-3g.40gb": "4", "all-disabled": "2"}.items()):
        (node,) = add_pool(f"p{number}", vmSize="Standard_NC48ads_A100_v4", nodeLabels={"nvidia.com/mig.config": name})
        assert shown(api, node) == {GPU: count}
