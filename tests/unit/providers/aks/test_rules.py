"""What AKS refuses and warns of: each row is a spec and the one finding that it must bring."""

from __future__ import annotations

from typing import Any

import pytest

from fracgpu.errors import Level
from tests.aks_pools import A100, A100_MIG, findings

T4 = "Standard_NC8as_T4_v3"
PLAIN: dict[str, Any] = {"machine": T4, "sharing": {"timeSlicing": {"replicas": 2}}}
SLICED: dict[str, Any] = {"machine": A100, "sharing": {"timeSlicing": {"replicas": 10}}}


def spec(base: dict[str, Any] = PLAIN, **more: Any) -> dict[str, Any]:
    return {**base, **more}


def mig(**said: Any) -> dict[str, Any]:
    return {"machine": A100, "sharing": {"mig": said}}


REFUSED = [
    # names
    pytest.param(spec(name="A100"), "invalid-name", "metadata.name", ("a100",), id="upper case"),
    pytest.param(spec(name="gpu-enabled"), "invalid-name", "metadata.name", ("gpuenabled",), id="hyphen"),
    pytest.param(spec(name="gpumigpoolabc"), "invalid-name", "metadata.name", ("gpumigpoolab",), id="13 characters"),
    pytest.param(spec(name="1gpu"), "invalid-name", "metadata.name", ("gpu",), id="digit first"),
    pytest.param(
        {"machine": T4, "name": "gpupool", "aks": {"osSku": "Windows2022"}},
        "invalid-name",
        "metadata.name",
        ("gpupoo",),
        id="7 characters on Windows",
    ),
    # cuts
    pytest.param(
        mig(profile="1g.20gb"), "not-expressible", "spec.sharing.mig.profile", ("2g.20gb", "1g.10gb"), id="1g.20gb"
    ),
    pytest.param(
        mig(profile="1g.10gb+me"), "not-expressible", "spec.sharing.mig.profile", ("1g.10gb",), id="media extensions"
    ),
    pytest.param(
        mig(layout={"3g.40gb": 1, "1g.10gb": 3}),
        "not-expressible",
        "spec.sharing.mig.layout",
        ("1g.10gb", "3g.40gb"),
        id="mixed layout",
    ),
    pytest.param(
        mig(layout={"1g.10gb": 3}), "not-expressible", "spec.sharing.mig.layout", ("1g.10gb=7",), id="not all slices"
    ),
    pytest.param(
        {
            "machine": "Standard_NC48ads_A100_v4",
            "sharing": {"mig": {"devices": [{"1g.10gb": 7}, None]}},
        },
        "not-expressible",
        "spec.sharing.mig.devices",
        ("1g.10gb",),
        id="one GPU whole",
    ),
    pytest.param(
        {"machine": "Standard_NCC40ads_H100_v5", "sharing": {"mig": {"profile": "1g.12gb"}}},
        "not-expressible",
        "spec.sharing.mig",
        (),
        id="confidential",
    ),
    pytest.param(
        {"machine": "Standard_ND128isr_NDR_GB200_v6", "sharing": {"mig": {"profile": "1g.23gb"}}},
        "not-expressible",
        "spec.sharing.mig",
        (),
        id="GB200",
    ),
    pytest.param(
        mig(profile="1g.10gb", backend="gpu-operator"), "not-expressible", "spec.sharing.mig.backend", (), id="backend"
    ),
    pytest.param(
        {**A100_MIG, "aks": {"driver": "None"}},
        "driver-none-with-mig",
        "spec.aks.driver",
        ("Install",),
        id="no driver under MIG",
    ),
    pytest.param(
        {**A100_MIG, "name": "mig", "aks": {"osSku": "Windows2022"}},
        "not-expressible",
        "spec.aks.osSku",
        ("Ubuntu",),
        id="MIG on Windows",
    ),
    # shares
    pytest.param(
        {"machine": A100, "sharing": {"mig": {"profile": "1g.10gb"}, "mps": {"replicas": 2}}},
        "sharing-conflict",
        "spec.sharing.mps",
        (),
        id="MPS on slices",
    ),
    pytest.param(
        {"machine": A100, "sharing": {"mps": {"replicas": 49}}},
        "replicas-out-of-range",
        "spec.sharing.mps.replicas",
        ("48",),
        id="MPS clients",
    ),
    pytest.param(
        {"machine": "Standard_NV6ads_A10_v5", "sharing": {"timeSlicing": {"replicas": 2}}},
        "sharing-conflict",
        "spec.sharing.timeSlicing",
        (),
        id="a part of a GPU shared",
    ),
    pytest.param(
        {"machine": "Standard_NV36ads_A10_v5", "sharing": {"timeSlicing": {"replicas": 2}, "configKey": "mps-2"}},
        "conflicting-fields",
        "spec.sharing.configKey",
        (),
        id="a key that means something else",
    ),
    pytest.param(
        spec(labels={"nvidia.com/device-plugin.config": "time-sliced-4"}),
        "conflicting-fields",
        "spec.labels.nvidia.com/device-plugin.config",
        (),
        id="a label that says something else",
    ),
    # counts
    pytest.param(
        spec(nodes={"min": 0, "max": 3}, aks={"mode": "System"}),
        "nodes-out-of-range",
        "spec.nodes.min",
        ("1",),
        id="empty System pool",
    ),
    pytest.param(
        spec(nodes={"count": 0}, aks={"mode": "System"}),
        "nodes-out-of-range",
        "spec.nodes.count",
        ("1",),
        id="System pool of none",
    ),
    pytest.param(spec(nodes={"count": 1001}), "nodes-out-of-range", "spec.nodes.count", ("1000",), id="too many"),
    pytest.param(
        spec(nodes={"min": 1, "max": 1001}), "nodes-out-of-range", "spec.nodes.max", ("1000",), id="max too high"
    ),
    # capacity
    pytest.param(
        spec(capacity="spot", aks={"mode": "System"}), "spot-system-pool", "spec.capacity", (), id="System on Spot"
    ),
    pytest.param(
        spec(capacity="reserved"), "missing-field", "spec.aks.reservation", (), id="reserved without a reservation"
    ),
    pytest.param(
        spec(aks={"reservation": "/subscriptions/s/resourceGroups/g/providers/x/capacityReservationGroups/c"}),
        "conflicting-fields",
        "spec.aks.reservation",
        (),
        id="a reservation on demand",
    ),
    pytest.param(
        spec(aks={"evictionPolicy": "Delete"}),
        "conflicting-fields",
        "spec.aks.evictionPolicy",
        (),
        id="eviction on demand",
    ),
    pytest.param(
        spec(capacity="spot", aks={"spotMaxPrice": 0}),
        "invalid-value",
        "spec.aks.spotMaxPrice",
        ("-1",),
        id="a price of 0",
    ),
    pytest.param(
        spec(capacity="spot", aks={"spotMaxPrice": 0.1234567}),
        "invalid-value",
        "spec.aks.spotMaxPrice",
        ("-1",),
        id="seven decimals",
    ),
    pytest.param(
        spec(capacity="spot", aks={"upgradeSettings": {"maxSurge": "10%"}}),
        "conflicting-fields",
        "spec.aks.upgradeSettings.maxSurge",
        (),
        id="surge on Spot",
    ),
    pytest.param(spec(zones=["eastus-2"]), "invalid-value", "spec.zones[0]", ("2",), id="a zone by region"),
    pytest.param(spec(zones=["1", "1"]), "invalid-value", "spec.zones[1]", (), id="a zone twice"),
    # labels, taints, tags
    pytest.param(
        spec(labels={"kubernetes.azure.com/aks-local-ssd": "true"}),
        "invalid-label",
        "spec.labels.kubernetes.azure.com/aks-local-ssd",
        (),
        id="Azure's domain",
    ),
    pytest.param(
        spec(labels={"node-restriction.kubernetes.io/mvis": "true"}),
        "invalid-label",
        "spec.labels.node-restriction.kubernetes.io/mvis",
        ("node.kubernetes.io/mvis",),
        id="node-restriction",
    ),
    pytest.param(
        spec(labels={"k8s.io/team": "vision"}),
        "invalid-label",
        "spec.labels.k8s.io/team",
        ("node.kubernetes.io/team",),
        id="k8s.io",
    ),
    pytest.param(
        spec(labels={"team": "two words"}), "invalid-label", "spec.labels.team", (), id="a value with a space"
    ),
    pytest.param(
        spec(taints=["team:NoSchedule"]), "invalid-taint", "spec.taints", ("team=present:NoSchedule",), id="no value"
    ),
    pytest.param(
        spec(taints=["kubernetes.azure.com/scalesetpriority=spot:NoSchedule"]),
        "invalid-taint",
        "spec.taints",
        (),
        id="Spot's taint on demand",
    ),
    pytest.param(spec(tags={"a/b": "c"}), "invalid-tag", "spec.tags.a/b", ("a_b",), id="slash in a tag"),
    pytest.param(
        spec(tags={"Team": "a", "team": "b"}), "invalid-tag", "spec.tags.team", (), id="tags that differ by case"
    ),
    pytest.param(
        spec(tags={"SkipGPUDriverInstall": "true"}),
        "invalid-tag",
        "spec.tags.SkipGPUDriverInstall",
        (),
        id="the retired tag",
    ),
    pytest.param(spec(tags={"Fracgpu-Managed": "true"}), "invalid-tag", "spec.tags.Fracgpu-Managed", (), id="the mark"),
    pytest.param(
        spec(tags={f"key{n}": "v" for n in range(50)}), "invalid-tag", "spec.tags", (), id="more tags than 50"
    ),
    pytest.param(spec(tags={"key": "v" * 257}), "invalid-tag", "spec.tags.key", (), id="a long value"),
    # machine
    pytest.param(
        {"machine": "Standard_ND128isr_NDR_GB200_v6", "aks": {"osSku": "AzureLinux"}},
        "not-expressible",
        "spec.aks.osSku",
        ("Ubuntu",),
        id="no driver for that system",
    ),
    pytest.param(
        spec(aks={"osSku": "Ubuntu2402"}), "invalid-value", "spec.aks.osSku", ("Ubuntu2404",), id="no such system"
    ),
    pytest.param(spec(eks={"backend": "user-data"}), "not-expressible", "spec.eks.backend", (), id="a backend of EKS"),
    pytest.param(spec(disk={"sizeGb": 20}), "invalid-value", "spec.disk.sizeGb", ("30",), id="small disk"),
    pytest.param(spec(disk={"sizeGb": 4096}), "invalid-value", "spec.disk.sizeGb", ("2048",), id="large disk"),
    pytest.param(spec(aks={"maxPods": 300}), "invalid-value", "spec.aks.maxPods", ("250",), id="many pods"),
    # ids
    pytest.param(spec(aks={"subnetId": "gpu"}), "invalid-value", "spec.aks.subnetId", (), id="a subnet by name"),
    pytest.param(spec(aks={"version": "latest"}), "invalid-value", "spec.aks.version", (), id="no version"),
    pytest.param(
        spec(aks={"upgradeSettings": {"maxSurge": "half"}}),
        "invalid-value",
        "spec.aks.upgradeSettings.maxSurge",
        ("10%",),
        id="a surge in words",
    ),
    pytest.param(spec(gke={"driver": "None"}), "conflicting-fields", "spec.gke", (), id="another cloud's options"),
]


