"""Azure's real client against the sandbox: what is sent once, found again, followed; what errors become."""

from __future__ import annotations

import dataclasses
import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fracgpu.errors import (
    Busy,
    CloudError,
    DrainBlocked,
    ExistsDifferently,
    Forbidden,
    FracgpuError,
    ImmutableField,
    Invalid,
    NotFound,
    NotSignedIn,
    PoolFailed,
    Quota,
    StalePlan,
    Stock,
    Throttled,
    Unreachable,
)
from fracgpu.plan import Action, Change, Json, Resource, change_of, creation, deletion
from fracgpu.providers import Observed, Operation, OperationKind, Phase, Session, aks
from fracgpu.providers.access import Access
from fracgpu.sandbox.settings import change as set_up
from fracgpu.sandbox.world import Cloud
from tests.aks_pools import A100, A100_MIG, pool, resource
from tests.sandbox.conftest import sandbox

if TYPE_CHECKING:
    from tests.sandbox.conftest import Sandbox

__all__ = ["sandbox"]  # a fixture of another folder

SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
HOUR = 3600.0
SPOT: Json = {**A100_MIG, "capacity": "spot", "nodes": {"min": 1, "max": 5}}


def desired(name: str = "gpu", **spec: Any) -> Resource:
    return resource(pool(name, **{**SPOT, **spec}))


CLUSTER = desired().cluster


def connected(sandbox: Sandbox, **cluster: Any) -> Session:
    return aks.connect(dataclasses.replace(CLUSTER, **cluster), Access(sandbox=True, azure_endpoint=sandbox.http))


@pytest.fixture
def slow(sandbox: Sandbox) -> Sandbox:
    """A sandbox whose operations take an hour of its own clock."""
    sandbox.world.operation_seconds = HOUR
    return sandbox


@pytest.fixture
def session(slow: Sandbox) -> Session:
    return connected(slow)


def made(session: Session, slow: Sandbox, **spec: Any) -> Observed:
    """The pool, at rest."""
    session.apply(creation(desired(**spec)))
    slow.advance(HOUR)
    return looked_up(session)


def looked_up(session: Session, name: str = "gpu") -> Observed:
    found = session.observe(name)
    assert found is not None
    return found


def update_to(there: Observed, **spec: Any) -> Change:
    wanted = desired(**spec)
    return change_of(wanted, aks.settled(there.resources[-1]), aks.comparison(wanted.kind), there.tag)


def puts(sandbox: Sandbox) -> int:
    """How many agent pools of that name the cluster has been told to make."""
    return len([one for one in sandbox.world.clusters.values() if "gpu" in one.pools])


# Life


def test_a_pool_is_made_followed_and_found_unchanged(session: Session, slow: Sandbox) -> None:
    wanted = desired()
    operation = session.apply(creation(wanted))
    assert operation.kind is OperationKind.CREATE
    assert not session.watch(operation).done
    assert looked_up(session).status.phase is Phase.CREATING
    slow.advance(HOUR)
    assert session.watch(operation).done
    there = looked_up(session)
    assert (there.status.phase, there.status.nodes, there.ours) == (Phase.READY, 1, True)
    found = change_of(wanted, aks.settled(there.resources[-1]), aks.comparison(wanted.kind), there.tag)
    assert found.action is Action.NO_OP, found.reason


def test_the_same_create_again_picks_up_what_is_in_flight(session: Session, slow: Sandbox) -> None:
    session.apply(creation(desired()))
    again = connected(slow).apply(creation(desired()))
    assert (again.kind, again.finished) == (OperationKind.CREATE, False)
    assert not session.watch(again).done
    slow.advance(HOUR)
    assert session.watch(again).done
    assert session.apply(creation(desired())).finished


def test_a_create_never_changes_a_pool_that_differs(session: Session, slow: Sandbox) -> None:
    before = made(session, slow)
    with pytest.raises(ExistsDifferently, match="maxCount: 5 -> 9"):
        session.apply(creation(desired(nodes={"min": 1, "max": 9})))
    assert looked_up(session).tag == before.tag


