"""`plugin`, `workload`, `verify` and `doctor` as a person runs them: what is on stdout, on stderr, and how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import kubernetes_validate
import pytest
import yaml

AKS = ("--provider", "aks", "--cluster", "c", "--resource-group", "g")


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)

    def error(self) -> Any:
        """The error document, behind what was said on the way."""
        return json.loads(self.err[self.err.index("{\n") :])


def fracgpu(*words: str) -> Ran:
    done = subprocess.run(
        [sys.executable, "-m", "fracgpu", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
        env=os.environ,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def test_config_is_a_manifest_that_kubectl_takes() -> None:
    ran = fracgpu("plugin", "config", *AKS, "--gpu", "t4", "--time-slicing", "10", "--namespace", "nvidia")
    assert ran.code == 0
    manifest = yaml.safe_load(ran.out)
    kubernetes_validate.validate(manifest, kubernetes_validate.latest_version(), strict=True)
    assert manifest["metadata"]["namespace"] == "nvidia"
    assert yaml.safe_load(manifest["data"]["time-sliced-10"])["version"] == "v1"


def test_config_as_json_is_a_list() -> None:
    ran = fracgpu("plugin", "config", *AKS, "--gpu", "t4", "--time-slicing", "10", "-o", "json")
    body = ran.json()
    assert (body["kind"], len(body["items"])) == ("List", 1)


def test_gke_needs_nothing_and_says_so() -> None:
    words = ("plugin", "config", "--provider", "gke", "--gpu", "t4", "--time-slicing", "10")
    ran = fracgpu(*words)
    assert (ran.code, ran.out) == (0, "")
    assert "plugin-not-needed" in ran.err
    assert fracgpu("-q", *words).err == "nothing to configure: no pool here needs a plugin config\n"


def test_a_file_of_several_pools_gives_one_config_map(tmp_path: Any) -> None:
    cluster = {"provider": "aks", "name": "c", "resourceGroup": "g"}
    pools = [
        {
            "apiVersion": "fracgpu/v1",
            "kind": "NodePool",
            "metadata": {"name": f"pool{replicas}"},
            "spec": {"cluster": cluster, "gpu": "t4", "sharing": {"timeSlicing": {"replicas": replicas}}},
        }
        for replicas in (2, 5)
    ]
    file = tmp_path / "pools.yaml"
    file.write_text(yaml.safe_dump_all(pools), encoding="utf-8")
    ran = fracgpu("plugin", "config", "-f", str(file))
    assert set(yaml.safe_load(ran.out)["data"]) == {"default", "time-sliced-2", "time-sliced-5"}


@pytest.mark.parametrize("chart", ["nvidia-device-plugin", "gpu-operator", "tfy-gpu-operator"])
def test_values_are_yaml_for_helm(chart: str) -> None:
    ran = fracgpu("plugin", "values", "--chart", chart, *AKS, "--gpu", "t4", "--time-slicing", "2", "--spot")
    assert ran.code == 0
    assert yaml.safe_load(ran.out)
    assert "kubernetes.azure.com/scalesetpriority" in ran.out


def test_values_need_to_know_the_chart() -> None:
    ran = fracgpu("plugin", "values", *AKS, "--gpu", "t4")
    assert ran.code == 2
    assert "--chart" in ran.err


def test_mig_parted_names_a_layout_of_ones_own() -> None:
    words = (
        "--provider",
        "eks",
        "--machine",
        "p4d.24xlarge",
        "--mig",
        "3g.20gb=1,1g.5gb=2",
        "--backend",
        "gpu-operator",
    )
    ran = fracgpu("plugin", "mig-parted", *words)
    assert any(name.startswith("fracgpu-") for name in yaml.safe_load(ran.out)["mig-configs"])
    wrapped = yaml.safe_load(fracgpu("plugin", "mig-parted", *words, "--config-map").out)
    assert yaml.safe_load(wrapped["data"]["config.yaml"]) == yaml.safe_load(ran.out)


def test_what_lifts_a_startup_taint() -> None:
    words = ("--provider", "eks", "--machine", "p4d.24xlarge", "--mig", "1g.5gb", "--backend", "gpu-operator")
    ran = fracgpu("plugin", "mig-taint", *words, "--set", "eks.startupTaint=true", "--namespace", "nvidia")
    kinds = [one["kind"] for one in yaml.safe_load_all(ran.out)]
    assert kinds == ["ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Deployment"]
    without = fracgpu("plugin", "mig-taint", *words)
    assert (without.code, without.out) == (0, "")
    assert "nothing to lift" in without.err


@pytest.mark.parametrize("kind", ["pod", "deployment", "job", "dra", "truefoundry"])
def test_workloads_are_yaml_alone_on_stdout(kind: str) -> None:
    ran = fracgpu("workload", kind, "--provider", "gke", "--mig", "1g.5gb", "--name", "gpu-work")
    assert ran.code == 0
    assert all(yaml.safe_load_all(ran.out))
    assert "gpu-work" in ran.out


def test_python_for_truefoundry_compiles() -> None:
    ran = fracgpu("workload", "truefoundry", "--lang", "python", "--provider", "gke", "--mig", "1g.5gb")
    compile(ran.out, "job.py", "exec")
    assert "NvidiaMIGGPU" in ran.out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--gpus", "2", "--gpu", "t4", "--time-slicing", "10"), "request-exceeds-share"),
        (("--gpus", "8", "--machine", "a2-highgpu-1g", "--mig", "1g.5gb"), "request-exceeds-share"),
        (("--gpus", "0", "--mig", "1g.5gb"), "invalid-value"),
        (("--resource", "nvidia.com/mig-1g.5gb", "--mig", "1g.5gb"), "invalid-value"),
        (("--lang", "python", "--mig", "1g.5gb"), "usage"),
        ((), "usage"),
    ],
)
def test_pods_that_could_never_run_are_refused(words: tuple[str, ...], code: str) -> None:
    ran = fracgpu("workload", "pod", *(("--provider", "gke") if words else ()), *words, "-o", "json")
    assert (ran.code, ran.out) == (2, "")
    assert ran.error()["code"] == code


Sandboxed = Callable[..., Ran]


@pytest.fixture
def sandboxed(home: Any) -> Iterator[Sandboxed]:
    """fracgpu with `--sandbox`, in a sandbox of the test's own that is stopped in the end."""

    def run(*words: str) -> Ran:
        return fracgpu("--sandbox", *words)

    started = run("sandbox", "start")
    assert started.code == 0, started.err
    run("sandbox", "set", "operation-seconds", "0.1")
    yield run
    run("sandbox", "stop")


