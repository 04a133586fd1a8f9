"""The life of an agent pool: what AKS fills in, adds and changes by itself, and how its operations end."""

from __future__ import annotations

import uuid
from typing import Any

from fracgpu.sandbox.aks import quota, rules, sizes
from fracgpu.sandbox.aks.errors import bad_request, busy, sku_not_available, zonal_allocation_failed
from fracgpu.sandbox.faults import Fault
from fracgpu.sandbox.settings import offered
from fracgpu.sandbox.world import Cloud, Cluster, Json, Operation, Pool, World

VERSION = "1.34.2"
NODE_IMAGE = "AKSUbuntu-2204gen2containerd-202610.19.0"

_DEFAULTS: Json = {
    "count": 1,
    "osType": "Linux",
    "osDiskSizeGB": 128,
    "kubeletDiskType": "OS",
    "maxPods": 110,
    "type": "VirtualMachineScaleSets",
    "enableAutoScaling": False,
    "scaleDownMode": "Delete",
    "orchestratorVersion": VERSION,
    "currentOrchestratorVersion": VERSION,
    "nodeImageVersion": NODE_IMAGE,
    "powerState": {"code": "Running"},
    "enableNodePublicIP": False,
    "enableEncryptionAtHost": False,
    "enableUltraSSD": False,
    "enableFIPS": False,
    "securityProfile": {"enableVTPM": False, "enableSecureBoot": False, "sshAccess": "LocalUser"},
    "networkProfile": {},
}

_LEFT_OUT_WHEN_EMPTY = ("nodeLabels", "nodeTaints", "tags", "availabilityZones")


def found(cluster: Cluster) -> None:
    """Put into a cluster seen for the first time the pool that every AKS cluster has."""
    sent = {"vmSize": "Standard_D4s_v5", "mode": "System", "count": 1, "osSKU": "Ubuntu"}
    body = _completed({}, sent)
    cluster.pools["system"] = Pool(Cloud.AKS, "system", {**body, "eTag": _etag()}, "Succeeded", size=1)


def put(world: World, cluster: Cluster, name: str, sent: Json, fault: Fault | None) -> tuple[bool, Pool, Operation]:
    """Create the pool, or update the one of that name. True stands for created. Raises ArmError."""
    pool = cluster.pools.get(name)
    before = pool.body if pool else {}
    if pool is None:
        rules.check_name(name)
        if not sent.get("mode"):
            # https://github.com/Azure/AKS/issues/4468
            raise bad_request("The agent pool's 'mode' must be set.")
    else:
        rules.check_update(before, sent)
    after = _completed(before, sent)
    rules.check(world, name, after)
    if pool is None and len(cluster.pools) >= rules.POOLS:
        raise bad_request(f"A cluster has at most {rules.POOLS} agent pools.")
    doing = "Updating" if pool else "Creating"
    refuse_if_busy(cluster)
    error = _coming_error(world, cluster, before, after, fault)
    created = pool is None
    pool = pool or Pool(Cloud.AKS, name, {}, doing, zones=_zones(after), incarnation=world.number())
    pool.body = {**after, "eTag": _etag()}
    pool.state = doing
    cluster.pools[name] = pool
    operation = _begin(world, cluster, doing, pool, fault)
    operation.detail = {"error": error}
    world.touch(cluster)
    return created, pool, operation


def delete(
    world: World, cluster: Cluster, pool: Pool, fault: Fault | None, *, ignore_budgets: bool = False
) -> Operation:
    """Start to delete the pool. Raises ArmError when it is the last System pool or the cluster is busy.

    A fault by which the drain fails is none where no budget is regarded.
    """
    systems = [other.name for other in cluster.pools.values() if other.body["mode"] == "System"]
    if systems == [pool.name]:
        raise bad_request("There has to be at least one system agent pool.")
    refuse_if_busy(cluster)
    pool.state = "Deleting"
    operation = _begin(world, cluster, "Deleting", pool, fault)
    operation.detail["ignoreBudgets"] = ignore_budgets
    world.touch(cluster)
    return operation


