"""What AWS's codes and texts become, and what the health of a group means."""

from __future__ import annotations

from typing import Any

import pytest

from fracgpu.errors import FracgpuError, Quota, Stock
from fracgpu.plan import Json
from fracgpu.providers import Phase
from fracgpu.providers.eks.failures import Issue, Said, problem, translated
from fracgpu.providers.eks.status import PHASES, progress, status, update_progress

DENIED = "User: arn:aws:sts::1:assumed-role/x is not authorized to perform: ec2:CreateLaunchTemplate because no policy"
LAUNCH = (
    "You are not authorized to launch instances with this launch template. Encoded authorization failure message: "
    "SAh2nDlM_rJs7hFuZ5hszTmXB0Cpmz2KENOOFaiMYyH7cyIdM"
)
VCPU = (
    "Could not launch On-Demand Instances. VcpuLimitExceeded - You have requested more vCPU capacity than your current "
    "vCPU limit of 0 allows for the instance bucket that the specified instance type belongs to."
)
SPOT = "Could not launch Spot Instances. MaxSpotInstanceCountExceeded - Max spot instance count exceeded."
NONE_LEFT = (
    "Could not launch On-Demand Instances. InsufficientInstanceCapacity - We currently do not have sufficient "
    "p4d.24xlarge capacity in the Availability Zone you requested (us-east-1a). You can currently get p4d.24xlarge "
    "capacity by choosing us-east-1b, us-east-1c. Launching EC2 instance failed."
)
NOT_HERE = (
    "Could not launch On-Demand Instances. Unsupported - Your requested instance type (p5.48xlarge) is not supported "
    "in your requested Availability Zone (us-east-1f)."
)

CASES: list[tuple[str, int, str, str, str]] = [
    ("AccessDeniedException", 403, DENIED, "forbidden", "ec2:CreateLaunchTemplate is missing"),
    ("UnauthorizedOperation", 403, "You are not authorized", "forbidden", "not permitted"),
    ("SomethingNew", 403, "no", "forbidden", "not permitted"),
    ("InvalidClientTokenId", 403, "invalid", "not-signed-in", "credentials"),
    ("ExpiredToken", 400, "expired", "not-signed-in", "credentials"),
    ("AuthFailure", 401, "no", "not-signed-in", "credentials"),
    ("SignatureDoesNotMatch", 403, "skew", "not-signed-in", "signature"),
    ("ResourceInUseException", 409, "Nodegroup is UPDATING", "busy", "at work"),
    ("InvalidRequestException", 400, "Cluster is not in ACTIVE state", "busy", "at work"),
    ("InvalidRequestException", 400, "Launch template should not specify subnets", "cloud-error", "subnets"),
    ("InvalidRequestException", 400, LAUNCH, "forbidden", "with this launch template"),
    ("InvalidParameterException", 400, "Invalid taint effect", "cloud-error", "Invalid taint effect"),
    ("ResourceLimitExceededException", 400, "30 groups", "quota", "30 groups"),
    ("ResourceNotFoundException", 404, "No cluster found for name: x.", "not-found", "No cluster found"),
    ("UnsupportedAvailabilityZoneException", 400, "no room", "stock", "no place"),
    ("ThrottlingException", 429, "slow", "throttled", "too often"),
    ("RequestLimitExceeded", 503, "slow", "throttled", "too often"),
    ("ServerException", 500, "oops", "unreachable", "500"),
    ("", 503, "", "unreachable", "503"),
    ("VcpuLimitExceeded", 400, VCPU, "quota", "it is 0"),
    ("InsufficientInstanceCapacity", 500, NONE_LEFT, "stock", "p4d.24xlarge"),
]


@pytest.mark.parametrize(("code", "http", "message", "kind", "words"), CASES)
def test_translated(code: str, http: int, message: str, kind: str, words: str) -> None:
    error = translated(Said(code, message, http, request_id="r", retry_after=3, call="create_nodegroup"))
    assert error.code == kind
    assert words in error.message
    assert "Encoded" not in error.message
    assert error.detail["requestId"] == "r"
    assert error.detail["call"] == "create_nodegroup"


