"""The verbs of `fracgpu pool`, typed as a user types them, against a sandbox in the test's own process."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from fracgpu.cli import connect
from fracgpu.sandbox import folder
from fracgpu.sandbox.folder import Endpoints
from tests.cli.conftest import Cli, Ran
from tests.life import CLOUDS, CLUSTERS, MACHINES, fail, spec
from tests.sandbox.conftest import Sandbox


@pytest.fixture(scope="module")
def running() -> Iterator[Sandbox]:
    sandbox = Sandbox()
    yield sandbox
    sandbox.server.end()


@pytest.fixture
def sandbox(running: Sandbox, home: Path) -> Iterator[Sandbox]:
    """An empty sandbox that `--sandbox` finds, and whose operations take no time."""
    running.world.reset()
    running.world.settings.clear()
    running.world.operation_seconds = 0
    here = Endpoints(running.http, running.grpc, running.server.id, running.token, os.getpid())
    folder.write_state(folder.state_folder(), here)
    connect._access.cache_clear()
    yield running
    connect._access.cache_clear()


Pool = Callable[..., Ran]


@pytest.fixture
def pool(cli: Cli, sandbox: Sandbox) -> Pool:
    """`pool("apply", "-f", ...)` in the sandbox."""

    def run(*words: str) -> Ran:
        return cli("--sandbox", "pool", *words)

    return run


def write(*pools: Any, file: str = "pools.yaml") -> str:
    """The pools as one file of the folder that the command runs in."""
    documents = [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in pools]
    Path(file).write_text(yaml.safe_dump_all(documents), encoding="utf-8")
    return file


def everywhere(**members: Any) -> list[Any]:
    """A pool on each cloud."""
    return [spec(cloud, f"{cloud}pool", **members) for cloud in CLOUDS]


def outcomes(ran: Ran) -> dict[str, str]:
    return {item["name"]: item["outcome"] for item in ran.json()["items"]}


def actions(ran: Ran) -> dict[str, str]:
    return {change["name"]: change["action"] for change in ran.json()["changes"] if change["name"] == change["pool"]}


def test_one_file_for_three_clouds(pool: Pool) -> None:
    file = write(*everywhere())
    assert set(actions(pool("plan", "-f", file, "-o", "json")).values()) == {"create"}
    made = pool("apply", "-f", file, "-o", "json")
    assert (made.code, set(outcomes(made).values())) == (0, {"done"})
    again = pool("apply", "-f", file, "-o", "json")
    assert (again.code, set(outcomes(again).values())) == (0, {"unchanged"})
    quiet = pool("plan", "-f", file, "--detailed-exitcode", "-o", "json")
    assert (quiet.code, set(actions(quiet).values())) == (0, {"no-op"})
    write(*everywhere(labels={"team": "audio"}))
    pending = pool("plan", "-f", file, "--detailed-exitcode", "-o", "json")
    assert (pending.code, set(actions(pending).values())) == (20, {"update"})
    assert pool("plan", "-f", file).code == 0


@pytest.mark.parametrize("cloud", CLOUDS)
def test_what_is_exported_plans_to_nothing(cloud: str, pool: Pool) -> None:
    pool("apply", "-f", write(spec(cloud, tags={"owner": "a"}, taints=["a=b:NoSchedule"], nodes={"min": 0, "max": 3})))
    where = [word for pair in flags(cloud) for word in pair]
    Path("exported.yaml").write_text(pool("export", "gpu", *where).out, encoding="utf-8")
    assert pool("plan", "-f", "exported.yaml", "--detailed-exitcode").code == 0


def flags(cloud: str) -> Iterator[tuple[str, str]]:
    names = {"name": "--cluster", "resourceGroup": "--resource-group"}
    for key, value in CLUSTERS[cloud].items():
        yield names.get(key, f"--{key}"), value


class TestSavedPlans:
    def test_a_promise_is_kept(self, pool: Pool) -> None:
        pool("plan", "-f", write(*everywhere()), "--out", "plan.json")
        assert set(outcomes(pool("apply", "--plan", "plan.json", "-o", "json")).values()) == {"done"}

    def test_a_changed_world_is_refused(self, pool: Pool) -> None:
        file = write(*everywhere())
        pool("plan", "-f", file, "--out", "plan.json")
        pool("apply", "-f", write(spec("gke", "gkepool"), file="one.yaml"))
        ran = pool("apply", "--plan", "plan.json", "-o", "json")
        assert (ran.code, ran.error()["code"]) == (8, "stale-plan")
        assert "gkepool was to create and is now to no-op" in ran.error()["message"]
        assert pool("plan", "-f", file, "--detailed-exitcode").code == 20

    def test_no_body_is_sent_from_a_file(self, pool: Pool) -> None:
        pool("plan", "-f", write(spec("gke")), "--out", "plan.json")
        saved = json.loads(Path("plan.json").read_text("utf-8"))
        saved["changes"][0]["after"]["config"]["machineType"] = "a3-highgpu-8g"
        Path("plan.json").write_text(json.dumps(saved), encoding="utf-8")
        ran = pool("apply", "--plan", "plan.json", "-o", "json")
        assert (ran.code, ran.error()["code"]) == (8, "stale-plan")

    @pytest.mark.parametrize("text", ["", "[]", "{}", '{"kind": "Plan", "apiVersion": "fracgpu/v1"}'])
    def test_what_is_no_plan_is_told(self, text: str, pool: Pool) -> None:
        Path("plan.json").write_text(text, encoding="utf-8")
        assert pool("apply", "--plan", "plan.json").code == 2

    def test_it_says_it_all(self, pool: Pool) -> None:
        ran = pool("apply", "--plan", "plan.json", "--prune", "-o", "json")
        assert (ran.code, ran.error()["code"]) == (2, "conflicting-fields")


class TestFleets:
    def test_prune_deletes_what_the_fleet_no_longer_declares_and_nothing_else(self, pool: Pool) -> None:
        pool("apply", "-f", write(spec("gke", "other")))
        pool("apply", "-f", write(spec("gke", "blue")), "--fleet", "b")
        pool("apply", "-f", write(spec("gke", "old"), spec("gke", "kept")), "--fleet", "a")
        file = write(spec("gke", "kept"))
        assert actions(pool("plan", "-f", file, "--fleet", "a", "--prune", "-o", "json")) == {
            "kept": "no-op",
            "old": "delete",
        }
        refused = pool("apply", "-f", file, "--fleet", "a", "--prune", "-o", "json")
        assert (refused.code, refused.error()["code"]) == (2, "confirmation-required")
        done = pool("apply", "-f", file, "--fleet", "a", "--prune", "--yes", "-o", "json")
        assert outcomes(done) == {"kept": "unchanged", "old": "done"}
        where = [word for pair in flags("gke") for word in pair]
        left = pool("list", *where, "-o", "name").out.split()
        assert sorted(left) == ["nodepool/blue", "nodepool/kept", "nodepool/other"]

    def test_prune_needs_a_fleet(self, pool: Pool) -> None:
        assert pool("apply", "-f", write(spec("gke")), "--prune").code == 2

    def test_a_fleet_has_a_name_that_every_cloud_takes(self, pool: Pool) -> None:
        ran = pool("apply", "-f", write(spec("gke")), "--fleet", "Team A", "-o", "json")
        assert (ran.code, ran.error()["field"]) == (2, "--fleet")


def test_one_failure_stops_nobody(pool: Pool, sandbox: Sandbox) -> None:
    fail(sandbox, "aks", "AgentPools_CreateOrUpdate", outcome="failed", times=1)
    file = write(*everywhere())
    ran = pool("apply", "-f", file, "-o", "json")
    assert ran.code == 10
    assert outcomes(ran) == {"gkepool": "done", "akspool": "failed", "ekspool": "done"}
    assert ran.error()["code"] == "partly-applied"
    again = pool("apply", "-f", file, "-o", "json")
    assert again.code == 10
    assert "--recreate" in next(item["error"]["hint"] for item in again.json()["items"] if item["error"])
    assert pool("apply", "-f", file, "--recreate").code == 2  # asks
    mended = pool("apply", "-f", file, "--recreate", "--yes", "-o", "json")
    assert (mended.code, outcomes(mended)["akspool"]) == (0, "done")


def test_a_cluster_that_is_missing_fails_alone(pool: Pool) -> None:
    file = write(spec("gke"), spec("gke", cluster="missing-one"))
    ran = pool("apply", "-f", file, "-o", "json")
    assert ran.code == 10
    assert sorted(item["outcome"] for item in ran.json()["items"]) == ["done", "failed"]
    assert pool("plan", "-f", file).code == 3


def test_pools_declared_twice_are_refused(pool: Pool) -> None:
    ran = pool("apply", "-f", write(spec("gke"), spec("gke", labels={"a": "b"})), "-o", "json")
    assert (ran.code, ran.error()["code"]) == (2, "conflicting-fields")
    assert ran.error()["file"] == "pools.yaml"
    assert ran.error()["line"] > 1


def test_nothing_is_sent_when_one_document_is_wrong(pool: Pool, sandbox: Sandbox) -> None:
    ran = pool("apply", "-f", write(spec("gke"), spec("eks", machine="p9.large")), "-o", "json")
    assert (ran.code, ran.error()["code"]) == (2, "unknown-machine")
    assert not any("gpu" in cluster.pools for cluster in sandbox.world.clusters.values())


@pytest.mark.parametrize("cloud", CLOUDS)
def test_one_pool_by_flags(cloud: str, pool: Pool) -> None:
    where = [word for pair in flags(cloud) for word in pair]
    said = [*where, "--machine", MACHINES[cloud], "--time-slicing", "4", "--nodes", "1", "--no-verify"]
    assert pool("create", "one", *said).code == 0
    assert "unchanged" in pool("create", "one", *said).out
    different = pool("create", "one", *said, "--label", "a=b", "-o", "json")
    assert (different.code, different.error()["code"]) == (8, "exists-differently")
    assert (
        pool("scale", "one", *where, "--min", "0", "--max", "3", "-o", "json").json()["items"][0]["action"] == "update"
    )
    shown = pool("show", "one", *where, "-o", "json").json()
    assert shown["spec"]["nodes"] == {"count": 1, "min": 0, "max": 3}
    pool("update", "one", *where, "--label", "a=b", "--label", "c=d", "--taint", "x=y:NoSchedule")
    assert pool("update", "one", *where, "--label", "a-", "--taint", "x-").code == 0
    shown = pool("show", "one", *where, "-o", "json").json()
    assert shown["spec"]["labels"] == {"c": "d"}
    assert "taints" not in shown["spec"]
    assert pool("wait", "one", *where).code == 0
    refused = pool("delete", "one", *where, "-o", "json")
    assert (refused.code, refused.error()["code"]) == (2, "confirmation-required")
    assert pool("delete", "one", *where, "--yes").code == 0
    assert pool("delete", "one", *where, "--yes").code == 3
    assert pool("wait", "one", *where, "--for", "deleted").code == 0


def test_what_cannot_change_in_place_names_replace(pool: Pool) -> None:
    where = [word for pair in flags("gke") for word in pair]
    pool("apply", "-f", write(spec("gke")))
    ran = pool("update", "gpu", *where, "--spot", "-o", "json")
    assert (ran.code, ran.error()["code"]) == (8, "immutable-field")
    assert "--replace" in ran.error()["hint"]
    assert pool("update", "gpu", *where, "--spot", "--replace").code == 2
    done = pool("update", "gpu", *where, "--spot", "--replace", "--yes", "-o", "json")
    assert done.json()["items"][0]["action"] == "replace"
    assert pool("show", "gpu", *where, "-o", "json").json()["spec"]["capacity"] == "spot"


def test_a_file_says_what_an_update_makes(pool: Pool) -> None:
    pool("apply", "-f", write(spec("gke", tags={"owner": "a"})))
    ran = pool("update", "-f", write(spec("gke", labels={"team": "audio"})), "-o", "json")
    assert ran.json()["items"][0]["action"] == "update"
    where = [word for pair in flags("gke") for word in pair]
    shown = pool("show", "gpu", *where, "-o", "json").json()["spec"]
    assert (shown["labels"], shown.get("tags")) == ({"team": "audio"}, None)


def test_a_wait_that_is_too_short_says_how_to_go_on(pool: Pool, sandbox: Sandbox) -> None:
    sandbox.world.operation_seconds = 3600
    ran = pool("apply", "-f", write(spec("gke")), "--timeout", "1", "-o", "json")
    assert (ran.code, ran.error()["code"]) == (7, "timeout")
    command = ran.error()["detail"]["waitCommand"]
    assert command.startswith("fracgpu --sandbox pool wait gpu --for ready --provider gke")
    sandbox.advance(3600)
    assert pool(*command.split()[3:]).code == 0


def test_without_waiting_it_is_pending(pool: Pool, sandbox: Sandbox) -> None:
    sandbox.world.operation_seconds = 3600
    ran = pool("apply", "-f", write(*everywhere()), "--no-wait", "-o", "json")
    assert (ran.code, set(outcomes(ran).values())) == (0, {"pending"})


def test_github_is_told(pool: Pool, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    fail(sandbox, "aks", "AgentPools_CreateOrUpdate", outcome="failed", times=1)
    ran = pool("apply", "-f", write(*everywhere()))
    assert "::error title=stock::akspool (prod)" in ran.err or "::error title=quota::akspool (prod)" in ran.err
    assert "| akspool | prod | create | failed |" in Path("summary.md").read_text("utf-8")
    assert [line for line in ran.err.splitlines() if "gkepool created" in line]


def test_thousands_are_planned_offline(cli: Cli) -> None:
    one = "apiVersion: fracgpu/v1\nkind: NodePool\nmetadata: {name: p%s}\nspec: {cluster: {provider: gke, project: p,\n"
    more = " location: us-central1-a, name: c}, machine: g2-standard-4, sharing: {timeSlicing: {replicas: 4}}}\n---\n"
    Path("many.yaml").write_text("".join((one + more) % number for number in range(1500)), encoding="utf-8")
    ran = cli("pool", "plan", "--offline", "-f", "many.yaml", "-o", "json")
    assert ran.code == 0
    assert [change["name"] for change in ran.json()["changes"]] == [f"p{number}" for number in range(1500)]
    lines = {note["line"] for note in ran.json()["notes"] if note["code"] == "gpu-taint-added"}
    assert len(lines) == 1500
    table = cli("pool", "plan", "--offline", "-q", "-f", "many.yaml").out.splitlines()
    assert len(table) == 1501
    assert table[-1] == "Plan: 1500 to create."


WEST: dict[str, dict[str, str]] = {
    "gke": {"location": "us-west1-a"},
    "aks": {"resource_group": "west"},
    "eks": {"name": "west"},
}
ACCOUNTS = {"gke": ("--project", "p"), "aks": ("--subscription", "s"), "eks": ("--region", "us-east-1")}


def in_two_clusters(cloud: str) -> str:
    """A file of a pool in each of two clusters, of one name where the cloud permits it."""
    one = spec(cloud)
    west = one.spec.cluster.model_copy(update=WEST[cloud])
    return write(one, one.model_copy(update={"spec": one.spec.model_copy(update={"cluster": west})}))


@pytest.mark.parametrize("cloud", CLOUDS)
def test_pools_of_every_cluster(pool: Pool, sandbox: Sandbox, cloud: str) -> None:
    assert pool("apply", "-f", in_two_clusters(cloud), "-q").code == 0
    words = ("list", "--all-clusters", "--provider", cloud, *ACCOUNTS[cloud])
    assert len(pool(*words, "-o", "json").json()["items"]) == 2
    lines = pool(*words, "--no-slices").out.splitlines()
    assert lines[0].split()[:2] == ["CLUSTER", "NAME"]
    assert len({line.split()[0] for line in lines[1:]}) == 2
    call = {"gke": "ListNodePools", "aks": "AgentPools_List", "eks": "ListNodegroups"}[cloud]
    fail(sandbox, cloud, call, status=403)
    partly = pool(*words, "-o", "json")
    assert (partly.code, len(partly.json()["items"])) == (10, 1)
    (note,) = [one for one in partly.json()["notes"] if one["code"] == "cluster-not-listed"]
    assert note["detail"]["code"] == "forbidden"
    fail(sandbox, cloud, call, status=403, times=None)
    assert pool(*words).code == 4


@pytest.mark.parametrize(
    ("cloud", "place"), [("gke", ("--location", "us-west1-a")), ("aks", ("--resource-group", "west"))]
)
def test_every_cluster_of_one_place(pool: Pool, cloud: str, place: tuple[str, str]) -> None:
    assert pool("apply", "-f", in_two_clusters(cloud), "-q").code == 0
    ran = pool("list", "--all-clusters", "--provider", cloud, *ACCOUNTS[cloud], *place, "-o", "json")
    (found,) = ran.json()["items"]
    assert place[1] in found["spec"]["cluster"].values()


def test_every_cluster_is_not_one(pool: Pool) -> None:
    refused = pool("list", "--all-clusters", "--provider", "gke", "--cluster", "prod", "-o", "json")
    assert (refused.code, refused.error()["code"]) == (2, "conflicting-fields")


def test_the_account_of_a_cluster_that_the_folder_names(pool: Pool) -> None:
    assert pool("apply", "-f", in_two_clusters("gke"), "-q").code == 0
    Path("fracgpu.yaml").write_text(yaml.safe_dump({"cluster": CLUSTERS["gke"]}), encoding="utf-8")
    assert len(pool("list", "--all-clusters", "-o", "json").json()["items"]) == 2


def test_a_file_of_the_sandbox_goes_to_no_cloud(pool: Pool, cli: Cli) -> None:
    assert pool("create", "gpu", "--provider", "gke", "--machine", MACHINES["gke"], "-q").code == 0
    Path("out.yaml").write_text(pool("export", "gpu", "--provider", "gke").out, encoding="utf-8")
    assert "sandbox: true" in Path("out.yaml").read_text(encoding="utf-8")
    assert pool("plan", "-f", "out.yaml", "--detailed-exitcode").code == 0
    for verb in ("plan", "apply", "create", "update", "verify"):
        ran = cli("pool", verb, "-f", "out.yaml", "-o", "json")
        assert (ran.code, ran.error()["code"], ran.error()["field"]) == (2, "conflicting-fields", "sandbox"), verb
    assert cli("pool", "plan", "-f", "out.yaml", "--offline").code == 0


def test_pools_of_every_cloud(pool: Pool, sandbox: Sandbox) -> None:
    for cloud in CLOUDS:
        assert pool("create", "gpus", "--provider", cloud, "--gpu", "t4", "--yes", "-q").code == 0
    listed = pool("list", "--all-clouds", "-o", "json").json()["items"]
    assert sorted(item["spec"]["cluster"]["provider"] for item in listed) == sorted(CLOUDS)
    refused = pool("list", "--all-clouds", "--provider", "gke", "-o", "json")
    assert (refused.code, refused.error()["code"]) == (2, "conflicting-fields")
    fail(sandbox, "aks", "ManagedClusters_List", status=403, times=None)
    partly = pool("list", "--all-clouds", "-o", "json")
    assert (partly.code, len(partly.json()["items"])) == (10, 2)
    (note,) = [one for one in partly.json()["notes"] if one["code"] == "cloud-not-listed"]
    assert note["detail"]["code"] == "forbidden"


def test_what_changes_is_said_before_it_is_done(pool: Pool) -> None:
    assert pool("create", "gpu", "--provider", "gke", "--machine", MACHINES["gke"], "-q").code == 0
    said = pool("update", "gpu", "--provider", "gke", "--label", "team=a", "--disk-gb", "200").err
    assert "{'team': 'a'}  [in place]" in said
    assert "config.diskSizeGb: 100 -> 200  [in place, nodes are recycled]" in said
    assert "moves their pods" in said
    assert "moves their pods" not in pool("scale", "gpu", "--provider", "gke", "--nodes", "2").err


def test_a_pool_that_differs_names_the_verb_for_flags(pool: Pool) -> None:
    words = ("gpu", "--provider", "gke", "--machine", MACHINES["gke"])
    assert pool("create", *words, "-q").code == 0
    ran = pool("create", *words, "--label", "a=b", "-o", "json")
    assert (ran.code, ran.error()["code"]) == (8, "exists-differently")
    assert "fracgpu pool update gpu" in ran.error()["hint"]


def test_words_for_what_was_waited_for_and_for_what_was_not_seen(pool: Pool) -> None:
    gke = ("--provider", "gke")
    assert pool("create", "gpu", *gke, "--machine", MACHINES["gke"], "--mig", "1g.5gb", "-q").code == 2
    assert pool("create", "gpu", *gke, "--machine", MACHINES["gke"], "-q").code == 0
    assert "nodepool/gpu ready" in pool("wait", "gpu", *gke).out
    assert "nodepool/gpu verified" in pool("wait", "gpu", *gke, "--for", "verified").out
    assert pool("scale", "gpu", *gke, "--nodes", "0", "-q").code == 0
    assert "nothing is proven" in pool("verify", "gpu", *gke, "-q").out