def renew(world: World, cluster: Cluster, pool: Pool, fault: Fault | None) -> Operation:
    """Start to give the nodes the newest image: each is made anew. Raises ArmError when the cluster is busy."""
    refuse_if_busy(cluster)
    pool.state = "UpgradingNodeImageVersion"
    operation = _begin(world, cluster, "UpgradingNodeImageVersion", pool, fault)
    world.touch(cluster)
    return operation


def abort(world: World, cluster: Cluster, pool: Pool) -> None:
    """End what is in flight on the pool, as it stands."""
    for operation in list(cluster.running()):
        if operation.pool == pool.name:
            operation.done = True
            operation.outcome = "canceled"
            operation.error = {"code": "OperationCanceled", "message": "The operation was aborted."}
            pool.state = "Canceled"
    world.touch(cluster)


def refuse_if_busy(cluster: Cluster) -> None:
    """One write at a time: https://aka.ms/aks-pending-operation."""
    for operation in cluster.running():
        raise busy(operation.pool or cluster.name, operation.kind)


def view(pool: Pool, id: str) -> Json:
    """The pool as a GET shows it."""
    body = {name: value for name, value in pool.body.items() if value or name not in _LEFT_OUT_WHEN_EMPTY}
    return {
        "id": id,
        "name": pool.name,
        "type": "Microsoft.ContainerService/managedClusters/agentPools",
        "properties": {**body, "provisioningState": pool.state},
    }


def _completed(before: Json, sent: Json) -> Json:
    """The whole pool: what it was, what is sent, and everything that the service fills in or adds itself."""
    pool = {**_DEFAULTS, "nodeLabels": {}, "nodeTaints": [], "tags": {}, **before, **sent}
    pool.pop("status", None)
    if pool.get("osType") == "Linux":
        pool.setdefault("osSKU", "Ubuntu")
    if sent.get("enableAutoScaling") is False:
        for name in {"minCount", "maxCount"} - set(sent):
            pool.pop(name, None)
    spot = rules.is_spot(pool)
    pool["upgradeSettings"] = {
        **({} if spot else {"maxSurge": "10%", "maxUnavailable": "0"}),
        **before.get("upgradeSettings", {}),
        **sent.get("upgradeSettings", {}),
    }
    _machine(pool, before, sent)
    return _with_spot(pool) if spot else _without_priority(pool)


def _machine(pool: Json, before: Json, sent: Json) -> None:
    size = sizes.size(pool.get("vmSize", ""))
    if size is None:
        return
    pool["osDiskSizeGB"] = pool["osDiskSizeGB"] or 128
    pool.setdefault("osDiskType", "Ephemeral" if size.cached_gib > pool["osDiskSizeGB"] else "Managed")
    if size.gpu:
        # https://github.com/hashicorp/terraform-provider-azurerm/issues/30990
        pool["gpuProfile"] = {"driver": "Install", **before.get("gpuProfile", {}), **sent.get("gpuProfile", {})}


def _with_spot(pool: Json) -> Json:
    # https://learn.microsoft.com/azure/aks/spot-node-pool
    key, value = rules.SPOT_LABEL
    taints = pool["nodeTaints"]
    return {
        "scaleSetEvictionPolicy": "Delete",
        "spotMaxPrice": -1.0,
        **pool,
        "nodeLabels": {**pool["nodeLabels"], key: value},
        "nodeTaints": taints if rules.SPOT_TAINT in taints else [*taints, rules.SPOT_TAINT],
    }


def _without_priority(pool: Json) -> Json:
    """az before 2.91 fills in what its SDK's models default to: an eviction policy and a price of no limit."""
    usual = {"scaleSetPriority": pool.get("scaleSetPriority"), "spotMaxPrice": pool.get("spotMaxPrice")}
    usual["scaleSetEvictionPolicy"] = "Delete"
    return {name: value for name, value in pool.items() if name not in usual or value != usual[name]}