def test_an_operation_is_followed_from_another_process(session: Session, slow: Sandbox) -> None:
    operation = session.apply(creation(desired()))
    (found,) = connected(slow).operations("gpu")
    assert (found.kind, found.token) == (OperationKind.CREATE, None)
    other = connected(slow)
    assert not other.watch(found).done
    assert not other.watch(Operation(**{name: getattr(operation, name) for name in Operation.__slots__})).done
    slow.advance(HOUR)
    assert other.watch(found).done
    assert other.operations("gpu") == ()


def test_an_operation_that_azure_has_forgotten(session: Session, slow: Sandbox) -> None:
    operation = session.apply(creation(desired()))
    assert operation.token is not None
    forgotten = dataclasses.replace(operation, token=operation.token.replace("operations/", "operations/not-"))
    assert not session.watch(forgotten).done
    slow.advance(HOUR)
    assert session.watch(forgotten).done


def test_a_token_of_another_host_is_not_followed(session: Session, free_url: str) -> None:
    operation = Operation("x", OperationKind.CREATE, "gpu", CLUSTER, token=f"{free_url}/subscriptions/x")
    with pytest.raises(CloudError, match="is not"):
        session.watch(operation)


@pytest.fixture
def free_url() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


def test_an_update_leaves_alone_what_it_is_not_about(session: Session, slow: Sandbox) -> None:
    there = made(session, slow)
    before = there.body["properties"]
    change = update_to(there, nodes={"min": 2, "max": 9}, labels={"team": "ml"}, gpuTaint=False, tags={"team": "ml"})
    assert change.action is Action.UPDATE
    operation = session.apply(change)
    assert operation.kind is OperationKind.UPDATE
    slow.advance(HOUR)
    assert session.watch(operation).done
    there = looked_up(session)
    after = there.body["properties"]
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    assert changed == {"minCount", "maxCount", "count", "nodeLabels", "nodeTaints", "tags", "eTag"}
    assert after["nodeLabels"] == {"team": "ml", "kubernetes.azure.com/scalesetpriority": "spot"}
    assert after["tags"] == {"team": "ml", "fracgpu-managed": "true"}
    wanted = {"nodes": {"min": 2, "max": 9}, "labels": {"team": "ml"}, "gpuTaint": False, "tags": {"team": "ml"}}
    assert update_to(there, **wanted).action is Action.NO_OP


def test_labels_and_taints_are_taken_off_again(session: Session, slow: Sandbox) -> None:
    there = made(session, slow, capacity="on-demand", labels={"team": "ml"}, taints=["a=b:NoExecute"])
    session.apply(update_to(there, capacity="on-demand", gpuTaint=False))
    slow.advance(HOUR)
    after = looked_up(session).body["properties"]
    assert "nodeLabels" not in after
    assert "nodeTaints" not in after


def test_the_same_update_again_is_harmless(session: Session, slow: Sandbox) -> None:
    there = made(session, slow)
    change = update_to(there, nodes={"min": 2, "max": 9})
    session.apply(change)
    again = session.apply(change)
    assert (again.kind, again.finished) == (OperationKind.UPDATE, False)
    slow.advance(HOUR)
    assert session.apply(change).finished


def test_an_update_of_what_has_changed_meanwhile_is_refused(session: Session, slow: Sandbox) -> None:
    there = made(session, slow)
    planned = update_to(there, nodes={"min": 2, "max": 9})
    session.apply(update_to(there, labels={"owner": "other"}))
    slow.advance(HOUR)
    with pytest.raises(StalePlan, match="nodeLabels"):
        session.apply(planned)
    assert looked_up(session).body["properties"]["maxCount"] == 5


def test_an_etag_that_an_autoscaler_has_moved_is_no_obstacle(session: Session, slow: Sandbox) -> None:
    there = made(session, slow)
    planned = update_to(there, labels={"team": "ml"})
    sandboxed = slow.world.cluster(Cloud.AKS, SUBSCRIPTION, "ml", "prod").pools["gpu"]
    sandboxed.body |= {"count": 3, "eTag": "moved"}
    session.apply(planned)
    slow.advance(HOUR)
    after = looked_up(session).body["properties"]
    assert (after["count"], after["nodeLabels"]["team"]) == (3, "ml")


