"""kubectl itself, which knows nothing of the sandbox, at work on it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fracgpu.kube import startup_taint
from tests.sandbox.kubernetes.conftest import AddPool, Api, pod

Json = dict[str, Any]


class Failed(Exception):
    """kubectl's exit code was not 0; the text is what it said."""


class Kubectl:
    """Runs kubectl on the cluster of `api`; `stdin` is a manifest, as an object or as text."""

    def __init__(self, program: str, api: Api, home: Path) -> None:
        self._program, self._api = program, api
        config = home / "kubeconfig"
        server = api.url.replace("http://", "http://sandbox:sandbox@")
        config.write_text(json.dumps(kubeconfig(server)))
        own = {"HOME": str(home), "KUBECONFIG": str(config), "NO_PROXY": "127.0.0.1"}
        self._environment = {"PATH": os.environ["PATH"], **own}

    def __call__(self, *words: str, stdin: object = None) -> str:
        self._api.sandbox.advance(10)
        done = subprocess.run(
            [self._program, *words],
            input=stdin if isinstance(stdin, (str, type(None))) else json.dumps(stdin),
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if done.returncode:
            raise Failed(done.stdout + done.stderr)
        return done.stdout

    def until(self, said: str, *words: str) -> str:
        """Run until a line says so, and end it there; gives that line, empty if it ended without."""
        return self._until(said, [self._program, *words])

    def until_script(self, said: str, script: str) -> str:
        """The same of a shell script that calls kubectl."""
        path = f"{Path(self._program).parent}{os.pathsep}{self._environment['PATH']}"
        return self._until(said, ["env", f"PATH={path}", "sh", "-c", script])

    def _until(self, said: str, command: list[str]) -> str:
        both = subprocess.Popen(
            command, env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        with both as running:
            assert running.stdout is not None
            line = next((line for line in running.stdout if said in line), "")
            running.kill()
        return line


@pytest.fixture
def kubectl(api: Api, tool: Callable[[str], str], tmp_path: Path) -> Kubectl:
    return Kubectl(tool("kubectl"), api, tmp_path)


def kubeconfig(server: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": {"token": "sandbox"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    }


def manifest(kind: str, body: Json, version: str = "v1") -> Json:
    return {"apiVersion": version, "kind": kind, **body}


def test_get_nodes(kubectl: Kubectl, api: Api, add_pool: AddPool) -> None:
    (name,) = add_pool(gpuInstanceProfile="MIG1g")
    shown = json.loads(kubectl("get", "node", name, "-o", "json"))
    assert shown == api.get(f"api/v1/nodes/{name}")
    header, *rows = kubectl("get", "nodes").splitlines()
    assert header.split() == ["NAME", "STATUS", "ROLES", "AGE", "VERSION"]
    assert sorted(row.split()[0] for row in rows) == sorted(api.names("api/v1/nodes"))
    assert {row.split()[1] for row in rows} == {"Ready"}
    assert "containerd://" in kubectl("get", "nodes", "-o", "wide")
    assert kubectl("get", "no", "-l", "agentpool=gpus", "-o", "name") == f"node/{name}\n"
    assert len(kubectl("get", "nodes", "--chunk-size=1", "--no-headers").splitlines()) == 2


def test_describe_node_counts_what_is_taken(kubectl: Kubectl, add_pool: AddPool) -> None:
    (name,) = add_pool(gpuInstanceProfile="MIG1g")
    kubectl("apply", "-f", "-", stdin=manifest("Pod", pod("one", gpus=2)))
    text = kubectl("describe", "node", name)
    (taken,) = [line.split() for line in text.splitlines() if line.startswith("  nvidia.com/gpu  ")]
    assert taken == ["nvidia.com/gpu", "2", "2"]
    assert "nvidia.com/gpu=present:NoSchedule" in text
    assert f"HolderIdentity:  {name}" in text
    assert "NodeReady" in text


def test_a_pod_that_takes_a_slice_and_one_that_cannot(kubectl: Kubectl, add_pool: AddPool) -> None:
    (name,) = add_pool(gpuInstanceProfile="MIG1g")
    # Tolerating everything, so that the server adds no tolerations of its own, which an apply would take away again.
    one, greedy = (pod(what, gpus=n, tolerations=[{"operator": "Exists"}]) for what, n in (("one", 1), ("greedy", 8)))
    for what, body in (("one", one), ("greedy", greedy)):
        assert kubectl("apply", "-f", "-", stdin=manifest("Pod", body)) == f"pod/{what} created\n"
    rows = {row.split()[0]: row.split() for row in kubectl("get", "pods", "-o", "wide", "--no-headers").splitlines()}
    assert rows["one"][2] == "Running"
    assert name in rows["one"]
    assert rows["greedy"][2] == "Pending"
    assert "0/2 nodes are available: 2 Insufficient nvidia.com/gpu." in kubectl("describe", "pod", "greedy")
    assert "FailedScheduling" in kubectl("get", "events")
    assert kubectl("apply", "-f", "-", stdin=manifest("Pod", one)) == "pod/one unchanged\n"
    kubectl("wait", "--for=condition=Ready", "pod/one", "--timeout=20s")
    assert kubectl("delete", "pod", "one", "greedy") == 'pod "one" deleted\npod "greedy" deleted\n'


def test_apply_both_ways(kubectl: Kubectl) -> None:
    def config_map(**data: str) -> Json:
        return manifest("ConfigMap", {"metadata": {"name": "x", "namespace": "default"}, "data": data})

    assert kubectl("apply", "-f", "-", stdin=config_map(a="1")) == "configmap/x created\n"
    assert kubectl("apply", "-f", "-", stdin=config_map(b="2")) == "configmap/x configured\n"
    assert json.loads(kubectl("get", "cm", "x", "-o", "json"))["data"] == {"b": "2"}
    assert "serverside-applied" in kubectl("apply", "--server-side", "-f", "-", stdin=config_map(b="2"))
    other = ("apply", "--server-side", "--field-manager=other", "-f", "-")
    with pytest.raises(Failed, match=r'conflicts with "kubectl":\n- \.data\.b') as refused:
        kubectl(*other, stdin=config_map(b="3"))
    assert "--force-conflicts" in str(refused.value)
    kubectl(*other, "--force-conflicts", stdin=config_map(b="3"))
    assert json.loads(kubectl("get", "cm", "x", "-o", "json"))["data"] == {"b": "3"}


def test_an_unknown_field_is_refused(kubectl: Kubectl) -> None:
    with pytest.raises(Failed, match='unknown field "dataa"'):
        kubectl("apply", "-f", "-", stdin=manifest("ConfigMap", {"metadata": {"name": "x"}, "dataa": {}}))


@pytest.mark.parametrize(
    ("words", "kind", "name"),
    [
        (("namespace", "made"), "namespaces", "made"),
        (("configmap", "made", "--from-literal=a=b"), "configmaps", "made"),
        (("secret", "generic", "made", "--from-literal=a=b"), "secrets", "made"),
        (("serviceaccount", "made"), "serviceaccounts", "made"),
        (("deployment", "made", "--image=nginx", "--replicas=2"), "deployments", "made"),
        (("job", "made", "--image=busybox", "--", "true"), "jobs", "made"),
        (("poddisruptionbudget", "made", "--selector=a=b", "--min-available=50%"), "poddisruptionbudgets", "made"),
    ],
)
def test_create_sends_what_is_understood(kubectl: Kubectl, words: tuple[str, ...], kind: str, name: str) -> None:
    kubectl("create", *words)
    body = json.loads(kubectl("get", kind, name, "-o", "json"))
    if kind in ("configmaps", "secrets"):
        assert body["data"] == {"a": "b" if kind == "configmaps" else "Yg=="}
    if kind == "deployments":
        assert body["spec"]["replicas"] == 2
        assert body["spec"]["template"]["spec"]["containers"][0]["image"] == "nginx"
    if kind == "poddisruptionbudgets":
        assert body["spec"] == {"minAvailable": "50%", "selector": {"matchLabels": {"a": "b"}}}
    kubectl("delete", kind, name)


def test_drain_heeds_budgets_and_daemonsets(kubectl: Kubectl, api: Api, add_pool: AddPool) -> None:
    names = add_pool(count=2)
    template = pod("web")
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    kubectl("apply", "-f", "-", stdin=manifest("Deployment", {"metadata": {"name": "web"}, "spec": spec}, "apps/v1"))
    budget = {"metadata": {"name": "web"}, "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}}}
    kubectl("apply", "-f", "-", stdin=manifest("PodDisruptionBudget", budget, "policy/v1"))
    with pytest.raises(Failed, match="cannot delete DaemonSet-managed Pods"):
        kubectl("drain", names[0])
    assert "will retry" in kubectl.until(
        "violate the pod's disruption budget", "drain", names[0], "--ignore-daemonsets"
    )
    assert json.loads(kubectl("get", "node", names[0], "-o", "json"))["spec"]["unschedulable"] is True
    kubectl("delete", "pdb", "web")
    assert "drained" in kubectl("drain", names[0], "--ignore-daemonsets", "--timeout=20s")
    nodes = [one["spec"].get("nodeName") for one in api.get("api/v1/namespaces/default/pods")["items"]]
    assert sorted(nodes, key=str) == sorted([names[1], None], key=str), "one stays, its sibling waits for the node"
    assert "SchedulingDisabled" in kubectl("get", "node", names[0])
    kubectl("uncordon", names[0])
    nodes = [one["spec"]["nodeName"] for one in api.get("api/v1/namespaces/default/pods")["items"]]
    assert sorted(nodes) == sorted(names)


def test_labels_taints_and_patches(kubectl: Kubectl, add_pool: AddPool) -> None:
    (name,) = add_pool()
    kubectl("label", "node", name, "team=vision")
    kubectl("annotate", "node", name, "note=yes")
    kubectl("taint", "node", name, "a=b:NoExecute")
    kubectl("taint", "node", name, "nvidia.com/gpu-")
    kubectl("patch", "node", name, "--type=json", "-p", '[{"op":"remove","path":"/metadata/annotations/note"}]')
    node = json.loads(kubectl("get", "node", name, "-o", "json"))
    assert node["metadata"]["labels"]["team"] == "vision"
    assert "note" not in node["metadata"]["annotations"]
    assert node["spec"]["taints"] == [{"effect": "NoExecute", "key": "a", "value": "b"}]


def test_questions_about_the_server(kubectl: Kubectl) -> None:
    assert json.loads(kubectl("version", "-o", "json"))["serverVersion"]["major"] == "1"
    kinds = kubectl("api-resources", "--no-headers")
    assert "poddisruptionbudgets" in kinds
    assert "apps/v1" in kubectl("api-versions")
    assert kubectl("auth", "can-i", "create", "pods") == "yes\n"
    assert "[*]" in kubectl("auth", "can-i", "--list")
    assert "sandbox" in kubectl("auth", "whoami")
    assert "effect\t<string> -required-" in kubectl("explain", "node.spec.taints")
    assert "limits\t<map[string]" in kubectl("explain", "pod.spec.containers.resources")


def test_the_plugin_of_a_node_with_an_unknown_key_is_seen_to_fail(kubectl: Kubectl, add_pool: AddPool) -> None:
    add_pool(nodeLabels={"nvidia.com/device-plugin.config": "none"})
    assert "Init:CrashLoopBackOff" in kubectl("get", "pods", "-n", "gpu-operator")
    log = kubectl("logs", "-n", "gpu-operator", "-l", "app=nvidia-device-plugin-daemonset", "-c", "config-manager-init")
    assert "no configuration files available" in log


def test_watching_nodes_shows_changes(kubectl: Kubectl, add_pool: AddPool) -> None:
    (name,) = add_pool()
    kubectl("wait", f"node/{name}", "--for=jsonpath={.status.allocatable.nvidia\\.com/gpu}=1", "--timeout=20s")
    with pytest.raises(Failed, match="timed out"):
        kubectl("wait", f"node/{name}", "--for=jsonpath={.status.allocatable.nvidia\\.com/gpu}=9", "--timeout=1s")


def test_a_name_that_is_not_there(kubectl: Kubectl) -> None:
    with pytest.raises(Failed, match=r'Error from server \(NotFound\): pods "none" not found'):
        kubectl("get", "pod", "none")
    assert kubectl("get", "pods", "-n", "none") == ""


def test_the_startup_taint_is_lifted_where_the_mig_manager_is_done(kubectl: Kubectl, add_pool: AddPool) -> None:
    nodes = [add_pool(name)[0] for name in ("cut", "pending")]
    for node in nodes:
        kubectl("taint", "node", node, "fracgpu.dev/mig-pending=true:NoSchedule")
    kubectl("label", "node", nodes[0], "nvidia.com/mig.config.state=success")
    kubectl("label", "node", nodes[1], "nvidia.com/mig.config.state=pending")
    script = startup_taint.script("fracgpu.dev/mig-pending")
    assert kubectl.until_script("untainted", script) == f"node/{nodes[0]} untainted\n"
    shown = json.loads(kubectl("get", "nodes", *nodes, "-o", "json"))["items"]
    keys = {one["metadata"]["name"]: [taint["key"] for taint in one["spec"].get("taints", [])] for one in shown}
    assert "fracgpu.dev/mig-pending" not in keys[nodes[0]]
    assert "fracgpu.dev/mig-pending" in keys[nodes[1]]


def test_what_it_makes_in_protobuf(kubectl: Kubectl) -> None:
    """`kubectl create` sends the kinds that it knows in Kubernetes' binary form."""
    kubectl("create", "role", "r", "--verb=get,list", "--resource=pods")
    kubectl("create", "rolebinding", "b", "--role=r", "--user=me")
    kubectl("create", "quota", "q", "--hard=pods=2,requests.nvidia.com/gpu=4")
    kubectl("create", "priorityclass", "p", "--value=5")
    kubectl("create", "service", "clusterip", "s", "--tcp=80:8080")
    kubectl("create", "cronjob", "c", "--image=x", "--schedule=0 * * * *")
    assert kubectl("create", "token", "default") == "sandbox"

    def shown(kind: str, name: str) -> Json:
        return dict(json.loads(kubectl("get", kind, name, "-o", "json")))

    assert shown("role", "r")["rules"] == [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]
    assert shown("rolebinding", "b")["roleRef"]["name"] == "r"
    assert shown("quota", "q")["spec"]["hard"] == {"pods": "2", "requests.nvidia.com/gpu": "4"}
    assert shown("priorityclass", "p")["value"] == 5
    assert shown("cronjob", "c")["spec"]["schedule"] == "0 * * * *"
    assert shown("service", "s")["spec"]["ports"][0]["targetPort"] == 8080


def test_a_deployment_is_rolled_out_and_back(kubectl: Kubectl, add_pool: AddPool) -> None:
    add_pool()
    kubectl("create", "deployment", "d", "--image=one", "--replicas=2")
    kubectl("set", "image", "deployment/d", "*=two")
    assert "successfully rolled out" in kubectl("rollout", "status", "deployment/d", "--timeout=20s")
    assert kubectl("rollout", "undo", "deployment/d") == "deployment.apps/d rolled back\n"
    assert "image: one" in kubectl("get", "deployment", "d", "-o", "yaml")
    assert [row.split()[0] for row in kubectl("rollout", "history", "deployment/d").splitlines()[2:4]] == ["2", "3"]


def test_logs_say_that_nothing_runs(kubectl: Kubectl) -> None:
    kubectl("run", "x", "--image=x")
    with pytest.raises(Failed, match="the sandbox runs no containers"):
        kubectl("logs", "x")
