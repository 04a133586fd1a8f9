"""What a node of an EKS group shows, from its user data and its machine."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fracgpu.sandbox.eks.cards import card
from fracgpu.sandbox.eks.shape import never_joins, shape
from fracgpu.sandbox.world import Cloud, Cluster, NodeShape, Pool

MACHINES: dict[str, tuple[str | None, int, int]] = {
    "p4d.24xlarge": ("A100", 8, 40960),
    "p4de.24xlarge": ("A100", 8, 81920),
    "p5.4xlarge": ("H100", 1, 81920),
    "p5en.48xlarge": ("H200", 8, 144384),
    "p6-b200.48xlarge": ("B200", 8, 183359),
    "p6-b300.48xlarge": ("B300", 8, 275040),
    "g7e.2xlarge": ("RTX PRO Server 6000", 1, 98304),
    "g5.12xlarge": ("A10G", 4, 22888),
    "m5.large": (None, 0, 0),
}


def pool_of(
    machine: str, user_data: str = "", ami: str = "BOTTLEROCKET_x86_64_NVIDIA", labels: dict[str, str] | None = None
) -> Pool:
    gpu, gpus, mib = MACHINES[machine]
    row: dict[str, Any] = {"name": machine, "vcpus": 96, "memory_gib": 1152.0, "architectures": ("x86_64",)}
    row |= {"gpu": gpu, "gpus": gpus, "gpu_mib": mib}
    body = {
        "amiType": ami,
        "capacityType": "ON_DEMAND",
        "labels": labels or {},
        "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}],
    }
    template = {"UserData": base64.b64encode(user_data.encode()).decode()} if user_data else {}
    return Pool(Cloud.EKS, "gpus", body, "ACTIVE", extra={"machine": row, "template": template, "image": "ami-1"})


def node(machine: str, user_data: str = "", **more: Any) -> NodeShape:
    return shape(Cluster(Cloud.EKS, ("us-east-1", "sandbox")), pool_of(machine, user_data, **more))


def settings(top: str, **tables: str) -> str:
    head = "[settings.kubelet-device-plugins.nvidia]\n" + top + "\n"
    return head + "".join(
        f"[settings.kubelet-device-plugins.nvidia.{name.replace('_', '-')}]\n{body}\n" for name, body in tables.items()
    )


def mig(profiles: str, sharing: str = "") -> str:
    tables = {"mig.profile": profiles} | ({"time_slicing": sharing} if sharing else {})
    strategy = 'device-sharing-strategy = "time-slicing"\n' if sharing else ""
    return settings(f'{strategy}device-partitioning-strategy = "mig"', **tables)


@pytest.mark.parametrize(
    ("machine", "user_data", "expected"),
    [
        ("p4d.24xlarge", "", {"nvidia.com/gpu": 8}),
        ("p4d.24xlarge", mig('"a100.40gb" = "1g.5gb"'), {"nvidia.com/gpu": 56}),
        ("p4d.24xlarge", mig('"a100.40gb" = "2g.10gb"'), {"nvidia.com/gpu": 24}),
        ("p4d.24xlarge", mig('"a100.40gb" = "7"'), {"nvidia.com/gpu": 56}),
        ("p4d.24xlarge", mig('"a100.40gb" = "4"'), {"nvidia.com/gpu": 32}),
        ("p4d.24xlarge", mig('"a100.40gb" = "1"'), {"nvidia.com/gpu": 8}),
        ("p4d.24xlarge", mig('"a100.80gb" = "1g.10gb"'), {"nvidia.com/gpu": 8}),
        ("p4de.24xlarge", mig('"a100.40gb" = "1g.5gb"\n"a100.80gb" = "1g.10gb"'), {"nvidia.com/gpu": 56}),
        ("p5.4xlarge", mig('"h100.80gb" = "3g.40gb"'), {"nvidia.com/gpu": 2}),
        ("p5en.48xlarge", mig('"h200.141gb" = "1g.35gb"'), {"nvidia.com/gpu": 32}),
        ("p6-b200.48xlarge", mig('"b200.180gb" = "1g.23gb"'), {"nvidia.com/gpu": 56}),
        ("p6-b300.48xlarge", mig('"b300.269gb" = "1g.34gb"'), {"nvidia.com/gpu": 56}),
        ("g7e.2xlarge", mig('"rtxpro6000.96gb" = "1g.24gb"'), {"nvidia.com/gpu": 4}),
        ("g5.12xlarge", mig('"a100.40gb" = "1g.5gb"'), {"nvidia.com/gpu": 4}),
        (
            "p4d.24xlarge",
            mig('"a100.40gb" = "1g.10gb"', "replicas = 4"),
            {"nvidia.com/gpu": 0, "nvidia.com/gpu.shared": 128},
        ),
        (
            "g5.12xlarge",
            settings('device-sharing-strategy = "time-slicing"'),
            {"nvidia.com/gpu": 0, "nvidia.com/gpu.shared": 8},
        ),
        (
            "g5.12xlarge",
            settings('device-sharing-strategy = "mps"', mps="replicas = 4\nrename-by-default = false"),
            {"nvidia.com/gpu": 16},
        ),
        ("g5.12xlarge", settings("enabled = false"), None),
    ],
)
def test_bottlerocket_advertises_by_itself(machine: str, user_data: str, expected: dict[str, int] | None) -> None:
    """The figures of https://github.com/bottlerocket-os/bottlerocket/pull/4418 and of Bottlerocket's documentation."""
    shown = node(machine, user_data)
    assert shown.broken is None
    assert shown.allocatable == expected


