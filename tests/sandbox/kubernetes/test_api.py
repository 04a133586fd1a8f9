"""The API server's manners: who may ask, what is there, how lists are cut, how errors read."""

from __future__ import annotations

import itertools
from http.client import HTTPConnection
from typing import Any

import pytest

from fracgpu.sandbox.aks import pools as aks_pools
from fracgpu.sandbox.eks import releases as eks_releases
from fracgpu.sandbox.gke import versions as gke_versions
from fracgpu.sandbox.kubernetes.discovery import GIT_VERSIONS
from fracgpu.sandbox.world import Cloud
from tests.sandbox.conftest import Sandbox
from tests.sandbox.kubernetes.conftest import AKS, Answer, Api, pod

MAPS = "api/v1/namespaces/default/configmaps"


def failure(answer: Answer) -> tuple[int, str, str]:
    assert answer.body["kind"] == "Status"
    return answer.status, answer.body["reason"], answer.body["message"]


def test_a_request_without_credentials_is_401(sandbox: Sandbox) -> None:
    connection = HTTPConnection(sandbox.http.removeprefix("http://"))
    connection.request("GET", f"/k8s/aks/{'~'.join(AKS)}/api/v1/nodes")
    response = connection.getresponse()
    assert response.status == 401
    assert b'"reason":"Unauthorized"' in response.read()
    connection.close()


@pytest.mark.parametrize(
    ("cloud", "path"),
    [("gke", ("p", "us-central1", "missing-one")), ("eks", ("too", "many", "parts")), ("dos", ("x",))],
)
def test_a_cluster_that_is_not_there_is_404(sandbox: Sandbox, cloud: str, path: tuple[str, ...]) -> None:
    answer = Api(sandbox, cloud, *path).call("GET", "api/v1/nodes")
    assert failure(answer) == (404, "NotFound", "the server could not find the requested resource")


def test_every_kind_of_discovery_is_served(api: Api) -> None:
    groups = [group["groupVersion"] for row in api.get("apis")["groups"] for group in row["versions"]]
    lists = [api.get("api/v1"), *(api.get(f"apis/{group}") for group in groups)]
    resources = [(one["groupVersion"], row) for one in lists for row in one["resources"] if "/" not in row["name"]]
    assert {"pods", "nodes", "daemonsets", "poddisruptionbudgets", "leases"} <= {row["name"] for _, row in resources}
    for group, row in resources:
        if "list" in row["verbs"]:
            path = f"api/{group}/{row['name']}" if group == "v1" else f"apis/{group}/{row['name']}"
            assert api.get(path)["kind"] == row["kind"] + "List"


@pytest.mark.parametrize(
    ("method", "path", "body", "expected"),
    [
        ("GET", "api/v1/nodes/none", None, (404, "NotFound", 'nodes "none" not found')),
        (
            "GET",
            "apis/apps/v1/namespaces/x/daemonsets/y",
            None,
            (404, "NotFound", 'daemonsets.apps "y" not found'),
        ),
        ("GET", "api/v1/things", None, (404, "NotFound", "the server could not find the requested resource")),
        (
            "POST",
            "api/v1/namespaces/none/configmaps",
            {"metadata": {"name": "x"}},
            (404, "NotFound", 'namespaces "none" not found'),
        ),
        (
            "POST",
            MAPS,
            {"metadata": {"name": "x", "namespace": "other"}},
            (
                400,
                "BadRequest",
                "the namespace of the provided object does not match the namespace sent on the request",
            ),
        ),
        (
            "PUT",
            MAPS,
            {"metadata": {"name": "x"}},
            (405, "MethodNotAllowed", "the server does not allow this method on the requested resource"),
        ),
    ],
)
def test_errors_read_as_the_real_ones(
    api: Api, method: str, path: str, body: object, expected: tuple[int, str, str]
) -> None:
    assert failure(api.call(method, path, body)) == expected