@pytest.mark.parametrize(("said", "code", "field", "nearest"), REFUSED)
def test_refused(said: dict[str, Any], code: str, field: str, nearest: tuple[str, ...]) -> None:
    errors = [one for one in findings(**said) if one.level is Level.ERROR]
    found = [one for one in errors if (one.code, one.field) == (code, field)]
    assert found, errors
    assert set(nearest) <= set(found[0].nearest), found[0].nearest
    assert len(errors) == 1 or code in {"conflicting-fields", "invalid-tag"}, errors


NOTED = [
    pytest.param(spec(capacity="spot"), "spot-taint-added", "spec.capacity", Level.INFO, id="Spot's taint"),
    pytest.param(A100_MIG, "first-boot-reboots", "spec.sharing.mig", Level.INFO, id="reboot"),
    pytest.param(A100_MIG, "device-plugin-needed", "spec.sharing.mig.strategy", Level.INFO, id="strategy single"),
    pytest.param(PLAIN, "plugin-config-needed", "spec.sharing", Level.INFO, id="config"),
    pytest.param(
        spec(nodes={"min": 0, "max": 3}),
        "capacity-unproven-at-zero",
        "spec.nodes.count",
        Level.INFO,
        id="empty at first",
    ),
    pytest.param(spec(nodes={"min": 0, "max": 1}), "max-one-from-zero", "spec.nodes.max", Level.INFO, id="max 1"),
    pytest.param(
        {
            "machine": A100,
            "sharing": {"mig": {"profile": "1g.10gb", "strategy": "mixed"}},
            "nodes": {"min": 0, "max": 3},
        },
        "scale-from-zero-blind",
        "spec.nodes.min",
        Level.WARNING,
        id="mixed from zero",
    ),
    pytest.param(
        {
            "machine": A100,
            "sharing": {"timeSlicing": {"replicas": 2}, "renameByDefault": True},
            "nodes": {"min": 0, "max": 3},
        },
        "scale-from-zero-blind",
        "spec.nodes.min",
        Level.WARNING,
        id="renamed from zero",
    ),
    pytest.param(
        {**A100_MIG, "aks": {"osSku": "AzureLinux"}},
        "azure-linux-mig",
        "spec.aks.osSku",
        Level.WARNING,
        id="Azure Linux",
    ),
    pytest.param(
        spec(aks={"osSku": "AzureContainerLinux"}), "os-without-gpu", "spec.aks.osSku", Level.WARNING, id="no NVIDIA"
    ),
    pytest.param(
        {"machine": "Standard_NV36ads_A10_v5", "aks": {"driver": "None"}},
        "driver-none-needs-grid",
        "spec.aks.driver",
        Level.WARNING,
        id="GRID",
    ),
    pytest.param({"machine": A100, "aks": {"driver": "None"}}, "driver-none", "spec.aks.driver", Level.INFO, id="none"),
    pytest.param(
        spec(aks={"scaleDownMode": "Deallocate", "diskType": "Ephemeral"}),
        "deallocate-ephemeral",
        "spec.aks.scaleDownMode",
        Level.WARNING,
        id="stopped and ephemeral",
    ),
    pytest.param(
        {"machine": A100, "aks": {"scaleDownMode": "Deallocate", "driver": "None"}},
        "deallocate-driver-none",
        "spec.aks.scaleDownMode",
        Level.WARNING,
        id="stopped without a driver",
    ),
    pytest.param(
        spec(capacity="spot", aks={"evictionPolicy": "Deallocate"}),
        "evicted-nodes-count",
        "spec.aks.evictionPolicy",
        Level.INFO,
        id="stopped nodes count",
    ),
    pytest.param(
        spec(capacity="spot", aks={"spotMaxPrice": 0.5}),
        "spot-price-capped",
        "spec.aks.spotMaxPrice",
        Level.WARNING,
        id="price",
    ),
    pytest.param(
        spec(labels={"agentpool": "x"}),
        "label-set-by-aks",
        "spec.labels.agentpool",
        Level.WARNING,
        id="AKS's own label",
    ),
    pytest.param(
        spec(labels={"nvidia.com/mig.config": "all-1g.10gb"}),
        "sharing-unknown",
        "spec.labels.nvidia.com/mig.config",
        Level.WARNING,
        id="a MIG manager's label",
    ),
    pytest.param(
        spec(taints=["nvidia.com/gpu=x:NoExecute"]),
        "gpu-taint-unusual",
        "spec.taints",
        Level.WARNING,
        id="a GPU taint that the plugin does not tolerate",
    ),
]


