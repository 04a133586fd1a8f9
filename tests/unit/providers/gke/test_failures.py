"""Error texts as users have met them, and what each is: codes alone do not tell."""

from __future__ import annotations

import pytest

from fracgpu.errors import FracgpuError, Throttled
from fracgpu.providers.gke.failures import Said, ended, translated

QUOTA = (
    'Insufficient regional quota to satisfy request: resource "PREEMPTIBLE_NVIDIA_V100_GPUS": request requires '
    "'2.0' and is short '1.0'. project has a quota of '1.0' with '1.0' available. View and manage quotas at https://x."
)
STOCK = (
    "Google Compute Engine: Not all instances running in IGM after 35m. Expected 1, running 0, transitioning 1. "
    "Current errors: [GCE_STOCKOUT]: Instance 'x' creation failed: The zone 'projects/p/zones/us-central1-c' does not "
    "have enough resources available to fulfill the request."
)
BUSY = "Cluster is running incompatible operation operation-1700000000000-ab-cd."
TOO_OFTEN = (
    "Quota exceeded for quota metric 'Cluster read requests' and limit 'Cluster read requests per minute' of service "
    "'container.googleapis.com' for consumer 'project_number:1'."
)
TOO_MANY = 'Too many operations: cluster "X" hits the concurrent operations quota 5, please try again later.'


@pytest.mark.parametrize(
    ("said", "code", "exit_code"),
    [
        (Said("PERMISSION_DENIED", QUOTA), "quota", 5),
        (Said("INVALID_ARGUMENT", QUOTA), "quota", 5),
        (Said("PERMISSION_DENIED", 'Required "container.clusters.update" permission(s) for "x".'), "forbidden", 4),
        (Said("PERMISSION_DENIED", "The caller does not have permission"), "forbidden", 4),
        (Said("PERMISSION_DENIED", "Kubernetes Engine API has not been used in project 1 before"), "forbidden", 4),
        (Said("FAILED_PRECONDITION", BUSY, reason="CLUSTER_ALREADY_HAS_OPERATION"), "busy", 8),
        (
            Said("FAILED_PRECONDITION", "Operation operation-1 is currently creating a node pool for cluster X."),
            "busy",
            8,
        ),
        (Said("FAILED_PRECONDITION", "The master version is too old."), "cloud-error", 9),
        (Said("RESOURCE_EXHAUSTED", TOO_MANY), "busy", 8),
        (Said("RESOURCE_EXHAUSTED", "Rate limit reached"), "throttled", 9),
        (Said("ABORTED", 'The etag "x" is not the current one'), "stale-plan", 8),
        (Said("ABORTED", "concurrent update"), "busy", 8),
        (Said("NOT_FOUND", "Not found: projects/p/..."), "not-found", 3),
        (Said("ALREADY_EXISTS", "Already exists: projects/p/..."), "exists-differently", 8),
        (Said("UNAUTHENTICATED", "Request had invalid authentication credentials."), "not-signed-in", 4),
        (
            Said("UNAVAILABLE", "Getting metadata from plugin failed with error: Reauthentication is needed."),
            "not-signed-in",
            4,
        ),
        (Said("UNAVAILABLE", "failed to connect to all addresses"), "unreachable", 9),
        (Said("DEADLINE_EXCEEDED", "Deadline Exceeded"), "unreachable", 9),
        (Said("INVALID_ARGUMENT", "Accelerator count: 1 should not be updated."), "cloud-error", 9),
        (Said("INTERNAL", "Internal error."), "unreachable", 9),
        (Said("RESOURCE_EXHAUSTED", TOO_OFTEN), "throttled", 9),
        (Said("RESOURCE_EXHAUSTED", "Quota exceeded.", reason="RATE_LIMIT_EXCEEDED"), "throttled", 9),
        (Said("FAILED_PRECONDITION", STOCK), "stock", 5),
    ],
)
def test_answers(said: Said, code: str, exit_code: int) -> None:
    error = translated(said)
    assert (error.code, error.exit_code) == (code, exit_code)
    assert error.hint
    assert error.detail["code"] == said.code
    assert error.detail["message"] == said.message


@pytest.mark.parametrize(
    ("said", "condition", "code", "exit_code"),
    [
        (Said("8", STOCK), None, "stock", 5),
        (Said("8", "no machines"), "GCE_STOCKOUT", "stock", 5),
        (Said("8", "too much"), "GCE_QUOTA_EXCEEDED", "quota", 5),
        (Said("8", "[ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS]: x"), None, "stock", 5),
        (Said("8", "[QUOTA_EXCEEDED]: Instance 'x': Quota 'GPUS_ALL_REGIONS' exceeded."), None, "quota", 5),
        (Said("8", "Not all instances running in IGM: [PERMISSIONS_ERROR]"), None, "pool-failed", 9),
        (Said("13", "Internal error"), None, "pool-failed", 9),
    ],
)
def test_ends_of_operations(said: Said, condition: str | None, code: str, exit_code: int) -> None:
    error = ended(said, "gpu", condition)
    assert (error.code, error.exit_code) == (code, exit_code)
    assert error.hint


def test_quota_says_which_and_how_much() -> None:
    error = translated(Said("PERMISSION_DENIED", QUOTA))
    assert error.message == "quota PREEMPTIBLE_NVIDIA_V100_GPUS: 2 are needed and 1 are missing (limit 1, 1 free)"
    figures = {"metric": "PREEMPTIBLE_NVIDIA_V100_GPUS", "required": 2.0, "short": 1.0, "limit": 1.0, "available": 1.0}
    assert error.detail["quota"] == figures


def test_stock_says_where() -> None:
    error = ended(Said("8", STOCK), "gpu")
    assert error.detail["zone"] == "us-central1-c"
    assert "us-central1-c" in error.message


def test_forbidden_says_which_permission_and_role() -> None:
    error = translated(Said("PERMISSION_DENIED", 'Required "container.clusters.get" permission(s) for "x".'))
    assert "container.clusters.get" in error.message
    assert error.hint is not None
    assert "roles/container.clusterViewer" in error.hint


@pytest.mark.parametrize("said", [Said("FAILED_PRECONDITION", BUSY), Said("ABORTED", BUSY)])
def test_busy_says_with_what(said: Said) -> None:
    assert translated(said).detail["operation"] == "operation-1700000000000-ab-cd"


def test_throttled_says_for_how_long() -> None:
    error: FracgpuError = translated(Said("RESOURCE_EXHAUSTED", "slow down", retry_after=7.0))
    assert isinstance(error, Throttled)
    assert error.retry_after == 7.0
