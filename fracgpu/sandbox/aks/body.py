"""Which members an agent pool has, and of what type: the grammar of a PUT, by Microsoft.ContainerService 2026-08-01.

A member that is not here is refused by name, so that a body with a misspelt one does not pass for good. `None` is a
member left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fracgpu.sandbox.aks.errors import ArmError, bad_request, invalid_parameter

TEXTS = {"*": str}
READ_ONLY = frozenset(
    {"eTag", "provisioningState", "currentOrchestratorVersion", "status", "virtualMachineNodesStatus"}
)
"""Members that a caller may send back as it got them; the service does not look at them."""

_DNS = {
    "*": dict.fromkeys(
        ("queryLogging", "protocol", "forwardDestination", "forwardPolicy", "serveStale"),
        str,
    )
    | dict.fromkeys(("maxConcurrent", "cacheDurationInSeconds", "serveStaleDurationInSeconds"), int)
}

AGENT_POOL: Mapping[str, Any] = {
    "count": int,
    "vmSize": str,
    "osDiskSizeGB": int,
    "osDiskType": ("Managed", "Ephemeral"),
    "kubeletDiskType": ("OS", "Temporary"),
    "workloadRuntime": ("OCIContainer", "WasmWasi", "KataVmIsolation"),
    "messageOfTheDay": str,
    "vnetSubnetID": str,
    "podSubnetID": str,
    "podIPAllocationMode": ("DynamicIndividual", "StaticBlock"),
    "maxPods": int,
    "osType": ("Linux", "Windows"),
    "osSKU": (
        "Ubuntu",
        "Ubuntu2204",
        "Ubuntu2404",
        "AzureLinux",
        "AzureLinux3",
        "AzureContainerLinux",
        "CBLMariner",
        "Windows2019",
        "Windows2022",
        "Windows2025",
    ),
    "maxCount": int,
    "minCount": int,
    "enableAutoScaling": bool,
    "scaleDownMode": ("Delete", "Deallocate"),
    "type": ("VirtualMachineScaleSets", "VirtualMachines", "AvailabilitySet"),
    "mode": ("System", "User", "Gateway"),
    "orchestratorVersion": str,
    "nodeImageVersion": str,
    "upgradeSettings": {
        "maxSurge": str,
        "maxUnavailable": str,
        "drainTimeoutInMinutes": int,
        "nodeSoakDurationInMinutes": int,
        "undrainableNodeBehavior": ("Cordon", "Schedule"),
    },
    "powerState": {"code": ("Running", "Stopped")},
    "availabilityZones": [str],
    "enableNodePublicIP": bool,
    "nodePublicIPPrefixID": str,
    "scaleSetPriority": ("Spot", "Regular"),
    "scaleSetEvictionPolicy": ("Delete", "Deallocate"),
    "spotMaxPrice": float,
    "tags": TEXTS,
    "nodeLabels": TEXTS,
    "nodeTaints": [str],
    "proximityPlacementGroupID": str,
    "kubeletConfig": {
        "cpuManagerPolicy": str,
        "cpuCfsQuota": bool,
        "cpuCfsQuotaPeriod": str,
        "imageGcHighThreshold": int,
        "imageGcLowThreshold": int,
        "topologyManagerPolicy": str,
        "allowedUnsafeSysctls": [str],
        "failSwapOn": bool,
        "containerLogMaxSizeMB": int,
        "containerLogMaxFiles": int,
        "podMaxPids": int,
    },
    "linuxOSConfig": {
        "sysctls": {"*": object},
        "transparentHugePageEnabled": str,
        "transparentHugePageDefrag": str,
        "swapFileSizeMB": int,
    },
    "enableEncryptionAtHost": bool,
    "enableUltraSSD": bool,
    "enableFIPS": bool,
    "gpuInstanceProfile": ("MIG1g", "MIG2g", "MIG3g", "MIG4g", "MIG7g"),
    "creationData": {"sourceResourceId": str},
    "capacityReservationGroupID": str,
    "hostGroupID": str,
    "networkProfile": {
        "nodePublicIPTags": [{"ipTagType": str, "tag": str}],
        "allowedHostPorts": [{"portStart": int, "portEnd": int, "protocol": ("TCP", "UDP")}],
        "applicationSecurityGroups": [str],
        "dranet": {"mode": str},
    },
    "windowsProfile": {"disableOutboundNat": bool},
    "securityProfile": {
        "enableVTPM": bool,
        "enableSecureBoot": bool,
        "sshAccess": ("LocalUser", "Disabled", "EntraId"),
    },
    "gpuProfile": {"driver": ("Install", "None"), "nvidia": {"managementMode": ("Unmanaged", "Managed")}},
    "gatewayProfile": {"publicIPPrefixSize": int},
    "artifactStreamingProfile": {"enabled": bool},
    "virtualMachinesProfile": {
        "scale": {
            "manual": [{"size": str, "count": int}],
            "autoscale": [{"size": str, "minCount": int, "maxCount": int}],
        }
    },
    "localDNSProfile": {"mode": str, "state": str, "vnetDNSOverrides": _DNS, "kubeDNSOverrides": _DNS},
}


def properties(body: Any) -> dict[str, Any]:
    """The `properties` of a PUT that follows the grammar, without read-only members and nulls. Raises ArmError."""
    if not isinstance(body, dict):
        raise bad_request("The request body is not a JSON object.")
    for name in body:
        if name not in ("properties", "id", "name", "type"):
            raise _unknown(name)
    sent = body.get("properties")
    if not isinstance(sent, dict):
        raise bad_request("The request body has no 'properties'.")
    own = {name: value for name, value in sent.items() if name not in READ_ONLY and value is not None}
    _check(own, AGENT_POOL, "")
    return own


def _check(value: Any, grammar: Any, path: str) -> None:
    if value is None or grammar is object:
        return
    if isinstance(grammar, tuple):
        _one_of(value, grammar, path)
    elif isinstance(grammar, list):
        _typed(value, list, path)
        for item in value:
            _check(item, grammar[0], path)
    elif isinstance(grammar, Mapping):
        _typed(value, dict, path)
        _members(value, grammar, path)
    else:
        _typed(value, grammar, path)


def _members(value: dict[str, Any], grammar: Mapping[str, Any], path: str) -> None:
    for name, member in value.items():
        inner = f"{path}.{name}" if path else name
        if name not in grammar and "*" not in grammar:
            raise _unknown(f"properties.{inner}")
        _check(member, grammar.get(name, grammar.get("*")), inner)


def _one_of(value: Any, allowed: tuple[str, ...], path: str) -> None:
    if value not in allowed:
        raise invalid_parameter(path, f"{value!r} is not one of {', '.join(allowed)}.")


def _typed(value: Any, kind: type, path: str) -> None:
    kinds: tuple[type, ...] = (int, float) if kind is float else (kind,)
    if not isinstance(value, kinds) or (isinstance(value, bool) and kind is not bool):
        raise bad_request(f"Error converting value {value!r} of 'properties.{path}' to type '{_NAMES[kind]}'.")


_NAMES: dict[type, str] = {
    int: "integer",
    float: "number",
    str: "string",
    bool: "boolean",
    list: "array",
    dict: "object",
}


def _unknown(path: str) -> ArmError:
    return bad_request(f"Could not find member '{path}' on object of type 'AgentPool'.")
