"""The kubeconfig's context of a cluster, found by names; its files keep meaning what they meant where it lies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fracgpu.catalog.models import ProviderName
from fracgpu.cli.endpoints import access, by_kubeconfig
from fracgpu.cli.kubectl_context import access_by_context
from fracgpu.errors import Invalid
from fracgpu.kube.kubeconfig import login_of
from fracgpu.providers.access import Access
from fracgpu.resolve import ClusterRef

GKE = "gke_my-project_us-central1_prod"
EKS = "arn:aws:eks:us-east-1:123456789012:cluster/prod"
CLUSTERS = {
    "gke": ClusterRef(ProviderName.GKE, "prod", project="my-project", location="us-central1"),
    "eks": ClusterRef(ProviderName.EKS, "prod", region="us-east-1"),
    "aks": ClusterRef(ProviderName.AKS, "prod", resource_group="rg", subscription="s"),
}


def entry(name: str, user: str, **cluster: Any) -> dict[str, Any]:
    return {
        "clusters": [{"name": name, "cluster": {"server": f"https://{name}.example", **cluster}}],
        "users": [{"name": user, "user": {"token": f"of {name}"}}],
        "contexts": [{"name": f"my {name}", "context": {"cluster": name, "user": user}}],
    }


def write(path: Path, *entries: dict[str, Any], **more: Any) -> str:
    body = {kind: [one for made in entries for one in made[kind]] for kind in ("clusters", "users", "contexts")}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**body, **more}), encoding="utf-8")
    return str(path)


@pytest.fixture
def kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    all_three = (entry(GKE, GKE), entry(EKS, EKS), entry("prod", "clusterUser_rg_prod"))
    monkeypatch.setenv("KUBECONFIG", write(tmp_path / "config", *all_three, **{"current-context": "another"}))
    return tmp_path


@pytest.mark.parametrize("cloud", CLUSTERS)
def test_the_context_whose_names_mean_the_cluster(kubeconfig: Path, cloud: str) -> None:
    way = access_by_context(CLUSTERS[cloud])
    assert way is not None
    name = {"gke": GKE, "eks": EKS, "aks": "prod"}[cloud]
    assert (way.context, way.server) == (f"my {name}", f"https://{name}.example")
    assert login_of(way).user == {"token": f"of {name}"}


@pytest.mark.parametrize(
    "other",
    [
        ClusterRef(ProviderName.GKE, "prod", project="other", location="us-central1"),
        ClusterRef(ProviderName.GKE, "prod", project="my-project", location="us-east1"),
        ClusterRef(ProviderName.EKS, "prod", region="eu-west-1"),
        ClusterRef(ProviderName.AKS, "prod", resource_group="other", subscription="s"),
        ClusterRef(ProviderName.AKS, "staging", resource_group="rg", subscription="s"),
    ],
)
def test_never_that_of_another_cluster(kubeconfig: Path, other: ClusterRef) -> None:
    assert access_by_context(other) is None


def test_several_files_and_paths_beside_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = write(tmp_path / "a" / "config", entry(EKS, EKS))
    named = entry(GKE, GKE, **{"certificate-authority": "ca.pem"})
    named["users"][0]["user"] = {"client-certificate": "/abs.pem", "exec": {"command": "./login", "args": []}}
    second = write(tmp_path / "b" / "config", named, entry(EKS, EKS, server="https://late.example"))
    monkeypatch.setenv("KUBECONFIG", f"{first}:{second}:{tmp_path / 'gone'}")
    way = access_by_context(CLUSTERS["gke"])
    assert way is not None
    login = login_of(way)
    assert login.authority_file == str(tmp_path / "b" / "ca.pem")
    assert login.user["client-certificate"] == "/abs.pem"
    assert login.user["exec"]["command"] == str(tmp_path / "b" / "login")
    eks = access_by_context(CLUSTERS["eks"])
    assert eks is not None
    assert login_of(eks).server == eks.server == f"https://{EKS}.example"


def test_what_is_no_kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = {"contexts": [None, {"name": "x"}, {"context": "y"}], "clusters": "z", "users": [{"user": None}]}
    path = tmp_path / "config"
    path.write_text(json.dumps(odd), encoding="utf-8")
    monkeypatch.setenv("KUBECONFIG", str(path))
    assert access_by_context(CLUSTERS["gke"]) is None


def test_whether_the_kubeconfig_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not by_kubeconfig()
    file = tmp_path / "config.yaml"
    file.write_text("endpoints: {kubernetes: kubeconfig}\n", encoding="utf-8")
    monkeypatch.setenv("FRACGPU_CONFIG", str(file))
    assert by_kubeconfig()
    assert access() == Access()
    monkeypatch.setenv("FRACGPU_KUBERNETES", "cloud")
    assert not by_kubeconfig()
    monkeypatch.setenv("FRACGPU_KUBERNETES", "kubectl")
    with pytest.raises(Invalid) as caught:
        by_kubeconfig()
    assert caught.value.nearest == ("cloud", "kubeconfig")
