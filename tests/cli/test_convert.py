"""`convert` and `render`: other tools' commands, read and written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from fracgpu.manifest import read
from tests.cli.conftest import Cli

AZ = ["az", "aks", "nodepool", "add", "-g", "rg", "--cluster-name", "c", "-n", "a", "-s", "Standard_NC24ads_A100_v4"]
AZ += ["-c", "1", "--gpu-instance-profile", "MIG1g", "--ppg", "near", "--verbose"]


@pytest.mark.parametrize("how", ["words", "no dashes", "one line", "standard input"])
def test_a_command_is_taken_as_words_as_a_line_and_from_standard_input(how: str, cli: Cli) -> None:
    line = " \\\n  ".join(AZ)
    match how:
        case "words":
            ran = cli("convert", "--", *AZ)
        case "no dashes":
            ran = cli("convert", *AZ)
        case "one line":
            ran = cli("convert", line)
        case _:
            ran = cli("convert", "-", given=line + "\n")
    assert ran.code == 0, ran.err
    (document,) = read(ran.out, "converted.yaml")
    assert document.pool.metadata.name == "a"
    assert document.pool.spec.machine == "Standard_NC24ads_A100_v4"


def test_notes_are_beside_the_answer_and_warnings_come_through_quiet(cli: Cli) -> None:
    ran = cli("convert", "--", *AZ)
    assert "flag-converted: --gpu-instance-profile MIG1g -> sharing.mig.profile: 1g.10gb" in ran.err
    quiet = cli("-q", "convert", "--", *AZ)
    assert quiet.out == ran.out
    assert "flag-converted" not in quiet.err
    assert "--ppg near: the file form cannot say a proximity placement group" in quiet.err


def test_as_json_the_notes_are_in_the_document(cli: Cli) -> None:
    ran = cli("convert", "-o", "json", "--", *AZ)
    body = ran.json()
    assert (body["kind"], body["spec"]["sharing"], ran.err) == ("NodePool", {"mig": {"profile": "1g.10gb"}}, "")
    assert {note["code"] for note in body["notes"]} >= {"flag-converted", "flag-left-out", "not-in-file-form"}


def test_by_name(cli: Cli) -> None:
    assert cli("convert", "-o", "name", "--", *AZ).out == "nodepool/a\n"


def test_what_is_converted_can_be_planned(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "pool.yaml").write_text(cli("convert", "--", *AZ).out, encoding="utf-8")
    plan = cli("pool", "create", "-f", "pool.yaml", "--dry-run", "-o", "json").json()
    assert plan["changes"][0]["after"]["properties"]["gpuInstanceProfile"] == "MIG1g"


def test_an_unknown_flag_is_named(cli: Cli) -> None:
    error = cli("convert", "-o", "json", "--", *AZ, "--node-cont", "3").error()
    assert (error["code"], error["field"], error["nearest"][0]) == ("usage", "--node-cont", "--node-count")


class TestRender:
    @pytest.mark.parametrize(
        ("form", "start"),
        [
            ("az", "az aks nodepool add"),
            ("gcloud", "gcloud container node-pools create"),
            ("aws", "aws ec2 create-launch-template"),
            ("eksctl", "apiVersion: eksctl.io/v1alpha5"),
        ],
    )
    def test_a_form_says_which_cloud_is_meant(self, form: str, start: str, cli: Cli) -> None:
        ran = cli("pool", "render", "--as", form, "--mig", "1g.5gb")
        assert ran.code == 0, ran.err
        assert ran.out.startswith(start)

    @pytest.mark.parametrize(("form", "warned"), [("terraform", True), ("karpenter", True), ("aws", False)])
    def test_texts_that_do_not_go_together_are_told(self, form: str, warned: bool, cli: Cli, tmp_path: Path) -> None:
        pool = {"apiVersion": "fracgpu/v1", "kind": "NodePool", "metadata": {"name": "gpus"}}
        specs = [{"machine": "g5.xlarge", "cluster": {"provider": "eks", "name": name}} for name in ("a", "b")]
        (tmp_path / "pools.yaml").write_text(yaml.safe_dump_all({**pool, "spec": spec} for spec in specs))
        notes = cli("pool", "render", "--as", form, "-f", "pools.yaml", "-o", "json").json()["notes"]
        assert [note["level"] for note in notes if note["field"] == "metadata.name" and note["level"] == "warning"] == [
            "warning"
        ] * warned

    def test_what_a_form_cannot_say_is_an_error_where_warnings_are(self, cli: Cli) -> None:
        words = ("pool", "render", "--as", "aws", "--provider", "eks", "--machine", "g5.xlarge")
        ran = cli(*words, "--strict", "-o", "json")
        assert (ran.code, ran.error()["code"]) == (2, "warnings-as-errors")
        whole = ("--set", "eks.subnets=subnet-1", "--set", "eks.nodeRole=arn:aws:iam::111122223333:role/nodes")
        assert cli(*words, *whole, "--strict").code == 0

    @pytest.mark.parametrize("provider", ["aks", "gke", "eks"])
    def test_terraform_is_for_all(self, provider: str, cli: Cli) -> None:
        ran = cli("pool", "render", "--as", "terraform", "--provider", provider, "--mig", "1g.5gb")
        assert (ran.code, ran.out[:9]) == (0, "resource ")

    @pytest.mark.parametrize(
        ("words", "left"),
        [
            (("terraform", "--provider", "aks"), ["name", "resourceGroup", "subscription"]),
            (("gcloud", "--provider", "gke", "--cluster", "prod"), ["location"]),
            (("eksctl", "--provider", "eks", "--cluster", "prod"), ["region"]),
            (("aws", "--provider", "eks", "--cluster", "prod"), []),
        ],
    )
    def test_a_cluster_that_is_left_open_is_told(self, words: tuple[str, ...], left: list[str], cli: Cli) -> None:
        notes = cli("pool", "render", "--mig", "1g.5gb", "-o", "json", "--as", *words).json()["notes"]
        told = [note["message"] for note in notes if (note["field"] or "").startswith("spec.cluster")]
        assert [all(f"cluster.{name}" in message for name in left) for message in told] == [True] * bool(left)

    @pytest.mark.parametrize(
        ("form", "provider", "right"),
        [("az", "gke", "gcloud"), ("gcloud", "aks", "az"), ("eksctl", "gke", "gcloud"), ("aws", "aks", "terraform")],
    )
    def test_a_form_of_another_cloud_is_refused_with_the_right_ones(
        self, form: str, provider: str, right: str, cli: Cli
    ) -> None:
        ran = cli("pool", "render", "--as", form, "--provider", provider, "--mig", "1g.5gb", "-o", "json")
        error = ran.error()
        assert (ran.code, error["code"], error["field"]) == (2, "usage", "--as")
        assert right in error["nearest"]
        assert f"--as {right}" in error["hint"]

    def test_a_context_of_another_cloud_is_passed_over(self, cli: Cli, home: Path) -> None:
        config = home / ".kube" / "config"
        config.parent.mkdir()
        context = {"name": "now", "context": {"cluster": "arn:aws:eks:r:1:cluster/prod"}}
        config.write_text(yaml.safe_dump({"current-context": "now", "contexts": [context]}), encoding="utf-8")
        assert "--cluster-name CLUSTER" in cli("pool", "render", "--as", "az", "--mig", "1g.5gb").out

    def test_all_pools_of_a_file_are_rendered(self, cli: Cli, tmp_path: Path) -> None:
        pool = (
            "apiVersion: fracgpu/v1\nkind: NodePool\nmetadata: {name: %s}\nspec: {gpu: l4, cluster: {provider: gke}}\n"
        )
        (tmp_path / "pools.yaml").write_text("---\n".join((pool % "one", pool % "two")), encoding="utf-8")
        ran = cli("pool", "render", "--as", "gcloud", "-f", "pools.yaml")
        assert [line.split()[4] for line in ran.out.splitlines() if line.startswith("gcloud")] == ["one", "two"]

    def test_as_json_it_is_a_document(self, cli: Cli) -> None:
        body = cli("pool", "render", "--as", "gcloud", "--gpu", "l4", "-o", "json").json()
        assert (body["kind"], body["form"]) == ("Rendering", "gcloud")
        assert body["text"].startswith("gcloud")
        assert all({"code", "level", "message"} <= note.keys() for note in body["notes"])

    def test_what_is_rendered_can_be_converted_back(self, cli: Cli) -> None:
        flags = ("--provider", "gke", "--machine", "a2-highgpu-1g", "--mig", "1g.5gb", "--time-slicing", "2", "--spot")
        line = cli("pool", "render", "--as", "gcloud", *flags).out
        spec = json.loads(cli("convert", "-o", "json", "-", given=line).out)["spec"]
        assert spec["sharing"] == {"mig": {"profile": "1g.5gb"}, "timeSlicing": {"replicas": 2}}
        assert (spec["capacity"], spec["machine"]) == ("spot", "a2-highgpu-1g")