def test_adopting_writes_the_mark_and_nothing_else(session: Session, slow: Sandbox) -> None:
    made(session, slow)
    sandboxed = slow.world.cluster(Cloud.AKS, SUBSCRIPTION, "ml", "prod").pools["gpu"]
    sandboxed.body["tags"] = {}
    there = looked_up(session)
    assert not there.ours
    change = update_to(there)
    assert change.action is Action.NO_OP
    session.apply(dataclasses.replace(change, action=Action.UPDATE))
    slow.advance(HOUR)
    assert looked_up(session).ours


def test_a_pool_is_deleted_once(session: Session, slow: Sandbox) -> None:
    there = made(session, slow)
    change = deletion(there.resources[-1], "asked for", there.tag)
    operation = session.apply(change)
    assert session.apply(change).kind is OperationKind.DELETE
    assert not session.watch(operation).done
    assert [one.kind for one in session.operations("gpu")] == [OperationKind.DELETE]
    slow.advance(HOUR)
    assert session.watch(operation).done
    assert session.observe("gpu") is None
    assert session.apply(change).finished
    assert session.apply(dataclasses.replace(change, tag=None)).finished


@pytest.mark.parametrize("force", [False, True])
def test_budgets_hold_a_delete_up_unless_it_is_forced(session: Session, slow: Sandbox, force: bool) -> None:
    there = made(session, slow)
    slow.world.faults.add("aks", "AgentPools_Delete", outcome="failed")
    operation = session.apply(deletion(there.resources[-1], "asked for", there.tag, force=force))
    slow.advance(HOUR)
    if force:
        assert session.watch(operation).done
        assert session.observe("gpu") is None
    else:
        with pytest.raises(DrainBlocked):
            session.watch(operation)


def test_a_pool_that_is_another_by_now_is_not_deleted(session: Session, slow: Sandbox) -> None:
    there = made(session, slow)
    session.apply(update_to(there, labels={"team": "precious"}))
    slow.advance(HOUR)
    with pytest.raises(StalePlan):
        session.apply(deletion(there.resources[-1], "asked for", there.tag))
    assert session.observe("gpu") is not None


def test_a_pool_whose_count_has_moved_is_deleted_all_the_same(session: Session, slow: Sandbox) -> None:
    there = made(session, slow)
    sandboxed = slow.world.cluster(Cloud.AKS, SUBSCRIPTION, "ml", "prod").pools["gpu"]
    sandboxed.body |= {"count": 3, "eTag": "moved"}
    operation = session.apply(deletion(there.resources[-1], "asked for", there.tag))
    slow.advance(HOUR)
    assert session.watch(operation).done


def test_pools_are_listed_with_others(session: Session, slow: Sandbox) -> None:
    made(session, slow)
    assert [(one.name, one.ours) for one in session.list()] == [("system", False), ("gpu", True)]


def test_many_pools_are_listed_over_pages(session: Session, slow: Sandbox) -> None:
    for number in range(60):
        session.apply(creation(desired(f"gpu{number}", nodes={"count": 0})))
        slow.advance(HOUR)
    assert len(session.list()) == 61


# Lost answers and busy clusters


@pytest.mark.parametrize("call", ["AgentPools_CreateOrUpdate", "AgentPools_Get"])
def test_a_create_whose_answer_is_lost_is_made_once(session: Session, slow: Sandbox, call: str) -> None:
    slow.world.faults.add("aks", call, drop=True)
    operation = session.apply(creation(desired()))
    assert operation.kind is OperationKind.CREATE
    slow.advance(HOUR)
    assert session.watch(operation).done
    assert looked_up(session).status.phase is Phase.READY
    assert puts(slow) == 1


def test_an_update_whose_answer_is_lost_is_made_once(session: Session, slow: Sandbox) -> None:
    there = made(session, slow)
    slow.world.faults.add("aks", "AgentPools_CreateOrUpdate", drop=True)
    operation = session.apply(update_to(there, nodes={"min": 2, "max": 9}))
    assert (operation.kind, operation.finished) == (OperationKind.UPDATE, False)
    slow.advance(HOUR)
    assert session.watch(operation).done
    assert looked_up(session).body["properties"]["maxCount"] == 9


