"""What GKE refuses or warns of, a case a rule: the code, the field, and the nearest right answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from fracgpu.errors import INVALID_CODES, Finding, Level
from fracgpu.providers import ClusterFacts
from tests.gke_pools import FACTS, findings

A100: dict[str, Any] = {"machine": "a2-highgpu-1g"}
L4: dict[str, Any] = {"machine": "g2-standard-8"}
MIG: dict[str, Any] = {"mig": {"profile": "1g.5gb"}}
SHARED: dict[str, Any] = {"timeSlicing": {"replicas": 2}}
THREE = {"count": 3}


@dataclass(frozen=True)
class Case:
    """A spec, the code that it must have, and where; `near` is among what is proposed instead."""

    code: str
    at: str | None
    spec: dict[str, Any]
    near: tuple[str, ...] = ()
    level: Level = Level.ERROR
    facts: ClusterFacts | None = field(default_factory=lambda: FACTS)


def case(
    code: str, at: str | None, *near: str, level: Level = Level.ERROR, facts: ClusterFacts | None = FACTS, **spec: Any
) -> Case:
    return Case(code, at, {**L4, "nodes": THREE, **spec}, near, level, facts)


WARN, NOTE = Level.WARNING, Level.INFO
OLD = ClusterFacts(zones=("us-central1-a",), version="1.26.1-gke.100")
AUTOPILOT = ClusterFacts(zones=("us-central1-a",), extra={"autopilot": True})
LONELY = ClusterFacts(zones=("us-central1-a",), extra={"pools_without_gpu": 0})

CASES = [
    case("invalid-name", "metadata.name", "gpu-pool", name="GPU_Pool"),
    case("invalid-name", "metadata.name", name="1gpu"),
    case("invalid-name", "metadata.name", "gpu", name="gpu-"),
    case("invalid-name", "metadata.name", "a" * 40, name="a" * 41),
    case("invalid-value", "spec.cluster.location", cluster={"provider": "gke", "name": "c", "location": "uscentral"}),
    case("invalid-value", "spec.zones[0]", zones=["europe-west1-b"]),
    case("invalid-value", "spec.zones[0]", zones=["us-central1"]),
    case("invalid-value", "spec.zones[1]", zones=["us-central1-a", "us-central1-a"]),
    case("not-expressible", "spec.cluster.name", facts=AUTOPILOT),
    case("no-pool-without-gpu", "spec.cluster.name", level=WARN, facts=LONELY),
    case("machine-gpu-mismatch", "spec.gke.acceleratorCount", "1", gke={"acceleratorCount": 2}),
    case(
        "machine-gpu-mismatch",
        "spec.gke.acceleratorCount",
        "4",
        machine="n1-standard-96",
        gpu="t4",
        gke={"acceleratorCount": 1},
    ),
    case("on-demand-unconfirmed", "spec.capacity", level=WARN, machine="a3-highgpu-2g"),
    case("on-demand-unconfirmed", "spec.capacity", level=WARN, machine="a4-highgpu-8g"),
    case("version-too-old", "spec.machine", level=WARN, machine="g4-standard-48", facts=OLD),
    case("version-too-old", "spec.sharing.mps", level=WARN, sharing={"mps": {"replicas": 2}}, facts=OLD),
    case(
        "not-expressible",
        "spec.sharing.mig.layout",
        "1g.5gb",
        **A100,
        sharing={"mig": {"layout": {"1g.5gb": 2, "2g.10gb": 1}}},
    ),
    case("not-expressible", "spec.sharing.mig.layout", "1g.5gb=7", **A100, sharing={"mig": {"layout": {"1g.5gb": 3}}}),
    case(
        "not-expressible",
        "spec.sharing.mig.devices",
        machine="a2-highgpu-2g",
        sharing={"mig": {"devices": [{"1g.5gb": 7}, None]}},
    ),
    case(
        "not-expressible",
        "spec.sharing.mig.strategy",
        "single",
        **A100,
        sharing={"mig": {"profile": "1g.5gb", "strategy": "mixed"}},
    ),
    case("not-expressible", "spec.sharing.mig.profile", "3g.20gb", **A100, sharing={"mig": {"profile": "4g.20gb"}}),
    case(
        "not-expressible",
        "spec.sharing.mig.profile",
        "3g.40gb",
        machine="a2-ultragpu-1g",
        sharing={"mig": {"profile": "4g.40gb"}},
    ),
    case("not-expressible", "spec.sharing.mig.profile", "1g.5gb", **A100, sharing={"mig": {"profile": "1g.5gb+me"}}),
    case("not-expressible", "spec.sharing.mig.profile", **A100, sharing={"mig": {"profile": "1g.10gb"}}),
    case("not-expressible", "spec.sharing.mig", machine="a4x-maxgpu-4g-metal", sharing={"mig": {"profile": "1g.35gb"}}),
    case("profile-not-on-gpu", "spec.sharing.mig.profile", machine="a2-ultragpu-1g", sharing=MIG),
    case("gpu-not-mig-capable", "spec.sharing.mig", sharing=MIG),
    case(
        "partition-unconfirmed",
        "spec.sharing.mig",
        level=WARN,
        machine="a3-megagpu-8g",
        sharing={"mig": {"profile": "1g.10gb"}},
    ),
    case("first-boot-reboots", "spec.sharing.mig", level=NOTE, **A100, sharing=MIG),
    case("sharing-conflict", "spec.sharing.mig", machine="g4-standard-12", sharing={"mig": {"profile": "1g.24gb"}}),
    case("sharing-conflict", "spec.sharing.timeSlicing", machine="g4-standard-12", sharing=SHARED),
    case("sharing-conflict", "spec.sharing.mps", machine="g4-standard-24", sharing={"mps": {"replicas": 2}}),
    case("replicas-out-of-range", "spec.sharing.timeSlicing.replicas", "48", sharing={"timeSlicing": {"replicas": 49}}),
    case("replicas-out-of-range", "spec.sharing.mps.replicas", "48", sharing={"mps": {"replicas": 100}}),
    case("replicas-out-of-range", "spec.sharing.mps.replicas", "2", sharing={"mps": {"replicas": 1}}),
    case(
        "one-share-at-most",
        "spec.sharing.timeSlicing.failRequestsGreaterThanOne",
        level=WARN,
        sharing={"timeSlicing": {"replicas": 2, "failRequestsGreaterThanOne": False}},
    ),
    case(
        "not-expressible",
        "spec.sharing.mig.devices",
        "1g.5gb=7",
        machine="a2-highgpu-2g",
        sharing={"mig": {"devices": [{"1g.5gb": 3}, {"1g.5gb": 3}]}},
    ),
    case("not-expressible", "spec.sharing.mig.layout", **A100, sharing={"mig": {"layout": {"4g.20gb": 1}}}),
    case("sharing-unknown", "spec.labels.nvidia.com/mig.config", level=WARN, labels={"nvidia.com/mig.config": "mine"}),
    case("invalid-label", "spec.labels", labels={f"label{number}": "v" * 50 for number in range(18)}),
    case("not-expressible", "spec.sharing.renameByDefault", sharing={**SHARED, "renameByDefault": True}),
    case("not-expressible", "spec.sharing.configKey", sharing={**SHARED, "configKey": "mine"}),
    case(
        "not-expressible",
        "spec.sharing.mig.backend",
        **A100,
        sharing={"mig": {"profile": "1g.5gb", "backend": "user-data"}},
    ),
    case("driver-none-with-mig", "spec.gke.driver", "Install", level=WARN, **A100, sharing=MIG, gke={"driver": "None"}),
    case("driver-none", "spec.gke.driver", level=NOTE, gke={"driver": "None"}),
    case("nodes-out-of-range", "spec.nodes.count", "3", "6", nodes={"count": 4}),
    case("nodes-out-of-range", "spec.nodes.count", "3", nodes={"count": 1}),
    case("nodes-out-of-range", "spec.nodes.count", "2", "4", zones=["us-central1-a", "us-central1-b"]),
    case("nodes-out-of-range", "spec.nodes.max", "15000", nodes={"min": 0, "max": 15001}),
    case("nodes-out-of-range", "spec.nodes.count", "15000", nodes={"count": 15003}),
    case("capacity-unproven-at-zero", "spec.nodes.count", level=NOTE, nodes={"count": 0}),
    case("nodes-rounded", "spec.nodes.count", "3", "6", level=NOTE, nodes={"min": 0, "max": 9, "count": 4}),
    case("begins-below-min", "spec.nodes.count", level=WARN, nodes={"min": 1, "max": 4}),
    case("zones-unknown", "spec.zones", level=WARN, facts=None),
    case("capacity-unproven-at-zero", "spec.nodes.count", level=NOTE, nodes={"min": 0, "max": 3}),
    case("missing-field", "spec.gke.reservation", capacity="reserved"),
    case("conflicting-fields", "spec.gke.reservation", capacity="spot", gke={"reservation": "r"}),
    case("invalid-value", "spec.disk.sizeGb", "10", disk={"sizeGb": 5}),
    case("invalid-label", "spec.labels.team", labels={"team": "vision team"}),
    case("invalid-label", "spec.labels.-team", labels={"-team": "vision"}),
    case("invalid-label", "spec.labels.kubernetes.io/x", labels={"kubernetes.io/x": "y"}),
    case("label-reserved", "spec.labels.node.kubernetes.io/x", level=WARN, labels={"node.kubernetes.io/x": "y"}),
    case("invalid-label", "spec.labels.node.k8s.io/x", labels={"node.k8s.io/x": "y"}),
    case("invalid-label", "spec.labels.cloud.google.com/gke-spot", labels={"cloud.google.com/gke-spot": "true"}),
    case(
        "sharing-conflict",
        "spec.labels.gke-no-default-nvidia-gpu-device-plugin",
        labels={"gke-no-default-nvidia-gpu-device-plugin": "true"},
        sharing=SHARED,
    ),
    case(
        "label-without-effect",
        "spec.labels.nvidia.com/device-plugin.config",
        level=WARN,
        labels={"nvidia.com/device-plugin.config": "time-sliced-2"},
    ),
    case("invalid-taint", "spec.taints", taints=["a b=c:NoSchedule".replace(" ", "!")]),
    case("invalid-taint", "spec.taints", taints=["a=b:NoSchedule", "a=c:NoSchedule"]),
    case("taint-without-value", "spec.taints", level=WARN, taints=["nvidia.com/gpu:NoSchedule"]),
    case("taint-without-value", "spec.taints", level=WARN, taints=["gpu:NoExecute"]),
    case("gpu-taint-added", "spec.gpuTaint", level=NOTE, gpuTaint=False),
    case("invalid-tag", "spec.tags.Team", "team", tags={"Team": "vision"}),
    case("invalid-tag", "spec.tags.team", "vision-team", tags={"team": "Vision Team"}),
    case("invalid-tag", "spec.tags.goog-x", tags={"goog-x": "y"}),
    case("invalid-tag", "spec.tags", tags={f"k{number}": "v" for number in range(64)}),
    case("invalid-tag", "spec.gke.networkTags[1]", gke={"networkTags": ["ok", "Not_ok"]}),
    case("invalid-value", "spec.gke.maxSurge", gke={"maxSurge": 0}),
    case("invalid-value", "spec.gke.maxSurge", gke={"maxSurge": 15, "maxUnavailable": 6}),
    case("invalid-value", "spec.gke.maxPods", "110", gke={"maxPods": 7}),
    case("conflicting-fields", "spec.gke.driverVersion", gke={"driver": "None", "driverVersion": "LATEST"}),
    case("conflicting-fields", "spec.gke.locationPolicy", gke={"locationPolicy": "ANY"}),
    case("conflicting-fields", "spec.aks", aks={"osSku": "Ubuntu"}),
    case("conflicting-fields", "spec.eks", eks={"amiType": "AL2023_x86_64_NVIDIA"}),
]


@pytest.mark.parametrize("one", CASES, ids=[f"{index}-{one.code}-{one.at}" for index, one in enumerate(CASES)])
def test_rule(one: Case) -> None:
    """The finding is there, at its field and level, says what to do, and proposes what is right."""
    found = [
        finding for finding in findings(one.facts, **one.spec) if (finding.code, finding.field) == (one.code, one.at)
    ]
    assert found, [(finding.code, finding.field) for finding in findings(one.facts, **one.spec)]
    (finding,) = found
    assert finding.level is one.level
    assert set(one.near) <= set(finding.nearest)
    if one.level is Level.ERROR:
        assert finding.code in INVALID_CODES
    assert finding.message


GOOD: list[dict[str, Any]] = [
    {**A100, "sharing": MIG},
    {**A100, "sharing": {**MIG, **SHARED}},
    {**A100, "sharing": {**MIG, "mps": {"replicas": 2}}},
    {**A100, "sharing": {"mig": {"layout": {"1g.5gb": 7}}}},
    {**A100, "sharing": {"mig": {"profile": "7g.40gb"}}},
    {**L4, "sharing": {"timeSlicing": {"replicas": 48, "failRequestsGreaterThanOne": True}}},
    {**L4, "name": "a" * 40},
    {**L4, "name": "a"},
    {"machine": "a3-highgpu-2g", "capacity": "spot"},
    {"machine": "n1-standard-16", "gpu": "t4", "gke": {"acceleratorCount": 4}},
    {"machine": "g4-standard-12"},
    {**L4, "capacity": "reserved", "gke": {"reservation": "mine"}},
    {**L4, "gke": {"maxSurge": 0, "maxUnavailable": 1, "driver": "None"}},
    {**L4, "tags": {"team_1": "", "cost-centre": "42"}, "labels": {"example.com/team": "", "gpu": "L4.x_y"}},
    {**L4, "labels": {"cloud.google.com/gke-nvidia-gpu-dra-driver": "true"}},
    {**L4, "labels": {"gke-no-default-nvidia-gpu-device-plugin": "true"}},
    {**L4, "zones": ["us-central1-f"]},
]


@pytest.mark.parametrize("spec", GOOD, ids=map(str, range(len(GOOD))))
def test_what_gke_takes_has_no_error_and_no_warning(spec: dict[str, Any]) -> None:
    found = findings(**{"nodes": THREE, **spec})
    assert [finding for finding in found if finding.level is not Level.INFO] == []


def test_all_findings_come_at_once() -> None:
    found = findings(
        name="X", machine="a2-highgpu-1g", sharing={"mig": {"profile": "4g.20gb"}}, nodes={"count": 4}, tags={"A": "b"}
    )
    codes = {finding.code for finding in found if finding.level is Level.ERROR}
    assert codes == {"invalid-name", "not-expressible", "nodes-out-of-range", "invalid-tag"}


def test_a_zonal_cluster_has_one_zone_offline_too() -> None:
    cluster = {"provider": "gke", "name": "c", "location": "us-central1-a"}
    found = findings(None, **L4, cluster=cluster, nodes={"count": 5})
    assert "zones-unknown" not in {finding.code for finding in found}


def test_the_reason_for_4g_is_the_plugin() -> None:
    found = findings(**A100, nodes=THREE, sharing={"mig": {"profile": "4g.20gb"}})
    (message,) = [finding.message for finding in found if finding.code == "not-expressible"]
    assert "partitioner makes it" in message
    assert "does not advertise it" in message


def test_errors_say_what_to_do() -> None:
    """Every error of the cases has a hint or something nearest."""
    bare: list[Finding] = []
    for one in CASES:
        bare += [
            finding
            for finding in findings(one.facts, **one.spec)
            if finding.level is Level.ERROR and not finding.hint and not finding.nearest and not finding.link
        ]
    assert bare == []