@pytest.mark.parametrize(("said", "code", "field", "level"), NOTED)
def test_noted(said: dict[str, Any], code: str, field: str, level: Level) -> None:
    everything = findings(**said)
    assert not [one for one in everything if one.level is Level.ERROR]
    assert [(one.field, one.level) for one in everything if one.code == code] == [(field, level)]


ACCEPTED = [
    pytest.param(spec(labels={"node.kubernetes.io/x": "y"}), id="a domain of Kubernetes that AKS takes"),
    pytest.param(spec(labels={"kubelet.kubernetes.io/x": "y"}), id="the other one"),
    pytest.param(spec(labels={"notk8s.io/x": "y"}), id="a domain that only ends alike"),
    pytest.param(spec(labels={"nvidia.com/device-plugin.config": "time-sliced-2"}), id="the label that sharing writes"),
    pytest.param(
        spec(capacity="spot", taints=["kubernetes.azure.com/scalesetpriority=spot:NoSchedule"]), id="Spot's own taint"
    ),
    pytest.param(mig(layout={"2g.20gb": 3}), id="a layout that is a profile"),
    pytest.param({"machine": T4, "sharing": {"mps": {"replicas": 48}}}, id="48 clients on Turing"),
    pytest.param(spec(nodes={"count": 1000}), id="1000 nodes"),
    pytest.param(spec(zones=["3", "1"]), id="zones"),
    pytest.param(
        {"machine": A100, "sharing": {"timeSlicing": {"replicas": 3}, "configKey": "thirds"}}, id="a key of one's own"
    ),
]


@pytest.mark.parametrize("said", ACCEPTED)
def test_accepted(said: dict[str, Any]) -> None:
    assert not [one for one in findings(**said) if one.level is not Level.INFO]


def test_all_findings_come_at_once() -> None:
    said = spec(name="GPU", nodes={"count": 2000}, zones=["x"], labels={"k8s.io/a": "b"}, tags={"a/b": "c"})
    codes = {one.code for one in findings(**said) if one.level is Level.ERROR}
    assert codes == {"invalid-name", "nodes-out-of-range", "invalid-value", "invalid-label", "invalid-tag"}


def test_every_refusal_has_a_next_step() -> None:
    for param in REFUSED:
        said: Any = param.values[0]
        assert all(one.hint or one.nearest for one in findings(**said) if one.level is Level.ERROR), param.id