@pytest.mark.parametrize(
    "user_data",
    [
        mig('"a100.40gb" = "1g.10gb+me"'),
        mig('"a100.40gb" = "5"'),
        mig('"a100.40gb" = "9g.5gb"'),
        mig('"A100 40GB" = "1g.5gb"'),
        settings('device-sharing-strategy = "mps"\ndevice-partitioning-strategy = "mig"'),
        settings('device-sharing-strategy = "shared"'),
        settings('device-sharing-strategy = "time-slicing"', time_slicing="replicas = 1"),
        settings('device-sharing-strategy = "time-slicing"', time_slicing='replicas = "10"'),
        settings('device-sharing-strategy = "mps"', mps="replicas = 49"),
        settings('device-sharing-strategy = "mps"', mps="fail-requests-greater-than-one = true"),
        settings("partitioning = 1"),
    ],
)
def test_bottlerocket_nodes_with_settings_that_it_does_not_know_never_join(user_data: str) -> None:
    assert never_joins(pool_of("p4d.24xlarge", user_data))
    assert "never joins" in (node("p4d.24xlarge", user_data).broken or "")


@given(
    replicas=st.integers(2, 200), renamed=st.booleans(), profile=st.sampled_from(["", "1g.5gb", "2g.10gb", "7g.40gb"])
)
def test_shares_multiply_and_a_name_is_never_advertised_twice(replicas: int, renamed: bool, profile: str) -> None:
    sharing = f"replicas = {replicas}\nrename-by-default = {str(renamed).lower()}"
    table = f'"a100.40gb" = "{profile}"' if profile else ""
    shown = node("p4d.24xlarge", mig(table, sharing))
    assert shown.allocatable is not None
    slices = card("A100", 40960).profiles[profile] if profile else 1
    assert sum(shown.allocatable.values()) == 8 * slices * replicas
    assert shown.allocatable["nvidia.com/gpu"] == (0 if renamed else 8 * slices * replicas)


def script(line: str) -> str:
    return (
        'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n\n--B\n'
        f'Content-Type: text/x-shellscript; charset="us-ascii"\n\n#!/bin/bash\n{line}\n--B--\n'
    )


ON = "nvidia-smi -mig 1\n"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (ON + "nvidia-smi mig -cgi 3g.20gb,2g.10gb,1g.5gb,1g.5gb -C", {"3g.20gb": 1, "2g.10gb": 1, "1g.5gb": 2}),
        (ON + 'CUT="4g.20gb,3g.20gb"\nnvidia-smi mig -cgi "${CUT}"\nnvidia-smi mig -cci', {"4g.20gb": 1, "3g.20gb": 1}),
        (ON + "nvidia-smi mig -cgi 1g.5gb,1g.5gb,1g.5gb,1g.5gb,1g.5gb,1g.5gb,1g.5gb -C", {"1g.5gb": 7}),
        (ON + "nvidia-smi mig -cgi 1g.10gb,1g.10gb,1g.10gb,1g.10gb -C", {"1g.10gb": 4}),
        ("nvidia-smi -L", {}),
    ],
)
def test_a_script_cuts_an_amazon_linux_node_before_it_joins(lines: str, expected: dict[str, int]) -> None:
    shown = node("p4d.24xlarge", script(lines), ami="AL2023_x86_64_NVIDIA")
    assert (shown.slices, shown.allocatable, shown.broken) == ((expected,) * 8 if expected else (), None, None)


