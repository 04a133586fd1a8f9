"""The control API through its client, and the environment that a shell is given."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fracgpu.errors import CloudError, Invalid, Unreachable
from fracgpu.sandbox import environment, folder
from fracgpu.sandbox.client import Control, identity
from fracgpu.sandbox.folder import Endpoints
from fracgpu.sandbox.settings import offered, quota
from fracgpu.sandbox.world import Cloud
from tests.sandbox.conftest import Sandbox


def _endpoints(sandbox: Sandbox, token: str | None = None) -> Endpoints:
    return Endpoints(sandbox.http, sandbox.grpc, sandbox.server.id, token or sandbox.token, os.getpid())


@pytest.fixture
def control(sandbox: Sandbox) -> Control:
    return Control(_endpoints(sandbox))


def test_status_has_a_cluster_of_each_cloud(control: Control, sandbox: Sandbox) -> None:
    status = control.status()
    assert status["endpoints"] == {"http": sandbox.http, "grpc": sandbox.grpc}
    assert [cluster["provider"] for cluster in status["clusters"]] == ["gke", "aks", "eks"]
    aks = status["clusters"][1]
    assert aks["path"] == ["00000000-0000-0000-0000-000000000000", "sandbox", "sandbox"]
    assert [pool["name"] for pool in aks["pools"]] == ["system"]


def test_without_its_token_nothing_is_told(sandbox: Sandbox) -> None:
    with pytest.raises(CloudError, match="token"):
        Control(_endpoints(sandbox, "another")).status()


def test_a_fault_is_set_listed_counted_down_and_cleared(control: Control, sandbox: Sandbox) -> None:
    fault = control.add_fault("gke", "CreateNodePool", status=503, code="UNAVAILABLE", times=2)
    assert control.faults() == [fault]
    assert (fault["times"], fault["left"], fault["seen"]) == (2, 2, 0)
    assert sandbox.world.faults.take("gke", "CreateNodePool") is not None
    (after,) = control.faults()
    assert (after["times"], after["left"], after["seen"]) == (2, 1, 1)
    control.clear_faults()
    assert control.faults() == []


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ({"cloud": "azure", "call": "AgentPools_Get"}, "cloud"),
        ({"cloud": "aks", "call": ""}, "call"),
        ({"cloud": "aks", "call": "AgentPools_Get", "outcome": "odd"}, "outcome"),
        ({"cloud": "aks", "call": "AgentPools_Get", "statsu": 500}, "statsu"),
        ({"cloud": "aks", "call": "AgentPools_Get", "status": "500"}, "status"),
        ({"cloud": "aks", "call": "AgentPools_Get", "status": 99}, "status"),
        ({"cloud": "aks", "call": "AgentPools_Get", "times": -1}, "times"),
        ({"cloud": "aks", "call": "AgentPools_Get", "delay": -1}, "delay"),
        ({"cloud": "aks", "call": "AgentPools_Get", "drop": "yes"}, "drop"),
        ({"cloud": "aks", "call": "AgentPools_Get", "outcome": "failed"}, "starts none; those that do: AgentPools_Cr"),
        ({"cloud": "eks", "call": "CreateLaunchTemplate", "outcome": "endless"}, "starts none"),
        ({"cloud": "k8s", "call": "list nodes", "outcome": "failed"}, "starts none$"),
    ],
)
def test_a_fault_that_makes_no_sense_is_refused(control: Control, fault: dict[str, Any], why: str) -> None:
    with pytest.raises(Invalid, match=why):
        control.add_fault(**fault)
    assert control.faults() == []


@pytest.mark.parametrize(
    ("cloud", "call", "near"),
    [
        ("aks", "AgentPool_CreateOrUpdate", "AgentPools_CreateOrUpdate"),
        ("gke", "createnodepool", "CreateNodePool"),
        ("eks", "CreateNodeGroup", "CreateNodegroup"),
        ("eks", "CreateLaunchTemplates", "CreateLaunchTemplate"),
        ("k8s", "listNodes", "list nodes"),
        ("k8s", "patchCoreV1ConfigMap", "patchCoreV1NamespacedConfigMap"),
    ],
)
def test_a_call_that_no_front_answers_is_refused_with_the_nearest(
    control: Control, cloud: str, call: str, near: str
) -> None:
    with pytest.raises(Invalid, match=f"{cloud} has no call '{call}'") as refused:
        control.add_fault(cloud, call)
    assert near in refused.value.nearest
    assert control.faults() == []
    control.add_fault(cloud, near)
    assert [fault["call"] for fault in control.faults()] == [near]


def test_faults_are_counted_down(control: Control, sandbox: Sandbox) -> None:
    control.add_fault("gke", "GetNodePool", times=2)
    control.add_fault("gke", "GetNodePool", times=None)
    counts = []
    for _ in range(3):
        sandbox.world.faults.take("gke", "GetNodePool")
        counts.append([(fault["left"], fault["seen"]) for fault in control.faults()])
    assert counts == [[(1, 1), (None, 0)], [(0, 2), (None, 0)], [(0, 2), (None, 1)]]


def test_settings_reach_the_world(control: Control, sandbox: Sandbox) -> None:
    control.set("operation-seconds", seconds=7)
    control.set("quota", cloud="aks", metric="cores", limit=4)
    control.set("quota", cloud="aks", metric="cores", limit=9, region="eastus")
    control.set("quota", cloud="aks", metric="cores", limit=8, region="eastus")
    control.set("offering", cloud="eks", machine="p4d.24xlarge", zone="us-east-1a", on=False)
    control.set("node", name="n1", labels={"a": "b"}, ready=False)
    control.set("node", name="n1", allocatable={"nvidia.com/gpu": 1})
    control.set("pdb", namespace="default", selector={"app": "x"}, min_available=1)
    control.set("pod", node="n1", labels={"app": "x"})
    world = sandbox.world
    assert world.operation_seconds == 7
    assert quota(world, "aks", "Cores", "eastus") == 8
    assert quota(world, "aks", "cores", "westus") == 4
    assert quota(world, "gke", "cores") is None
    assert not offered(world, "eks", "p4d.24xlarge", "us-east-1a")
    assert offered(world, "eks", "p4d.24xlarge", "us-east-1b")
    assert world.settings["node"] == {
        "n1": {"labels": {"a": "b"}, "allocatable": {"nvidia.com/gpu": 1}, "ready": False}
    }
    assert control.status()["settings"]["pdb"] == [
        {"namespace": "default", "selector": {"app": "x"}, "min_available": 1}
    ]


@pytest.mark.parametrize(
    ("kind", "fields", "doubts"),
    [
        ("quota", {"cloud": "gke", "metric": "NVIDIA_A100_GPU", "limit": 1}, ["gke counts no NVIDIA_A100_GPU; near: "]),
        ("quota", {"cloud": "gke", "metric": "NVIDIA_A100_GPUS", "limit": 1}, []),
        ("quota", {"cloud": "eks", "metric": "l-417a185b", "limit": 1}, []),
        ("quota", {"cloud": "aks", "metric": "cores", "limit": 1}, []),
        ("offering", {"cloud": "eks", "machine": "p4d.24xlarg", "zone": "us-east-1a"}, ["eks has no GPU machine p4d"]),
        ("offering", {"cloud": "aks", "machine": "standard_nc24ads_a100_v4", "zone": "1"}, []),
        ("node", {"name": "n1", "ready": False}, ["no cluster has a node n1"]),
        ("pod", {"node": "n1"}, ["no cluster has a node n1"]),
        ("operation-seconds", {"seconds": 1}, []),
    ],
)
def test_a_setting_that_names_what_is_not_there_is_made_and_said(
    control: Control, kind: str, fields: dict[str, Any], doubts: list[str]
) -> None:
    said = control.set(kind, **fields)
    assert len(said) == len(doubts)
    assert all(one.startswith(start) for one, start in zip(said, doubts, strict=True))


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("weather", {}),
        ("operation-seconds", {"seconds": -1}),
        ("operation-seconds", {"seconds": True}),
        ("quota", {"cloud": "aks", "metric": "cores"}),
        ("quota", {"cloud": "k8s", "metric": "cores", "limit": 1}),
        ("offering", {"cloud": "aks", "machine": "x"}),
        ("node", {}),
        ("node", {"name": "n"}),
        ("node", {"name": "n", "labels": ["a"]}),
        ("node", {"name": "n", "labels": {"a b": "c"}}),
        ("pod", {"node": "n", "labels": {"a": "b c"}}),
        ("pdb", {"namespace": "BAD", "selector": {"a": "b"}, "min_available": 1}),
        ("pdb", {"namespace": "default", "selector": {}, "min_available": 1}),
        ("operation-seconds", {"seconds": float("inf")}),
        ("operation-seconds", {"seconds": float("nan")}),
        ("node", {"name": "n", "allocatable": {"nvidia.com/gpu": "many"}}),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(control: Control, kind: str, fields: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        control.set(kind, **fields)


def test_reset_forgets_pools_and_faults_and_brings_the_first_clusters_back(control: Control, sandbox: Sandbox) -> None:
    control.add_fault("aks", "AgentPools_Get", status=500)
    sandbox.world.cluster(Cloud.AKS, "s", "g", "mine")
    control.reset()
    status = control.status()
    assert [cluster["name"] for cluster in status["clusters"]] == ["sandbox"] * 3
    assert [pool["name"] for pool in status["clusters"][1]["pools"]] == ["system"]
    assert status["faults"] == []


def test_an_unknown_path_is_an_error(sandbox: Sandbox) -> None:
    with pytest.raises(CloudError, match="no GET"):
        Control(_endpoints(sandbox))._ask("GET", "weather")


def test_nobody_at_the_address_is_unreachable(free_port: int) -> None:
    with pytest.raises(Unreachable):
        Control(Endpoints(f"http://127.0.0.1:{free_port}", "", "", "", 0)).status()


def test_identity_is_the_servers_own(sandbox: Sandbox, free_port: int) -> None:
    assert identity(sandbox.http) == sandbox.server.id
    assert identity(f"http://127.0.0.1:{free_port}") is None


def test_the_environment_names_files_that_are_there(sandbox: Sandbox) -> None:
    home = folder.state_folder()
    environment.write_files(home, sandbox.http, sandbox.world.tls)
    exports = environment.exports(_endpoints(sandbox))
    for name in (
        "KUBECONFIG",
        "REQUESTS_CA_BUNDLE",
        "AWS_CONFIG_FILE",
        "AWS_SHARED_CREDENTIALS_FILE",
        "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE",
    ):
        assert Path(exports[name]).stat().st_mode & 0o777 == 0o600
    assert exports["AWS_ENDPOINT_URL_EKS"] == sandbox.http
    assert exports["FRACGPU_SANDBOX"] == "1"


def test_what_is_exported_can_be_unset(sandbox: Sandbox) -> None:
    assert set(environment.UNSET) == set(environment.exports(_endpoints(sandbox)))


def _shell(before: dict[str, str], *scripts: Callable[[dict[str, str]], list[str]]) -> tuple[dict[str, str], str]:
    """The environment of a shell that evaluates one script after another, each made for what it then has; all said."""
    environ, said = before, ""
    for script in scripts:
        lines = "\n".join(script(environ))
        shell = [
            "/bin/sh",
            "-c",
            f'{lines}\nexec "{sys.executable}" -c "import json, os; print(json.dumps(dict(os.environ)))"',
        ]
        environ, said = json.loads(subprocess.check_output(shell, env=environ, text=True)), said + lines
    return {
        name: value for name, value in environ.items() if name not in ("PWD", "SHLVL", "_", "OLDPWD", "LC_CTYPE")
    }, said


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize(
    "before",
    [{}, {"NO_PROXY": "example.com", "KUBECONFIG": "/a b/$c", "AWS_SECRET_ACCESS_KEY": "hush", "AWS_REGION": ""}],
)
def test_unset_gives_back_what_was_there(sandbox: Sandbox, before: dict[str, str], times: int) -> None:
    plain, _ = _shell(before)
    make = partial(environment.script, _endpoints(sandbox))
    inside, said = _shell(before, *[make] * times)
    assert inside["AWS_SECRET_ACCESS_KEY"] == "sandbox"
    assert "hush" not in said
    outside, _ = _shell(before, *[make] * times, environment.undo)
    assert outside == {**plain, **before}


def test_the_kubeconfig_has_a_context_of_each_cloud(sandbox: Sandbox) -> None:
    home = folder.state_folder()
    environment.write_files(home, sandbox.http, sandbox.world.tls)
    config = json.loads((home / "kubeconfig").read_text())
    assert [context["name"] for context in config["contexts"]] == [
        "gke_sandbox_us-central1_sandbox",
        "sandbox",
        "arn:aws:eks:us-east-1:123456789012:cluster/sandbox",
    ]
    assert config["current-context"] == "gke_sandbox_us-central1_sandbox"
    server = f"https://127.0.0.1:{sandbox.server.port}/k8s/gke/sandbox~us-central1~sandbox"
    assert config["clusters"][0]["cluster"]["server"] == server


def test_no_proxy_keeps_what_was_there(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "example.com, 127.0.0.1")
    assert environment.exports(_endpoints(sandbox))["NO_PROXY"] == "example.com,127.0.0.1,localhost"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["kubectl", "get", "nodes", "-o", "name"], "node/gke-sandbox-default-pool"),
        (["kubectl", "--context", "sandbox", "get", "nodes", "-o", "name"], "node/aks-system"),
        (["gcloud", "container", "node-pools", "list", "--cluster", "sandbox"], "default-pool"),
        (["aws", "eks", "list-nodegroups", "--cluster-name", "sandbox"], "system"),
        (["aws", "sts", "get-caller-identity"], "arn:aws:sts::"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else "",
)
def test_the_clouds_own_tools_need_nothing_but_the_environment(
    sandbox: Sandbox, command: list[str], expected: str, tool: Callable[[str], str]
) -> None:
    environment.write_files(folder.state_folder(), sandbox.http, sandbox.world.tls)
    found = subprocess.run(
        [tool(command[0]), *command[1:]],
        env={**os.environ, **environment.exports(_endpoints(sandbox)), "CLOUDSDK_CONFIG": str(folder.state_folder())},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert expected in found.stdout, found.stderr
