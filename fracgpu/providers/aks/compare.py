"""What differs between a pool as it is and as it should be: what AKS adds is no difference, what it can change is in
place.

`ADDED` is the one list of what AKS puts into a pool by itself. Whatever else the desired body leaves open is not
compared.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from fracgpu.differences import Comparison, Effect, Path
from fracgpu.plan import Json, Resource
from fracgpu.providers import FLEET, MANAGED
from fracgpu.providers.aks.facts import DOMAIN, SPOT_TAINT
from fracgpu.providers.kubernetes_syntax import in_domain

_REST = "https://learn.microsoft.com/rest/api/aks/agent-pools"
_LABELS = "https://learn.microsoft.com/azure/aks/use-labels"
_SPOT = "https://learn.microsoft.com/azure/aks/spot-node-pool"
MARKS = (MANAGED, FLEET)


@dataclass(frozen=True, slots=True)
class Added:
    """One thing that AKS adds, and what takes it out of a pool's properties. `source` is where it is known from."""

    what: str
    source: str
    remove: Callable[[Json], None]


OUTPUTS = (
    "eTag",
    "provisioningState",
    "currentOrchestratorVersion",
    "nodeImageVersion",
    "status",
    "virtualMachineNodesStatus",
)
DEFAULTS: Json = {
    "osType": "Linux",
    "osSKU": "Ubuntu",
    "count": 0,
    "enableAutoScaling": False,
    "scaleSetPriority": "Regular",
    "enableFIPS": False,
    "mode": "User",
    "scaleDownMode": "Delete",
}
SPOT_DEFAULTS: Json = {"scaleSetEvictionPolicy": "Delete", "spotMaxPrice": -1}


def _outputs(pool: Json) -> None:
    for name in OUTPUTS:
        pool.pop(name, None)


def _nothings(pool: Json) -> None:
    for name, value in list(pool.items()):
        if isinstance(value, dict):
            _nothings(value)
        if value in (None, [], {}):
            del pool[name]


def _own_labels(pool: Json) -> None:
    """Nobody else may set labels of this domain; that of Spot nodes is one of them."""
    for key in [key for key in pool.get("nodeLabels", {}) if in_domain(key, DOMAIN)]:
        del pool["nodeLabels"][key]


def _spot_taint(pool: Json) -> None:
    if is_spot(pool):
        pool["nodeTaints"] = [taint for taint in pool.get("nodeTaints", ()) if taint != str(SPOT_TAINT)]


def is_spot(pool: Json) -> bool:
    return bool(pool.get("scaleSetPriority") == "Spot")


def _priority(pool: Json) -> None:
    for name, value in SPOT_DEFAULTS.items():
        if is_spot(pool):
            pool.setdefault(name, value)
        else:
            pool.pop(name, None)


def _defaults(pool: Json) -> None:
    for name, value in DEFAULTS.items():
        pool.setdefault(name, value)


def _driver(pool: Json) -> None:
    pool.setdefault("gpuProfile", {}).setdefault("driver", "Install")


def _undrainable(pool: Json) -> None:
    pool.setdefault("upgradeSettings", {}).setdefault("undrainableNodeBehavior", "Schedule")


def _limits(pool: Json) -> None:
    if not pool.get("enableAutoScaling"):
        for name in ("minCount", "maxCount"):
            pool.pop(name, None)


def _mark(pool: Json) -> None:
    for name in MARKS:
        pool.get("tags", {}).pop(name, None)


def _order(pool: Json) -> None:
    for name in ("nodeTaints", "availabilityZones"):
        if name in pool:
            pool[name] = sorted(pool[name])
    for name in ("nodeLabels", "nodeTaints", "tags"):
        if not pool.get(name):
            pool.pop(name, None)


ADDED: tuple[Added, ...] = (
    Added("what only the service writes", _REST, _outputs),
    Added("members without a value", _REST, _nothings),
    Added("labels of kubernetes.azure.com, such as that of Spot nodes", _LABELS, _own_labels),
    Added("the taint of Spot nodes", _SPOT, _spot_taint),
    Added("eviction policy and price, which only Spot pools have", _SPOT, _priority),
    Added("the mark of ownership", "fracgpu's own; never part of a diff", _mark),
    Added("the driver", "https://github.com/hashicorp/terraform-provider-azurerm/issues/30990", _driver),
    Added("what an upgrade does with nodes that cannot be drained", _REST, _undrainable),
    Added("defaults of members that were not said", _REST, _defaults),
    Added("limits of an autoscaler that is off", _REST, _limits),
    Added("an order of its own, and lists that are empty by now", _REST, _order),
)