def test_a_delete_whose_answer_is_lost_is_made_once(session: Session, slow: Sandbox) -> None:
    there = made(session, slow)
    slow.world.faults.add("aks", "AgentPools_Delete", drop=True)
    operation = session.apply(deletion(there.resources[-1], "asked for", there.tag))
    assert (operation.kind, operation.finished) == (OperationKind.DELETE, False)
    slow.advance(HOUR)
    assert session.observe("gpu") is None


def test_a_busy_cluster_is_told_from_a_quota(session: Session, slow: Sandbox) -> None:
    session.apply(creation(desired("other")))
    with pytest.raises(Busy, match="other - Creating") as caught:
        session.apply(creation(desired()))
    assert caught.value.detail["code"] == "OperationNotAllowed"
    assert caught.value.detail["requestId"]
    assert session.observe("gpu") is None


# What refuses


def refusal(session: Session, sandbox: Sandbox, call: str = "AgentPools_CreateOrUpdate", **fault: Any) -> FracgpuError:
    sandbox.world.faults.add("aks", call, **{"times": None, **fault})
    with pytest.raises(FracgpuError) as caught:
        session.apply(creation(desired()))
    assert caught.value.__cause__ is not None
    return caught.value


FAULTS: list[tuple[Json, type[FracgpuError], str]] = [
    ({"status": 429, "retry_after": 90}, Throttled, "Throttled"),
    ({"status": 503, "message": "down"}, Unreachable, "InternalServerError"),
    ({"status": 500, "message": "broken"}, Unreachable, "InternalServerError"),
    ({"status": 401}, NotSignedIn, "InvalidAuthenticationToken"),
    ({"status": 403, "message": "not authorized to perform action 'x/write'"}, Forbidden, "AuthorizationFailed"),
    ({"status": 400, "code": "ErrCode_InsufficientVCPUQuota"}, Quota, "ErrCode_InsufficientVCPUQuota"),
    ({"status": 400, "code": "SkuNotAvailable"}, Stock, "SkuNotAvailable"),
    ({"status": 400, "code": "PropertyChangeNotAllowed"}, ImmutableField, "PropertyChangeNotAllowed"),
    ({"status": 409, "code": "AKSOperationPreempted"}, Busy, "AKSOperationPreempted"),
]


@pytest.mark.parametrize(("fault", "kind", "code"), FAULTS, ids=[row[2] + str(row[0]["status"]) for row in FAULTS])
def test_refusals(session: Session, slow: Sandbox, fault: Json, kind: type[FracgpuError], code: str) -> None:
    error = refusal(session, slow, **fault)
    assert type(error) is kind
    assert error.detail["code"] == code
    assert error.detail["call"] == "AgentPools_CreateOrUpdate"
    assert not isinstance(error, Throttled) or error.retry_after == 90


def test_a_short_pause_is_sat_out(session: Session, slow: Sandbox) -> None:
    slow.world.faults.add("aks", "AgentPools_CreateOrUpdate", status=429, retry_after=0, times=2)
    assert not session.apply(creation(desired())).finished


def test_quota_of_regular_machines_is_refused_at_once(session: Session, slow: Sandbox) -> None:
    set_up(slow.world, "quota", {"cloud": "aks", "metric": "StandardNCADSA100v4Family", "limit": 30})
    with pytest.raises(Quota) as caught:
        session.apply(creation(desired(capacity="on-demand", nodes={"count": 2})))
    assert caught.value.detail["quota"] == {
        "metric": "StandardNCADSA100v4Family",
        "needed": 48,
        "left": 30,
        "missing": 18,
    }


