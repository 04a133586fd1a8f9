"""Google's real client over gRPC against the sandbox: what is sent once, found again, followed; what errors become."""

from __future__ import annotations

import dataclasses
import json
import socket
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from fracgpu.errors import (
    Busy,
    ExistsDifferently,
    FracgpuError,
    Invalid,
    NotFound,
    NotSignedIn,
    PoolFailed,
    StalePlan,
    Stock,
    Throttled,
    Unreachable,
)
from fracgpu.plan import Action, Change, Json, Resource, change_of, creation, deletion
from fracgpu.providers import MANAGED, Operation, OperationKind, Phase, Session, gke
from fracgpu.providers.access import Access
from fracgpu.sandbox.world import Cloud
from tests.gke_pools import pool, resource
from tests.sandbox.conftest import sandbox

if TYPE_CHECKING:
    from tests.sandbox.conftest import Sandbox

__all__ = ["sandbox"]  # a fixture of another folder

L4: dict[str, Any] = {"machine": "g2-standard-8", "sharing": {"timeSlicing": {"replicas": 10}}, "nodes": {"count": 3}}
HOUR = 3600.0


def desired(**spec: Any) -> Resource:
    return resource(pool("gpu", **{**L4, **spec}))


CLUSTER = desired().cluster


@pytest.fixture
def slow(sandbox: Sandbox) -> Sandbox:
    """A sandbox whose operations take an hour of its own clock."""
    sandbox.world.operation_seconds = HOUR
    return sandbox


def connected(sandbox: Sandbox, **cluster: Any) -> Session:
    return gke.connect(dataclasses.replace(CLUSTER, **cluster), Access(sandbox=True, gke_endpoint=sandbox.grpc))


@pytest.fixture
def session(slow: Sandbox) -> Session:
    return connected(slow)


def fault(sandbox: Sandbox, call: str, **how: Any) -> None:
    sandbox.world.faults.add("gke", call, **how)


def begun(sandbox: Sandbox) -> list[str]:
    """What operations the cluster was asked for, in order."""
    return [
        operation.kind
        for operation in sandbox.world.cluster(Cloud.GKE, "acme", "us-central1", "regional-prod").operations.values()
    ]


def finish(session: Session, operation: Operation, sandbox: Sandbox) -> list[str]:
    """Watch an operation to its end, letting time pass; the messages on the way."""
    said: list[str] = []
    for _ in range(20):
        progress = session.watch(operation)
        said.append(progress.message)
        if progress.done:
            return said
        sandbox.advance(HOUR)
    raise AssertionError(said)


def changed(session: Session, **spec: Any) -> Change:
    """The change from what is there to the spec."""
    seen = session.observe("gpu")
    assert seen is not None
    wanted = desired(**spec)
    return change_of(wanted, gke.settled(seen.resources[-1]), gke.comparison(wanted.kind), seen.tag)


def made(session: Session, sandbox: Sandbox, **spec: Any) -> None:
    finish(session, session.apply(creation(desired(**spec))), sandbox)


def body(session: Session) -> Json:
    seen = session.observe("gpu")
    assert seen is not None
    return seen.body


def test_from_birth_to_death(session: Session, slow: Sandbox) -> None:
    assert session.observe("gpu") is None
    operation = session.apply(creation(desired()))
    assert (operation.kind, operation.pool) == (OperationKind.CREATE, "gpu")
    seen = session.observe("gpu")
    assert seen is not None
    assert (seen.status.phase, seen.ours) == (Phase.CREATING, True)
    assert [one.id for one in session.operations("gpu")] == [operation.id]
    assert not session.watch(operation).done
    slow.advance(HOUR)
    assert session.watch(operation).done
    assert session.operations("gpu") == ()
    seen = session.observe("gpu")
    assert seen is not None
    assert (seen.status.phase, seen.status.nodes) == (Phase.READY, 3)
    assert changed(session).action is Action.NO_OP
    finish(session, session.apply(deletion(seen.resources[-1], "asked for", seen.tag)), slow)
    assert session.observe("gpu") is None
    assert begun(slow) == ["CREATE_NODE_POOL", "DELETE_NODE_POOL"]


