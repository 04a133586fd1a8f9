"""botocore against the sandbox: what is sent once, found again, followed; what errors become."""

from __future__ import annotations

import base64
import dataclasses
import os
import shlex
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import boto3
import pytest

from fracgpu.errors import (
    Busy,
    DrainBlocked,
    ExistsDifferently,
    Forbidden,
    FracgpuError,
    Invalid,
    NotFound,
    NotOurs,
    NotSignedIn,
    PoolFailed,
    Quota,
    Stock,
    Unreachable,
)
from fracgpu.plan import Action, Change, Json, change_of, creation, deletion, linked
from fracgpu.providers import MANAGED, ClusterFacts, Form, Observed, Operation, OperationKind, Phase, Session, eks
from fracgpu.providers.access import Access
from fracgpu.providers.eks.names import template_name
from fracgpu.resolve import ClusterRef
from fracgpu.sandbox import settings
from fracgpu.sandbox.world import Cloud
from tests.eks_pools import pool
from tests.life import access
from tests.sandbox.conftest import Sandbox, free_port, tool

__all__ = ["free_port", "tool"]  # fixtures of another folder

CLUSTER = {"provider": "eks", "region": "us-east-1", "name": "sandbox"}
REF = ClusterRef(eks.NAME, "sandbox", region="us-east-1")
SHARED: dict[str, Any] = {"machine": "g5.xlarge", "sharing": {"timeSlicing": {"replicas": 10}}, "nodes": {"count": 2}}
MIG: dict[str, Any] = {"machine": "p4d.24xlarge", "sharing": {"mig": {"profile": "1g.5gb"}}, "nodes": {"count": 1}}
OTHER: dict[str, Any] = {**MIG, "sharing": {"mig": {"profile": "2g.10gb"}}}
HOUR = 3600.0
TEMPLATE = template_name("sandbox", "gpu")


class Tried:
    """A session, the sandbox behind it whose operations take an hour of its own clock, and the cluster's facts."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.sandbox.world.operation_seconds = HOUR
        self.session = connected(sandbox)
        self.facts: ClusterFacts = self.session.cluster_facts()

    def wanted(self, **spec: Any) -> tuple[Any, ...]:
        return eks.desired(pool("gpu", cluster=CLUSTER, **spec), self.facts)

    def changes(self, **spec: Any) -> list[Change]:
        """The plan from what is there to the spec."""
        seen = self.session.observe("gpu")
        there = {(one.kind, one.name): eks.settled(one) for one in seen.resources} if seen else {}
        rows = [
            change_of(one, there.get((one.kind, one.name)), eks.comparison(one.kind)) for one in self.wanted(**spec)
        ]
        return linked(rows, eks.comparison)

    def apply(self, **spec: Any) -> list[str]:
        """Bring the pool to the spec; what was said on the way."""
        said: list[str] = []
        for change in self.changes(**spec):
            said += self.finish(self.session.apply(change))
        return said

    def finish(self, operation: Operation, session: Session | None = None) -> list[str]:
        said: list[str] = []
        for _ in range(20):
            progress = (session or self.session).watch(operation)
            said.append(progress.message)
            if progress.done:
                return said
            self.sandbox.advance(HOUR)
        raise AssertionError(said)

    def seen(self) -> Observed:
        found = self.session.observe("gpu")
        assert found is not None
        return found

    def fault(self, call: str, **how: Any) -> None:
        self.sandbox.world.faults.add("eks", call, **how)

    def begun(self) -> list[str]:
        """What the cluster was asked for, in order."""
        cluster = self.sandbox.world.cluster(Cloud.EKS, "us-east-1", "sandbox")
        return [operation.kind for operation in cluster.operations.values()]

    def ec2(self) -> Any:
        """AWS's own SDK, at the same account."""
        return boto3.client(
            "ec2",
            region_name="us-east-1",
            endpoint_url=self.sandbox.http,
            aws_access_key_id="AKIAEXAMPLE",
            aws_secret_access_key="nothing",
        )

    def templates(self) -> list[Json]:
        """The launch templates of the account, as AWS's own SDK lists them."""
        rows: list[Json] = self.ec2().describe_launch_templates()["LaunchTemplates"]
        return rows


def connected(sandbox: Sandbox, **cluster: Any) -> Session:
    return eks.connect(dataclasses.replace(REF, **cluster), access(sandbox))


class AtOnce:
    """botocore's clock between two tries; its pauses are left to botocore's own tests."""

    @staticmethod
    def sleep(seconds: float) -> None:
        """No pause."""