def settled(observed: Resource) -> Resource:
    """The observed pool without what AKS added, in the form in which `desired` speaks."""
    pool = copy.deepcopy(observed.body.get("properties", {}))
    for added in ADDED:
        added.remove(pool)
    return replace(observed, body={"properties": pool})


def granted(observed: Json, desired: Json) -> Json:
    """What AKS may move while the desired body lets it, set as desired.

    The mark of ownership; the node count within the autoscaler's limits; the rest of a version that is said in part;
    upper case in sizes, ids and tag keys, which Azure does not tell apart.
    """
    pool, wanted = dict(observed.get("properties", {})), desired.get("properties", {})
    pool["tags"] = _same_tags(pool.get("tags", {}), wanted.get("tags", {}))
    for name in _CASELESS:
        if str(pool.get(name)).lower() == str(wanted.get(name)).lower():
            pool[name] = wanted.get(name)
    if str(pool.get("orchestratorVersion", "")).startswith(f"{wanted.get('orchestratorVersion')}."):
        pool["orchestratorVersion"] = wanted["orchestratorVersion"]
    _grant_count(pool, wanted)
    return {**observed, "properties": pool}


def _same_tags(have: Json, wanted: Json) -> Json:
    spelt = {key.lower(): key for key in wanted}
    mark = {key: value for key, value in wanted.items() if key in MARKS}
    return {spelt.get(key.lower(), key): value for key, value in have.items()} | mark


def _grant_count(pool: Json, wanted: Json) -> None:
    low, high = wanted.get("minCount"), wanted.get("maxCount")
    if wanted.get("enableAutoScaling"):
        # New limits are the change, and the count follows from them.
        moved = (pool.get("minCount"), pool.get("maxCount")) != (low, high)
        if moved or low <= pool.get("count", 0) <= high:
            pool["count"] = wanted.get("count")
    elif pool.get("enableAutoScaling") and pool.get("minCount") == pool.get("maxCount") == wanted.get("count"):
        # An autoscaler that may move nothing is a fixed size.
        pool |= {"enableAutoScaling": False, "count": wanted["count"], "minCount": None, "maxCount": None}


_CASELESS = ("vmSize", "vnetSubnetID", "podSubnetID", "capacityReservationGroupID")


def _paths(*names: str) -> tuple[Path, ...]:
    return tuple(("properties", name) for name in names)


_FIXED = "AKS sets it when the pool is made; a new pool is needed"
_REPLACED = _paths(
    "vmSize",
    "osType",
    "osDiskSizeGB",
    "osDiskType",
    "maxPods",
    "availabilityZones",
    "vnetSubnetID",
    "podSubnetID",
    "scaleSetPriority",
    "scaleSetEvictionPolicy",
    "spotMaxPrice",
    "enableFIPS",
    "gpuInstanceProfile",
    "gpuProfile",
    "capacityReservationGroupID",
)
_ROLLED = _paths("orchestratorVersion", "osSKU")
"""osSKU within Linux; Windows is another osType
(https://registry.terraform.io/providers/hashicorp/azurerm/latest/docs/resources/kubernetes_cluster_node_pool#os_sku)."""
NOT_OURS = _paths("type", "enableNodePublicIP", "enableEncryptionAtHost", "enableUltraSSD")
"""Said when a pool is made, since az says them; the file form has no word for them, so they are no drift later."""

_COMPARISON = Comparison(
    owned=frozenset(
        _paths(
            "nodeLabels",
            "nodeTaints",
            "tags",
            "minCount",
            "maxCount",
            "gpuInstanceProfile",
            "capacityReservationGroupID",
        )
    ),
    effects={
        **dict.fromkeys(_REPLACED, Effect.REPLACE),
        **dict.fromkeys(_ROLLED, Effect.ROLLING),
        **dict.fromkeys(NOT_OURS, Effect.IGNORED),
    },
    why={
        **dict.fromkeys(_REPLACED, _FIXED),
        **dict.fromkeys(_ROLLED, "AKS moves the nodes to new images, by the upgrade settings"),
    },
    granted=granted,
)


def comparison(kind: str) -> Comparison:  # noqa: ARG001 - AKS has one kind of resource
    """How agent pools are compared."""
    return _COMPARISON


def properties(body: Json) -> dict[str, Any]:
    """The members of an agent pool's body."""
    found: dict[str, Any] = body.get("properties", {})
    return found
