"""The roles and the policy of the README permit every call that a session makes."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import botocore.session
import pytest
import yaml
from botocore import xform_name

from docs.console import FENCE, ROOT

PROVIDERS = ROOT / "fracgpu" / "providers"


def _document(name: str) -> Any:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [body] = [fence["body"] for fence in FENCE.finditer(text) if fence["file"] == name]
    return yaml.safe_load(body) if name.endswith(".yaml") else json.loads(body)


def _texts(folder: Path) -> Iterator[str]:
    """Every text in the modules of a folder: the names of calls are among them."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def _aws_calls() -> set[str]:
    """The actions of the EKS and EC2 calls that the session names, whole or by how they begin (update_nodegroup_)."""
    said = set(_texts(PROVIDERS / "eks"))
    session = botocore.session.get_session()
    calls = {
        (service, operation)
        for service in ("eks", "ec2")
        for operation in session.get_service_model(service).operation_names
    }
    begun = tuple(text for text in said if re.fullmatch(r"[a-z]+_[a-z]+_", text))
    named = {call for call in calls if xform_name(call[1]) in said or xform_name(call[1]).startswith(begun)}
    return {f"{service}:{operation}" for service, operation in named}


def _actions(policy: Any) -> set[str]:
    found: set[str] = set()
    for statement in policy["Statement"]:
        action = statement["Action"]
        found |= {action} if isinstance(action, str) else set(action)
    return found


BEYOND_CALLS = {
    "iam:PassRole",
    "iam:GetRole",
    "iam:ListAttachedRolePolicies",
    "iam:CreateServiceLinkedRole",
    "ec2:RunInstances",
    "ec2:CreateTags",
}


def test_the_policy_permits_every_call_to_aws_and_no_other() -> None:
    calls = _aws_calls()
    assert {"eks:CreateNodegroup", "ec2:CreateLaunchTemplate"} <= calls
    assert calls == _actions(_document("policy.json")) - BEYOND_CALLS


def test_the_policy_is_scoped() -> None:
    """Only reading, and what a condition limits, may be done to everything."""
    for statement in _document("policy.json")["Statement"]:
        if statement["Resource"] == "*" and "Condition" not in statement:
            actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
            assert all(re.match(r"\w+:(Describe|List)", action) for action in actions), statement["Sid"]


GKE_PERMISSIONS = {
    "GetCluster": "container.clusters.get",
    "ListClusters": "container.clusters.list",
    "GetServerConfig": "container.clusters.get",
    "GetNodePool": "container.clusters.get",
    "ListNodePools": "container.clusters.get",
    "CreateNodePool": "container.clusters.update",
    "UpdateNodePool": "container.clusters.update",
    "DeleteNodePool": "container.clusters.update",
    "SetNodePoolAutoscaling": "container.clusters.update",
    "SetNodePoolManagement": "container.clusters.update",
    "SetNodePoolSize": "container.clusters.update",
    "GetOperation": "container.operations.get",
    "ListOperations": "container.operations.list",
}
"""https://cloud.google.com/kubernetes-engine/docs/reference/api-permissions"""


def test_the_role_permits_every_call_to_gke() -> None:
    from google.cloud.container_v1 import ClusterManagerClient

    known = {re.sub(r"_(\w)", lambda m: m[1].upper(), f"_{name}") for name in dir(ClusterManagerClient)}
    calls = {text for text in _texts(PROVIDERS / "gke") if text in known and text[:1].isupper()}
    assert {"CreateNodePool", "GetOperation"} <= calls
    permitted = set(_document("role.yaml")["includedPermissions"])
    assert {GKE_PERMISSIONS[call] for call in calls} <= permitted
    assert permitted - {"container.clusters.getCredentials"} <= set(GKE_PERMISSIONS.values())


AKS_ACTIONS = {
    "ManagedClusters_Get": "managedClusters/read",
    "ManagedClusters_List": "managedClusters/read",
    "ManagedClusters_ListByResourceGroup": "managedClusters/read",
    "ManagedClusters_ListClusterUserCredentials": "managedClusters/listClusterUserCredential/action",
    "AgentPools_Get": "managedClusters/agentPools/read",
    "AgentPools_List": "managedClusters/agentPools/read",
    "AgentPools_CreateOrUpdate": "managedClusters/agentPools/write",
    "AgentPools_Delete": "managedClusters/agentPools/delete",
    "OperationStatus_Get": "locations/operations/read",
}
"""https://learn.microsoft.com/azure/role-based-access-control/permissions/containers#microsoftcontainerservice"""
OPTIONAL = {"ResourceSkus_List": "Microsoft.Compute/skus/read", "Usage_List": "Microsoft.Compute/locations/usages/read"}


def test_the_role_permits_every_call_to_azure() -> None:
    calls = {
        text for text in _texts(PROVIDERS / "aks" / "session") if re.fullmatch(r"[A-Z][a-z]\w+_[A-Z][a-z]\w+", text)
    }
    wanted = {f"Microsoft.ContainerService/{AKS_ACTIONS[call]}" for call in calls - set(OPTIONAL)}
    assert wanted == set(_document("role.json")["Actions"])
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert all(f"`{OPTIONAL[call]}`" in readme for call in calls & set(OPTIONAL))


@pytest.mark.parametrize("name", ["role.json", "role.yaml", "policy.json"])
def test_nothing_is_permitted_by_a_wildcard(name: str) -> None:
    document = _document(name)
    said = document.get("Actions") or document.get("includedPermissions") or _actions(document)
    assert not [action for action in said if "*" in action]