@pytest.fixture(scope="module")
def running() -> Iterator[Sandbox]:
    """One sandbox and one way to it for all tests here: moto and botocore's clients take long to make."""
    found = Sandbox()
    yield found
    found.server.end()


@pytest.fixture
def sandbox(running: Sandbox) -> Sandbox:
    running.world.reset()
    running.world.settings.clear()
    running.world.operation_seconds = 0.0
    return running


@pytest.fixture
def tried(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Tried:
    monkeypatch.setattr("botocore.endpoint.time", AtOnce)
    return Tried(sandbox)


def test_from_birth_to_death(tried: Tried) -> None:
    session = tried.session
    assert session.observe("gpu") is None
    (change,) = tried.changes(**SHARED)
    operation = session.apply(change)
    assert (operation.kind, operation.pool) == (OperationKind.CREATE, "gpu")
    assert (tried.seen().status.phase, tried.seen().ours) == (Phase.CREATING, True)
    assert [one.kind for one in session.operations("gpu")] == [OperationKind.CREATE]
    assert not session.watch(operation).done
    tried.sandbox.advance(HOUR)
    assert session.watch(operation).done
    assert session.operations("gpu") == ()
    assert (tried.seen().status.phase, tried.seen().status.nodes) == (Phase.READY, 2)
    assert [one.action for one in tried.changes(**SHARED)] == [Action.NO_OP]
    operation = session.apply(deletion(tried.seen().resources[-1], "asked for"))
    assert [one.kind for one in session.operations("gpu")] == [OperationKind.DELETE]
    assert tried.finish(operation)[-1] == "EKS: deleted"
    assert session.observe("gpu") is None
    assert tried.begun() == ["CreateNodegroup", "DeleteNodegroup"]


def test_the_whole_life_of_a_mig_pool_leaves_no_template(tried: Tried) -> None:
    tried.apply(**MIG)
    (template,) = tried.templates()
    tags = {tag["Key"]: tag["Value"] for tag in template["Tags"]}
    assert template["LaunchTemplateName"] == TEMPLATE
    assert tags == {MANAGED: "true", "fracgpu-cluster": "sandbox", "fracgpu-pool": "gpu"}
    assert [one.action for one in tried.changes(**MIG)] == [Action.NO_OP, Action.NO_OP]
    other = {**MIG, "sharing": {"mig": {"profile": "2g.10gb"}}, "labels": {"team": "vision"}}
    said = tried.apply(**other)
    assert next(line for line in said if "replacing" in line) == "EKS: replacing the nodes"
    assert [one.action for one in tried.changes(**other)] == [Action.NO_OP, Action.NO_OP]
    assert tried.seen().body["launchTemplate"]["version"] == "2"
    assert tried.templates()[0]["LatestVersionNumber"] == 2
    tried.finish(tried.session.apply(deletion(tried.seen().resources[-1], "asked for")))
    assert tried.templates() == []
    assert tried.begun() == ["CreateNodegroup", "ConfigUpdate", "VersionUpdate", "DeleteNodegroup"]


def flips(tried: Tried, times: int) -> list[str]:
    """One profile and another in turn, each a version of the template and a rolling update; what was said of it."""
    tried.apply(**MIG)
    said = [tried.apply(**(OTHER, MIG)[number % 2]) for number in range(times)]
    return said[-1]


def versions(tried: Tried) -> list[int]:
    rows = tried.ec2().describe_launch_template_versions(LaunchTemplateName=TEMPLATE)["LaunchTemplateVersions"]
    return sorted(row["VersionNumber"] for row in rows)


def test_older_versions_of_a_template_are_swept_up(tried: Tried) -> None:
    """The first, which is EC2's default, the one in use and the one before it stay."""
    flips(tried, 5)
    assert tried.seen().body["launchTemplate"]["version"] == "6"
    assert versions(tried) == [1, 5, 6]


def test_a_template_that_is_anothers_by_now_is_not_swept(tried: Tried) -> None:
    flips(tried, 2)
    *_, operation = [tried.session.apply(change) for change in tried.changes(**OTHER)]
    (template,) = tried.templates()
    tried.ec2().delete_tags(Resources=[template["LaunchTemplateId"]], Tags=[{"Key": "fracgpu-pool"}])
    assert tried.finish(operation)[-1] == "EKS: replacing the nodes: done"
    assert versions(tried) == [1, 2, 3, 4]


def test_an_update_is_made_though_old_versions_cannot_be_deleted(tried: Tried) -> None:
    forbidden = "You are not authorized to perform: ec2:DeleteLaunchTemplateVersions"
    tried.fault("DeleteLaunchTemplateVersions", status=403, code="UnauthorizedOperation", message=forbidden)
    assert flips(tried, 3)[-1].endswith(f"older versions of the launch template stay: {forbidden}")
    assert versions(tried) == [1, 2, 3, 4]
    assert tried.seen().body["launchTemplate"]["version"] == "4"


def test_the_nodes_show_what_was_promised(tried: Tried) -> None:
    """Bottlerocket by its settings, Amazon Linux by the script; the sandbox reads both by itself."""
    layout = {"mig": {"layout": {"3g.20gb": 1, "2g.10gb": 1, "1g.5gb": 2}}}
    for sharing, slices in ((MIG["sharing"], {"1g.5gb": 7}), (layout, {"3g.20gb": 1, "2g.10gb": 1, "1g.5gb": 2})):
        tried.apply(**{**MIG, "sharing": sharing})
        world = tried.sandbox.world
        cluster = world.cluster(Cloud.EKS, "us-east-1", "sandbox")
        assert world.shapes[Cloud.EKS](cluster, cluster.pools["gpu"]).slices == (slices,) * 8
        tried.finish(tried.session.apply(deletion(tried.seen().resources[-1], "asked for")))


@pytest.mark.parametrize("spec", [SHARED, MIG], ids=["plain", "template"])
def test_what_the_rendered_commands_make_plans_to_nothing(
    spec: dict[str, Any], tried: Tried, tool: Callable[[str], str]
) -> None:
    """AWS's own CLI runs them."""
    aws = tool("aws")
    text, _ = eks.render(Form.AWS, tried.wanted(**spec), pool("gpu", cluster=CLUSTER, **spec))
    environment = {
        **os.environ,
        "AWS_ENDPOINT_URL": tried.sandbox.http,
        "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "only-for-tests",
        "NO_PROXY": "127.0.0.1",
    }
    for command in text.replace("\\\n", " ").strip().split("\n\n"):
        done = subprocess.run(
            [aws, *shlex.split(command)[1:]], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    tried.sandbox.advance(HOUR)
    assert {one.action for one in tried.changes(**spec)} == {Action.NO_OP}


def test_all_groups_are_listed(tried: Tried) -> None:
    tried.apply(**MIG)
    assert [(seen.name, seen.ours, len(seen.resources)) for seen in tried.session.list()] == [
        ("system", False, 1),
        ("gpu", True, 2),
    ]


def test_the_same_create_again_is_no_second_one(tried: Tried) -> None:
    (change,) = tried.changes(**SHARED)
    tried.session.apply(change)
    again = connected(tried.sandbox)
    tried.finish(again.apply(change), again)
    assert tried.session.watch(tried.session.apply(change)).done
    assert tried.begun() == ["CreateNodegroup"]


def test_a_group_with_a_template_of_ones_own_is_as_planned(tried: Tried) -> None:
    made = tried.ec2().create_launch_template(LaunchTemplateName="mine", LaunchTemplateData={"EbsOptimized": True})
    named = {"name": "mine"}, {"id": made["LaunchTemplate"]["LaunchTemplateId"]}
    tried.apply(machine="g5.xlarge", eks={"launchTemplate": named[0]})
    for said in named:
        assert [one.action for one in tried.changes(machine="g5.xlarge", eks={"launchTemplate": said})] == [
            Action.NO_OP
        ]


def test_another_group_of_that_name_is_told(tried: Tried) -> None:
    tried.apply(**SHARED)
    with pytest.raises(ExistsDifferently, match="time-sliced-10 -> time-sliced-4"):
        tried.session.apply(creation(tried.wanted(**{**SHARED, "sharing": {"timeSlicing": {"replicas": 4}}})[-1]))


def test_a_template_that_an_earlier_run_left_is_taken(tried: Tried) -> None:
    """Killed between the two calls: the template is there, the group is not."""
    other = {**MIG, "sharing": {"mig": {"profile": "3g.20gb"}}}
    tried.session.apply(tried.changes(**other)[0])
    tried.apply(**MIG)
    assert [one.action for one in tried.changes(**MIG)] == [Action.NO_OP, Action.NO_OP]
    assert len(tried.templates()) == 1
    assert tried.seen().body["launchTemplate"]["version"] == "2"


def test_a_template_of_anothers_is_left_alone(tried: Tried) -> None:
    template, _ = tried.wanted(**MIG)
    foreign = {**template.body, "TagSpecifications": [{"ResourceType": "launch-template", "Tags": []}]}
    tried.session.apply(creation(dataclasses.replace(template, body={**foreign, "TagSpecifications": []})))
    with pytest.raises(NotOurs):
        tried.session.apply(creation(template))
    tried.session.apply(deletion(template, "belongs to the pool"))
    assert len(tried.templates()) == 1


def test_a_template_with_this_content_gets_no_new_version(tried: Tried) -> None:
    tried.apply(**MIG)
    (template, _) = tried.wanted(**MIG)
    tried.session.apply(dataclasses.replace(creation(template), action=Action.UPDATE))
    assert tried.templates()[0]["LatestVersionNumber"] == 1


@pytest.mark.parametrize("call", ["CreateNodegroup", "CreateLaunchTemplate"])
def test_a_lost_answer_to_a_create(call: str, tried: Tried) -> None:
    """It was carried out all the same: it is found, and nothing is made twice."""
    tried.fault(call, drop=True)
    tried.apply(**MIG)
    assert len(tried.templates()) == 1
    assert tried.begun() == ["CreateNodegroup"]


def test_every_answer_to_a_create_is_lost(tried: Tried) -> None:
    tried.fault("CreateNodegroup", drop=True, times=3)
    (change,) = tried.changes(**SHARED)
    tried.finish(tried.session.apply(change))
    assert tried.begun() == ["CreateNodegroup"]


def test_a_create_that_never_arrived_is_sent_again(tried: Tried) -> None:
    tried.fault("CreateNodegroup", status=503)
    tried.apply(**SHARED)
    assert tried.begun() == ["CreateNodegroup"]


def test_a_lost_answer_to_a_delete(tried: Tried) -> None:
    tried.apply(**MIG)
    gone = deletion(tried.seen().resources[-1], "asked for")
    tried.fault("DeleteNodegroup", drop=True, times=3)
    operation = tried.session.apply(gone)
    assert tried.session.apply(gone).kind is OperationKind.DELETE
    tried.finish(operation)
    assert tried.session.apply(gone).finished
    assert tried.templates() == []
    assert tried.begun() == ["CreateNodegroup", "DeleteNodegroup"]


BEFORE: dict[str, Any] = {**SHARED, "labels": {"a": "b"}, "taints": ["old=x:NoSchedule"], "nodes": {"min": 0, "max": 6}}
AFTER: dict[str, Any] = {
    **SHARED,
    "sharing": {"mps": {"replicas": 4}},
    "labels": {"c": "d"},
    "taints": ["new=v:NoExecute"],
    "tags": {"cost": "42"},
    "nodes": {"min": 1, "max": 9},
    "eks": {"updateConfig": {"maxUnavailable": 2, "updateStrategy": "MINIMAL"}, "nodeRepairConfig": {"enabled": True}},
}


def test_an_update_in_place_is_one_update(tried: Tried) -> None:
    tried.apply(**BEFORE)
    (change,) = tried.changes(**AFTER)
    assert change.action is Action.UPDATE
    assert tried.finish(tried.session.apply(change)) == [
        "EKS: changing labels, taints and sizes",
        "EKS: changing labels, taints and sizes: done",
    ]
    assert [one.action for one in tried.changes(**AFTER)] == [Action.NO_OP]
    assert tried.session.apply(change).finished
    tried.apply(**BEFORE)
    assert [one.action for one in tried.changes(**BEFORE)] == [Action.NO_OP]
    assert tried.begun() == ["CreateNodegroup", "ConfigUpdate", "ConfigUpdate"]


def test_tags_alone_are_no_update(tried: Tried) -> None:
    tried.apply(**BEFORE, tags={"gone": "x"})
    (change,) = tried.changes(**BEFORE, tags={"cost": "42"})
    assert tried.session.apply(change).finished
    tags = tried.seen().body["tags"]
    assert (tags["cost"], "gone" in tags, tags[MANAGED]) == ("42", False, "true")
    assert tried.begun() == ["CreateNodegroup"]


def test_the_autoscalers_count_is_kept(tried: Tried) -> None:
    tried.apply(**{**SHARED, "nodes": {"min": 0, "max": 6, "count": 3}})
    tried.apply(**{**SHARED, "nodes": {"min": 0, "max": 9}})
    assert tried.seen().body["scalingConfig"] == {"minSize": 0, "maxSize": 9, "desiredSize": 3}
    tried.apply(**{**SHARED, "nodes": {"min": 5, "max": 9}})
    assert tried.seen().body["scalingConfig"] == {"minSize": 5, "maxSize": 9, "desiredSize": 5}


def test_another_process_goes_on_with_an_update(tried: Tried) -> None:
    """From the operation alone, as it would be written down and read again."""
    tried.apply(**MIG)
    other = {**MIG, "disk": {"sizeGb": 300}, "labels": {"x": "y"}}
    template, group = tried.changes(**other)
    tried.session.apply(template)
    operation = tried.session.apply(group)
    again = Operation(operation.id, operation.kind, operation.pool, operation.cluster, operation.token)
    session = connected(tried.sandbox)
    tried.finish(again, session)
    tried.finish(again, connected(tried.sandbox))
    assert [one.action for one in tried.changes(**other)] == [Action.NO_OP, Action.NO_OP]
    assert tried.begun() == ["CreateNodegroup", "ConfigUpdate", "VersionUpdate"]


def test_an_update_left_halfway_is_planned_anew(tried: Tried) -> None:
    tried.apply(**MIG)
    other = {**MIG, "disk": {"sizeGb": 300}, "labels": {"x": "y"}}
    template, group = tried.changes(**other)
    tried.session.apply(template)
    tried.session.apply(group)
    tried.sandbox.advance(HOUR)
    template, group = tried.changes(**other)
    assert [one.path for one in group.fields] == [("launchTemplate", "version")]
    tried.apply(**other)
    assert [one.action for one in tried.changes(**other)] == [Action.NO_OP, Action.NO_OP]
    assert tried.templates()[0]["LatestVersionNumber"] == 2


def test_the_second_step_waits_for_somebody_elses_update(tried: Tried) -> None:
    tried.apply(**MIG)
    other = {**MIG, "disk": {"sizeGb": 300}, "labels": {"x": "y"}}
    template, group = tried.changes(**other)
    tried.session.apply(template)
    operation = tried.session.apply(group)
    tried.sandbox.advance(HOUR)
    tried.fault("UpdateNodegroupVersion", code="ResourceInUseException", status=409)
    assert tried.session.watch(operation).message.startswith("waiting to replace the nodes")
    tried.finish(operation)
    assert [one.action for one in tried.changes(**other)] == [Action.NO_OP, Action.NO_OP]


@pytest.mark.parametrize("times", [1, 3])
def test_a_lost_answer_to_an_update(times: int, tried: Tried) -> None:
    tried.apply(**BEFORE)
    tried.fault("UpdateNodegroupConfig", drop=True, times=times)
    tried.apply(**AFTER)
    assert [one.action for one in tried.changes(**AFTER)] == [Action.NO_OP]
    assert tried.begun() == ["CreateNodegroup", "ConfigUpdate"]


def test_adoption_writes_the_mark_alone(tried: Tried) -> None:
    tried.apply(**BEFORE)
    cluster = tried.sandbox.world.cluster(Cloud.EKS, "us-east-1", "sandbox")
    del cluster.pools["gpu"].body["tags"][MANAGED]
    assert not tried.seen().ours
    (unchanged,) = tried.changes(**BEFORE)
    assert unchanged.action is Action.NO_OP
    assert tried.session.apply(dataclasses.replace(unchanged, action=Action.UPDATE)).finished
    assert tried.seen().ours
    assert tried.begun() == ["CreateNodegroup"]


def test_busy_while_another_update_runs(tried: Tried) -> None:
    tried.apply(**BEFORE)
    (first,) = tried.changes(**{**BEFORE, "labels": {"x": "y"}})
    (second,) = tried.changes(**{**BEFORE, "labels": {"x": "z"}})
    operation = tried.session.apply(first)
    with pytest.raises(Busy, match="updating"):
        connected(tried.sandbox).apply(second)
    assert [one.id for one in tried.session.operations("gpu")] == [operation.id]
    with pytest.raises(Busy):
        tried.session.apply(deletion(tried.seen().resources[-1], "asked for"))


def test_busy_while_a_group_of_that_name_goes_away(tried: Tried) -> None:
    tried.apply(**SHARED)
    group = tried.seen().resources[-1]
    tried.session.apply(deletion(group, "asked for"))
    with pytest.raises(Busy, match="is being deleted"):
        tried.session.apply(creation(tried.wanted(**SHARED)[-1]))


CREATE, UPDATE, DELETE = "CreateNodegroup", "UpdateNodegroupConfig", "DeleteNodegroup"
REFUSALS: list[tuple[dict[str, Any], str, int]] = [
    ({"code": "AccessDeniedException", "status": 403}, "forbidden", 4),
    ({"code": "UnrecognizedClientException", "status": 403}, "not-signed-in", 4),
    ({"code": "ExpiredTokenException", "status": 403}, "not-signed-in", 4),
    ({"code": "InvalidSignatureException", "status": 403}, "not-signed-in", 4),
    ({"code": "ResourceLimitExceededException", "status": 400}, "quota", 5),
    ({"code": "ThrottlingException", "status": 429, "retry_after": 1}, "throttled", 9),
    ({"code": "InvalidParameterException", "status": 400, "message": "bad"}, "cloud-error", 9),
    ({"code": "InvalidRequestException", "status": 400, "message": "cluster is not in ACTIVE state"}, "busy", 8),
    ({"code": "ServerException", "status": 500}, "unreachable", 9),
    ({"code": "ServiceUnavailableException", "status": 503}, "unreachable", 9),
]


@pytest.mark.parametrize(("how", "code", "exit_code"), REFUSALS, ids=[how["code"] for how, _, _ in REFUSALS])
def test_refusals(how: dict[str, Any], code: str, exit_code: int, tried: Tried) -> None:
    """Each verb with the cloud's own words, nothing done, and the same verb again succeeds."""
    verbs: dict[str, Callable[[], Change]] = {
        CREATE: lambda: creation(tried.wanted(**BEFORE)[-1]),
        UPDATE: lambda: tried.changes(**{**BEFORE, "labels": {"x": "y"}})[-1],
        DELETE: lambda: deletion(tried.seen().resources[-1], ""),
    }
    for call, verb in verbs.items():
        change, before = verb(), tried.begun()
        tried.fault(call, times=None, **how)
        with pytest.raises(FracgpuError) as caught:
            tried.session.apply(change)
        assert (caught.value.code, caught.value.exit_code) == (code, exit_code)
        assert caught.value.detail["code"] == how["code"]
        assert caught.value.hint or code == "cloud-error"
        assert caught.value.__cause__ is not None
        assert tried.begun() == before
        tried.sandbox.world.faults.clear()
        tried.finish(tried.session.apply(change))


def test_why_it_is_forbidden(tried: Tried) -> None:
    message = "User: arn:aws:iam::1:user/x is not authorized to perform: eks:CreateNodegroup on resource: arn"
    tried.fault("CreateNodegroup", status=403, code="AccessDeniedException", message=message)
    with pytest.raises(Forbidden, match="eks:CreateNodegroup is missing") as caught:
        tried.session.apply(tried.changes(**SHARED)[0])
    assert caught.value.detail["permission"] == "eks:CreateNodegroup"
    assert caught.value.detail["requestId"]


def test_a_read_is_asked_again(tried: Tried) -> None:
    tried.fault("DescribeNodegroup", status=503, times=2)
    assert tried.session.observe("system") is not None


def test_not_json_is_an_error_of_the_cloud(tried: Tried) -> None:
    tried.fault("DescribeNodegroup", status=404, code="404", times=None)
    with pytest.raises(FracgpuError) as caught:
        tried.session.observe("system")
    assert caught.value.exit_code == 9


@pytest.mark.parametrize(("outcome", "phase"), [("failed", Phase.FAILED), ("partial", Phase.DEGRADED)])
def test_no_stock(outcome: str, phase: Phase, tried: Tried) -> None:
    """It is text in the health of the group, and the group stays behind."""
    tried.fault("CreateNodegroup", outcome=outcome)
    operation = tried.session.apply(tried.changes(**SHARED)[0])
    tried.sandbox.advance(HOUR)
    with pytest.raises(Stock, match=r"g5\.xlarge") as caught:
        tried.session.watch(operation)
    assert "InsufficientInstanceCapacity" in caught.value.detail["message"]
    seen = tried.seen()
    assert seen.status.phase is phase
    assert isinstance(seen.status.problem, Stock)
    assert seen.status.conditions[0]["type"] == "AsgInstanceLaunchFailures"


def test_no_quota(tried: Tried) -> None:
    settings.change(
        tried.sandbox.world, "quota", {"cloud": "eks", "metric": "L-DB2E81BA", "limit": 0, "region": "us-east-1"}
    )
    operation = tried.session.apply(tried.changes(**SHARED)[0])
    tried.sandbox.advance(HOUR)
    with pytest.raises(Quota, match="it is 0") as caught:
        tried.session.watch(operation)
    assert caught.value.detail["quota"] == {"limit": 0}


def test_a_degraded_group_takes_no_update(tried: Tried) -> None:
    tried.fault("CreateNodegroup", outcome="partial")
    tried.session.apply(tried.changes(**SHARED)[0])
    tried.sandbox.advance(HOUR)
    with pytest.raises(Stock):
        tried.session.apply(tried.changes(**{**SHARED, "labels": {"x": "y"}})[0])


def test_an_update_that_fails_says_so(tried: Tried) -> None:
    tried.apply(**MIG)
    tried.fault("UpdateNodegroupVersion", outcome="failed")
    template, group = tried.changes(**{**MIG, "disk": {"sizeGb": 300}})
    tried.session.apply(template)
    operation = tried.session.apply(group)
    tried.sandbox.advance(HOUR)
    with pytest.raises(DrainBlocked, match="could not be drained") as caught:
        tried.session.watch(operation)
    assert "PodDisruptionBudget" in (caught.value.hint or "")


def test_a_delete_that_fails_says_so(tried: Tried) -> None:
    tried.apply(**MIG)
    tried.fault("DeleteNodegroup", outcome="failed")
    operation = tried.session.apply(deletion(tried.seen().resources[-1], ""))
    tried.sandbox.advance(HOUR)
    with pytest.raises(PoolFailed, match="could not be deleted"):
        tried.session.watch(operation)
    assert len(tried.templates()) == 1


def test_a_node_that_never_joins_is_a_failed_pool(tried: Tried) -> None:
    template, group = tried.wanted(**MIG)
    data = {**template.body["LaunchTemplateData"], "UserData": base64.b64encode(b"[settings.x]\n[y.'z']").decode()}
    tried.session.apply(creation(dataclasses.replace(template, body={**template.body, "LaunchTemplateData": data})))
    operation = tried.session.apply(creation(group))
    tried.sandbox.advance(HOUR)
    with pytest.raises(PoolFailed, match="Ec2LaunchTemplateInvalidConfiguration"):
        tried.session.watch(operation)


def test_an_update_that_is_forgotten_is_over(tried: Tried) -> None:
    tried.apply(**SHARED)
    assert tried.session.watch(Operation("x", OperationKind.UPDATE, "gpu", REF)).done


def test_a_group_that_vanishes_while_it_is_made(tried: Tried) -> None:
    with pytest.raises(NotFound):
        tried.session.watch(Operation("", OperationKind.CREATE, "gpu", REF))


def test_facts_of_the_cluster(tried: Tried) -> None:
    facts = tried.facts
    assert facts.subnets
    assert set(facts.extra["subnetZones"]) == set(facts.subnets)
    assert set(facts.zones) == set(facts.extra["subnetZones"].values())
    assert (facts.node_role or "").startswith("arn:aws:iam::")
    assert facts.version


def test_subnets_that_may_not_be_described_have_no_zones(tried: Tried) -> None:
    tried.fault("DescribeSubnets", status=403, code="UnauthorizedOperation", times=None)
    facts = connected(tried.sandbox).cluster_facts()
    assert (facts.zones, facts.subnets) == ((), tried.facts.subnets)


@pytest.mark.parametrize("look", ["cluster_facts", "list", "observe", "kube_access", "create"])
def test_a_cluster_that_does_not_exist(look: str, tried: Tried) -> None:
    session = connected(tried.sandbox, name="missing-prod")
    elsewhere = eks.desired(pool("gpu", cluster={**CLUSTER, "name": "missing-prod"}, **SHARED), tried.facts)
    looks: dict[str, Callable[[], Any]] = {
        "observe": lambda: session.observe("gpu"),
        "create": lambda: session.apply(creation(elsewhere[-1])),
    }
    with pytest.raises(NotFound) as caught:
        looks.get(look, getattr(session, look, None))()  # type: ignore[misc]
    assert caught.value.nearest == ("sandbox",)
    assert "missing-prod" in caught.value.message


def test_zones_without_the_machine(tried: Tried) -> None:
    assert tried.session.preflight(pool("gpu", cluster=CLUSTER, **SHARED)) == []
    offering = {"cloud": "eks", "machine": "g5.xlarge", "zone": "us-east-1a", "on": False}
    settings.change(tried.sandbox.world, "offering", offering)
    asked_anew = eks.connect(REF, Access(sandbox=True, aws_endpoint=tried.sandbox.http))
    (found,) = asked_anew.preflight(pool("gpu", cluster=CLUSTER, **SHARED))
    assert (found.code, found.field) == ("not-offered-in-zone", "spec.machine")
    assert "us-east-1a" in found.message
    assert "us-east-1b" in found.nearest


def test_kubernetes_access(tried: Tried) -> None:
    access = tried.session.kube_access()
    token = access.token or ""
    assert token.startswith("k8s-aws-v1.")
    assert token not in repr(access)
    encoded = token.removeprefix("k8s-aws-v1.")
    url = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
    query = parse_qs(urlsplit(url).query)
    assert query["Action"] == ["GetCallerIdentity"]
    assert query["X-Amz-Expires"] == ["60"]
    assert query["X-Amz-SignedHeaders"] == ["host;x-k8s-aws-id"]
    assert "us-east-1/sts/aws4_request" in query["X-Amz-Credential"][0]


def test_a_region_is_not_needed_in_the_sandbox(tried: Tried) -> None:
    assert connected(tried.sandbox, region=None).cluster_facts().subnets


def test_the_sandbox_reads_nothing_of_the_users(tried: Tried, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither endpoint, nor profile, nor keys, nor proxies."""
    for name, value in {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_ENDPOINT_URL_EKS": "http://127.0.0.1:9",
        "AWS_PROFILE": "none-of-that-name",
        "AWS_CONFIG_FILE": "/nowhere",
        "AWS_REGION": "mars-1",
    }.items():
        monkeypatch.setenv(name, value)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert connected(tried.sandbox).cluster_facts().subnets


def test_signing_in_without_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(NotSignedIn) as caught:
        eks.connect(REF, Access())
    assert caught.value.exit_code == 4
    assert "aws sso login" in (caught.value.hint or "")


def test_a_profile_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "none-of-that-name")
    with pytest.raises(NotSignedIn, match="none-of-that-name"):
        eks.connect(REF, Access())


SECRET = "tok3n-that-nobody-may-see"
PROCESSES = {
    "fails": f"echo {SECRET} >&2; exit 3",
    "answers no JSON": f"echo {SECRET}",
    "answers something else": f"echo '{{\"{SECRET}\": 1}}'",
}


@pytest.mark.parametrize("script", PROCESSES.values(), ids=PROCESSES)
def test_what_a_credential_process_says_is_not_told(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process, config = tmp_path / "process.sh", tmp_path / "config"
    process.write_text(f"#!/bin/sh\n{script}\n")
    process.chmod(0o755)
    config.write_text(f"[default]\ncredential_process = {process}\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    with pytest.raises(NotSignedIn, match="credential_process") as caught:
        eks.connect(REF, Access())
    assert SECRET not in str(caught.value.findings)


def test_a_credential_process_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "config"
    config.write_text(f"[default]\ncredential_process = {tmp_path}/none\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    with pytest.raises(NotSignedIn, match="none"):
        eks.connect(REF, Access())


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "only-for-tests")


@pytest.mark.usefixtures("keys")
def test_without_a_region() -> None:
    with pytest.raises(Invalid) as caught:
        eks.connect(dataclasses.replace(REF, region=None), Access())
    assert caught.value.findings[0].field == "spec.cluster.region"


@pytest.mark.usefixtures("keys")
def test_a_real_session_speaks_https_only() -> None:
    with pytest.raises(Invalid, match="https"):
        eks.connect(REF, Access(aws_endpoint="http://127.0.0.1:1"))


def test_the_sandbox_must_be_up() -> None:
    with pytest.raises(Unreachable):
        eks.connect(REF, Access(sandbox=True))


def test_nobody_answers(tried: Tried, free_port: int) -> None:
    access = Access(sandbox=True, aws_endpoint=f"http://127.0.0.1:{free_port}")
    with pytest.raises(Unreachable) as caught:
        eks.connect(REF, access).cluster_facts()
    assert caught.value.exit_code == 9


@pytest.fixture
def mute() -> Iterator[str]:
    """A server that reads a request and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65536)

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)


def test_a_server_that_hangs_up(mute: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("botocore.endpoint.time", AtOnce)
    with pytest.raises(Unreachable):
        eks.connect(REF, Access(sandbox=True, aws_endpoint=mute)).observe("gpu")


def test_no_secret_in_what_is_said(tried: Tried) -> None:
    tried.fault("CreateNodegroup", status=400, code="InvalidParameterException", message="bad")
    with pytest.raises(FracgpuError) as caught:
        tried.session.apply(tried.changes(**SHARED)[0])
    said = f"{caught.value} {caught.value.detail} {caught.value.__cause__!r}"
    assert "Signature" not in said
    assert "sandbox/" not in said


def test_who_is_signed_in(sandbox: Sandbox) -> None:
    assert eks.identity(Access(sandbox=True, aws_endpoint=sandbox.http)).who.startswith("arn:aws:sts::")