def test_the_same_name_twice_is_409(api: Api) -> None:
    api.create(MAPS, {"metadata": {"name": "x"}})
    answer = api.call("POST", MAPS, {"metadata": {"name": "x"}})
    assert failure(answer) == (409, "AlreadyExists", 'configmaps "x" already exists')
    assert answer.body["details"] == {"name": "x", "kind": "configmaps"}


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        (MAPS, {"metadata": {"name": "Not_A_Name"}}, "metadata.name"),
        (MAPS, {"metadata": {}}, "metadata.name"),
        (MAPS, {"metadata": {"name": "x", "labels": {"a": "no spaces here"}}}, "metadata.labels"),
        (MAPS, {"metadata": {"name": "x", "labels": {"a": "b" * 64}}}, "metadata.labels"),
        ("api/v1/namespaces/default/pods", {"metadata": {"name": "x"}, "spec": {}}, "spec.containers"),
        (
            "api/v1/namespaces/default/pods",
            pod(
                "x",
                gpus=None,
                containers=[{"name": "c", "image": "i", "resources": {"requests": {"nvidia.com/gpu": 1}}}],
            ),
            "spec.containers[0].resources.limits",
        ),
        (
            "api/v1/namespaces/default/pods",
            pod(
                "x",
                gpus=None,
                containers=[{"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "500m"}}}],
            ),
            "spec.containers[0].resources.limits[nvidia.com/gpu]",
        ),
    ],
)
def test_invalid_objects_are_422_with_the_field(api: Api, path: str, body: dict[str, Any], field: str) -> None:
    answer = api.call("POST", path, body)
    assert answer.status == 422
    assert answer.body["reason"] == "Invalid"
    assert [cause["field"] for cause in answer.body["details"]["causes"]] == [field]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"metadata": {"name": "x"}, "dataa": {}}, 'strict decoding error: unknown field "dataa"'),
        ({"metadata": {"name": "x"}, "data": {"a": 1}}, "cannot unmarshal"),
        ({"metadata": {"name": "x", "labels": {"a": True}}}, "cannot unmarshal"),
        ({"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "x"}}, "does not match the expected"),
    ],
)
def test_what_cannot_be_decoded_is_400(api: Api, body: dict[str, Any], words: str) -> None:
    status, reason, message = failure(api.call("POST", MAPS, body, fieldValidation="Strict"))
    assert (status, reason) == (400, "BadRequest")
    assert words in message


def test_a_body_of_another_type_is_415(api: Api) -> None:
    assert api.call("POST", MAPS, "a=b", kind="text/csv").status == 415
    assert api.call("PATCH", f"{MAPS}/x", "{}", kind="application/json").status == 415


def test_yaml_is_taken_as_well(api: Api) -> None:
    made = api.call("POST", MAPS, "metadata: {name: x}\ndata: {a: '1'}\n", kind="application/yaml")
    assert (made.status, made.body["data"]) == (201, {"a": "1"})


def test_lists_are_cut_and_continued(api: Api) -> None:
    for number in range(5):
        api.create(MAPS, {"metadata": {"name": f"x{number}"}})
    pages: list[list[str]] = []
    token: dict[str, str] = {}
    for _ in range(3):
        page = api.get(MAPS, limit="2", **token)
        pages.append([item["metadata"]["name"] for item in page["items"]])
        token = {"continue": page["metadata"].get("continue", "")}
    assert pages == [["x0", "x1"], ["x2", "x3"], ["x4"]]
    assert token == {"continue": ""}
    assert api.get(MAPS, limit="2")["metadata"]["remainingItemCount"] == 3
    assert api.call("GET", MAPS, **{"continue": "!"}).status == 400


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("a=1", ["x1"]),
        ("a==1", ["x1"]),
        ("a!=1", ["x0", "x2"]),
        ("a", ["x1", "x2"]),
        ("!a", ["x0"]),
        ("a in (1, 2)", ["x1", "x2"]),
        ("a notin (2)", ["x0", "x1"]),
        ("a,b=2", ["x2"]),
        ("nvidia.com/gpu.count>3", ["x2"]),
        ("nvidia.com/gpu.count<3", []),
    ],
)
def test_label_selectors(api: Api, selector: str, names: list[str]) -> None:
    labels: list[dict[str, str]] = [{}, {"a": "1"}, {"a": "2", "b": "2", "nvidia.com/gpu.count": "7"}]
    for number, values in enumerate(labels):
        api.create(MAPS, {"metadata": {"name": f"x{number}", "labels": values}})
    assert api.names(MAPS, labelSelector=selector) == names


