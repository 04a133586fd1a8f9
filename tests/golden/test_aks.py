"""The bodies of AKS pools: as they were looked at once, as the SDK's own types have them, and as az sends them.

`python -m tests.golden.test_aks` writes the bodies anew; read the difference before it is committed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest
from azure.mgmt.containerservice import models, types
from typing_extensions import is_typeddict

from fracgpu.plan import Json
from tests.aks_pools import A100, A100_MIG, pool, resource

HERE = Path(__file__).parent
MIXED = {"mig": {"profile": "1g.10gb", "strategy": "mixed"}}
GROUP = "/subscriptions/0/resourceGroups/ml/providers/Microsoft.Compute/capacityReservationGroups/gpus"
SUBNET = "/subscriptions/0/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/v/subnets/gpu"

POOLS: dict[str, Json] = {
    "mig-1g-spot": {**A100_MIG, "capacity": "spot", "nodes": {"min": 1, "max": 20}, "disk": {"sizeGb": 200}},
    "time-sliced-spot-from-zero": {
        "machine": A100,
        "sharing": {"timeSlicing": {"replicas": 10}},
        "capacity": "spot",
        "nodes": {"min": 0, "max": 20},
        "disk": {"sizeGb": 200},
    },
    "h100-zones-tags-no-driver": {
        "machine": "Standard_NC40ads_H100_v5",
        "nodes": {"count": 2},
        "zones": ["1", "2"],
        "tags": {"team": "ml", "costcentre": "42"},
        "gpuTaint": False,
        "aks": {"driver": "None"},
    },
    "mig-mixed-from-zero": {
        "machine": "Standard_ND96asr_v4",
        "sharing": {"mig": {"profile": "1g.5gb", "strategy": "mixed"}},
        "nodes": {"min": 0, "max": 4},
    },
    "mig-time-sliced-renamed": {
        "machine": A100,
        "sharing": {**MIXED, "timeSlicing": {"replicas": 2}, "renameByDefault": True},
        "nodes": {"min": 0, "max": 4},
    },
    "mps-on-t4": {"machine": "Standard_NC64as_T4_v3", "sharing": {"mps": {"replicas": 4}}, "labels": {"team": "ml"}},
    "whole-system-pool": {"machine": "Standard_NC4as_T4_v3", "nodes": {"min": 1, "max": 3}, "aks": {"mode": "System"}},
    "part-of-an-a10": {"machine": "Standard_NV6ads_A10_v5", "nodes": {"count": 0}},
    "reserved-in-a-subnet": {
        "machine": "Standard_ND96isr_H100_v5",
        "sharing": {"mig": {"profile": "3g.40gb"}},
        "capacity": "reserved",
        "nodes": {"count": 3},
        "zones": ["2"],
        "aks": {"reservation": GROUP, "subnetId": SUBNET, "podSubnetId": SUBNET, "maxPods": 50, "version": "1.34"},
    },
    "stopped-nodes": {
        "machine": A100,
        "sharing": {"timeSlicing": {"replicas": 4, "failRequestsGreaterThanOne": True}},
        "capacity": "spot",
        "nodes": {"min": 1, "max": 2},
        "aks": {"evictionPolicy": "Deallocate", "scaleDownMode": "Deallocate", "spotMaxPrice": 1.25},
    },
    "azure-linux-fips-upgrades": {
        **A100_MIG,
        "taints": ["team=ml:PreferNoSchedule", "a=b:NoExecute"],
        "aks": {
            "osSku": "AzureLinux",
            "fips": True,
            "diskType": "Ephemeral",
            "upgradeSettings": {"maxSurge": "33%", "maxUnavailable": "1", "drainTimeoutInMinutes": 45},
        },
    },
    "windows": {"machine": "Standard_NC40ads_H100_v5", "aks": {"osSku": "Windows2022"}},
}
NAMES = list(POOLS)


def made(name: str) -> Json:
    return resource(pool("gpu", **POOLS[name])).body


@pytest.mark.parametrize("name", NAMES)
def test_body(name: str) -> None:
    assert made(name) == json.loads((HERE / "aks" / f"{name}.json").read_text())


def test_no_golden_file_is_left_over() -> None:
    assert {path.stem for path in (HERE / "aks").glob("*.json")} == set(NAMES)


RECORDED = ["mig-1g-spot", "time-sliced-spot-from-zero", "h100-zones-tags-no-driver"]
IMPROVED = {
    "tags.fracgpu-managed": "the mark of ownership",
    "gpuProfile.driver": "said aloud: the service fills it in, and tools that do not know that see a change "
    "(https://github.com/hashicorp/terraform-provider-azurerm/issues/30990)",
}
"""What these bodies have and az's have not, and why."""


