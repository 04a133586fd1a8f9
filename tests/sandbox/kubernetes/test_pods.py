"""Where pods land, why they do not, and what a node lets them have."""

from __future__ import annotations

from typing import Any

import pytest

from fracgpu.sandbox.kubernetes import resources
from fracgpu.sandbox.settings import change
from fracgpu.sandbox.world import Cloud
from tests.sandbox.conftest import Sandbox
from tests.sandbox.kubernetes.conftest import AKS, AddPool, Api, gke_pool, pod

PODS = "api/v1/namespaces/default/pods"
SPOT = {"key": "kubernetes.azure.com/scalesetpriority", "operator": "Exists"}
Json = dict[str, Any]


def landed(api: Api, name: str) -> tuple[str, str | None]:
    body = api.get(f"{PODS}/{name}")
    return body["status"]["phase"], body["spec"].get("nodeName")


def why(api: Api, name: str) -> str:
    """What the scheduler says of a pod that waits: in its condition and, alike, in an event."""
    conditions = api.get(f"{PODS}/{name}")["status"]["conditions"]
    (scheduled,) = [one for one in conditions if one["type"] == "PodScheduled"]
    assert (scheduled["status"], scheduled["reason"]) == ("False", "Unschedulable")
    events = api.get("api/v1/namespaces/default/events", fieldSelector=f"involvedObject.name={name}")["items"]
    assert {event["reason"] for event in events} == {"FailedScheduling"}
    assert scheduled["message"] in {event["message"] for event in events}
    return str(scheduled["message"])


def test_a_pod_takes_a_slice(api: Api, add_pool: AddPool) -> None:
    (node,) = add_pool(gpuInstanceProfile="MIG1g")
    api.create(PODS, pod("one"))
    assert landed(api, "one") == ("Running", node)
    statuses = api.get(f"{PODS}/one")["status"]["containerStatuses"]
    assert [status["ready"] for status in statuses] == [True]


def test_slices_run_out_and_come_back(api: Api, add_pool: AddPool) -> None:
    (node,) = add_pool(gpuInstanceProfile="MIG1g")
    for number in range(8):
        api.create(PODS, pod(f"p{number}"))
    phases = [landed(api, f"p{number}")[0] for number in range(8)]
    assert phases == ["Running"] * 7 + ["Pending"]
    assert why(api, "p7") == (
        "0/2 nodes are available: 2 Insufficient nvidia.com/gpu. preemption: 0/2 nodes are available: "
        "1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling."
    )
    api.call("DELETE", f"{PODS}/p0")
    assert landed(api, "p7") == ("Running", node)


@pytest.mark.parametrize(
    ("properties", "spec", "reasons"),
    [
        (
            {},
            {"tolerations": []},
            "1 Insufficient nvidia.com/gpu, 1 node(s) had untolerated taint {nvidia.com/gpu: present}",
        ),
        (
            {"scaleSetPriority": "Spot"},
            {},
            (
                "1 Insufficient nvidia.com/gpu, 1 node(s) had untolerated taint "
                "{kubernetes.azure.com/scalesetpriority: spot}"
            ),
        ),
        ({}, {"nodeSelector": {"no": "such"}}, "2 node(s) didn't match Pod's node affinity/selector"),
        ({}, {"resource": "nvidia.com/mig-1g.10gb"}, "2 Insufficient nvidia.com/mig-1g.10gb"),
        ({}, {"gpus": 2}, "2 Insufficient nvidia.com/gpu"),
    ],
)
def test_a_pod_that_cannot_land_says_why(
    api: Api, add_pool: AddPool, properties: Json, spec: Json, reasons: str
) -> None:
    add_pool(**properties)
    api.create(PODS, pod("stuck", **spec))
    assert landed(api, "stuck") == ("Pending", None)
    assert why(api, "stuck").startswith(f"0/2 nodes are available: {reasons}. preemption: 0/2 nodes are available: ")


