"""Which cluster is meant: the sources, in their order, and what no folder may decide."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from fracgpu.cli.cluster_sources import SANDBOX_CLUSTERS, cluster_of
from fracgpu.cli.endpoints import access
from fracgpu.cli.globals import GLOBALS
from fracgpu.cli.kubectl_context import named
from fracgpu.errors import Invalid
from fracgpu.spec import Cluster
from tests.cli.conftest import Cli

ARN = "arn:aws:eks:eu-west-1:111122223333:cluster/prod"
POOL = ("pool", "create", "--mig", "1g.5gb", "--machine")


def kubeconfig(cluster: str, user: str = "u", context: str = "now") -> dict[str, Any]:
    contexts = [{"name": "other", "context": {}}, {"name": context, "context": {"cluster": cluster, "user": user}}]
    return {"apiVersion": "v1", "kind": "Config", "current-context": context, "contexts": contexts}


@pytest.fixture
def write(home: Path, tmp_path: Path) -> Callable[[str, Any], Path]:
    """Writes YAML: `folder` is fracgpu.yaml here, `user` the user's own file, `kubectl` the usual kubeconfig."""
    places = {
        "folder": tmp_path / "fracgpu.yaml",
        "user": home / ".config" / "fracgpu" / "config.yaml",
        "kubectl": home / ".kube" / "config",
    }

    def _write(place: str, value: Any) -> Path:
        path = places.get(place, tmp_path / place)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else yaml.safe_dump(value), encoding="utf-8")
        return path

    return _write


def used(cli: Cli) -> tuple[str, dict[str, str]]:
    """The source that counts, and its cluster."""
    item = cli("config", "show", "-o", "json").json()["items"][0]
    return item["source"], item["cluster"]