@pytest.mark.parametrize("name", RECORDED)
def test_as_az_sends_it(name: str) -> None:
    recorded = flat(json.loads((HERE / "wire" / "aks" / f"{name}.json").read_text())["put"]["properties"])
    ours = flat(made(name)["properties"])
    more = {path for path in ours if path not in recorded}
    assert more <= set(IMPROVED)
    assert {path: ours[path] for path in recorded if path in ours} == recorded


def flat(body: Json, path: str = "") -> Json:
    """Members by path; what a mapping holds counts, an empty one does not."""
    found: Json = {}
    for name, value in body.items():
        inner = f"{path}.{name}" if path else name
        found |= flat(value, inner) if isinstance(value, dict) else {inner: value}
    return found


@pytest.mark.parametrize("name", NAMES)
def test_by_the_types_of_the_sdk(name: str) -> None:
    assert list(strangers(made(name), types.AgentPool)) == []


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_sent_that_only_the_service_may_write(name: str) -> None:
    assert models.AgentPool(made(name)).as_dict(exclude_readonly=True) == made(name)


def test_the_walk_over_the_types_finds_what_is_wrong() -> None:
    body = {
        "properties": {
            "vmSize": 4,
            "gpuProfile": {"drivers": "Install", "driver": "Off"},
            "colour": "red",
            "count": True,
            "nodeTaints": [1],
            "tags": {"a": 1},
            "spotMaxPrice": -1,
        }
    }
    assert sorted(strangers(body, types.AgentPool)) == [
        "properties.colour: unknown",
        "properties.count: bool",
        "properties.gpuProfile.driver: 'Off' is no GPUDriver",
        "properties.gpuProfile.drivers: unknown",
        "properties.nodeTaints.0: int",
        "properties.tags.a: int",
        "properties.vmSize: int",
    ]


NAMESPACE = {**vars(models), **vars(types)}


def strangers(value: Any, hint: Any, path: str = "") -> Iterator[str]:
    """Where a value is not what the SDK's type says: members that it does not have, other types, other words."""
    options = get_args(hint) if get_origin(hint) is Union else (hint,)
    enums = [one for one in options if isinstance(one, type) and issubclass(one, Enum)]
    if enums and value not in {member.value for member in enums[0]}:
        yield f"{path}: {value!r} is no {enums[0].__name__}"
    elif is_typeddict(hint):
        known = get_type_hints(hint, NAMESPACE)
        for name, member in value.items():
            inner = f"{path}.{name}".lstrip(".")
            if name not in known:
                yield f"{inner}: unknown"
            else:
                yield from strangers(member, known[name], inner)
    elif get_origin(hint) in (list, dict):
        rows = value.items() if isinstance(value, dict) else enumerate(value)
        for key, member in rows:
            yield from strangers(member, get_args(hint)[-1], f"{path}.{key}")
    elif type(value) not in {*options, *([int] if float in options else [])}:
        yield f"{path}: {type(value).__name__}"


if __name__ == "__main__":
    for one in NAMES:
        (HERE / "aks" / f"{one}.json").write_text(json.dumps(made(one), indent=2) + "\n")
