"""What stands on stdout: one document with -o json, a table that is not cut, names for xargs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from fracgpu.cli.duration import seconds
from fracgpu.errors import INVALID_CODES, Invalid
from tests.cli.conftest import Cli

GKE = ("--provider", "gke", "--project", "p", "--location", "us-central1", "--cluster", "c")
DOCUMENTS: dict[str, tuple[str, ...]] = {
    "Plan": ("pool", "create", *GKE, "--mig", "1g.5gb", "--dry-run"),
    "Explanation": ("pool", "explain", "--provider", "eks", "--machine", "p4d.24xlarge", "--mig", "1g.5gb"),
    "Rendering": ("pool", "render", "--as", "gcloud", "--gpu", "l4"),
    "GpuList": ("catalog", "gpus"),
    "ProfileList": ("catalog", "profiles", "--gpu", "a100-40gb"),
    "MachineList": ("catalog", "machines", "--provider", "aks", "--mig", "1g.10gb"),
    "LayoutList": ("catalog", "layouts", "--gpu", "a30-24gb"),
    "Config": ("config", "show"),
}


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_json_and_yaml_are_one_document_with_a_head(kind: str, cli: Cli) -> None:
    ran = cli(*DOCUMENTS[kind], "-o", "json")
    body = ran.json()
    assert list(body)[:2] == ["apiVersion", "kind"]
    assert (ran.code, body["apiVersion"], body["kind"]) == (0, "fracgpu/v1", kind)
    assert yaml.safe_load(cli(*DOCUMENTS[kind], "-o", "yaml").out) == body


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_notes_never_stand_between_the_lines_of_an_answer(kind: str, cli: Cli) -> None:
    table = cli(*DOCUMENTS[kind])
    assert table.code == 0
    assert not any(line.startswith(("note ", "warning ", "  hint:")) for line in table.out.splitlines())
    assert cli("-q", *DOCUMENTS[kind]).out == table.out


NAMES = {
    "Plan": {"nodepool/mig1g5gb"},
    "Explanation": {"nodepool/mig1g5gb"},
    "GpuList": {"a100-40gb", "t4-16gb"},
    "ProfileList": {"a100-40gb/1g.5gb"},
    "MachineList": {"Standard_NC24ads_A100_v4"},
    "LayoutList": {"2g.12gb=2"},
}


@pytest.mark.parametrize("kind", NAMES)
def test_names_stand_alone_one_a_line(kind: str, cli: Cli) -> None:
    lines = cli(*DOCUMENTS[kind], "-o", "name").out.splitlines()
    assert set(lines) >= NAMES[kind]
    assert all(" " not in line for line in lines)


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_a_picture_is_drawn_where_there_is_one_and_refused_where_not(kind: str, cli: Cli) -> None:
    ran = cli(*DOCUMENTS[kind], "-o", "svg")
    if kind in ("Explanation", "ProfileList", "LayoutList"):
        assert (ran.code, ran.out[:4]) == (0, "<svg")
    else:
        assert (ran.code, ran.out) == (2, "")
        assert "no picture" in ran.err


def test_a_table_is_not_cut_where_it_is_piped(cli: Cli) -> None:
    rows = cli("catalog", "machines").out.splitlines()
    names = [item["name"] for item in cli("catalog", "machines", "-o", "json").json()["items"]]
    assert [row.split()[1] for row in rows[1:]] == names


class TestPlan:
    def test_it_has_the_body_that_the_cloud_gets(self, cli: Cli) -> None:
        (change,) = cli(*DOCUMENTS["Plan"], "-o", "json").json()["changes"]
        assert (change["action"], change["resource"], change["pool"]) == ("create", "gke.nodePool", "mig1g5gb")
        assert change["before"] is None
        assert change["after"]["config"]["accelerators"][0]["gpuPartitionSize"] == "1g.5gb"
        assert change["cluster"] == {"provider": "gke", "name": "c", "project": "p", "location": "us-central1"}

    def test_a_person_reads_every_default_in_it(self, cli: Cli) -> None:
        text = cli(*DOCUMENTS["Plan"]).out
        assert text.startswith("+ create gke.nodePool mig1g5gb\n")
        assert "autoRepair: true" in text
        assert text.endswith("Plan: 1 to create.\n")

    def test_warnings_fail_where_that_was_asked_for(self, cli: Cli) -> None:
        error = cli(*DOCUMENTS["Plan"], "--strict", "-o", "json").error()
        assert [one["code"] for one in error["errors"]] == ["warnings-as-errors", "zones-unknown"]
        assert cli(*DOCUMENTS["Plan"], "--strict", "--zone", "us-central1-a").code == 0


class TestExplanation:
    def test_it_says_what_interface_promises(self, cli: Cli) -> None:
        body = cli(*DOCUMENTS["Explanation"], "-o", "json").json()
        assert (body["gpusPerNode"], body["slicesPerGpu"], body["sharesPerSlice"]) == (8, 7, 1)
        assert body["perNode"]["resources"] == {"nvidia.com/gpu": 56}
        assert body["pod"]["resource"] == "nvidia.com/gpu"

    def test_wide_draws_the_gpus(self, cli: Cli) -> None:
        words = ("pool", "explain", "--provider", "eks", "--machine", "p4d.24xlarge")
        assert "3g.20gb" in cli(*words, "--mig", "3g.20gb=1,1g.5gb=4", "-o", "wide").out.split("compute", 2)[2]
        assert cli(*words, "--time-slicing", "2", "-o", "wide") == cli(*words, "--time-slicing", "2")


def test_a_note_on_many_pools_is_said_once_with_its_places(cli: Cli) -> None:
    head = "apiVersion: fracgpu/v1\nkind: NodePool\nmetadata: {{name: p{}}}\n"
    pool = head + "spec: {{cluster: {{provider: eks, name: c}}, gpu: t4}}"
    Path("pools.yaml").write_text("\n---\n".join(pool.format(number) for number in range(9)), encoding="utf-8")
    ran = cli("pool", "plan", "--offline", "-f", "pools.yaml")
    assert ran.err.count("gpu-taint-added") == 1
    assert "also: pools.yaml:9:1, pools.yaml:14:1, pools.yaml:19:1, pools.yaml:24:1 and 4 more" in ran.err
    notes = cli("pool", "plan", "--offline", "-f", "pools.yaml", "-o", "json").json()["notes"]
    assert [note["code"] for note in notes].count("gpu-taint-added") == 9


class TestErrors:
    @pytest.mark.parametrize(
        ("words", "code", "field"),
        [
            (("pool", "create", *GKE, "--gpu", "a1000", "--dry-run"), "unknown-gpu", "spec.gpu"),
            (
                ("pool", "explain", "--provider", "gke", "--gpu", "l4", "--mig", "1g.5gb"),
                "gpu-not-mig-capable",
                "spec.sharing.mig",
            ),
            (("catalog", "profiles", "--gpu", "a1000"), "unknown-gpu", "--gpu"),
            (("catalog", "machines", "--mig", "tiny"), "unknown-profile", "--mig"),
            (("catalog", "machines", "--mig", "9g.9gb"), "unknown-profile", "--mig"),
            (("catalog", "machines", "--provider", "oracle"), "invalid-value", "--provider"),
            (("catalog", "layouts", "--gpu", "t4"), "gpu-not-mig-capable", "--gpu"),
            (("pool", "explain", "-f", "nowhere.yaml"), "usage", "-f"),
        ],
    )
    def test_an_error_is_one_document_on_stderr(self, words: tuple[str, ...], code: str, field: str, cli: Cli) -> None:
        ran = cli(*words, "-o", "json")
        error = json.loads(ran.err)
        assert (ran.code, ran.out) == (2, "")
        assert (error["kind"], error["code"], error["exitCode"], error["field"]) == ("Error", code, 2, field)
        assert error["code"] in INVALID_CODES
        assert error["errors"][0]["message"] == error["message"]
        assert error["nearest"] or error["hint"] or code == "usage"

    def test_a_person_reads_it_with_the_next_step(self, cli: Cli) -> None:
        err = cli("pool", "explain", "--provider", "gke", "--machine", "a2-highgpu-1g", "--mig", "1g.6gb").err
        assert err.startswith("error profile-not-on-gpu: NVIDIA A100 40GB has no profile 1g.6gb")
        assert "hint: --mig 1g.5gb" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("profiles", "--gpu", "l4"), "NVIDIA L4 cannot be cut by MIG"),
        (("machines", "--gpu", "l4", "--provider", "aks"), "--provider gke"),
        (("machines", "--gpu", "a100-80gb", "--mig", "1g.5gb"), "nearest: 1g.10gb"),
    ],
)
def test_an_empty_list_says_why_on_stderr(words: tuple[str, ...], said: str, cli: Cli) -> None:
    ran = cli("catalog", *words, "-o", "json")
    assert (ran.code, ran.json()["items"]) == (0, [])
    assert "warning nothing-found" in ran.err
    assert said in ran.err


@pytest.mark.parametrize(
    ("text", "length"), [("90s", 90), ("45m", 2700), ("1h30m", 5400), ("600", 600), ("0.5h", 1800), ("0", 0)]
)
def test_lengths_of_time(text: str, length: float) -> None:
    assert seconds(text) == length


@pytest.mark.parametrize("text", ["", "m", "5d", "1m30", "-5m", "5 m", "1.2.3s"])
def test_what_is_no_length_of_time(text: str) -> None:
    with pytest.raises(Invalid) as caught:
        seconds(text)
    assert (caught.value.code, caught.value.field) == ("invalid-value", "--timeout")


def test_the_schema_takes_what_is_exported_and_refuses_what_is_misspelt(cli: Cli) -> None:
    import jsonschema

    validator = jsonschema.Draft202012Validator(cli("schema").json())
    document: dict[str, Any] = json.loads(
        cli("convert", "-o", "json", "gcloud container node-pools create a -m g2-standard-4").out
    )
    document.pop("notes")
    assert list(validator.iter_errors(document)) == []
    document["spec"]["machin"] = "x"
    assert [error.message for error in validator.iter_errors(document)]


@pytest.mark.parametrize(("flags", "code"), [(["--dry-run"], 20), ([], 2)])
def test_a_dry_run_tells_by_its_exit_code_that_there_is_something_to_make(
    flags: list[str], code: int, cli: Cli
) -> None:
    ran = cli("pool", "create", "--detailed-exitcode", *flags, *GKE, "--machine", "a2-highgpu-1g")
    assert ran.code == code
