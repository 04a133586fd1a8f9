"""Every flag is one field of the file form."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from fracgpu.cli.flags import SpecFlags
from fracgpu.cli.spec_of import from_flags
from fracgpu.errors import Invalid
from fracgpu.manifest import document_of
from tests.cli.conftest import Cli

FIELDS: list[tuple[tuple[str, ...], dict[str, Any]]] = [
    (("--provider", "azure"), {"cluster": {"provider": "aks"}}),
    (("--cluster", "c"), {"cluster": {"name": "c"}}),
    (("--resource-group", "g"), {"cluster": {"resourceGroup": "g"}}),
    (("--subscription", "s"), {"cluster": {"subscription": "s"}}),
    (("--project", "p"), {"cluster": {"project": "p"}}),
    (("--location", "l"), {"cluster": {"location": "l"}}),
    (("--region", "r"), {"cluster": {"region": "r"}}),
    (("--gpu", "a100"), {"gpu": "a100"}),
    (("--machine", "m"), {"machine": "m"}),
    (("--mig", "1g.5gb"), {"sharing": {"mig": {"profile": "1g.5gb"}}}),
    (("--mig", "3g.20gb=1, 1g.5gb=2"), {"sharing": {"mig": {"layout": {"3g.20gb": 1, "1g.5gb": 2}}}}),
    (("--mig", "3g.20gb,1g.5gb,1g.5gb"), {"sharing": {"mig": {"layout": {"3g.20gb": 1, "1g.5gb": 2}}}}),
    (("--mig", "1g.5gb", "--mig-strategy", "Mixed"), {"sharing": {"mig": {"profile": "1g.5gb", "strategy": "mixed"}}}),
    (("--time-slicing", "4"), {"sharing": {"timeSlicing": {"replicas": 4}}}),
    (("--mps", "4"), {"sharing": {"mps": {"replicas": 4}}}),
    (
        ("--time-slicing", "4", "--one-share-per-container"),
        {"sharing": {"timeSlicing": {"replicas": 4, "failRequestsGreaterThanOne": True}}},
    ),
    (("--mps", "4", "--rename-shared"), {"sharing": {"mps": {"replicas": 4}, "renameByDefault": True}}),
    (("--backend", "gpu-operator"), {"eks": {"backend": "gpu-operator"}}),
    (("--mig-backend", "User-Data"), {"eks": {"backend": "user-data"}}),
    (("--nodes", "2"), {"nodes": {"count": 2}}),
    (("--min", "0", "--max", "4"), {"nodes": {"min": 0, "max": 4}}),
    (("--spot",), {"capacity": "spot"}),
    (("--capacity", "Reserved"), {"capacity": "reserved"}),
    (("--disk-gb", "200"), {"disk": {"sizeGb": 200}}),
    (("--zone", "a", "--zone", "b"), {"zones": ["a", "b"]}),
    (("--label", "a=b", "--label", "c=d=e"), {"labels": {"a": "b", "c": "d=e"}}),
    (("--taint", "a=b:NoSchedule"), {"taints": ["a=b:NoSchedule"]}),
    (("--tag", "a=", "--tag", "b=c"), {"tags": {"a": "", "b": "c"}}),
    (("--no-gpu-taint",), {"gpuTaint": False}),
    (("--set", "aks.osSku=Ubuntu"), {"aks": {"osSku": "Ubuntu"}}),
    (("--set", "aks.version=1.33"), {"aks": {"version": "1.33"}}),
    (("--set", "aks.maxPods=30", "--set", "aks.fips=true"), {"aks": {"maxPods": 30, "fips": True}}),
    (("--set", "aks.spotMaxPrice=1.5"), {"aks": {"spotMaxPrice": 1.5}}),
    (("--set", "aks.driver=None"), {"aks": {"driver": "None"}}),
    (("--set", "aks.upgradeSettings.maxSurge=33%"), {"aks": {"upgradeSettings": {"maxSurge": "33%"}}}),
    (("--set", "gke.networkTags=a, b"), {"gke": {"networkTags": ["a", "b"]}}),
    (("--set", "eks.subnets=[a, b]"), {"eks": {"subnets": ["a", "b"]}}),
    (("--set", "eks.updateConfig.maxUnavailable=1"), {"eks": {"updateConfig": {"maxUnavailable": 1}}}),
    (("--set", "eks.nodeRepairConfig.enabled=true"), {"eks": {"nodeRepairConfig": {"enabled": True}}}),
    (("--set", "eks.nodeRepairConfig={enabled: true}"), {"eks": {"nodeRepairConfig": {"enabled": True}}}),
]


def parsed(*words: str) -> SpecFlags:
    """The flags as the command line reads them."""
    from typer.main import get_command

    from fracgpu.cli.app import build

    create = get_command(build()).get_command(None, "pool").get_command(None, "create")  # type: ignore[attr-defined]
    context = create.make_context("create", list(words))
    return SpecFlags(**{one.name: context.params[one.name] for one in fields(SpecFlags)})


@pytest.mark.parametrize(("words", "spec"), FIELDS, ids=[" ".join(words) for words, _ in FIELDS])
def test_a_flag_is_a_field(words: tuple[str, ...], spec: dict[str, Any]) -> None:
    assert document_of(from_flags(None, parsed(*words))).get("spec", {}) == spec


def test_no_flag_is_left_out_of_this_test() -> None:
    said = {name for words, _ in FIELDS for name in parsed(*words).said}
    assert said == {one.name for one in fields(SpecFlags)} - {"file"}


@pytest.mark.parametrize(
    ("words", "code", "field"),
    [
        (("--spot", "--capacity", "on-demand"), "conflicting-fields", "spec.capacity"),
        (("--mig-strategy", "mixed"), "conflicting-fields", "spec.sharing.mig.strategy"),
        (("--one-share-per-container",), "conflicting-fields", "spec.sharing.timeSlicing.failRequestsGreaterThanOne"),
        (("--mig", "1g.5gb=x"), "invalid-value", "spec.sharing.mig.layout"),
        (("--mig", "1g.5gb,"), "invalid-value", "spec.sharing.mig.layout"),
        (("--mig", ","), "invalid-value", "spec.sharing.mig.layout"),
        (("--mig", "1g.5gb="), "invalid-value", "spec.sharing.mig.layout"),
        (("--mig", "1g.5gb=-1"), "invalid-value", "spec.sharing.mig.layout"),
        (("--mig", "1g.5gb=" + "9" * 5000), "invalid-value", "spec.sharing.mig.layout"),
        (("--label", "a=1", "--label", "a=2"), "invalid-label", "spec.labels.a"),
        (("--tag", "a=1", "--tag", "a="), "invalid-tag", "spec.tags.a"),
        (("--set", "aks.maxPods=1", "--set", "aks.maxPods=2"), "usage", "--set"),
        (("--set", "aks.maxPods=2024-99-01"), "invalid-value", "spec.aks.maxPods"),
        (("--set", "aks.maxPods=" + "[" * 5000), "invalid-value", "spec.aks.maxPods"),
        (("--set", "aks.maxPods=" + "9" * 5000), "invalid-value", "spec.aks.maxPods"),
        (("--set", "aks.spotMaxPrice=.nan"), "invalid-value", "spec.aks.spotMaxPrice"),
        (("--set", "aks.spotMaxPrice=.inf"), "invalid-value", "spec.aks.spotMaxPrice"),
        (("--set", "gke.networkTags=[a"), "invalid-value", "spec.gke.networkTags"),
        (("--time-slicing", "9" * 30), "replicas-out-of-range", "spec.sharing.timeSlicing.replicas"),
        (("--nodes", "9" * 30), "nodes-out-of-range", "spec.nodes.count"),
        (("--mig-strategy", "double", "--mig", "1g.5gb"), "invalid-value", "spec.sharing.mig.strategy"),
        (("--label", "a"), "invalid-label", "spec.labels"),
        (("--tag", "=a"), "invalid-tag", "spec.tags"),
        (("--taint", "a"), "invalid-taint", "spec.taints[0]"),
        (("--set", "osSku=Ubuntu"), "usage", "--set"),
        (("--set", "aks"), "usage", "--set"),
        (("--set", "aks.osSkuu=x"), "unknown-key", "spec.aks.osSkuu"),
        (("--set", "aks.maxPods=many"), "invalid-value", "spec.aks.maxPods"),
        (("--set", "aks.mode=Master"), "invalid-value", "spec.aks.mode"),
        (("--set", "aks.maxPods=[1"), "invalid-value", "spec.aks.maxPods"),
        (("--set", "aks.osSku=a", "--set", "aks.osSku.b=c"), "usage", "--set"),
        (("--capacity", "free"), "invalid-value", "spec.capacity"),
        (("--provider", "oracle"), "invalid-value", "spec.cluster.provider"),
        (("--backend", "magic"), "invalid-value", "spec.eks.backend"),
    ],
)
def test_what_a_flag_cannot_mean_is_said_of_its_field(words: tuple[str, ...], code: str, field: str) -> None:
    with pytest.raises(Invalid) as caught:
        from_flags(None, parsed(*words))
    assert [(one.code, one.field) for one in caught.value.findings] == [(code, field)]


def test_the_same_said_twice_is_no_contradiction() -> None:
    assert from_flags(None, parsed("--label", "a=1", "--label", "a=1")).spec.labels == {"a": "1"}


def test_all_flags_that_are_wrong_are_said_at_once() -> None:
    with pytest.raises(Invalid) as caught:
        from_flags(None, parsed("--label", "a", "--tag", "b", "--set", "x", "--capacity", "free", "--taint", "c"))
    assert len(caught.value.findings) == 5


class TestFiles:
    POOL = "apiVersion: fracgpu/v1\nkind: NodePool\n%sspec: {cluster: {provider: eks, name: c}, machine: g5.xlarge}\n"

    def test_flags_and_file_say_the_same(self, cli: Cli, tmp_path: Path) -> None:
        words: tuple[str, ...] = (
            "--provider",
            "eks",
            "--cluster",
            "c",
            "--region",
            "r",
            "--machine",
            "g5.xlarge",
            "--time-slicing",
            "4",
        )
        words += ("--min", "0", "--max", "4", "--label", "team=a", "--taint", "x=y:NoExecute", "--tag", "t=u")
        document = document_of(from_flags("a", parsed(*words)))
        (tmp_path / "pool.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
        by_file = cli("pool", "create", "-f", "pool.yaml", "--dry-run", "-o", "json").json()
        by_flags = cli("pool", "create", "a", *words, "--dry-run", "-o", "json").json()
        assert by_file["changes"] == by_flags["changes"]

    def test_a_file_and_flags_together_are_refused(self, cli: Cli, tmp_path: Path) -> None:
        (tmp_path / "pool.yaml").write_text(self.POOL % "", encoding="utf-8")
        error = cli("pool", "create", "-f", "pool.yaml", "--spot", "--dry-run", "-o", "json").error()
        assert error["code"] == "conflicting-fields"
        assert "--spot" in error["message"]

    def test_a_name_picks_a_pool_of_a_file_and_names_one_without(self, cli: Cli, tmp_path: Path) -> None:
        two = "---\n".join(self.POOL % f"metadata: {{name: {name}}}\n" for name in ("one", "two"))
        (tmp_path / "two.yaml").write_text(two, encoding="utf-8")
        (tmp_path / "bare.yaml").write_text(self.POOL % "", encoding="utf-8")
        plan = cli("pool", "create", "two", "-f", "two.yaml", "--dry-run", "-o", "json").json()
        assert plan["changes"][0]["pool"] == "two"
        plan = cli("pool", "create", "mine", "-f", "bare.yaml", "--dry-run", "-o", "json").json()
        assert plan["changes"][0]["pool"] == "mine"
        for words in (("three", "-f", "two.yaml"), ("-f", "two.yaml")):
            error = cli("pool", "create", *words, "--dry-run", "-o", "json").error()
            assert (error["code"], error["nearest"]) == ("usage", ["one", "two"])

    def test_a_mistake_is_said_with_its_place(self, cli: Cli, tmp_path: Path) -> None:
        (tmp_path / "pool.yaml").write_text((self.POOL % "").replace("machine", "machin"), encoding="utf-8")
        ran = cli("pool", "create", "-f", "pool.yaml", "--dry-run")
        assert ran.err.startswith(
            "pool.yaml:3:43: error unknown-key: unknown key machin\n  hint: did you mean machine?"
        )

    def test_in_github_actions_it_is_an_annotation(
        self, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
        (tmp_path / "pool.yaml").write_text((self.POOL % "").replace("machine", "machin"), encoding="utf-8")
        assert (
            "::error file=pool.yaml,line=3,col=43,title=unknown-key::" in cli("pool", "explain", "-f", "pool.yaml").err
        )

    def test_a_pool_is_read_from_standard_input(self, cli: Cli) -> None:
        plan = cli("pool", "create", "-f", "-", "--dry-run", "-o", "json", given=self.POOL % "").json()
        assert plan["changes"][0]["resource"] == "eks.nodegroup"