def test_a_selector_that_cannot_be_read_is_400(api: Api) -> None:
    assert api.call("GET", MAPS, labelSelector="a in 1").status == 400
    assert api.call("GET", MAPS, fieldSelector="metadata.name").status == 400


def test_field_selectors(api: Api) -> None:
    for number in range(3):
        api.create(MAPS, {"metadata": {"name": f"x{number}"}})
    assert api.names(MAPS, fieldSelector="metadata.name=x1") == ["x1"]
    assert api.names(MAPS, fieldSelector="metadata.name!=x1,metadata.namespace=default") == ["x0", "x2"]


def test_a_stale_version_is_a_conflict(api: Api) -> None:
    old = api.create(MAPS, {"metadata": {"name": "x"}, "data": {"a": "1"}})
    api.merge(f"{MAPS}/x", {"data": {"a": "2"}})
    status, reason, message = failure(api.call("PUT", f"{MAPS}/x", {**old, "data": {"a": "3"}}))
    assert (status, reason) == (409, "Conflict")
    assert message == (
        'Operation cannot be fulfilled on configmaps "x": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )
    assert api.get(f"{MAPS}/x")["data"] == {"a": "2"}


def test_nothing_changed_means_no_new_version(api: Api) -> None:
    made = api.create(MAPS, {"metadata": {"name": "x"}, "data": {"a": "1"}})
    assert api.merge(f"{MAPS}/x", {"data": {"a": "1"}})["metadata"] == made["metadata"]


def test_generated_names_differ(api: Api) -> None:
    names = [api.create(MAPS, {"metadata": {"generateName": "x-"}})["metadata"]["name"] for _ in range(3)]
    assert len(set(names)) == 3
    assert all(name.startswith("x-") and len(name) == 7 for name in names)


def test_dry_runs_leave_nothing(api: Api) -> None:
    assert api.call("POST", MAPS, {"metadata": {"name": "x"}}, dryRun="All").status == 201
    assert api.names(MAPS) == []
    api.create(MAPS, {"metadata": {"name": "x"}})
    assert api.call("DELETE", f"{MAPS}/x", dryRun="All").status == 200
    assert api.call("POST", MAPS, {"metadata": {"name": "x"}}, dryRun="All").status == 409
    assert api.call("POST", MAPS, {"metadata": {"name": "y"}}, dryRun="some").status == 400
    assert api.names(MAPS) == ["x"]


def test_the_status_is_written_by_its_subresource_only(api: Api, sandbox: Sandbox) -> None:
    (name,) = api.names("api/v1/nodes")
    path = f"api/v1/nodes/{name}"
    before = api.get(path)["status"]
    api.merge(path, {"status": {"allocatable": {"nvidia.com/gpu": "9"}}})
    assert api.get(path)["status"] == before
    api.merge(
        f"{path}/status", {"status": {"allocatable": {"nvidia.com/gpu": "9"}}, "metadata": {"labels": {"a": "b"}}}
    )
    after = api.get(path)
    assert after["status"]["allocatable"]["nvidia.com/gpu"] == "9"
    assert "a" not in after["metadata"]["labels"]


def test_finalizers_hold_a_deletion(api: Api) -> None:
    api.create(MAPS, {"metadata": {"name": "x", "finalizers": ["example.com/hold"]}})
    assert "deletionTimestamp" in api.call("DELETE", f"{MAPS}/x").body["metadata"]
    assert api.names(MAPS) == ["x"]
    assert (
        api.call("PATCH", f"{MAPS}/x", {"metadata": {"finalizers": None}}, kind="application/merge-patch+json").status
        == 200
    )
    assert api.names(MAPS) == []


def test_a_namespace_takes_what_is_in_it_along(api: Api) -> None:
    api.create("api/v1/namespaces", {"metadata": {"name": "mine"}})
    api.create("api/v1/namespaces/mine/configmaps", {"metadata": {"name": "x"}})
    assert api.call("DELETE", "api/v1/namespaces/mine").status == 200
    assert "mine" not in api.names("api/v1/namespaces")
    assert "x" not in api.names("api/v1/configmaps")


def test_a_collection_is_deleted_by_selector(api: Api) -> None:
    for name, label in (("x", "1"), ("y", "2")):
        api.create(MAPS, {"metadata": {"name": name, "labels": {"a": label}}})
    assert api.call("DELETE", MAPS, labelSelector="a=1").status == 200
    assert api.names(MAPS) == ["y"]


@pytest.mark.parametrize("call", ["listCoreV1Node", "list nodes"])
def test_a_fault_is_taken_by_the_calls_name(api: Api, call: str) -> None:
    api.sandbox.world.faults.add("k8s", call, status=503, message="no luck")
    assert failure(api.call("GET", "api/v1/nodes")) == (503, "ServiceUnavailable", "no luck")
    assert api.call("GET", "api/v1/nodes").status == 200


def test_a_fault_of_one_call_leaves_the_others(api: Api) -> None:
    api.sandbox.world.faults.add("k8s", "patchCoreV1NamespacedConfigMap", status=429, retry_after=7)
    api.create(MAPS, {"metadata": {"name": "x"}})
    answer = api.call("PATCH", f"{MAPS}/x", {}, kind="application/merge-patch+json")
    assert (answer.status, answer.headers["Retry-After"]) == (429, "7")


def test_clusters_do_not_share_objects(sandbox: Sandbox) -> None:
    apis = [Api(sandbox, "gke", "p", "us-central1", "a"), Api(sandbox, "gke", "p", "us-central1", "b")]
    apis[0].create(MAPS, {"metadata": {"name": "x"}})
    assert [one.names(MAPS) for one in apis] == [["x"], []]


def test_versions_only_grow(api: Api) -> None:
    bodies = [api.create(MAPS, {"metadata": {"name": f"x{number}"}}) for number in range(4)]
    versions = [int(body["metadata"]["resourceVersion"]) for body in bodies]
    assert all(first < second for first, second in itertools.pairwise(versions))
    assert int(api.get(MAPS)["metadata"]["resourceVersion"]) >= versions[-1]


def test_the_version_is_the_one_that_the_cloud_itself_tells() -> None:
    """The fronts do not know one another, so each says it for itself."""
    assert GIT_VERSIONS[Cloud.AKS] == f"v{aks_pools.VERSION}"
    assert GIT_VERSIONS[Cloud.GKE] == f"v{gke_versions.VERSION}"
    assert GIT_VERSIONS[Cloud.EKS].startswith(f"v{eks_releases.VERSION}.")


def test_a_path_without_its_cluster_is_told_where_it_is(api: Api) -> None:
    """`kubectl get --raw /api/v1/nodes` leaves out what stands before the path in its kubeconfig."""
    where = Api(api.sandbox, "aks", *AKS)
    where._prefix = "/"
    answer = where.call("GET", "api/v1/nodes")
    assert answer.status == 404
    assert "ask for /k8s/CLOUD/CLUSTER/api/v1/nodes" in answer.body["message"]


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
def test_a_namespace_that_every_cluster_has_stays(api: Api, name: str) -> None:
    answer = api.call("DELETE", f"api/v1/namespaces/{name}")
    assert (answer.status, answer.body["reason"]) == (403, "Forbidden")
    assert name in api.names("api/v1/namespaces")