HEALTH: list[tuple[list[Issue], str, str]] = [
    ([Issue("AsgInstanceLaunchFailures", VCPU)], "quota", "vCPUs"),
    ([Issue("AsgInstanceLaunchFailures", SPOT)], "quota", "Spot"),
    ([Issue("AsgInstanceLaunchFailures", NONE_LEFT)], "stock", "p4d.24xlarge to give in us-east-1a"),
    ([Issue("AsgInstanceLaunchFailures", NOT_HERE)], "stock", "p5.48xlarge to give in us-east-1f"),
    ([Issue("NodeCreationFailure", "did not join"), Issue("AsgInstanceLaunchFailures", VCPU)], "quota", "vCPUs"),
    ([Issue("NodeCreationFailure", "Instances failed to join")], "pool-failed", "NodeCreationFailure"),
    ([Issue("AsgInstanceLaunchFailures", "odd")], "pool-failed", "odd"),
    ([], "pool-failed", "does not say why"),
]


@pytest.mark.parametrize(("issues", "kind", "words"), HEALTH)
def test_health(issues: list[Issue], kind: str, words: str) -> None:
    error = problem("gpu", issues, "could not be made")
    assert error.code == kind
    assert words in error.message
    assert error.hint
    assert len(error.detail.get("issues", [])) == len(issues)


def test_stock_names_the_zones_that_aws_names() -> None:
    error = problem("gpu", [Issue("AsgInstanceLaunchFailures", NONE_LEFT)], "could not be made")
    assert (error.hint or "").startswith("AWS names us-east-1b, us-east-1c; ")


def test_the_limit_is_told() -> None:
    error = problem("gpu", [Issue("AsgInstanceLaunchFailures", VCPU)], "could not be made")
    assert error.detail["quota"] == {"limit": 0}


def group(state: str, *issues: tuple[str, str]) -> Json:
    rows = [{"code": code, "message": message, "resourceIds": []} for code, message in issues]
    return {"nodegroupName": "gpu", "status": state, "health": {"issues": rows}, "scalingConfig": {"desiredSize": 2}}


@pytest.mark.parametrize(("state", "phase"), PHASES.items())
def test_status(state: str, phase: Phase) -> None:
    seen = status(group(state))
    assert (seen.phase, seen.nodes) == (phase, 2)
    assert (seen.problem is not None) == (phase in (Phase.FAILED, Phase.DEGRADED))


def test_a_state_that_is_not_known_is_one_in_between() -> None:
    assert status(group("REPAIRING")).phase is Phase.UPDATING


def test_degraded_ends_the_wait_at_once() -> None:
    """EKS's own waiter would poll it for forty minutes."""
    with pytest.raises(Stock):
        progress(group("DEGRADED", ("AsgInstanceLaunchFailures", NONE_LEFT)))


def test_an_issue_of_an_active_group_is_told() -> None:
    seen = status(group("ACTIVE", ("AsgInstanceLaunchFailures", VCPU)))
    assert seen.phase is Phase.READY
    assert "VcpuLimitExceeded" in (seen.message or "")
    assert seen.problem is None


UPDATES: list[tuple[dict[str, Any], bool]] = [
    ({"status": "InProgress", "type": "ConfigUpdate"}, False),
    ({"status": "Successful", "type": "VersionUpdate"}, True),
    ({"status": "New"}, False),
]


@pytest.mark.parametrize(("update", "done"), UPDATES)
def test_updates(update: dict[str, Any], done: bool) -> None:
    assert update_progress(update, "gpu").done is done


@pytest.mark.parametrize("end", ["Failed", "Cancelled"])
def test_an_update_that_ends_otherwise(end: str) -> None:
    errors = [{"errorCode": "NodeCreationFailure", "errorMessage": VCPU}]
    with pytest.raises(Quota):
        update_progress({"status": end, "type": "VersionUpdate", "errors": errors}, "gpu")
    with pytest.raises(FracgpuError, match=end.lower()):
        update_progress({"status": end, "type": "VersionUpdate"}, "gpu")