def _coming_error(world: World, cluster: Cluster, before: Json, after: Json, fault: Fault | None) -> Json | None:
    """The error in which the operation will end; a refusal that comes at once is raised here."""
    error = quota.check(world, cluster, before, after)
    size = after["vmSize"]
    if error is None and after["count"] and not offered(world, "aks", size, sizes.LOCATION):
        error = sku_not_available(size, sizes.LOCATION)
    if fault is None or fault.outcome not in ("failed", "partial"):
        return error
    if fault.code or fault.message:
        return {"code": fault.code or "InternalOperationError", "message": fault.message or "Internal server error"}
    if fault.outcome == "failed":
        return sku_not_available(size, sizes.LOCATION)
    return zonal_allocation_failed(size, next(iter(after.get("availabilityZones") or ["1"])))


def _begin(world: World, cluster: Cluster, doing: str, pool: Pool, fault: Fault | None) -> Operation:
    outcome = fault.outcome if fault else None
    finish = _ENDS.get(doing, _made)
    return world.begin(cluster, doing, pool.name, finish, id=str(uuid.uuid4()), outcome=outcome)


def _made(operation: Operation) -> None:
    pool = operation.cluster.pools[operation.pool or ""]
    error = operation.error = operation.detail.get("error")
    wanted = _wanted(pool.body)
    if error is None:
        pool.state = "Succeeded"
        pool.body["count"] = wanted
        pool.size = 0 if pool.body["powerState"]["code"] == "Stopped" else wanted
        return
    pool.state = "Failed"
    pool.body["status"] = {"provisioningError": error}
    if operation.outcome == "partial":
        pool.size = wanted // 2


def _deleted(operation: Operation) -> None:
    name = operation.pool or ""
    if operation.outcome in ("failed", "partial") and not operation.detail["ignoreBudgets"]:
        operation.cluster.pools[name].state = "Failed"
        operation.error = {
            "code": "PodDrainFailure",
            "message": f"Drain of the nodes of agent pool {name} failed: too many requests, a disruption budget is in "
            "the way. See https://aka.ms/aks/debugdrainfailures",
        }
        return
    del operation.cluster.pools[name]


def _renewed(operation: Operation) -> None:
    pool = operation.cluster.pools[operation.pool or ""]
    if operation.outcome in ("failed", "partial"):
        pool.state = "Failed"
        operation.error = {"code": "InternalOperationError", "message": "Internal server error"}
        return
    pool.state = "Succeeded"
    pool.incarnation += 1


_ENDS = {"Deleting": _deleted, "UpgradingNodeImageVersion": _renewed}
"""How operations end that do not make or change a pool."""


def _wanted(pool: Json) -> int:
    count = int(pool["count"])
    return min(max(count, pool["minCount"]), pool["maxCount"]) if pool["enableAutoScaling"] else count


def _zones(pool: Json) -> tuple[str, ...]:
    return tuple(f"{sizes.LOCATION}-{zone}" for zone in pool.get("availabilityZones", []))


def _etag() -> str:
    return str(uuid.uuid4())


def status(operation: Operation, path: str) -> Json:
    """The operation as the URL in `Azure-AsyncOperation` shows it."""
    states: dict[bool, Any] = {False: "InProgress", True: "Failed" if operation.error else "Succeeded"}
    body: Json = {"id": path, "name": operation.id, "status": states[operation.done], "startTime": _EPOCH}
    if operation.outcome == "canceled":
        body["status"] = "Canceled"
    if operation.done:
        body["endTime"] = _EPOCH
    if operation.error:
        body["error"] = operation.error
    return body


_EPOCH = "2026-11-30T00:00:00Z"
"""The sandbox's clock is not the calendar's; nobody may rely on these times."""