def test_every_source_counts_before_those_after_it(
    cli: Cli, write: Callable[[str, Any], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("config", "show", "-o", "json").json()["items"] == []
    write("kubectl", kubeconfig("gke_p_l_k"))
    assert used(cli)[0] == "kubectl context"
    user = write("user", {"cluster": {"provider": "gke", "name": "u"}})
    assert used(cli) == (str(user), {"provider": "gke", "name": "u"})
    write("folder", {"cluster": {"provider": "aks", "name": "f", "resourceGroup": "rg"}})
    assert used(cli)[0] == "./fracgpu.yaml"
    monkeypatch.setenv("FRACGPU_PROVIDER", "aws")
    monkeypatch.setenv("FRACGPU_CLUSTER", "e")
    assert used(cli) == ("environment", {"provider": "eks", "name": "e"})
    plan = cli(
        *POOL,
        "a2-highgpu-1g",
        "--provider",
        "gke",
        "--cluster",
        "c",
        "--location",
        "us-central1",
        "--dry-run",
        "-o",
        "json",
    )
    assert plan.json()["changes"][0]["cluster"] == {"provider": "gke", "name": "c", "location": "us-central1"}
    rows = cli("config", "show").out.splitlines()
    assert rows[0].split() == ["KEY", "VALUE", "FROM", "USED"]
    assert [row.split()[0] for row in rows[1:]].count("name") == 4


def test_the_whole_of_a_cluster_comes_from_one_source(cli: Cli, write: Callable[[str, Any], Path]) -> None:
    write("folder", {"cluster": {"provider": "aks", "name": "f", "resourceGroup": "rg"}})
    ran = cli(*POOL, "p4d.24xlarge", "--provider", "aks", "--cluster", "c", "--dry-run", "-o", "json")
    assert ran.error()["field"] == "spec.cluster.resourceGroup"


def test_a_file_names_its_own_cluster_or_leaves_it_open(cli: Cli, write: Callable[[str, Any], Path]) -> None:
    pool = {"apiVersion": "fracgpu/v1", "kind": "NodePool", "spec": {"machine": "a2-highgpu-1g"}}
    write("folder", {"cluster": {"provider": "gke", "name": "f", "location": "us-central1"}})
    write("pool.yaml", pool)
    plan = cli("pool", "create", "-f", "pool.yaml", "--dry-run", "-o", "json").json()
    assert plan["changes"][0]["cluster"]["name"] == "f"
    own = {"provider": "gke", "name": "own", "location": "europe-west4"}
    write("pool.yaml", {**pool, "spec": {**pool["spec"], "cluster": own}})  # type: ignore[dict-item]
    plan = cli("pool", "create", "-f", "pool.yaml", "--dry-run", "-o", "json").json()
    assert plan["changes"][0]["cluster"] == own


def test_without_any_the_flag_and_the_sandbox_are_named(cli: Cli) -> None:
    ran = cli("pool", "create", "--mig", "1g.5gb", "--dry-run", "-o", "json")
    assert (ran.code, ran.error()["code"]) == (2, "missing-field")
    assert "--provider" in ran.error()["hint"]
    assert "--sandbox" in ran.error()["hint"]


class TestFiles:
    @pytest.mark.parametrize("how", ["flag", "variable"])
    def test_the_users_file_may_be_somewhere_else(
        self, how: str, cli: Cli, write: Callable[[str, Any], Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = write("mine.yaml", {"cluster": {"provider": "eks", "name": "m"}})
        words = ["--config", str(path)] if how == "flag" else []
        monkeypatch.setenv("FRACGPU_CONFIG", str(path) if how == "variable" else "")
        assert cli(*words, "config", "show", "-o", "json").json()["items"][0]["cluster"]["name"] == "m"

    def test_a_file_that_was_named_and_is_not_there_is_an_error(self, cli: Cli) -> None:
        assert cli("config", "show", "--config", "nowhere.yaml").code == 2
        assert cli("config", "show", "--config").code == 2

    @pytest.mark.parametrize("text", ["- a", "cluster: prod", "cluster: {provider: azur}", "a: [", "cluster: {nam: x}"])
    def test_what_cannot_be_understood_is_an_error_that_names_the_file(
        self, text: str, cli: Cli, write: Callable[[str, Any], Path]
    ) -> None:
        write("folder", text)
        ran = cli("config", "show")
        assert ran.code == 2
        assert "fracgpu.yaml" in ran.err

    @pytest.mark.parametrize(
        ("text", "field", "nearest"),
        [
            ("cluster: {provider: azur}", "cluster.provider", ["aks", "gke", "eks"]),
            ("cluster: {nam: x}", "cluster.nam", ["name"]),
            ("cluster: {name: 1}", "cluster.name", []),
        ],
    )
    def test_a_mistake_in_the_cluster_has_its_field_and_what_would_be_right(
        self, text: str, field: str, nearest: list[str], cli: Cli, write: Callable[[str, Any], Path]
    ) -> None:
        write("folder", text)
        error = cli("config", "show", "-o", "json").error()
        assert (error["field"], error["nearest"]) == (field, nearest)

    @pytest.mark.parametrize("text", ["a: 2024-99-01", "a: " + "[" * 900 + "]" * 900, "a: {b: 1, b: 2}", "a: \0"])
    def test_what_is_no_yaml_is_placed(self, text: str, cli: Cli, write: Callable[[str, Any], Path]) -> None:
        write("folder", text)
        error = cli("config", "show", "-o", "json").error()
        assert (error["code"], error["file"], error["line"]) == ("invalid-value", "fracgpu.yaml", 1)

    def test_a_key_that_resembles_one_is_not_passed_over_in_silence(
        self, cli: Cli, write: Callable[[str, Any], Path]
    ) -> None:
        write("folder", {"clutser": {"provider": "gke"}})
        assert "did you mean cluster?" in cli("config", "show").err

    @pytest.mark.parametrize("name", ["nowhere.yaml", ".", "x" * 5000])
    def test_a_file_named_in_the_environment_has_to_be_there_too(
        self, name: str, cli: Cli, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("FRACGPU_CONFIG", name)
        error = cli("config", "show", "-o", "json").error()
        assert (error["exitCode"], error["field"]) == (2, "FRACGPU_CONFIG")

    def test_nothing_may_be_named(self, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("FRACGPU_CONFIG", os.devnull)
        assert cli("config", "show").code == 0

    def test_the_folder_one_stands_in_is_never_the_users_own(
        self, cli: Cli, write: Callable[[str, Any], Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write("fracgpu/config.yaml", {"endpoints": OTHER})
        monkeypatch.setenv("XDG_CONFIG_HOME", ".")
        assert cli("config", "show").code == 0
        assert access().azure_endpoint is None

    def test_nobody_needs_a_home(self, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", "~")  # what is left of a user whom the machine does not know
        assert cli("config", "show").code == 0
        assert cli("pool", "explain", "--provider", "gke", "--mig", "1g.5gb").code == 0

    def test_a_node_pool_of_that_name_is_no_setting(self, cli: Cli, write: Callable[[str, Any], Path]) -> None:
        write("folder", {"apiVersion": "fracgpu/v1", "kind": "NodePool", "spec": {"cluster": {"provider": "gke"}}})
        assert cli("config", "show", "-o", "json").json()["items"] == []


OTHER = {"azureEndpoint": "https://evil.example", "awsEndpoint": "https://evil.example"}


class TestEndpoints:
    """Who sets an endpoint receives the token: only the user's own file may."""

    def test_the_file_of_a_folder_sets_none(self, cli: Cli, write: Callable[[str, Any], Path]) -> None:
        write("folder", {"cluster": {"provider": "eks", "name": "c"}, "endpoints": OTHER})
        ran = cli("config", "show")
        assert "not read" in ran.err
        assert access().azure_endpoint is None
        assert access().aws_endpoint is None

    def test_the_users_own_file_does(self, cli: Cli, write: Callable[[str, Any], Path]) -> None:
        write("user", {"endpoints": {"azureEndpoint": "https://management.chinacloudapi.cn"}})
        assert cli("config", "show").code == 0
        assert access().azure_endpoint == "https://management.chinacloudapi.cn"

    @pytest.mark.parametrize(
        ("endpoints", "code"),
        [
            ({"azureEndpont": "https://a"}, "unknown-key"),
            ({"awsEndpoint": 1}, "invalid-value"),
            (["a"], "invalid-value"),
        ],
    )
    def test_what_is_no_endpoint_is_an_error(
        self, endpoints: Any, code: str, cli: Cli, write: Callable[[str, Any], Path]
    ) -> None:
        write("user", {"endpoints": endpoints})
        cli("config", "show")
        with pytest.raises(Invalid) as caught:
            access()
        assert caught.value.code == code


class TestSandbox:
    def test_with_nothing_said_it_is_gke(self, cli: Cli) -> None:
        plan = cli("--sandbox", "pool", "create", "--mig", "1g.5gb", "--dry-run", "-o", "json").json()
        assert plan["sandbox"] is True
        assert plan["changes"][0]["cluster"] == {"provider": "gke", **SANDBOX_CLUSTERS["gke"]}

    @pytest.mark.parametrize(
        ("flags", "cluster"),
        [
            ({"provider": "aks"}, {"name": "sandbox", "resource_group": "sandbox"}),
            ({"provider": "aks", "name": "mine"}, {"name": "mine", "resource_group": "sandbox"}),
            ({"provider": "gke", "location": "europe-west4-a"}, {"name": "sandbox", "location": "europe-west4-a"}),
            ({"provider": "eks"}, {"name": "sandbox", "region": "us-east-1"}),
            ({"name": "mine"}, {"provider": "gke", "name": "mine", "location": "us-central1"}),
            ({"name": "mine", "region": "us-west-2"}, {"provider": "eks", "name": "mine"}),
            ({"resource_group": "g"}, {"provider": "aks", "name": "sandbox"}),
        ],
    )
    def test_what_is_left_open_is_as_the_sandbox_has_it(
        self, flags: dict[str, str], cluster: dict[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(GLOBALS, "sandbox", True)
        found = cluster_of(Cluster.model_validate(flags)).cluster.model_dump()
        assert {name: found[name] for name in cluster} == cluster

    def test_it_is_not_asked_whether_the_kubectl_context_is_meant(
        self, cli: Cli, write: Callable[[str, Any], Path]
    ) -> None:
        write("kubectl", kubeconfig(ARN))
        plan = cli("--sandbox", "pool", "create", "--mig", "1g.5gb", "--dry-run", "-o", "json").json()
        assert plan["changes"][0]["cluster"]["provider"] == "gke"


class TestKubectl:
    @pytest.mark.parametrize(
        ("cluster", "user", "found"),
        [
            (
                "gke_my-p_us-central1_prod_1",
                "u",
                {"provider": "gke", "project": "my-p", "location": "us-central1", "name": "prod_1"},
            ),
            (ARN, "u", {"provider": "eks", "region": "eu-west-1", "name": "prod"}),
            ("arn:aws-cn:eks:cn-north-1:1:cluster/a", "u", {"provider": "eks", "region": "cn-north-1", "name": "a"}),
            ("prod.us-east-1.eksctl.io", "u", {"provider": "eks", "region": "us-east-1", "name": "prod"}),
            ("prod", "clusterUser_rg_1_prod", {"provider": "aks", "resource_group": "rg_1", "name": "prod"}),
            ("a_b", "clusterAdmin_rg_a_b", {"provider": "aks", "resource_group": "rg", "name": "a_b"}),
        ],
    )
    def test_the_names_that_the_clouds_own_tools_write_tell_the_cluster(
        self, cluster: str, user: str, found: dict[str, str]
    ) -> None:
        seen = named(cluster, user)
        assert seen is not None
        assert seen.model_dump(exclude_none=True) == found

    @pytest.mark.parametrize(
        ("cluster", "user"),
        [("kind-kind", "kind-kind"), ("prod", "me"), ("prod", "clusterUser__prod"), ("gke_p_l_\x1b[31m", "u")],
    )
    def test_other_names_tell_nothing(self, cluster: str, user: str) -> None:
        assert named(cluster, user) is None

    def test_a_guess_needs_consent_where_nobody_can_be_asked(self, cli: Cli, write: Callable[[str, Any], Path]) -> None:
        write("kubectl", kubeconfig("gke_p_us-central1_prod"))
        for words in ((*POOL, "a2-highgpu-1g"), ("pool", "list"), ("pool", "delete", "a")):
            ran = cli(*words, "-o", "json")
            assert (ran.code, ran.error()["code"]) == (2, "confirmation-required"), words
            assert "prod" in ran.error()["message"]
            assert "--yes" in ran.error()["hint"]

    def test_files_that_name_no_cluster_are_no_exception(self, cli: Cli, write: Callable[[str, Any], Path]) -> None:
        """Nothing is sent to a cluster that nobody named; a plan asks nobody, and says it."""
        write("kubectl", kubeconfig("gke_p_us-central1_prod"))
        pool = {"apiVersion": "fracgpu/v1", "kind": "NodePool", "metadata": {"name": "a"}}
        file = str(write("pool.yaml", {**pool, "spec": {"machine": "a2-highgpu-1g"}}))
        for verb in ("apply", "update", "verify"):
            ran = cli("pool", verb, "-f", file, "-o", "json")
            assert (ran.code, ran.error()["code"]) == (2, "confirmation-required"), verb
            assert "prod" in ran.error()["message"]
        notes = cli("pool", "plan", "-f", file, "--offline", "-o", "json").json()["notes"]
        assert [note["message"].endswith("gke cluster prod") for note in notes if note["code"] == "cluster-guessed"]

    def test_a_dry_run_never_asks(self, cli: Cli, write: Callable[[str, Any], Path]) -> None:
        write("kubectl", kubeconfig("gke_p_us-central1_prod"))
        plan = cli(*POOL, "a2-highgpu-1g", "--dry-run", "-o", "json").json()
        assert plan["changes"][0]["cluster"]["project"] == "p"

    def test_several_files_are_one_and_the_first_that_says_counts(
        self, cli: Cli, write: Callable[[str, Any], Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        one = write("one", {"contexts": kubeconfig("gke_p_l_first")["contexts"]})
        two = write("two", kubeconfig("gke_p_l_second"))
        monkeypatch.setenv("KUBECONFIG", f"{one}:/nowhere:{two}")
        assert used(cli)[1]["name"] == "first"

    @pytest.mark.parametrize(
        "text",
        [
            "a: [",
            "- a",
            "contexts: 3\ncurrent-context: now\n",
            "contexts: [1, {name: now}]",
            "a: 2024-99-01",
            "contexts: [{name: now, context: word}]\ncurrent-context: now\n",
            "contexts: [{name: now, context: {cluster: 'gke_ _ _ '}}]\ncurrent-context: now\n",
        ],
    )
    def test_a_broken_kubeconfig_is_no_source(self, text: str, cli: Cli, write: Callable[[str, Any], Path]) -> None:
        write("kubectl", text)
        assert cli("config", "show", "-o", "json").json()["items"] == []
