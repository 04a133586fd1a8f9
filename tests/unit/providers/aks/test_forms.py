"""The az command and the Terraform resource of a pool."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from fracgpu.errors import Invalid
from fracgpu.plan import Json
from fracgpu.providers import Form, aks
from tests.aks_pools import A100_MIG, pool, resource
from tests.golden.test_aks import POOLS


def rendered(form: Form, **spec: Any) -> tuple[str, list[str]]:
    of = pool("gpu", **spec)
    text, notes = aks.render(form, (resource(of),), of)
    return text, [note.code for note in notes]


def flags(text: str) -> dict[str, list[str]]:
    """What a shell makes of the command: each flag and its words."""
    words = shlex.split(text.replace("\\\n", " "))
    assert words[:4] == ["az", "aks", "nodepool", "add"]
    found: dict[str, list[str]] = {}
    for word in words[4:]:
        if word.startswith("--"):
            name = word
            found[name] = []
        else:
            found[name].append(word)
    return found


def test_az() -> None:
    text, notes = rendered(Form.AZ, **POOLS["mig-1g-spot"])
    assert notes == []
    assert flags(text) == {
        "--name": ["gpu"],
        "--cluster-name": ["prod"],
        "--resource-group": ["ml"],
        "--node-count": ["1"],
        "--enable-cluster-autoscaler": [],
        "--min-count": ["1"],
        "--max-count": ["20"],
        "--node-vm-size": ["Standard_NC24ads_A100_v4"],
        "--gpu-instance-profile": ["MIG1g"],
        "--gpu-driver": ["install"],
        "--os-type": ["Linux"],
        "--os-sku": ["Ubuntu"],
        "--node-osdisk-size": ["200"],
        "--scale-down-mode": ["Delete"],
        "--priority": ["Spot"],
        "--eviction-policy": ["Delete"],
        "--mode": ["User"],
        "--node-taints": ["nvidia.com/gpu=present:NoSchedule"],
        "--tags": ["fracgpu-managed=true"],
        "--undrainable-node-behavior": ["Schedule"],
    }


MEMBERS = {
    "vmSize": "--node-vm-size",
    "osType": "--os-type",
    "osSKU": "--os-sku",
    "count": "--node-count",
    "enableAutoScaling": "--enable-cluster-autoscaler",
    "minCount": "--min-count",
    "maxCount": "--max-count",
    "scaleSetPriority": "--priority",
    "scaleSetEvictionPolicy": "--eviction-policy",
    "spotMaxPrice": "--spot-max-price",
    "tags": "--tags",
    "nodeLabels": "--labels",
    "nodeTaints": "--node-taints",
    "osDiskSizeGB": "--node-osdisk-size",
    "osDiskType": "--node-osdisk-type",
    "enableFIPS": "--enable-fips-image",
    "availabilityZones": "--zones",
    "mode": "--mode",
    "scaleDownMode": "--scale-down-mode",
    "gpuInstanceProfile": "--gpu-instance-profile",
    "gpuProfile": "--gpu-driver",
    "maxPods": "--max-pods",
    "vnetSubnetID": "--vnet-subnet-id",
    "podSubnetID": "--pod-subnet-id",
    "orchestratorVersion": "--kubernetes-version",
    "capacityReservationGroupID": "--crg-id",
    "upgradeSettings": "--undrainable-node-behavior",
}
"""Members of a body, and the flag of az that says each. What is missing is false, and az says the same unasked."""
UNASKED = {"type", "enableNodePublicIP", "enableEncryptionAtHost", "enableUltraSSD"}


@pytest.mark.parametrize("name", POOLS)
def test_az_leaves_nothing_out(name: str) -> None:
    of = pool("gpu", **POOLS[name])
    body: Json = resource(of).body["properties"]
    words = flags(aks.render(Form.AZ, (resource(of),), of)[0])
    said = {member for member, value in body.items() if value not in (False, [], -1)} - UNASKED
    assert {MEMBERS[member] for member in said} <= set(words)


def test_words_for_a_shell_are_quoted() -> None:
    text, _ = rendered(Form.AZ, **A100_MIG, tags={"owner": "it's $HOME"})
    assert flags(text)["--tags"] == ["owner=it's $HOME", "fracgpu-managed=true"]


def test_several_labels_are_several_words() -> None:
    text, _ = rendered(Form.AZ, **A100_MIG, labels={"a": "b", "c": "d"})
    assert flags(text)["--labels"] == ["a=b", "c=d"]


def test_terraform() -> None:
    text, notes = rendered(Form.TERRAFORM, **POOLS["reserved-in-a-subnet"])
    assert notes == ["form-driver-written"]
    assert text.startswith('resource "azurerm_kubernetes_cluster_node_pool" "gpu" {\n')
    group, net = "/subscriptions/0/resourceGroups/ml/providers", "/subscriptions/0/resourceGroups/net/providers"
    for name, value in {
        "gpu_instance": '"MIG3g"',
        "gpu_driver": '"Install"',
        "auto_scaling_enabled": "false",
        "zones": '["2"]',
        "node_count": "3",
        "max_pods": "50",
        "orchestrator_version": '"1.34"',
        "max_surge": '"10%"',
        "capacity_reservation_group_id": f'"{group}/Microsoft.Compute/capacityReservationGroups/gpus"',
        "vnet_subnet_id": f'"{net}/Microsoft.Network/virtualNetworks/v/subnets/gpu"',
    }.items():
        assert f"{name} = {value}" in " ".join(text.split()), name


def test_terraform_on_spot_writes_what_aks_adds() -> None:
    text, notes = rendered(Form.TERRAFORM, **POOLS["mig-1g-spot"])
    assert notes == ["form-spot-written", "form-driver-written"]
    assert '"kubernetes.azure.com/scalesetpriority" = "spot"' in text
    assert '"kubernetes.azure.com/scalesetpriority=spot:NoSchedule"' in text
    assert "max_surge" not in text
    assert "ignore_changes = [node_count]" in text


def test_terraform_says_what_it_cannot() -> None:
    settings = {"drainTimeoutInMinutes": 45}
    _, notes = rendered(Form.TERRAFORM, **A100_MIG, capacity="spot", aks={"upgradeSettings": settings})
    assert "form-gap" in notes


@pytest.mark.parametrize("form", [Form.GCLOUD, Form.EKSCTL, Form.AWS])
def test_other_clouds_tools_are_refused(form: Form) -> None:
    with pytest.raises(Invalid) as caught:
        rendered(form, **A100_MIG)
    assert caught.value.nearest == ("az", "terraform")