def test_all_pools_are_listed(session: Session, slow: Sandbox) -> None:
    made(session, slow)
    assert [(seen.name, seen.ours) for seen in session.list()] == [("default-pool", False), ("gpu", True)]


def test_the_same_create_again_is_the_same_operation(session: Session, slow: Sandbox) -> None:
    first = session.apply(creation(desired()))
    again = connected(slow).apply(creation(desired()))
    assert again.id == first.id
    slow.advance(HOUR)
    assert session.apply(creation(desired())).finished
    assert begun(slow) == ["CREATE_NODE_POOL"]


def test_another_pool_of_that_name_is_told(session: Session, slow: Sandbox) -> None:
    made(session, slow)
    with pytest.raises(ExistsDifferently, match="maxSharedClientsPerGpu: 10 -> 4"):
        session.apply(creation(desired(sharing={"timeSlicing": {"replicas": 4}})))


def test_a_lost_answer_to_a_create(session: Session, slow: Sandbox) -> None:
    """The pool is being made all the same: its operation is found, and nothing is sent twice."""
    fault(slow, "CreateNodePool", drop=True)
    operation = session.apply(creation(desired()))
    assert [one.id for one in session.operations("gpu")] == [operation.id]
    finish(session, operation, slow)
    assert begun(slow) == ["CREATE_NODE_POOL"]


def test_a_create_that_never_arrived_is_sent_again(session: Session, slow: Sandbox) -> None:
    fault(slow, "CreateNodePool", status=503, drop=True)
    finish(session, session.apply(creation(desired())), slow)
    assert begun(slow) == ["CREATE_NODE_POOL"]


def test_a_lost_answer_to_a_delete(session: Session, slow: Sandbox) -> None:
    made(session, slow)
    gone = deletion(desired(), "asked for")
    fault(slow, "DeleteNodePool", drop=True)
    operation = session.apply(gone)
    assert operation.kind is OperationKind.DELETE
    assert session.apply(gone).id == operation.id
    finish(session, operation, slow)
    assert session.apply(gone).finished
    assert begun(slow) == ["CREATE_NODE_POOL", "DELETE_NODE_POOL"]


BEFORE: dict[str, Any] = {"labels": {"a": "b"}, "nodes": {"min": 0, "max": 6}}
AFTER: dict[str, Any] = {
    "sharing": {"mps": {"replicas": 4}},
    "nodes": {"count": 6},
    "labels": {"c": "d"},
    "taints": ["k=v:NoExecute"],
    "tags": {"cost": "42"},
    "gke": {"maxSurge": 2, "autoUpgrade": False, "driverVersion": "LATEST", "imageType": "UBUNTU_CONTAINERD"},
}


def test_an_update_is_several_operations_in_turn(session: Session, slow: Sandbox) -> None:
    made(session, slow, **BEFORE)
    change = changed(session, **AFTER)
    assert change.action is Action.UPDATE
    said = finish(session, session.apply(change), slow)
    assert [line for line in said if "changing" in line] == [
        "GKE: changing auto-repair and auto-upgrade",
        "GKE: changing labels, taints and tags",
        "GKE: changing GPU sharing and driver",
        "GKE: changing machines, disks and version",
        "GKE: changing autoscaling",
        "GKE: changing node count",
    ]
    assert changed(session, **AFTER).action is Action.NO_OP
    assert session.apply(change).finished


def test_another_process_goes_on_with_an_update(session: Session, slow: Sandbox) -> None:
    """From the operation alone, as it would be written down and read again."""
    made(session, slow, **BEFORE)
    operation = session.apply(changed(session, **AFTER))
    again = Operation(**{**dataclasses.asdict(operation), "kind": operation.kind, "cluster": operation.cluster})
    finish(connected(slow), again, slow)
    assert changed(session, **AFTER).action is Action.NO_OP


def test_an_update_left_halfway_is_planned_anew(session: Session, slow: Sandbox) -> None:
    made(session, slow, **BEFORE)
    session.apply(changed(session, **AFTER))
    slow.advance(HOUR)
    rest = changed(session, **AFTER)
    assert rest.action is Action.UPDATE
    assert ("upgradeSettings", "maxSurge") not in {one.path for one in rest.fields}
    finish(session, session.apply(rest), slow)
    assert changed(session, **AFTER).action is Action.NO_OP


