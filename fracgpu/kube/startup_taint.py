"""What lifts a pool's startup taint: a small Deployment that waits for NVIDIA's MIG manager to say that a node is cut.

Nobody else would. The GPU Operator takes no taint off, and Kubernetes' Node Readiness Controller goes by conditions,
which the MIG manager does not write (https://github.com/NVIDIA/gpu-operator/tree/main/examples/cluster-autoscaler).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fracgpu import migconfig
from fracgpu.kube.names import checked
from fracgpu.kube.plugin import MANAGED_BY, MANAGER
from fracgpu.kube.promise import Promise

NAME = "fracgpu-startup-taint"
IMAGE = "alpine/kubectl:1.36.0"
"""kubectl and a shell. kubectl's own image has no shell."""

Manifest = dict[str, Any]


def startup_keys(promises: Iterable[Promise]) -> tuple[str, ...]:
    """The keys of the startup taints that the pools' nodes are made with."""
    return tuple(dict.fromkeys(taint.key for one in promises for taint in one.facts.startup_taints))


def manifests(key: str, namespace: str, image: str = IMAGE) -> list[Manifest]:
    """A Deployment, and the identity that lets it read nodes and patch them, and nothing else. Raises Invalid for the
    namespace. Kubernetes cannot narrow a right to patch nodes down to their taints."""
    checked(namespace, "--namespace")
    subject = {"kind": "ServiceAccount", "name": NAME, "namespace": namespace}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": NAME}
    rules = [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "watch", "patch"]}]
    return [
        _object("v1", "ServiceAccount", namespace),
        _object("rbac.authorization.k8s.io/v1", "ClusterRole") | {"rules": rules},
        _object("rbac.authorization.k8s.io/v1", "ClusterRoleBinding") | {"roleRef": role, "subjects": [subject]},
        _object("apps/v1", "Deployment", namespace) | {"spec": _deployment(key, image)},
    ]


def script(key: str) -> str:
    """Follows the nodes that the MIG manager has cut. kubectl's watch ends now and then, and the container with it: the
    kubelet starts it anew, and it sees every node again."""
    return f"""\
kubectl get nodes --watch --no-headers --selector {migconfig.STATE_LABEL}=success \\
  --output 'custom-columns=NAME:.metadata.name,TAINTS:.spec.taints[*].key' |
while read -r node taints; do
  case ",$taints," in
    *,{key},*) kubectl taint node "$node" {key}- ;;
  esac
done
"""


def _object(version: str, kind: str, namespace: str | None = None) -> Manifest:
    metadata: Manifest = {"name": NAME, "labels": {MANAGED_BY: MANAGER}}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": version, "kind": kind, "metadata": metadata}


def _deployment(key: str, image: str) -> Manifest:
    labels = {"app.kubernetes.io/name": NAME}
    container: Manifest = {
        "name": "kubectl",
        "image": image,
        "command": ["/bin/sh", "-c", script(key)],
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "128Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
            "runAsNonRoot": True,
            "runAsUser": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }
    pod = {"serviceAccountName": NAME, "containers": [container]}
    return {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