def test_a_pod_waits_for_nodes_to_come(api: Api, add_pool: AddPool) -> None:
    api.create(PODS, pod("early"))
    assert landed(api, "early")[0] == "Pending"
    (node,) = add_pool()
    assert landed(api, "early") == ("Running", node)


def test_a_cordoned_node_takes_nothing_new(api: Api, add_pool: AddPool) -> None:
    (node,) = add_pool()
    api.merge(f"api/v1/nodes/{node}", {"spec": {"unschedulable": True}})
    api.create(PODS, pod("late"))
    assert "1 node(s) were unschedulable" in why(api, "late")
    api.merge(f"api/v1/nodes/{node}", {"spec": {"unschedulable": None}})
    assert landed(api, "late") == ("Running", node)


def test_affinity_is_a_choice_of_terms(api: Api, add_pool: AddPool) -> None:
    (node,) = add_pool(nodeLabels={"team": "vision"})
    terms = [
        {"matchExpressions": [{"key": "team", "operator": "In", "values": ["text"]}]},
        {"matchExpressions": [{"key": "nvidia.com/gpu.memory", "operator": "Gt", "values": ["80000"]}]},
    ]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    api.create(PODS, pod("picky", affinity={"nodeAffinity": required}))
    assert landed(api, "picky") == ("Running", node)


ONE_SHARE = (
    "{version: v1, sharing: {timeSlicing: {failRequestsGreaterThanOne: true, "
    "resources: [{name: nvidia.com/gpu, replicas: 10}]}}}"
)


def test_a_container_that_asks_for_two_shares_is_refused_where_one_is_the_rule(api: Api, add_pool: AddPool) -> None:
    api.config_map(one=ONE_SHARE, any=ONE_SHARE.replace("true", "false"))
    add_pool("one", nodeLabels={"nvidia.com/device-plugin.config": "one"})
    add_pool("any", nodeLabels={"nvidia.com/device-plugin.config": "any"})
    for pool in ("one", "any"):
        api.create(PODS, pod(pool, gpus=2, nodeSelector={"agentpool": pool}))
    refused = api.get(f"{PODS}/one")["status"]
    assert (refused["phase"], refused["reason"]) == ("Failed", "UnexpectedAdmissionError")
    assert refused["message"] == (
        "Pod was rejected: Allocate failed due to rpc error: code = Unknown desc = invalid allocation request for "
        '"nvidia.com/gpu": invalid request: maximum request size for shared resources is 1; found 2, '
        "which is unexpected"
    )
    assert landed(api, "any")[0] == "Running"


def test_gke_hands_out_one_share_a_container(sandbox: Sandbox) -> None:
    sharing = {"max_shared_clients_per_gpu": 10, "gpu_sharing_strategy": "TIME_SHARING"}
    gpu = {"accelerator_count": 1, "accelerator_type": "nvidia-l4", "gpu_sharing_config": sharing}
    api = gke_pool(sandbox, "l4", "g2-standard-4", gpu)
    for name, gpus in (("fine", 1), ("greedy", 2)):
        api.create(PODS, pod(name, gpus=gpus))
    assert landed(api, "fine")[0] == "Running"
    assert (
        "invalid request for sharing GPU (time-sharing), at most 1 nvidia.com/gpu can be requested on GPU nodes"
        in api.get(f"{PODS}/greedy")["status"]["message"]
    )


def test_pods_go_with_their_node(api: Api, add_pool: AddPool) -> None:
    (node,) = add_pool()
    api.create(PODS, pod("one"))
    assert landed(api, "one")[0] == "Running"
    api.call("DELETE", f"api/v1/nodes/{node}")
    assert api.names(PODS) == []


def test_a_pod_that_is_meant_to_end_ends(api: Api) -> None:
    api.create(PODS, pod("brief", gpus=None, restartPolicy="Never"))
    api.get(PODS)
    assert landed(api, "brief")[0] == "Succeeded"