def test_the_next_step_waits_for_somebody_elses_operation(session: Session, slow: Sandbox) -> None:
    made(session, slow, **BEFORE)
    operation = session.apply(changed(session, **AFTER))
    slow.advance(HOUR)
    fault(slow, "SetNodePoolManagement", code="CLUSTER_ALREADY_HAS_OPERATION")
    assert session.watch(operation).message.startswith("waiting to change auto-repair")
    finish(session, operation, slow)
    assert changed(session, **AFTER).action is Action.NO_OP


def test_a_lost_answer_to_an_update(session: Session, slow: Sandbox) -> None:
    made(session, slow, **BEFORE)
    fault(slow, "UpdateNodePool", drop=True)
    change = changed(session, **{**BEFORE, "labels": {"x": "y"}})
    operation = session.apply(change)
    finish(session, operation, slow)
    assert changed(session, **{**BEFORE, "labels": {"x": "y"}}).action is Action.NO_OP
    assert begun(slow) == ["CREATE_NODE_POOL", "UPDATE_CLUSTER"]


def test_an_update_that_never_arrived_is_sent_again(session: Session, slow: Sandbox) -> None:
    made(session, slow, **BEFORE)
    fault(slow, "UpdateNodePool", status=503, drop=True)
    finish(session, session.apply(changed(session, **{**BEFORE, "labels": {"x": "y"}})), slow)
    assert begun(slow) == ["CREATE_NODE_POOL", "UPDATE_CLUSTER"]
    assert body(session)["config"]["labels"] == {"x": "y"}


def test_a_plan_of_a_pool_that_has_changed_since_is_stale(session: Session, slow: Sandbox) -> None:
    made(session, slow, **BEFORE)
    change = changed(session, **AFTER)
    finish(session, session.apply(changed(session, **{**BEFORE, "labels": {"by": "another"}})), slow)
    with pytest.raises(StalePlan, match="labels"):
        session.apply(change)
    assert body(session)["config"]["labels"] == {"by": "another"}


def test_adoption_writes_the_mark_alone(session: Session, slow: Sandbox) -> None:
    made(session, slow, **BEFORE)
    cluster = slow.world.cluster(Cloud.GKE, "acme", "us-central1", "regional-prod")
    del cluster.pools["gpu"].body["config"]["resourceLabels"]
    seen = session.observe("gpu")
    assert seen is not None
    assert not seen.ours
    unchanged = changed(session, **BEFORE)
    assert unchanged.action is Action.NO_OP
    finish(session, session.apply(dataclasses.replace(unchanged, action=Action.UPDATE)), slow)
    assert body(session)["config"]["resourceLabels"] == {MANAGED: "true"}


def test_busy_says_with_what(session: Session, slow: Sandbox) -> None:
    made(session, slow, **BEFORE)
    operation = session.apply(changed(session, **{**BEFORE, "labels": {"x": "y"}}))
    with pytest.raises(Busy) as caught:
        connected(slow).apply(changed(session, **{**BEFORE, "labels": {"x": "z"}}))
    assert caught.value.detail["operation"] == operation.id
    assert caught.value.detail["reason"] == "CLUSTER_ALREADY_HAS_OPERATION"


QUOTA = (
    "Insufficient regional quota to satisfy request: resource \"NVIDIA_L4_GPUS\": request requires '3.0' and is short "
    "'2.0'. project has a quota of '1.0' with '1.0' available."
)


