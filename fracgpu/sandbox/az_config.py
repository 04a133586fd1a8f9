"""The configuration folder of an `az` that is signed in to the sandbox and has never heard of any other cloud.

What `az cloud register`, `az cloud set` and `az login --service-principal` would write there:
https://learn.microsoft.com/cli/azure/manage-clouds-azure-cli
"""

from __future__ import annotations

import json
from pathlib import Path

from fracgpu.sandbox import folder

CLOUD = "sandbox"
_RESOURCES = ("active_directory_graph", "active_directory", "batch", "microsoft_graph")
_SERVICES = ("gallery", "management", "portal", "resource_manager")


def write(home: Path, https: str, subscription: str, tenant: str, secret: str) -> None:
    """Write the files; `https` is where the sandbox answers, `secret` signs in to nothing else."""
    home.mkdir(mode=0o700, exist_ok=True)
    folder.write(home / "config", f"[cloud]\nname = {CLOUD}\n[core]\ncollect_telemetry = no\nsurvey_message = no\n")
    folder.write(home / "clouds.config", _cloud(https, subscription))
    folder.write(home / "azureProfile.json", json.dumps({"subscriptions": [_profile(subscription, tenant)]}))
    entry = {"client_id": CLOUD, "tenant": tenant, "client_secret": secret}
    folder.write(home / "service_principal_entries.json", json.dumps([entry]))


def _cloud(https: str, subscription: str) -> str:
    lines = [f"endpoint_{name}_resource_id = {https}" for name in _RESOURCES]
    lines += [f"endpoint_{name} = {https}" for name in _SERVICES]
    lines += [f"endpoint_active_directory = {https}/adfs", f"subscription = {subscription}"]
    return "\n".join([f"[{CLOUD}]", *lines, ""])


def _profile(subscription: str, tenant: str) -> dict[str, object]:
    return {
        "id": subscription,
        "name": CLOUD,
        "state": "Enabled",
        "user": {"name": CLOUD, "type": "servicePrincipal"},
        "isDefault": True,
        "tenantId": tenant,
        "environmentName": CLOUD,
        "homeTenantId": tenant,
        "managedByTenants": [],
    }
