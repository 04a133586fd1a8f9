"""gcloud itself against the sandbox; run where it is installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.sandbox.gke.pools import CLUSTER, read

if TYPE_CHECKING:
    from tests.sandbox.conftest import Sandbox

pytestmark = pytest.mark.skipif(
    shutil.which("gcloud") is None, reason="gcloud is not installed; https://cloud.google.com/sdk/docs/install"
)

HERE = ("--cluster", "regional-sandbox", "--location", "us-central1")

Gcloud = Callable[..., str]


@pytest.fixture
def settings(instant: Sandbox, tmp_path: Path) -> dict[str, str]:
    token = tmp_path / "token"
    token.write_text("sandbox")
    return {
        "CLOUDSDK_CONFIG": str(tmp_path / "gcloud"),
        "CLOUDSDK_API_ENDPOINT_OVERRIDES_CONTAINER": f"{instant.http}/",
        "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE": str(token),
        "CLOUDSDK_CORE_PROJECT": "sandbox",
        "CLOUDSDK_CORE_DISABLE_PROMPTS": "1",
        "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "1",
        "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "1",
        "KUBECONFIG": str(tmp_path / "kubeconfig"),
    }


@pytest.fixture
def gcloud(settings: dict[str, str]) -> Gcloud:
    def run(*arguments: str, fails: bool = False) -> str:
        command = ["gcloud", "container", *arguments]
        done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, check=False)
        assert (done.returncode != 0) == fails, done.stderr
        return done.stderr if fails else done.stdout

    return run


def test_a_life_in_gcloud(gcloud: Gcloud, client: Any) -> None:
    gcloud(
        *("node-pools", "create", "p", *HERE, "--machine-type=a2-highgpu-1g", "--num-nodes=0"),
        "--accelerator=type=nvidia-tesla-a100,count=1,gpu-partition-size=1g.5gb,gpu-driver-version=latest",
        *("--enable-autoscaling", "--total-min-nodes=0", "--total-max-nodes=4", "--spot"),
    )
    pool = json.loads(gcloud("node-pools", "describe", "p", *HERE, "--format=json"))
    gpu = pool["config"]["accelerators"][0]
    assert (gpu["gpuPartitionSize"], pool["status"], pool["config"]["spot"]) == ("1g.5gb", "RUNNING", True)
    assert gpu["gpuDriverInstallationConfig"] == {"gpuDriverVersion": "LATEST"}

    gcloud("node-pools", "update", "p", *HERE, "--node-labels=a=b")
    gcloud("node-pools", "update", "p", *HERE, "--enable-autoscaling", "--total-min-nodes=0", "--total-max-nodes=6")
    gcloud("clusters", "resize", "regional-sandbox", "--location=us-central1", "--node-pool=p", "--num-nodes=1")
    shown = read(client)
    assert (dict(shown.config.labels), shown.autoscaling.total_max_node_count) == ({"a": "b"}, 6)
    assert shown.initial_node_count == 1
    assert gcloud("node-pools", "list", *HERE, "--format=value(name)").split() == ["default-pool", "p"]

    gcloud("node-pools", "delete", "p", *HERE)
    assert [pool.name for pool in client.list_node_pools(parent=CLUSTER).node_pools] == ["default-pool"]
    kinds = gcloud("operations", "list", "--format=value(operationType)").split()
    assert sorted(kinds) == [
        *("CREATE_NODE_POOL", "DELETE_NODE_POOL", "SET_NODE_POOL_SIZE", "UPDATE_CLUSTER", "UPDATE_CLUSTER"),
    ]


def test_sharing_in_gcloud(gcloud: Gcloud, client: Any) -> None:
    gcloud(
        *("node-pools", "create", "p", *HERE, "--machine-type=g2-standard-8", "--num-nodes=1", "--async"),
        "--accelerator=type=nvidia-l4,count=1,gpu-sharing-strategy=mps,max-shared-clients-per-gpu=8",
    )

    sharing = read(client).config.accelerators[0].gpu_sharing_config
    assert (sharing.gpu_sharing_strategy.name, sharing.max_shared_clients_per_gpu) == ("MPS", 8)


def test_errors_as_gcloud_prints_them(gcloud: Gcloud, instant: Sandbox) -> None:
    said = gcloud("node-pools", "create", "BAD", *HERE, fails=True)
    assert 'code=400, message=Invalid value for field "node_pool.name": "BAD"' in said
    said = gcloud("node-pools", "create", "default-pool", *HERE, fails=True)
    assert f"code=409, message=Already exists: {CLUSTER}/nodePools/default-pool." in said
    said = gcloud("node-pools", "list", "--cluster=missing-c", "--location=us-central1", fails=True)
    assert "Not found: projects/sandbox/locations/us-central1/clusters/missing-c." in said
    instant.world.faults.add("gke", "CreateNodePool", outcome="failed")
    said = gcloud("node-pools", "create", "p", *HERE, "--num-nodes=1", fails=True)
    assert "[GCE_STOCKOUT]" in said


def test_credentials_and_clusters(gcloud: Gcloud, instant: Sandbox, settings: dict[str, str]) -> None:
    assert gcloud("clusters", "list", "--format=value(name,status)").split() == ["sandbox", "RUNNING"]
    gcloud("clusters", "get-credentials", "sandbox", "--location=us-central1")

    kubeconfig = Path(settings["KUBECONFIG"]).read_text()
    assert f"{instant.http.removeprefix('http://')}/k8s/gke/sandbox~us-central1~sandbox" in kubeconfig
    assert "certificate-authority-data" in kubeconfig