EACH = "nvidia-smi mig -i 0,1 -cgi 3g.20gb,3g.20gb -C && nvidia-smi mig -i 2 -cgi 19,19 -C"


@pytest.mark.parametrize(
    "lines", [f"nvidia-smi -i 0,1,2 -mig 1\n{EACH}", f'off=$(nvidia-smi -L)\nnvidia-smi -i "$off" -mig 1\n{EACH}']
)
def test_a_script_cuts_each_gpu_in_its_own_way(lines: str) -> None:
    shown = node("p4d.24xlarge", script(lines), ami="AL2023_x86_64_NVIDIA")
    assert shown.slices == ({"3g.20gb": 2}, {"3g.20gb": 2}, {"1g.5gb": 2}, {}, {}, {}, {}, {})
    assert (shown.broken, shown.devices) == (None, 2 + 2 + 2 + 5)


def test_a_gpu_in_mig_mode_that_gets_no_instances_stops_the_plugin() -> None:
    lines = ON + 'nvidia-smi mig -i 0 -cgi "1g.5gb,1g.5gb" -C'
    assert node("p4d.24xlarge", script(lines), ami="AL2023_x86_64_NVIDIA").broken == (
        "device 1 has no MIG devices configured"
    )


@pytest.mark.parametrize(
    "lines",
    [
        ON,
        "nvidia-smi mig -cgi 1g.5gb -C",
        ON + "nvidia-smi mig -cgi 1g.5gb",
        ON + "nvidia-smi mig -cgi 1g.6gb -C",
        ON + "nvidia-smi mig -cgi 1g.10gb,1g.10gb,1g.10gb,1g.10gb,1g.10gb -C",
        ON + "nvidia-smi mig -cgi 3g.20gb,3g.20gb,1g.5gb -C",
        ON + "nvidia-smi mig -cgi 1g.5gb,1g.5gb,2g.10gb,3g.20gb -C",
    ],
    ids=["no-instances", "mode-off", "no-compute", "other-card", "too-many", "no-memory-left", "small-ones-first"],
)
def test_a_script_that_fails_leaves_a_node_that_advertises_nothing(lines: str) -> None:
    shown = node("p4d.24xlarge", script(lines), ami="AL2023_x86_64_NVIDIA")
    assert shown.broken == "device 0 has no MIG devices configured"


def test_a_script_does_nothing_to_a_gpu_without_mig() -> None:
    shown = node("g5.12xlarge", script(ON + "nvidia-smi mig -cgi 1g.5gb -C"), ami="AL2023_x86_64_NVIDIA")
    assert (shown.slices, shown.broken) == ((), None)


def test_a_plain_ami_on_a_gpu_machine_has_no_driver() -> None:
    shown = node("g5.12xlarge", ami="AL2023_x86_64_STANDARD")
    assert shown.broken == "the AMI has no NVIDIA driver: could not load NVML library: libnvidia-ml.so.1"
    assert node("m5.large", ami="AL2023_x86_64_STANDARD").broken is None


def test_labels_and_taints_that_the_cloud_adds() -> None:
    shown = node("m5.large", ami="AL2023_x86_64_STANDARD", labels={"team": "vision"})
    assert shown.labels == {
        "team": "vision",
        "eks.amazonaws.com/nodegroup": "gpus",
        "eks.amazonaws.com/capacityType": "ON_DEMAND",
        "eks.amazonaws.com/nodegroup-image": "ami-1",
        "node.kubernetes.io/instance-type": "m5.large",
        "topology.kubernetes.io/region": "us-east-1",
    }
    assert shown.taints == [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]