@pytest.mark.parametrize(
    ("setting", "kind"),
    [
        ({"kind": "quota", "cloud": "aks", "metric": "lowPriorityCores", "limit": 10}, Quota),
        ({"kind": "offering", "cloud": "aks", "machine": A100, "zone": "eastus", "on": False}, Stock),
    ],
)
def test_how_an_operation_ends(session: Session, slow: Sandbox, setting: Json, kind: type[FracgpuError]) -> None:
    set_up(slow.world, setting["kind"], setting)
    operation = session.apply(creation(desired()))
    slow.advance(HOUR)
    with pytest.raises(kind):
        session.watch(operation)
    with pytest.raises(kind):  # the pool itself tells another process
        session.watch(dataclasses.replace(operation, token=None))
    there = looked_up(session)
    assert there.status.phase is Phase.FAILED
    assert type(there.status.problem) is kind
    assert session.apply(creation(desired())).finished  # the pool is there; its state is what failed


def test_an_operation_that_was_aborted(session: Session, slow: Sandbox) -> None:
    operation = session.apply(creation(desired()))
    cluster = slow.world.cluster(Cloud.AKS, SUBSCRIPTION, "ml", "prod")
    (running,) = cluster.running()
    running.done, running.error = True, {"code": "OperationCanceled", "message": "The operation was aborted."}
    cluster.pools["gpu"].state = "Canceled"
    with pytest.raises(PoolFailed, match="aborted"):
        session.watch(operation)
    assert looked_up(session).status.phase is Phase.FAILED


def test_a_size_that_is_not_offered(session: Session, slow: Sandbox) -> None:
    for zone in "123":
        set_up(slow.world, "offering", {"cloud": "aks", "machine": A100, "zone": zone, "on": False})
    with pytest.raises(Stock, match="not offered this machine") as caught:
        session.apply(creation(desired()))
    assert all(name.startswith("Standard_N") for name in caught.value.nearest)


def test_a_cluster_that_is_missing_is_named_with_those_there_are(slow: Sandbox) -> None:
    connected(slow).cluster_facts()
    calls: list[Callable[[Session], object]] = [
        lambda session: session.cluster_facts(),
        lambda session: session.observe("gpu"),
        lambda session: session.list(),
        lambda session: session.apply(creation(desired())),
    ]
    for call in calls:
        with pytest.raises(NotFound) as caught:
            call(connected(slow, name="missing-one"))
        assert caught.value.nearest == ("prod", "sandbox")
        assert "prod (ml)" in str(caught.value.hint)
    with pytest.raises(NotFound, match="resource group missing-group"):
        connected(slow, resource_group="missing-group").cluster_facts()


# Around the pools


def test_facts_of_the_cluster(session: Session) -> None:
    facts = session.cluster_facts()
    assert facts.version == "1.34.2"
    assert facts.extra["location"] == "eastus"


def test_the_way_to_kubernetes(session: Session, slow: Sandbox) -> None:
    way = session.kube_access()
    assert way.server == f"https://127.0.0.1:{slow.server.port}/k8s/aks/{SUBSCRIPTION}~ml~prod"
    assert way.kubeconfig is not None
    assert way.context == way.kubeconfig["current-context"] == "prod"
    assert "sandbox" not in repr(way).replace(way.server, "")


def test_preflight_finds_nothing_where_nothing_is_wrong(session: Session) -> None:
    assert list(session.preflight(pool("gpu", **SPOT, zones=["1"]))) == []


def test_preflight_names_what_is_short(session: Session, slow: Sandbox) -> None:
    set_up(slow.world, "quota", {"cloud": "aks", "metric": "lowPriorityCores", "limit": 60})
    set_up(slow.world, "offering", {"cloud": "aks", "machine": A100, "zone": "1", "on": False})
    wanted = pool("gpu", **{**SPOT, "nodes": {"min": 3, "max": 5}}, zones=["1", "2"])
    stock, quota = session.preflight(wanted)
    assert (stock.code, stock.field, stock.nearest) == ("stock", "spec.zones[0]", ("2", "3"))
    assert (quota.code, quota.detail["quota"]["missing"]) == ("quota", 12)
    (warned,) = session.preflight(pool("gpu", **{**SPOT, "nodes": {"min": 1, "max": 5}}))
    assert warned.code == "quota-below-max"


