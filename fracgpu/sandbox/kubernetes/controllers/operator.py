"""Who brings the device plugin: the NVIDIA GPU Operator (AKS, EKS) or GKE's own DaemonSet, as objects to see and edit.

The DaemonSets' tolerations decide on which nodes they run, so a taint that keeps the real ones off keeps these off too:
the NFD worker tolerates `nvidia.com/gpu=present` and no other value
(https://github.com/NVIDIA/k8s-device-plugin/blob/main/deployments/helm/nvidia-device-plugin/values.yaml), the plugin
any value, and neither knows taints of a user's own. AKS's taint for spot nodes is tolerated, which a real install must
be told (https://github.com/Azure/AKS/issues/4418).
"""

from __future__ import annotations

from fracgpu.sandbox.kubernetes import resources
from fracgpu.sandbox.kubernetes.controllers.gfd import FOUND_BY_NFD, operator_labels
from fracgpu.sandbox.kubernetes.controllers.gpus import find
from fracgpu.sandbox.kubernetes.life import OPERATOR_NAMESPACE, Batch, Life
from fracgpu.sandbox.kubernetes.store import Key
from fracgpu.sandbox.world import Cloud, Json

NFD = "gpu-operator-node-feature-discovery-worker"
PLUGIN = "nvidia-device-plugin-daemonset"
GKE_PLUGIN = "nvidia-gpu-device-plugin-small-cos"
PLUGIN_NAMES = {PLUGIN: OPERATOR_NAMESPACE, GKE_PLUGIN: "kube-system"}
"""DaemonSets whose pods are device plugins, and where they are."""

_SPOT: Json = {
    "key": "kubernetes.azure.com/scalesetpriority",
    "operator": "Equal",
    "value": "spot",
    "effect": "NoSchedule",
}
_ANY_VALUE: Json = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
_PRESENT: Json = {"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"}


def _term(key: str, *values: str) -> Json:
    expression: Json = {"key": key, "operator": "In" if values else "Exists"}
    return {"matchExpressions": [{**expression, "values": list(values)} if values else expression]}


def _affinity(*terms: Json) -> Json:
    required = {"nodeSelectorTerms": list(terms)}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


_HAS_GPU = _affinity(
    _term("feature.node.kubernetes.io/pci-10de.present", "true"),
    _term("feature.node.kubernetes.io/cpu-model.vendor_id", "NVIDIA"),
    _term("nvidia.com/gpu.present", "true"),
)


def run(life: Life, batch: Batch) -> None:
    _install(life)
    for key in batch.keys(resources.PODS):
        if key.namespace == OPERATOR_NAMESPACE and key.name.startswith(NFD):
            _discover(life, key)


def _install(life: Life) -> None:
    if life.cluster.cloud is Cloud.GKE:
        _ensure(life, _daemonset("kube-system", GKE_PLUGIN, "k8s-app", "nvidia-gpu-device-plugin", _gke_spec()))
    elif life.operator:
        for body in _operator_sets():
            _ensure(life, body)


def _ensure(life: Life, body: Json) -> None:
    """Make the DaemonSet once; one that a user deleted stays deleted."""
    name = body["metadata"]["name"]
    if name not in life.placed:
        life.placed.add(name)
        life.store.create(resources.DAEMON_SETS, body)


def _operator_sets() -> list[Json]:
    nfd: Json = {"containers": [_container("worker", "registry.k8s.io/nfd/node-feature-discovery:v0.18.2")]}
    nfd |= {"tolerations": [_PRESENT, _SPOT]}
    plugin: Json = {"containers": [_container("nvidia-device-plugin", "nvcr.io/nvidia/k8s-device-plugin:v0.20.0")]}
    plugin |= {
        "initContainers": [_container("config-manager-init", "nvcr.io/nvidia/k8s-device-plugin:v0.20.0")],
        "tolerations": [_ANY_VALUE, _SPOT],
        "affinity": _HAS_GPU,
        "priorityClassName": "system-node-critical",
    }
    gfd: Json = {"containers": [_container("gpu-feature-discovery", "nvcr.io/nvidia/k8s-device-plugin:v0.20.0")]}
    gfd |= {"tolerations": [_ANY_VALUE, _SPOT], "affinity": _HAS_GPU}
    return [
        _daemonset(OPERATOR_NAMESPACE, NFD, "app.kubernetes.io/name", "node-feature-discovery", nfd),
        _daemonset(OPERATOR_NAMESPACE, PLUGIN, "app", PLUGIN, plugin),
        _daemonset(OPERATOR_NAMESPACE, "gpu-feature-discovery", "app", "gpu-feature-discovery", gfd),
    ]


def _gke_spec() -> Json:
    expressions = [
        {"key": "cloud.google.com/gke-accelerator", "operator": "Exists"},
        {"key": "gke-no-default-nvidia-gpu-device-plugin", "operator": "DoesNotExist"},
    ]
    return {
        "containers": [_container("nvidia-gpu-device-plugin", "gke.gcr.io/nvidia-gpu-device-plugin:1.0.45")],
        "tolerations": [{"operator": "Exists"}],
        "affinity": _affinity({"matchExpressions": expressions}),
        "priorityClassName": "system-node-critical",
    }


def _container(name: str, image: str) -> Json:
    return {"name": name, "image": image, "imagePullPolicy": "IfNotPresent", "resources": {}}


def _daemonset(namespace: str, name: str, label: str, value: str, spec: Json) -> Json:
    return {
        "metadata": {"name": name, "namespace": namespace, "labels": {label: value}, "generation": 1},
        "spec": {
            "selector": {"matchLabels": {label: value}},
            "template": {"metadata": {"labels": {label: value}}, "spec": spec},
            "updateStrategy": {"type": "RollingUpdate"},
        },
    }


def _discover(life: Life, key: Key) -> None:
    """The NFD worker on a node has come up: the node's GPU is known from its PCI bus."""
    pod = life.store.find(resources.PODS, key)
    if pod is None or pod["status"].get("phase") != "Running":
        return
    machine = life.machines.get(pod["spec"]["nodeName"])
    node = life.store.find(resources.NODES, Key("", pod["spec"]["nodeName"]))
    if machine is None or node is None or not machine.shape.gpu_count or machine.shape.allocatable is not None:
        return
    found = FOUND_BY_NFD | operator_labels(find(machine.shape.gpu_product))
    labels = {**found, **node["metadata"]["labels"]}
    life.store.replace(resources.NODES, {**node, "metadata": {**node["metadata"], "labels": labels}})
