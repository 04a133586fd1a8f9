"""Fields that a kind does not have, values of another type, and what may not change."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sandbox.kubernetes.conftest import Api, pod

PODS = "api/v1/namespaces/default/pods"
DEPLOYMENTS = "apis/apps/v1/namespaces/default/deployments"
STRATEGIC = "application/strategic-merge-patch+json"


def misspelt() -> dict[str, Any]:
    body = pod("x")
    body["spec"]["containers"][0]["imago"] = "y"
    return body


def deployment(**spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
    said = {"replicas": 1, "selector": {"matchLabels": {"app": "x"}}, "template": template}
    return {"metadata": {"name": "x"}, "spec": {**said, **spec}}


def test_an_unknown_field_is_refused_when_the_client_says_so(api: Api) -> None:
    answer = api.call("POST", PODS, misspelt(), fieldValidation="Strict")
    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")
    assert answer.body["message"] == (
        'Pod in version "v1" cannot be handled as a Pod: '
        'strict decoding error: unknown field "spec.containers[0].imago"'
    )


def test_an_unknown_field_is_told_of_and_dropped_otherwise(api: Api) -> None:
    answer = api.call("POST", PODS, misspelt())
    assert answer.status == 201
    assert answer.headers["Warning"] == '299 - "unknown field \\"spec.containers[0].imago\\""'
    assert "imago" not in answer.body["spec"]["containers"][0]
    quiet = api.call("POST", PODS, {**misspelt(), "metadata": {"name": "y"}}, fieldValidation="Ignore")
    assert (quiet.status, quiet.headers.get("Warning")) == (201, None)


def test_an_unknown_field_of_a_patch_is_refused(api: Api) -> None:
    api.create(PODS, pod("x"))
    change: dict[str, Any] = {"metadata": {"lables": {}}}
    answer = api.call("PATCH", f"{PODS}/x", change, kind=STRATEGIC, fieldValidation="Strict")
    assert answer.status == 422
    assert 'unknown field "metadata.lables"' in answer.body["message"]


def test_an_unknown_field_of_an_apply_is_refused_always(api: Api) -> None:
    body = {"apiVersion": "v1", "kind": "Pod", **misspelt()}
    answer = api.call("PATCH", f"{PODS}/x", body, kind="application/apply-patch+yaml", fieldManager="me")
    assert answer.status == 500
    assert answer.body["message"].endswith(".spec.containers[0].imago: field not declared in schema")


@pytest.mark.parametrize(
    ("spec", "status", "words"),
    [
        ({"replicas": "2"}, 400, "cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type"),
        ({"template": []}, 400, "cannot unmarshal array"),
        ({"selector": {"matchLabels": {"app": True}}}, 400, "cannot unmarshal bool"),
        ({"selector": {"matchLabels": {"app": "y"}}}, 422, "`selector` does not match template `labels`"),
        ({"selector": None}, 422, "spec.selector: Required value"),
        ({"replicas": -1}, 422, "spec.replicas: Invalid value: -1: must be greater than or equal to 0"),
        ({"template": {"metadata": {"labels": {"app": "x"}}}}, 422, "spec.template.spec.containers: Required value"),
    ],
)
def test_a_deployment_that_cannot_be(api: Api, spec: dict[str, Any], status: int, words: str) -> None:
    answer = api.call("POST", DEPLOYMENTS, deployment(**spec))
    assert answer.status == status
    assert words in answer.body["message"]


def test_a_pods_spec_stays_as_it_is_but_for_its_images(api: Api) -> None:
    made = api.create(PODS, pod("x"))
    container = {"name": "main", "image": "other"}
    after = api.call("PATCH", f"{PODS}/x", {"spec": {"containers": [container]}}, kind=STRATEGIC)
    assert after.body["spec"]["containers"][0]["image"] == "other"
    answer = api.call("PATCH", f"{PODS}/x", {"spec": {"restartPolicy": "Never"}}, kind=STRATEGIC)
    assert answer.status == 422
    assert "pod updates may not change fields other than" in answer.body["message"]
    assert made["metadata"]["uid"] == api.get(f"{PODS}/x")["metadata"]["uid"]


def test_a_selector_stays_as_it_is(api: Api) -> None:
    api.create(DEPLOYMENTS, deployment())
    other = {"selector": {"matchLabels": {"app": "y"}}, "template": {"metadata": {"labels": {"app": "y"}}}}
    answer = api.call("PATCH", f"{DEPLOYMENTS}/x", {"spec": other}, kind="application/merge-patch+json")
    assert answer.status == 422
    assert "spec.selector: Invalid value" in answer.body["message"]
    assert "field is immutable" in answer.body["message"]


def test_a_null_is_a_field_that_is_not_said(api: Api) -> None:
    body = {"apiVersion": "apps/v1", "kind": "Deployment", **deployment(revisionHistoryLimit=None)}
    answer = api.call("PATCH", f"{DEPLOYMENTS}/x", body, kind="application/apply-patch+yaml", fieldManager="me")
    assert answer.status == 201
    assert answer.body["spec"]["revisionHistoryLimit"] == 10


@pytest.mark.parametrize(
    ("resources", "quality"),
    [
        ({}, "BestEffort"),
        ({"limits": {"nvidia.com/gpu": "1"}}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}, "Burstable"),
        ({"limits": {"cpu": 1, "memory": "1Gi", "nvidia.com/gpu": 2}}, "Guaranteed"),
    ],
)
def test_the_quality_of_service_does_not_look_at_gpus(api: Api, resources: dict[str, Any], quality: str) -> None:
    body = {"metadata": {"name": "x"}, "spec": {"containers": [{"name": "c", "image": "i", "resources": resources}]}}
    assert api.create(PODS, body)["status"]["qosClass"] == quality


def test_a_pod_has_the_servers_defaults(api: Api) -> None:
    spec = api.create(PODS, pod("x"))["spec"]
    assert [one["key"] for one in spec["tolerations"]][1:] == [
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    ]
    assert spec["containers"][0]["imagePullPolicy"] == "Always"
    assert spec["containers"][0]["resources"]["requests"] == {"nvidia.com/gpu": "1"}


def test_text_of_a_secret_is_kept_encoded(api: Api) -> None:
    secret = api.create("api/v1/namespaces/default/secrets", {"metadata": {"name": "x"}, "stringData": {"a": "b"}})
    assert (secret["data"], secret["type"], "stringData" in secret) == ({"a": "Yg=="}, "Opaque", False)


def test_a_quantity_is_the_same_as_number_and_as_text(api: Api) -> None:
    """A server-side apply of the number meets no conflict over the text that is kept."""
    template = deployment()["spec"]["template"]
    container = {"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": 1}}}
    body = deployment(template={**template, "spec": {"containers": [container]}})
    made = api.create(DEPLOYMENTS, body)
    assert made["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": "1"}
    applied = {"apiVersion": "apps/v1", "kind": "Deployment", **body}
    answer = api.call("PATCH", f"{DEPLOYMENTS}/x", applied, kind="application/apply-patch+yaml", fieldManager="another")
    assert answer.status == 200, answer.body