@pytest.mark.parametrize(
    ("how", "code", "exit_code"),
    [
        ({"code": "PERMISSION_DENIED"}, "forbidden", 4),
        ({"code": "PERMISSION_DENIED", "message": QUOTA}, "quota", 5),
        ({"code": "UNAUTHENTICATED"}, "not-signed-in", 4),
        ({"code": "FAILED_PRECONDITION"}, "busy", 8),
        ({"code": "RESOURCE_EXHAUSTED"}, "busy", 8),
        ({"code": "RESOURCE_EXHAUSTED", "message": "slow down"}, "throttled", 9),
        ({"code": "INTERNAL"}, "unreachable", 9),
        ({"code": "INVALID_ARGUMENT", "message": "bad"}, "cloud-error", 9),
        ({"code": "UNAVAILABLE"}, "unreachable", 9),
        ({"code": "DEADLINE_EXCEEDED"}, "unreachable", 9),
    ],
)
@pytest.mark.parametrize("verb", ["create", "update", "delete"])
def test_refusals(verb: str, how: dict[str, Any], code: str, exit_code: int, session: Session, slow: Sandbox) -> None:
    """Each with the cloud's own words, nothing done, and the same verb again succeeds."""
    if verb != "create":
        made(session, slow, **BEFORE)
    calls = {"create": "CreateNodePool", "update": "UpdateNodePool", "delete": "DeleteNodePool"}
    change = {"create": lambda: creation(desired(**BEFORE)), "delete": lambda: deletion(desired(), "")}.get(
        verb, lambda: changed(session, **{**BEFORE, "labels": {"x": "y"}})
    )()
    fault(slow, calls[verb], times=None, **how)
    before = begun(slow)
    with pytest.raises(FracgpuError) as caught:
        session.apply(change)
    assert (caught.value.code, caught.value.exit_code) == (code, exit_code)
    assert caught.value.detail["code"] == how["code"]
    assert caught.value.detail["call"] == calls[verb]
    assert caught.value.hint
    assert caught.value.__cause__ is not None
    assert begun(slow) == before
    slow.world.faults.clear()
    finish(session, session.apply(change), slow)


def test_the_usual_time_is_that_of_operations_that_ended_well(session: Session, slow: Sandbox) -> None:
    assert session.usual(OperationKind.CREATE) is None
    made(session, slow)
    slow.world.operation_seconds = HOUR / 4
    fault(slow, "DeleteNodePool", outcome="failed")
    with pytest.raises(PoolFailed):
        finish(session, session.apply(deletion(desired(), "")), slow)
    another = connected(slow)
    assert another.usual(OperationKind.CREATE) == pytest.approx(HOUR)
    assert another.usual(OperationKind.DELETE) is None


def test_throttling_says_for_how_long(session: Session, slow: Sandbox) -> None:
    fault(slow, "GetNodePool", code="RESOURCE_EXHAUSTED", message="slow down", retry_after=7)
    with pytest.raises(Throttled) as caught:
        session.observe("gpu")
    assert caught.value.retry_after == 7


def test_a_read_is_asked_again(session: Session, slow: Sandbox) -> None:
    fault(slow, "GetCluster", code="UNAVAILABLE", times=2)
    assert len(session.cluster_facts().zones) == 3


@pytest.mark.parametrize(("outcome", "phase"), [("failed", Phase.FAILED), ("partial", Phase.DEGRADED)])
def test_a_stockout_ends_the_operation_and_marks_the_pool(
    outcome: str, phase: Phase, session: Session, slow: Sandbox
) -> None:
    fault(slow, "CreateNodePool", outcome=outcome)
    operation = session.apply(creation(desired()))
    slow.advance(HOUR)
    with pytest.raises(Stock, match="us-central1-"):
        session.watch(operation)
    seen = session.observe("gpu")
    assert seen is not None
    assert seen.status.phase is phase
    assert isinstance(seen.status.problem, Stock)


def test_an_update_that_fails_says_so(session: Session, slow: Sandbox) -> None:
    made(session, slow, **BEFORE)
    fault(slow, "UpdateNodePool", outcome="failed")
    operation = session.apply(changed(session, **{**BEFORE, "labels": {"x": "y"}}))
    slow.advance(HOUR)
    with pytest.raises(FracgpuError) as caught:
        session.watch(operation)
    assert (caught.value.code, caught.value.exit_code) == ("pool-failed", 9)


def test_an_operation_that_is_forgotten_is_over(session: Session) -> None:
    forgotten = Operation("operation-1-x", OperationKind.CREATE, "gpu", CLUSTER)
    assert session.watch(forgotten).done


def test_facts_of_the_cluster(session: Session, slow: Sandbox) -> None:
    facts = session.cluster_facts()
    assert facts.zones == ("us-central1-a", "us-central1-b", "us-central1-c")
    assert facts.version
    assert facts.extra == {"autopilot": False, "pools_without_gpu": 1}


