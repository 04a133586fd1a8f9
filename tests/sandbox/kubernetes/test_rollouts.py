"""A changed template: new pods, and the way back to the old ones."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sandbox.kubernetes.conftest import AddPool, Api

APPS = "apis/apps/v1/namespaces/default"
PODS = "api/v1/namespaces/default/pods"
MERGE = "application/merge-patch+json"
REVISION = "deployment.kubernetes.io/revision"


def workload(image: str = "one", **spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "c", "image": image}]}}
    return {
        "metadata": {"name": "x"},
        "spec": {"selector": {"matchLabels": {"app": "x"}}, "template": template, **spec},
    }


def images(api: Api) -> list[str]:
    return [pod["spec"]["containers"][0]["image"] for pod in api.get(PODS)["items"]]


def change(api: Api, kind: str, image: str) -> dict[str, Any]:
    template = {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}
    api.call("PATCH", f"{APPS}/{kind}/x", {"spec": template}, kind=MERGE)
    return api.get(f"{APPS}/{kind}/x")


def revisions(api: Api) -> dict[str, int]:
    """Revision -> replicas of the ReplicaSet that is kept for it."""
    rows = api.get(f"{APPS}/replicasets")["items"]
    return {row["metadata"]["annotations"][REVISION]: row["spec"]["replicas"] for row in rows}


@pytest.mark.parametrize("kind", ["deployments", "statefulsets", "daemonsets"])
def test_pods_of_the_old_template_go(api: Api, kind: str) -> None:
    api.create(f"{APPS}/{kind}", workload())
    assert images(api) == ["one"]
    after = change(api, kind, "two")
    assert images(api) == ["two"]
    assert after["status"]["observedGeneration"] == after["metadata"]["generation"] == 2


@pytest.mark.parametrize("kind", ["statefulsets", "daemonsets"])
def test_pods_stay_until_they_are_deleted_where_the_workload_says_so(api: Api, kind: str) -> None:
    api.create(f"{APPS}/{kind}", workload(updateStrategy={"type": "OnDelete"}))
    change(api, kind, "two")
    assert images(api) == ["one"]
    for name in api.names(PODS):
        api.call("DELETE", f"{PODS}/{name}")
    assert images(api) == ["two"]


def test_old_templates_are_numbered_and_kept_to_go_back_to(api: Api) -> None:
    api.create(f"{APPS}/deployments", workload(replicas=2))
    change(api, "deployments", "two")
    assert revisions(api) == {"1": 0, "2": 2}
    change(api, "deployments", "one")
    assert revisions(api) == {"2": 0, "3": 2}
    assert api.get(f"{APPS}/deployments/x")["metadata"]["annotations"][REVISION] == "3"


def test_no_more_old_templates_are_kept_than_wished(api: Api) -> None:
    api.create(f"{APPS}/deployments", workload(revisionHistoryLimit=1))
    for image in ("two", "three", "four"):
        change(api, "deployments", image)
    assert revisions(api) == {"3": 0, "4": 1}


def test_a_deployment_tells_what_it_did(api: Api, add_pool: AddPool) -> None:
    add_pool()
    api.create(f"{APPS}/deployments", workload(replicas=2))
    reasons = {row["type"]: row["reason"] for row in api.get(f"{APPS}/deployments/x")["status"]["conditions"]}
    assert reasons == {"Available": "MinimumReplicasAvailable", "Progressing": "NewReplicaSetAvailable"}
    events = [event["message"] for event in api.get("api/v1/namespaces/default/events")["items"]]
    assert any(text.startswith("Scaled up replica set x-") and text.endswith("from 0 to 2") for text in events)
