"""Kinds that a CustomResourceDefinition adds: served, described, shown and gone with it."""

from __future__ import annotations

from typing import Any

import pytest

from fracgpu.sandbox.kubernetes.resources import Resource
from fracgpu.sandbox.kubernetes.schema import model_of
from tests.sandbox.kubernetes.conftest import Api

DEFINITIONS = "apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "apis/example.com/v1alpha1/namespaces/default/widgets"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def definition(**version: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"spec": {"type": "object", "description": "What it is"}}}
    columns = [{"name": "Size", "type": "string", "jsonPath": ".spec.size"}]
    return {
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [
                {
                    "name": "v1alpha1",
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": columns,
                    "schema": {"openAPIV3Schema": schema},
                    **version,
                }
            ],
        },
    }


@pytest.fixture
def widget(api: Api) -> dict[str, Any]:
    api.create(DEFINITIONS, definition())
    return api.create(WIDGETS, {"metadata": {"name": "one"}, "spec": {"size": "big", "anything": [1]}})


def test_the_definition_is_established_before_its_kind_is_used(api: Api) -> None:
    assert api.call("GET", WIDGETS).status == 404
    api.create(DEFINITIONS, definition())
    status = api.get(f"{DEFINITIONS}/widgets.example.com")["status"]
    assert {row["type"]: row["status"] for row in status["conditions"]} == {
        "NamesAccepted": "True",
        "Established": "True",
    }
    assert status["storedVersions"] == ["v1alpha1"]
    assert api.names(WIDGETS) == []


def test_an_object_of_it_is_kept_as_it_is(api: Api, widget: dict[str, Any]) -> None:
    assert (widget["apiVersion"], widget["kind"]) == ("example.com/v1alpha1", "Widget")
    assert api.merge(f"{WIDGETS}/one", {"spec": {"size": "small"}})["spec"] == {"size": "small", "anything": [1]}
    assert api.merge(f"{WIDGETS}/one/status", {"status": {"phase": "Good"}})["status"] == {"phase": "Good"}


def test_it_is_in_discovery_and_in_the_openapi_document(api: Api, widget: dict[str, Any]) -> None:
    assert widget["kind"] in [row["kind"] for row in api.get("apis/example.com/v1alpha1")["resources"]]
    assert "example.com" in [group["name"] for group in api.get("apis")["groups"]]
    assert "apis/example.com/v1alpha1" in api.get("openapi/v3")["paths"]
    schema = api.get("openapi/v3/apis/example.com/v1alpha1")["components"]["schemas"]["com.example.v1alpha1.Widget"]
    assert schema["properties"]["spec"]["description"] == "What it is"


def test_its_columns_are_the_definitions(api: Api, widget: dict[str, Any]) -> None:
    shown = api.call("GET", f"{WIDGETS}/{widget['metadata']['name']}", accept=TABLE).body
    assert [column["name"] for column in shown["columnDefinitions"]] == ["Name", "Size"]
    assert shown["rows"][0]["cells"] == ["one", "big"]


def test_a_changed_definition_keeps_the_objects(api: Api, widget: dict[str, Any]) -> None:
    before = api.get(f"{DEFINITIONS}/widgets.example.com")
    changed = definition(additionalPrinterColumns=[])
    api.merge(f"{DEFINITIONS}/widgets.example.com", {"spec": changed["spec"]})
    assert api.names(WIDGETS) == [widget["metadata"]["name"]]
    assert before["metadata"]["uid"] == api.get(f"{DEFINITIONS}/widgets.example.com")["metadata"]["uid"]


def test_objects_go_with_their_definition(api: Api, widget: dict[str, Any]) -> None:
    assert api.call("DELETE", f"{DEFINITIONS}/widgets.example.com").status == 200
    assert api.call("GET", f"{WIDGETS}/{widget['metadata']['name']}").status == 404
    api.create(DEFINITIONS, definition())
    assert api.names(WIDGETS) == []


def test_a_kind_that_is_called_as_one_of_kubernetes_is_not_taken_for_it() -> None:
    own = Resource("batch", "v1", "jobs", "Job", True)
    custom = Resource("batch.example.com", "v1", "jobs", "Job", True, schema={})
    assert model_of(own) is not None
    assert model_of(custom) is None