@pytest.mark.parametrize("look", ["cluster_facts", "list", "observe", "kube_access"])
def test_a_cluster_that_does_not_exist(look: str, slow: Sandbox) -> None:
    connected(slow).cluster_facts()
    session = connected(slow, name="missing-prod")
    with pytest.raises(NotFound) as caught:
        getattr(session, look)(*(["gpu"] if look == "observe" else []))
    assert caught.value.nearest == ("regional-prod",)
    assert "missing-prod" in caught.value.message


def test_kubernetes_access(session: Session, slow: Sandbox) -> None:
    access = session.kube_access()
    assert access.server.startswith(f"{slow.http}/")
    assert access.token
    assert access.token not in repr(access)


def test_what_the_location_does_not_offer(session: Session) -> None:
    def found(**options: Any) -> list[tuple[str, str | None]]:
        return [(one.code, one.field) for one in session.preflight(pool("gpu", **L4, gke=options))]

    assert found() == []
    assert found(version="1.35", imageType="cos_containerd") == []
    assert found(version="1.2") == [("invalid-value", "spec.gke.version")]
    assert found(imageType="NIXOS") == [("invalid-value", "spec.gke.imageType")]


def test_a_project_is_not_needed_in_the_sandbox(slow: Sandbox) -> None:
    assert connected(slow, project=None).cluster_facts().zones


def test_proxies_are_passed_by(slow: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name)
    assert connected(slow).cluster_facts().zones


def test_without_an_endpoint_the_sandbox_is_not_up() -> None:
    with pytest.raises(Unreachable) as caught:
        gke.connect(CLUSTER, Access(sandbox=True))
    assert caught.value.hint == "fracgpu sandbox start"


def test_nobody_listens() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        session = gke.connect(CLUSTER, Access(sandbox=True, gke_endpoint=f"127.0.0.1:{probe.getsockname()[1]}"))
        with pytest.raises(Unreachable) as caught:
            session.cluster_facts()
    assert caught.value.exit_code == 9
    assert caught.value.hint


@pytest.fixture
def hanging_up() -> Iterator[str]:
    """A server that closes every connection at once."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                server.accept()[0].close()
            except OSError:
                return

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"127.0.0.1:{server.getsockname()[1]}"
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join()


def test_a_server_that_hangs_up(hanging_up: str) -> None:
    session = gke.connect(CLUSTER, Access(sandbox=True, gke_endpoint=hanging_up))
    with pytest.raises(Unreachable):
        session.apply(creation(desired()))


def test_without_credentials() -> None:
    with pytest.raises(NotSignedIn) as caught:
        gke.connect(CLUSTER, Access())
    assert caught.value.exit_code == 4
    assert caught.value.hint == gke.sign_in_hint() == "gcloud auth application-default login"


def credentials(home: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person's credentials as gcloud writes them; they open nothing."""
    path = home / "adc.json"
    written = {"type": "authorized_user", "client_id": "x", "client_secret": "x", "refresh_token": "x"}
    path.write_text(json.dumps(written), encoding="utf-8")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))


def test_a_token_is_not_sent_in_the_clear(home: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    credentials(home, monkeypatch)
    with pytest.raises(Invalid, match="not https"):
        gke.connect(CLUSTER, Access(gke_endpoint="http://127.0.0.1:1"))


def test_without_a_project(home: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    credentials(home, monkeypatch)
    monkeypatch.setenv("PATH", "")  # no gcloud to ask for one
    with pytest.raises(Invalid) as caught:
        gke.connect(dataclasses.replace(CLUSTER, project=None), Access())
    assert (caught.value.code, caught.value.findings[0].field) == ("missing-field", "spec.cluster.project")


def test_a_real_session_speaks_tls(home: Any, monkeypatch: pytest.MonkeyPatch, slow: Sandbox) -> None:
    """The sandbox does not, so that nothing is understood, and nothing is sent there in the clear."""
    credentials(home, monkeypatch)
    session = gke.connect(CLUSTER, Access(gke_endpoint=f"https://{slow.grpc}"))
    with pytest.raises(FracgpuError) as caught:
        session.cluster_facts()
    assert caught.value.code in ("unreachable", "not-signed-in")
    assert begun(slow) == []


def test_who_is_signed_in(sandbox: Sandbox) -> None:
    assert gke.identity(Access(sandbox=True, gke_endpoint=sandbox.grpc)).who.startswith("the sandbox")