@pytest.mark.timeout(300)
def test_from_a_pool_to_a_proof(sandboxed: Sandboxed) -> None:
    there = ("--provider", "aks")
    made = sandboxed(
        "pool", "create", "shared", *there, "--gpu", "t4", "--time-slicing", "10", "--with-plugin", "-o", "json"
    )
    assert made.code == 0, made.err
    assert {"not-verified", "plugin-config-needed"}.isdisjoint(note["code"] for note in made.json()["notes"])

    plan = sandboxed("plugin", "apply", *there, "-o", "json").json()
    assert [(change["resource"], change["action"]) for change in plan["changes"]] == [("k8s.configMap", "no-op")]

    proof = sandboxed("pool", "verify", "shared", *there, "-o", "json")
    assert proof.code == 0, proof.err
    (node,) = proof.json()["nodes"]
    assert (node["ok"], node["expected"], node["allocatable"]) == (True, {"nvidia.com/gpu": 10}, {"nvidia.com/gpu": 10})

    sandboxed("sandbox", "set", "node", node["name"], "--allocatable", "nvidia.com/gpu=1")
    broken = sandboxed("pool", "verify", "shared", *there, "-o", "json")
    assert broken.code == 6
    assert broken.json()["ok"] is False
    assert broken.json()["nodes"][0]["problems"] == [
        "nvidia.com/gpu: 1 allocatable, 10 promised",
        "nothing is shared: the device plugin does not go by the config time-sliced-10",
    ]
    assert broken.error()["code"] == "slices-missing"

    late = sandboxed("pool", "wait", "shared", *there, "--for", "verified", "--timeout", "1s", "-o", "json")
    assert late.code == 7
    assert late.error()["code"] == "timeout"


def test_doctor_without_anything_says_what_is_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    ran = fracgpu("doctor", "--provider", "eks", "-o", "json")
    assert (ran.code, ran.json()["ok"], ran.json()["cluster"]) == (4, False, None)
    assert [check["name"] for check in ran.json()["checks"]] == ["eks", "cluster"]
    assert all(check["hint"] for check in ran.json()["checks"])


@pytest.mark.timeout(300)
def test_doctor_ends_with_the_first_failure(sandboxed: Sandboxed) -> None:
    sound = sandboxed("doctor", "--provider", "gke", "-o", "json")
    assert (sound.code, sound.json()["ok"]) == (0, True)
    assert {"cloud", "pools", "kubernetes", "plugin"} <= {check["name"] for check in sound.json()["checks"]}

    missing = sandboxed("doctor", "--provider", "gke", "--cluster", "missing-one", "-o", "json")
    assert (missing.code, missing.json()["ok"]) == (3, False)

    sandboxed("pool", "create", "--provider", "eks", "--gpu", "a10g", "--time-slicing", "10")
    lacking = sandboxed("doctor", "--provider", "eks", "-o", "json")
    assert lacking.code == 2
    assert lacking.json()["checks"][-1]["code"] == "plugin-key-missing"