def test_preflight_of_a_machine_that_is_not_offered(session: Session, slow: Sandbox) -> None:
    set_up(slow.world, "offering", {"cloud": "aks", "machine": A100, "zone": "eastus", "on": False})
    (found,) = session.preflight(pool("gpu", **SPOT))
    assert (found.code, found.field) == ("stock", "spec.machine")
    assert found.nearest


@pytest.mark.parametrize("call", ["ResourceSkus_List", "Usage_List"])
def test_preflight_is_skipped_where_it_is_not_permitted(session: Session, slow: Sandbox, call: str) -> None:
    slow.world.faults.add("aks", call, status=403)
    assert [one.code for one in session.preflight(pool("gpu", **SPOT))] == ["preflight-skipped"]


# Signing in


def test_nothing_of_the_environment_reaches_the_sandbox(slow: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    dead = "http://127.0.0.1:9"
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
    for name in names:
        monkeypatch.setenv(name, dead)
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setenv("AZURE_CLOUD", "AZURE_CHINA_CLOUD")
    monkeypatch.setenv("AZURE_AUTHORITY_HOST", dead)
    monkeypatch.setenv("AZURE_SUBSCRIPTION_ID", "missing-subscription")
    assert connected(slow).cluster_facts().version


def test_an_endpoint_without_tls_is_refused(slow: Sandbox) -> None:
    with pytest.raises(Invalid, match="not https"):
        aks.connect(CLUSTER, Access(azure_endpoint=slow.http))


def test_no_credentials_end_in_the_command_that_signs_in(capfd: pytest.CaptureFixture[str]) -> None:
    session = aks.connect(dataclasses.replace(CLUSTER, subscription=SUBSCRIPTION), Access())
    with pytest.raises(NotSignedIn) as caught:
        session.cluster_facts()
    assert (caught.value.exit_code, caught.value.hint) == (4, "az login")
    with pytest.raises(NotSignedIn):
        aks.connect(CLUSTER, Access())
    assert capfd.readouterr() == ("", "")


def test_the_subscription_is_the_one_that_az_uses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"id": "other", "isDefault": False}, {"id": "mine", "isDefault": True}]
    (tmp_path / "azureProfile.json").write_text(json.dumps({"subscriptions": rows}), encoding="utf-8-sig")
    monkeypatch.setenv("AZURE_CONFIG_DIR", os.fspath(tmp_path))
    with pytest.raises(NotSignedIn):  # a subscription, and no credentials
        aks.connect(CLUSTER, Access()).observe("gpu")


# An endpoint that misbehaves


class _Silent:
    """Accepts connections and says one thing to all of them."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        self.asked = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            with connection:
                self.asked += 1
                connection.recv(65536)
                connection.sendall(self._answer)

    def end(self) -> None:
        self._server.close()


@pytest.fixture
def garbled() -> Iterator[_Silent]:
    body = b"<html>a proxy's page</html>"
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    server = _Silent(head + body)
    yield server
    server.end()


def test_an_answer_that_is_no_json(garbled: _Silent) -> None:
    session = aks.connect(CLUSTER, Access(sandbox=True, azure_endpoint=garbled.url))
    with pytest.raises(CloudError, match="JSON"):
        session.observe("gpu")


def test_an_endpoint_that_is_down(free_url: str) -> None:
    session = aks.connect(CLUSTER, Access(sandbox=True, azure_endpoint=free_url))
    with pytest.raises(Unreachable) as caught:
        session.observe("gpu")
    assert caught.value.exit_code == 9


def test_an_endpoint_that_hangs_up_is_not_asked_for_ever() -> None:
    server = _Silent(b"")
    session = aks.connect(CLUSTER, Access(sandbox=True, azure_endpoint=server.url))
    with pytest.raises(Unreachable):
        session.observe("gpu")
    server.end()
    assert server.asked == 3


def test_no_token_is_in_an_error(slow: Sandbox) -> None:
    error = refusal(connected(slow), slow, status=500, message="broken")
    assert "Bearer" not in repr(error.to_json())


def test_who_is_signed_in(sandbox: Sandbox) -> None:
    assert aks.identity(Access(sandbox=True, azure_endpoint=sandbox.http)).who.startswith("the sandbox")