DEPLOYMENTS = "apis/apps/v1/namespaces/default/deployments"


def deployment(replicas: int) -> Json:
    template = pod("web")
    return {
        "metadata": {"name": "web"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }


def test_a_deployment_keeps_its_number_of_pods(api: Api, add_pool: AddPool) -> None:
    add_pool(gpuInstanceProfile="MIG1g")
    api.create(DEPLOYMENTS, deployment(3))
    names = api.names(PODS)
    assert (len(names), api.get(f"{DEPLOYMENTS}/web")["status"]["readyReplicas"]) == (3, 3)
    api.call("DELETE", f"{PODS}/{names[0]}")
    assert len(api.names(PODS)) == 3
    api.merge(f"{DEPLOYMENTS}/web/scale", {"spec": {"replicas": 1}})
    assert len(api.names(PODS)) == 1
    api.call("DELETE", f"{DEPLOYMENTS}/web")
    assert (api.names(PODS), api.names("apis/apps/v1/replicasets")) == ([], [])


def test_a_job_runs_to_its_end(api: Api) -> None:
    template = pod("work", gpus=None, restartPolicy="Never")
    body = {"metadata": {"name": "work"}, "spec": {"completions": 2, "parallelism": 1, "template": template}}
    api.create("apis/batch/v1/namespaces/default/jobs", body)
    for _ in range(4):
        status = api.get("apis/batch/v1/namespaces/default/jobs/work")["status"]
    assert (status["succeeded"], status["conditions"][0]["type"]) == (2, "Complete")


BUDGETS = "apis/policy/v1/namespaces/default/poddisruptionbudgets"


def evict(api: Api, name: str) -> tuple[int, Json]:
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": "default"}}
    answer = api.call("POST", f"{PODS}/{name}/eviction", eviction)
    return answer.status, answer.body


@pytest.mark.parametrize(
    ("spec", "allowed"),
    [
        ({"minAvailable": 3}, 0),
        ({"minAvailable": 2}, 1),
        ({"minAvailable": "50%"}, 1),
        ({"minAvailable": "100%"}, 0),
        ({"maxUnavailable": 1}, 1),
        ({"maxUnavailable": 0}, 0),
        ({"maxUnavailable": "34%"}, 2),
    ],
)
def test_a_budget_limits_evictions(api: Api, spec: Json, allowed: int) -> None:
    for number in range(3):
        api.create(PODS, {**pod(f"p{number}", gpus=None), "metadata": {"name": f"p{number}", "labels": {"app": "web"}}})
    api.create(BUDGETS, {"metadata": {"name": "web"}, "spec": {**spec, "selector": {"matchLabels": {"app": "web"}}}})
    state = api.get(f"{BUDGETS}/web")["status"]
    assert (state["currentHealthy"], state["expectedPods"], state["disruptionsAllowed"]) == (3, 3, allowed)
    assert [evict(api, f"p{number}")[0] for number in range(3)][:allowed] == [201] * allowed
    if not allowed:
        status, body = evict(api, "p0")
        assert (status, body["reason"]) == (429, "TooManyRequests")
        assert body["message"] == "Cannot evict pod as it would violate the pod's disruption budget."
        needs = state["desiredHealthy"]
        cause = f"The disruption budget web needs {needs} healthy pods and has 3 currently"
        assert body["details"]["causes"] == [{"reason": "DisruptionBudget", "message": cause}]
        assert len(api.names(PODS)) == 3


def test_set_pod_and_pdb_block_a_drain(api: Api, add_pool: AddPool) -> None:
    (node,) = add_pool()
    world = api.sandbox.world
    change(world, "pdb", {"namespace": "team", "selector": {"app": "db"}, "min_available": 1})
    change(world, "pod", {"node": node, "labels": {"app": "db"}})
    (made,) = api.get("api/v1/namespaces/team/pods")["items"]
    assert (made["spec"]["nodeName"], made["status"]["phase"]) == (node, "Running")
    path = f"api/v1/namespaces/team/pods/{made['metadata']['name']}"
    assert api.call("POST", f"{path}/eviction", {}).status == 429
    change(world, "pdb", {"namespace": "team", "selector": {"app": "db"}, "min_available": 0})
    assert api.call("POST", f"{path}/eviction", {}).status == 201
    assert api.names("api/v1/namespaces/team/pods") == []


def test_an_eviction_of_nothing_is_404(api: Api) -> None:
    assert evict(api, "none")[0] == 404


@pytest.mark.parametrize(
    ("method", "below", "words"),
    [
        ("GET", "log", "nothing to log"),
        ("GET", "exec", "nothing to run a command in"),
        ("POST", "exec", "nothing to run a command in"),
        ("POST", "attach", "nothing to attach to"),
        ("POST", "portforward", "nothing to forward a port to"),
        ("GET", "proxy", "nothing to answer a request"),
        ("PATCH", "ephemeralcontainers", "nothing to debug"),
    ],
)
def test_what_needs_a_container_is_refused_with_words(api: Api, method: str, below: str, words: str) -> None:
    api.create(PODS, pod("x", gpus=None))
    answer = api.call(method, f"{PODS}/x/{below}", {}, kind="application/merge-patch+json")
    assert (answer.status, answer.body["reason"]) == (500, "InternalError")
    assert answer.body["message"] == f"error dialing backend: the sandbox runs no containers: pod x has {words}"
    assert api.call(method, f"{PODS}/none/{below}", {}, kind="application/merge-patch+json").status == 404


def test_a_pod_without_a_node_has_an_empty_log(api: Api) -> None:
    api.create(PODS, pod("x", gpus=99))
    answer = api.call("GET", f"{PODS}/x/log")
    assert (answer.status, answer.body["text"]) == (200, b"")


def test_a_token_is_to_be_had(api: Api) -> None:
    answer = api.call("POST", "api/v1/namespaces/default/serviceaccounts/default/token", {"spec": {}})
    assert (answer.status, answer.body["kind"]) == (201, "TokenRequest")
    assert answer.body["status"]["token"]


def test_an_object_that_a_controller_cannot_follow_harms_no_other_kind(
    api: Api, capfd: pytest.CaptureFixture[str]
) -> None:
    """Put there behind the API's back, which would not let it pass: the log tells of it."""
    budgets = "apis/policy/v1/namespaces/default/poddisruptionbudgets"
    selector = {"matchExpressions": [{"key": "app", "operator": "In", "values": 5}]}
    made = api.create(budgets, {"metadata": {"name": "x"}, "spec": {"minAvailable": 1}})
    life = api.sandbox.world.cluster(Cloud.AKS, *AKS).kubernetes
    with api.sandbox.world.lock:
        life.store.replace(resources.BUDGETS, {**made, "spec": {"minAvailable": 1, "selector": selector}})
    api.create(PODS, pod("y", gpus=None))
    assert landed(api, "y")[0] == "Running"
    assert "Traceback" in capfd.readouterr().err


def test_a_budget_is_a_number_or_a_percentage(api: Api) -> None:
    budgets = "apis/policy/v1/namespaces/default/poddisruptionbudgets"
    for value in (-1, "some", "5", True):
        answer = api.call("POST", budgets, {"metadata": {"name": "x"}, "spec": {"minAvailable": value}})
        assert answer.status == 422, value
    assert api.create(budgets, {"metadata": {"name": "x"}, "spec": {"maxUnavailable": "50%"}})


def test_an_expression_without_an_operator_is_refused(api: Api) -> None:
    term = {"matchExpressions": [{"key": "a"}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    answer = api.call("POST", PODS, pod("x", affinity={"nodeAffinity": required}))
    assert answer.status == 422
    assert answer.body["message"].endswith("matchExpressions[0].operator: Required value")
