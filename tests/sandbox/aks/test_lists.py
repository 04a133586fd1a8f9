"""Lists of pools and clusters, names in paths, kubeconfigs."""

from __future__ import annotations

import base64
import json

from fracgpu.sandbox.world import Cloud, Pool
from tests.sandbox.aks.pools import SUBSCRIPTION, Client, Put, get
from tests.sandbox.conftest import Sandbox


def test_list_is_paged(client: Client, sandbox: Sandbox) -> None:
    cluster = sandbox.world.cluster(Cloud.AKS, SUBSCRIPTION, "sandbox", "sandbox")
    for number in range(60):
        cluster.pools[f"p{number}"] = Pool(Cloud.AKS, f"p{number}", cluster.pools["system"].body, "Succeeded")
    assert len(list(client.agent_pools.list("sandbox", "sandbox"))) == 61


def test_names_in_a_path_compare_whatever_their_case(client: Client, put: Put) -> None:
    put()
    assert client.agent_pools.get("SANDBOX", "Sandbox", "gpu").name == "gpu"


def test_clusters_are_listed_with_their_pools(client: Client, put: Put) -> None:
    put()
    cluster = client.managed_clusters.get("sandbox", "sandbox")
    assert cluster.location == "eastus"
    assert [pool.name for pool in cluster.agent_pool_profiles] == ["system", "gpu"]
    assert client.managed_clusters.get("other", "another").name == "another"
    assert [found.name for found in client.managed_clusters.list_by_resource_group("other")] == ["another"]
    assert [found.name for found in client.managed_clusters.list()] == ["sandbox", "another"]


def test_the_kubeconfig_leads_to_the_sandbox(client: Client, sandbox: Sandbox) -> None:
    found = client.managed_clusters.list_cluster_user_credentials("sandbox", "sandbox")
    assert found.kubeconfigs is not None
    value = found.kubeconfigs[0].value
    assert value is not None
    text = value if value.lstrip().startswith(b"{") else base64.b64decode(value)
    config = json.loads(text)
    assert (
        config["clusters"][0]["cluster"]["server"]
        == f"https://127.0.0.1:{sandbox.server.port}/k8s/aks/{SUBSCRIPTION}~sandbox~sandbox"
    )
    assert config["current-context"] == "sandbox"


def test_versions_and_upgrades_are_told(client: Client, put: Put) -> None:
    put()
    upgrades = client.agent_pools.get_upgrade_profile("sandbox", "sandbox", "gpu")
    assert upgrades.kubernetes_version == client.agent_pools.get("sandbox", "sandbox", "gpu").orchestrator_version
    assert [upgrades.os_type, upgrades.upgrades] == ["Linux", []]
    cluster = client.managed_clusters.get_upgrade_profile("sandbox", "sandbox")
    assert [pool.name for pool in cluster.agent_pool_profiles] == ["system", "gpu"]
    versions = client.managed_clusters.list_kubernetes_versions("eastus").values_property
    assert upgrades.kubernetes_version in versions[0].patch_versions
    offered = client.agent_pools.get_available_agent_pool_versions("sandbox", "sandbox").agent_pool_versions
    assert [version.kubernetes_version for version in offered] == [upgrades.kubernetes_version]


def test_a_cluster_has_what_az_looks_at_without_asking(client: Client) -> None:
    """az 2.80 fails over a cluster without it, whatever the command."""
    assert client.managed_clusters.get("sandbox", "sandbox").service_principal_profile.client_id == "msi"


def test_groups_are_those_of_the_clusters(sandbox: Sandbox) -> None:
    groups = get(sandbox, "/resourceGroups?api-version=2021-04-01")["value"]
    assert [group["name"] for group in groups] == ["sandbox"]
