"""What an update asks EKS for, as the AWS CLI was seen to send it (aws-cli 1.45.11), but for the CLI's own token."""

from __future__ import annotations

from typing import Any

from fracgpu.plan import Json
from fracgpu.providers import eks
from fracgpu.providers.eks.steps import config_request, version_request
from tests.eks_pools import FACTS, pool, shown

SHARED: dict[str, Any] = {"machine": "g5.xlarge", "nodes": {"min": 0, "max": 20, "count": 0}}
UPDATE_CONFIG: Json = {
    "labels": {"addOrUpdateLabels": {"nvidia.com/device-plugin.config": "time-sliced-4"}},
    "taints": {"removeTaints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}]},
    "scalingConfig": {"minSize": 0, "maxSize": 30, "desiredSize": 2},
}
UPDATE_VERSION: Json = {"launchTemplate": {"name": "fracgpu-ml-prod-pool", "version": "2"}}
"""The CLI was also told `--force`, which evicts pods against their budgets; fracgpu never does."""


def test_another_config_as_the_aws_cli_sends_it() -> None:
    before = pool(**SHARED, sharing={"timeSlicing": {"replicas": 10}})
    nodes = {"min": 0, "max": 30, "count": 2}
    after = pool(**{**SHARED, "nodes": nodes}, sharing={"timeSlicing": {"replicas": 4}}, gpuTaint=False)
    current = eks.settled(shown(eks.desired(before, FACTS)).resources[-1]).body
    assert config_request(current, eks.desired(after, FACTS)[-1].body, size=True) == UPDATE_CONFIG


def test_another_template_version_as_the_aws_cli_sends_it() -> None:
    cut: dict[str, Any] = {"machine": "p4d.24xlarge", "sharing": {"mig": {"profile": "1g.5gb"}}}
    wanted = eks.desired(pool(**cut), FACTS)
    group = shown(wanted, version="1").resources[-1].body
    assert version_request(group, wanted[-1].body, latest=2) == UPDATE_VERSION
    assert version_request(group, wanted[-1].body, latest=1) == {}


def test_a_version_that_eks_has_turned_into_a_number_is_not_asked_for_again() -> None:
    said: dict[str, Any] = {"machine": "g5.xlarge", "eks": {"launchTemplate": {"name": "mine", "version": "$Latest"}}}
    (wanted,) = eks.desired(pool(**said), FACTS)
    group = {**wanted.body, "launchTemplate": {"name": "mine", "id": "lt-1", "version": "7"}}
    assert version_request(group, wanted.body, latest=None) == {}
