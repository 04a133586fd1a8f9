"""What EKS refuses or warns of, a case a rule: the code, the field, and the nearest right answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from fracgpu.errors import INVALID_CODES, Finding, Level
from fracgpu.providers import ClusterFacts
from tests.eks_pools import FACTS, findings

SHARED: dict[str, Any] = {"timeSlicing": {"replicas": 2}}
MIG: dict[str, Any] = {"mig": {"profile": "1g.5gb"}}
A100: dict[str, Any] = {"machine": "p4d.24xlarge"}
H100: dict[str, Any] = {"machine": "p5.4xlarge"}


@dataclass(frozen=True)
class Case:
    """A spec, the code that it must have, and where; `near` is among what is proposed instead."""

    code: str
    at: str | None
    spec: dict[str, Any]
    near: tuple[str, ...] = ()
    level: Level = Level.ERROR
    facts: ClusterFacts | None = None


def case(
    code: str, at: str | None, *near: str, level: Level = Level.ERROR, facts: ClusterFacts | None = FACTS, **spec: Any
) -> Case:
    return Case(code, at, {"machine": "g5.xlarge", **spec}, near, level, facts)


WARN, NOTE = Level.WARNING, Level.INFO
NO_ROLE = replace(FACTS, node_role=None)
NO_SUBNETS = replace(FACTS, subnets=())
NO_ZONES = replace(FACTS, zones=(), extra={})
AUTO = replace(FACTS, extra={**FACTS.extra, "autoMode": True})
TAG = "k8s.io/cluster-autoscaler/node-template/resources/nvidia.com/gpu"

REPAIR: list[tuple[str, str, tuple[str, ...], dict[str, Any]]] = [
    ("unknown-key", "maxParallel", ("maxParallelNodesRepairedCount",), {"maxParallel": 1}),
    ("invalid-value", "enabled", (), {"enabled": 5}),
    ("invalid-value", "maxParallelNodesRepairedCount", (), {"maxParallelNodesRepairedCount": 0}),
    ("invalid-value", "maxUnhealthyNodeThresholdPercentage", (), {"maxUnhealthyNodeThresholdPercentage": 101}),
    (
        "conflicting-fields",
        "maxUnhealthyNodeThresholdCount",
        (),
        {"maxUnhealthyNodeThresholdCount": 1, "maxUnhealthyNodeThresholdPercentage": 10},
    ),
    ("invalid-value", "nodeRepairConfigOverrides", (), {"nodeRepairConfigOverrides": "Reboot"}),
    ("invalid-value", "nodeRepairConfigOverrides[0]", (), {"nodeRepairConfigOverrides": ["Reboot"]}),
    (
        "invalid-value",
        "nodeRepairConfigOverrides[0].repairAction",
        (),
        {"nodeRepairConfigOverrides": [{"repairAction": "Burn"}]},
    ),
]

CASES = [
    case("invalid-name", "metadata.name", "gpu-pool", name="gpu pool"),
    case("invalid-name", "metadata.name", "pool", name="-pool"),
    case("invalid-name", "metadata.name", "a" * 63, name="a" * 64),
    # the image
    case("ami-not-gpu", "spec.eks.amiType", "AL2023_x86_64_NVIDIA", eks={"amiType": "AL2023_x86_64_STANDARD"}),
    case("ami-not-gpu", "spec.eks.amiType", "BOTTLEROCKET_x86_64_NVIDIA", eks={"amiType": "BOTTLEROCKET_x86_64"}),
    case("ami-not-gpu", "spec.eks.amiType", eks={"amiType": "AL2023_x86_64_NEURON"}),
    case("ami-retired", "spec.eks.amiType", "AL2023_x86_64_NVIDIA", eks={"amiType": "AL2_x86_64_GPU"}),
    case("invalid-value", "spec.eks.amiType", "AL2023_x86_64_NVIDIA", eks={"amiType": "AL2023_x86_64_NVIDA"}),
    case("conflicting-fields", "spec.eks.amiType", "AL2023_x86_64_NVIDIA", eks={"amiType": "AL2023_ARM_64_NVIDIA"}),
    case(
        "conflicting-fields",
        "spec.eks.amiType",
        eks={"amiType": "BOTTLEROCKET_x86_64_NVIDIA", "backend": "device-plugin"},
    ),
    case("not-expressible", "spec.eks.backend", machine="g7.2xlarge", sharing=SHARED, eks={"backend": "bottlerocket"}),
    case("missing-field", "spec.eks.launchTemplate", eks={"amiType": "CUSTOM"}),
    case(
        "custom-image",
        "spec.eks.amiType",
        level=NOTE,
        eks={"amiType": "CUSTOM", "launchTemplate": {"name": "mine"}},
    ),
    # instance types, capacity, disk
    case("unknown-machine", "spec.eks.instanceTypes", "g5.2xlarge", eks={"instanceTypes": ["g5.xlarge", "g5.2xlrge"]}),
    case("machine-gpu-mismatch", "spec.eks.instanceTypes", eks={"instanceTypes": ["g5.xlarge", "g6.xlarge"]}),
    case("machine-gpu-mismatch", "spec.eks.instanceTypes", eks={"instanceTypes": ["g5.xlarge", "g5.12xlarge"]}),
    case("conflicting-fields", "spec.eks.instanceTypes", "g5.2xlarge", eks={"instanceTypes": ["g5.2xlarge"]}),
    case("invalid-value", "spec.eks.instanceTypes", eks={"instanceTypes": ["g5.xlarge"] * 21}),
    case(
        "scale-from-zero-blind",
        "spec.eks.instanceTypes",
        level=WARN,
        eks={"instanceTypes": ["g5.xlarge", "g5.2xlarge"]},
    ),
    case("types-in-order", "spec.eks.instanceTypes", level=NOTE, eks={"instanceTypes": ["g5.xlarge", "g5.2xlarge"]}),
    case(
        "conflicting-fields",
        "spec.eks.instanceTypes",
        machine="p5.48xlarge",
        capacity="reserved",
        eks={"reservation": "cr-1", "capacityBlock": True, "instanceTypes": ["p5.48xlarge", "p5.4xlarge"]},
    ),
    case("missing-field", "spec.eks.reservation", capacity="reserved"),
    case("conflicting-fields", "spec.eks.reservation", eks={"reservation": "cr-1"}),
    case("conflicting-fields", "spec.eks.capacityBlock", eks={"capacityBlock": True}),
    case("on-demand-unconfirmed", "spec.capacity", level=WARN, machine="p6e-gb200.36xlarge"),
    case(
        "capacity-block-zone",
        "spec.zones",
        level=WARN,
        machine="p6e-gb200.36xlarge",
        capacity="reserved",
        eks={"reservation": "cr-1"},
    ),
    case("invalid-value", "spec.disk.sizeGb", "16384", disk={"sizeGb": 20000}),
    case("invalid-value", "spec.disk.sizeGb", "1", disk={"sizeGb": 0}),
    case("disk-too-small", "spec.disk.sizeGb", "20", level=WARN, disk={"sizeGb": 19}),
    case(
        "conflicting-fields",
        "spec.eks.instanceTypes",
        capacity="reserved",
        eks={"reservation": "cr-1", "instanceTypes": ["g5.xlarge", "g5.2xlarge"]},
    ),
    case("placement-group-zones", "spec.eks.placementGroup", level=WARN, eks={"placementGroup": "gpus"}),
    case(
        "conflicting-fields",
        "spec.eks.launchTemplate",
        eks={"launchTemplate": {"name": "a"}, "placementGroup": "gpus"},
    ),
    case("invalid-value", "spec.eks.placementGroup", eks={"placementGroup": "g" * 256}),
    case("invalid-value", "spec.eks.diskType", "gp3", eks={"diskType": "io2"}),
    case("invalid-value", "spec.eks.diskType", "gp3", eks={"diskType": "st1"}),
    case("machine-note", "spec.machine", level=NOTE, machine="g6f.xlarge"),
    # a template of the user's own
    case("invalid-value", "spec.eks.launchTemplate", eks={"launchTemplate": {"name": "a", "id": "lt-1"}}),
    case("invalid-value", "spec.eks.launchTemplate", eks={"launchTemplate": {"version": "1"}}),
    case("conflicting-fields", "spec.disk.sizeGb", disk={"sizeGb": 50}, eks={"launchTemplate": {"name": "a"}}),
    case(
        "template-version-kept",
        "spec.eks.launchTemplate.version",
        level=NOTE,
        eks={"launchTemplate": {"name": "a", "version": "$Latest"}},
    ),
    case("conflicting-fields", "spec.eks.launchTemplate", **A100, sharing=MIG, eks={"launchTemplate": {"name": "a"}}),
    case("conflicting-fields", "spec.eks.launchTemplate", eks={"launchTemplate": {"name": "a"}, "diskType": "gp2"}),
    *[
        case(
            "conflicting-fields",
            f"spec.eks.{name}",
            eks={"amiType": "CUSTOM", "launchTemplate": {"name": "mine"}, name: value},
        )
        for name, value in {"version": "1.34", "releaseVersion": "1.34.1-20260901"}.items()
    ],
    # texts of a form
    *[
        case("invalid-value", f"spec.eks.{at}", eks=eks)
        for at, eks in {
            "nodeRole": {"nodeRole": "NodeRole"},
            "subnets[1]": {"subnets": ["subnet-1", "vpc-1"]},
            "subnets[2]": {"subnets": ["subnet-1", "subnet-2", "subnet-1"]},
            "version": {"version": "latest"},
            "releaseVersion": {"releaseVersion": "newest"},
            "launchTemplate.id": {"launchTemplate": {"id": "mine"}},
            "launchTemplate.version": {"launchTemplate": {"name": "mine", "version": "newest"}},
        }.items()
    ],
    case("invalid-value", "spec.eks.reservation", capacity="reserved", eks={"reservation": "mine"}),
    # cut and share: what the table of test_matrix leaves to the GPU
    case("gpu-not-mig-capable", "spec.sharing.mig", sharing=MIG),
    case("profile-not-on-gpu", "spec.sharing.mig.profile", **H100, sharing=MIG),
    case(
        "not-expressible",
        "spec.sharing.mig.profile",
        "1g.10gb",
        **H100,
        sharing={"mig": {"profile": "1g.10gb+me", "backend": "bottlerocket"}},
    ),
    case(
        "not-expressible",
        "spec.sharing.mig",
        "user-data",
        **H100,
        sharing={"mig": {"layout": {"1g.10gb": 4}, "backend": "bottlerocket"}},
    ),
    case(
        "settings-key-unconfirmed",
        "spec.sharing.mig",
        level=WARN,
        machine="g7e.2xlarge",
        sharing={"mig": {"profile": "1g.24gb"}},
    ),
    case("sharing-conflict", "spec.sharing.timeSlicing", machine="g6f.xlarge", sharing=SHARED),
    case("sharing-conflict", "spec.sharing.mps", machine="gr6f.4xlarge", sharing={"mps": {"replicas": 2}}),
    case("replicas-out-of-range", "spec.sharing.mps.replicas", "48", sharing={"mps": {"replicas": 49}}),
    case(
        "replicas-out-of-range",
        "spec.sharing.mps.replicas",
        "48",
        sharing={"mps": {"replicas": 49}},
        eks={"backend": "bottlerocket"},
    ),
    case(
        "replicas-out-of-range",
        "spec.sharing.mps.replicas",
        "16",
        machine="p3dn.24xlarge",
        sharing={"mps": {"replicas": 17}},
    ),
    case(
        "not-expressible",
        "spec.sharing.configKey",
        sharing={**SHARED, "configKey": "mine"},
        eks={"backend": "bottlerocket"},
    ),
    case("conflicting-fields", "spec.eks.startupTaint", sharing=SHARED, eks={"startupTaint": True}),
    case("plugin-config-needed", "spec.sharing", level=NOTE, sharing=SHARED),
    case(
        "device-plugin-needed",
        "spec.sharing.mig.strategy",
        level=NOTE,
        **H100,
        sharing={"mig": {"profile": "1g.10gb", "backend": "user-data"}},
    ),
    case("first-boot-reboots", "spec.sharing.mig", level=NOTE, **A100, sharing=MIG),
    case(
        "mig-label-race",
        "spec.sharing.mig.backend",
        level=WARN,
        **A100,
        sharing={"mig": {"profile": "1g.5gb", "backend": "gpu-operator"}},
    ),
    case(
        "mig-label-race",
        "spec.sharing.mig.backend",
        level=NOTE,
        **A100,
        sharing={"mig": {"profile": "1g.5gb", "backend": "gpu-operator"}},
        eks={"startupTaint": True},
    ),
    case(
        "mig-config-needed",
        "spec.sharing.mig",
        level=NOTE,
        **A100,
        sharing={"mig": {"layout": {"3g.20gb": 1, "1g.5gb": 3}, "backend": "gpu-operator"}},
    ),
    case("min-os-version", "spec.eks.amiType", level=NOTE, **A100, sharing=MIG),
    case(
        "version-too-old",
        "spec.eks.releaseVersion",
        level=WARN,
        **A100,
        sharing=MIG,
        eks={"releaseVersion": "1.26.1-943d9a41"},
    ),
    # counts, places, cluster
    case("nodes-over-quota", "spec.nodes.max", level=WARN, nodes={"min": 0, "max": 451}),
    case("capacity-unproven-at-zero", "spec.nodes.count", level=NOTE, nodes={"min": 0, "max": 2}),
    case("invalid-value", "spec.zones", "us-east-1a", zones=["us-east-1a", "us-east-1f"]),
    case("invalid-value", "spec.zones", zones=["us-east-1a"], facts=NO_ZONES),
    *[
        case("invalid-value", f"spec.zones[{len(zones) - 1}]", zones=zones, facts=facts)
        for zones in (["a"], ["us-east-1"], ["us-east-1a", "eu-west-1a"], ["us-east-1b", "us-east-1b"], ["use1-az1"])
        for facts in (FACTS, None)
    ],
    case("invalid-value", "spec.zones", "us-east-1a", "us-east-1b", zones=["us-east-1f"]),
    case("conflicting-fields", "spec.zones", zones=["us-east-1a"], eks={"subnets": ["subnet-1"]}),
    case("missing-field", "spec.eks.subnets", facts=NO_SUBNETS),
    case("missing-field", "spec.eks.nodeRole", facts=NO_ROLE),
    case("resolved-at-apply", "spec.eks", level=NOTE, facts=None),
    case("beside-auto-mode", "spec.cluster.name", level=NOTE, facts=AUTO),
    case("nodes-over-quota", "spec.nodes.count", level=WARN, nodes={"count": 451}),
    case("invalid-value", "spec.sharing.configKey", sharing={**SHARED, "configKey": "my/key"}),
    case("conflicting-fields", "spec.eks.startupTaint", machine="g6f.xlarge", eks={"startupTaint": True}),
    case(
        "replicas-out-of-range",
        "spec.sharing.mps.replicas",
        "16",
        machine="p3dn.24xlarge",
        sharing={"mps": {"replicas": 17}},
        eks={"backend": "bottlerocket"},
    ),
    # labels, taints, tags
    case("invalid-label", "spec.labels.node.kubernetes.io/x", labels={"node.kubernetes.io/x": "y"}),
    case("invalid-label", "spec.labels.eks.amazonaws.com/nodegroup", labels={"eks.amazonaws.com/nodegroup": "y"}),
    case("invalid-label", "spec.labels.team", "team=true", labels={"team": ""}),
    case("invalid-label", "spec.labels.team", labels={"team": "a b"}),
    case(
        "invalid-label",
        f"spec.labels.{'d' * 30}.example.com/{'k' * 30}",
        labels={f"{'d' * 30}.example.com/{'k' * 30}": "y"},
    ),
    case(
        "conflicting-fields",
        "spec.labels.nvidia.com/device-plugin.config",
        sharing=SHARED,
        labels={"nvidia.com/device-plugin.config": "other"},
    ),
    case(
        "conflicting-fields",
        "spec.labels.nvidia.com/mig.config",
        **A100,
        sharing={"mig": {"profile": "1g.5gb", "backend": "gpu-operator"}},
        labels={"nvidia.com/mig.config": "all-2g.10gb"},
    ),
    case(
        "conflicting-fields",
        "spec.labels.nvidia.com/mig.config",
        **A100,
        sharing=MIG,
        labels={"nvidia.com/mig.config": "all-1g.5gb"},
    ),
    case(
        "sharing-unknown",
        "spec.labels.nvidia.com/mig.config",
        level=WARN,
        **A100,
        labels={"nvidia.com/mig.config": "mine"},
    ),
    case(
        "scale-from-zero-blind",
        "spec.labels.k8s.amazonaws.com/accelerator",
        level=WARN,
        **A100,
        sharing={"mig": {"profile": "1g.5gb", "strategy": "mixed"}},
        labels={"k8s.amazonaws.com/accelerator": "nvidia-a100"},
    ),
    case(
        "scale-from-zero-blind",
        "spec.labels.k8s.amazonaws.com/accelerator",
        level=WARN,
        sharing={**SHARED, "renameByDefault": True},
        labels={"k8s.amazonaws.com/accelerator": "nvidia-a10g"},
    ),
    case("scale-from-zero-blind", "spec.taints", "team=present:NoSchedule", level=WARN, taints=["team:NoSchedule"]),
    case(
        "gpu-taint-unusual",
        "spec.taints",
        "nvidia.com/gpu=present:NoSchedule",
        level=WARN,
        taints=["nvidia.com/gpu=true:NoSchedule"],
    ),
    case("gpu-taint-unusual", "spec.taints", level=WARN, taints=["nvidia.com/gpu:NoSchedule"]),
    case("invalid-taint", "spec.taints", taints=[f"t{number}=x:NoSchedule" for number in range(50)]),
    case("invalid-taint", "spec.taints", taints=["team=a:NoSchedule", "team=b:NoSchedule"]),
    case("invalid-tag", "spec.tags.AWS:mine", tags={"AWS:mine": "x"}),
    case("invalid-tag", f"spec.tags.{'k' * 129}", tags={"k" * 129: "x"}),
    case("invalid-tag", "spec.tags.team", tags={"team": "v" * 257}),
    case("invalid-tag", "spec.tags", sharing=SHARED, tags={f"t{number}": "x" for number in range(49)}),
    case("invalid-tag", "spec.tags.fracgpu-managed", tags={"fracgpu-managed": "true"}),
    case("scale-from-zero-blind", f"spec.tags.{TAG}", level=WARN, sharing=SHARED, tags={TAG: "7"}),
    # updates and repair
    case(
        "conflicting-fields",
        "spec.eks.updateConfig.maxUnavailable",
        eks={"updateConfig": {"maxUnavailable": 1, "maxUnavailablePercentage": 1}},
    ),
    case("invalid-value", "spec.eks.updateConfig.maxUnavailable", "1", eks={"updateConfig": {"maxUnavailable": 2}}),
    case(
        "invalid-value",
        "spec.eks.updateConfig.maxUnavailablePercentage",
        eks={"updateConfig": {"maxUnavailablePercentage": 101}},
    ),
    case("invalid-value", "spec.eks.version", "1.34", eks={"version": "1.35"}),
    case(
        "conflicting-fields",
        "spec.eks.releaseVersion",
        facts=None,
        eks={"version": "1.33", "releaseVersion": "1.34.1-20260901"},
    ),
    case("conflicting-fields", "spec.eks.releaseVersion", eks={"releaseVersion": "1.33.4-20260901"}),
    case("repair-with-taint", "spec.eks.nodeRepairConfig", level=WARN, eks={"nodeRepairConfig": {"enabled": True}}),
    *[
        case(code, f"spec.eks.nodeRepairConfig.{at}", *near, eks={"nodeRepairConfig": repair})
        for code, at, near, repair in REPAIR
    ],
    case("conflicting-fields", "spec.gke", gke={"maxPods": 10}),
]


@pytest.mark.parametrize("one", CASES, ids=lambda one: f"{one.code} {one.at}")
def test_found(one: Case) -> None:
    found = said(one)
    assert found, [(other.code, other.field) for other in findings(one.facts, **one.spec)]
    assert set(one.near) <= set(found[0].nearest)


def said(one: Case) -> list[Finding]:
    rows = findings(one.facts, **one.spec)
    return [row for row in rows if (row.code, row.field, row.level) == (one.code, one.at, one.level)]


@pytest.mark.parametrize("one", CASES, ids=lambda one: f"{one.code} {one.at}")
def test_every_finding_says_what_to_do(one: Case) -> None:
    for found in findings(one.facts, **one.spec):
        assert found.field, found
        assert found.level is not Level.ERROR or found.code in INVALID_CODES, found
        assert not found.message.endswith("."), found
        assert found.level is Level.INFO or found.hint or found.nearest or found.link, found
        assert found.link is None or found.link.startswith("https://"), found


GOOD: list[dict[str, Any]] = [
    {"machine": "g5.xlarge"},
    {"machine": "g5.xlarge", "sharing": {"mps": {"replicas": 48}}},
    {"machine": "p4d.24xlarge", "sharing": MIG},
    {"machine": "p5.4xlarge", "sharing": {"mig": {"layout": {"3g.40gb": 1, "1g.10gb": 3}}}},
    {"machine": "g5.xlarge", "zones": ["us-east-1b"]},
    {"machine": "g5.xlarge", "eks": {"backend": "bottlerocket", "releaseVersion": "1.57.0-6c2a0f31"}},
    {"machine": "p4d.24xlarge", "zones": ["us-east-1b"], "eks": {"placementGroup": "gpus"}},
    {
        "machine": "g5.xlarge",
        "taints": ["nvidia.com/gpu=true:NoSchedule"],
        "labels": {"nvidia.com/gpu.present": "true"},
    },
    {"machine": "g5.xlarge", "labels": {"k8s.amazonaws.com/accelerator": "nvidia-a10g"}},
    {"machine": "g5.xlarge", "eks": {"launchTemplate": {"id": "lt-1", "version": "2"}}},
    {"machine": "g5.xlarge", "eks": {"nodeRole": "arn:aws-us-gov:iam::111122223333:role/eks/gpu+nodes@x"}},
    {
        "machine": "g5.xlarge",
        "capacity": "reserved",
        "eks": {
            "reservation": "arn:aws:resource-groups:us-east-1:111122223333:group/gpus",
            "instanceTypes": ["g5.xlarge"],
            "version": "1.34",
            "releaseVersion": "1.34.1-20260901",
        },
    },
    {
        "machine": "g5.xlarge",
        "gpuTaint": False,
        "eks": {
            "nodeRepairConfig": {
                "enabled": True,
                "maxParallelNodesRepairedCount": 1,
                "nodeRepairConfigOverrides": [{"nodeMonitoringCondition": "AcceleratedHardwareReady"}],
            }
        },
    },
    {"machine": "g5.xlarge", "nodes": {"min": 0, "max": 9}, "eks": {"updateConfig": {"maxUnavailable": 9}}},
]


@pytest.mark.parametrize("spec", GOOD)
def test_nothing_is_wrong_with(spec: dict[str, Any]) -> None:
    assert [one for one in findings(**spec) if one.level is not Level.INFO] == []


def test_zones_choose_the_subnets_of_the_cluster() -> None:
    from tests.eks_pools import SUBNETS, body

    assert body(machine="g5.xlarge", zones=["us-east-1b"])["subnets"] == [SUBNETS[1]]
    assert body(machine="g5.xlarge")["subnets"] == list(SUBNETS)


@pytest.mark.parametrize("zone", ["us-east-1f", "us-east-1-bos-1a", "us-east-1-wl1-bos-wlz-1"])
def test_offline_any_zone_of_the_region_may_have_a_subnet(zone: str) -> None:
    assert not [one for one in findings(None, machine="g5.xlarge", zones=[zone]) if one.level is Level.ERROR]


def test_offline_the_cluster_is_left_open() -> None:
    from tests.eks_pools import body

    assert not {"subnets", "nodeRole"} & set(body(facts=None, machine="g5.xlarge"))
