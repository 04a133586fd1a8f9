"""What only Microsoft.Compute knows before a pool is made: whether the machine is offered, and how much quota is left.

https://learn.microsoft.com/rest/api/compute/resource-skus/list, https://learn.microsoft.com/rest/api/compute/usage/list
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fracgpu.errors import Finding, Forbidden, FracgpuError, info, warning
from fracgpu.plan import Json
from fracgpu.providers.access import Access
from fracgpu.providers.aks.session.arm import Arm
from fracgpu.resolve import ResolvedPool

_SKUS, _USAGES = "2021-07-01", "2024-07-01"


def preflight(arm: Arm, pool: ResolvedPool, location: str, access: Access) -> Sequence[Finding]:
    """Errors `stock` and `quota`; a note where the caller may not look, which is no reason not to try.

    Offerings are megabytes and are asked for once a region and run; how much of a quota is left, for every pool.
    """
    base = f"/subscriptions/{arm.subscription}/providers/Microsoft.Compute"
    try:
        sizes = access.answered(("aks skus", arm.subscription, location), lambda: _sizes(arm, f"{base}/skus", location))
        usages = list(arm.rows("Usage_List", f"{base}/locations/{location}/usages", **{"api-version": _USAGES}))
    except FracgpuError as error:
        missing = "not permitted" if isinstance(error, Forbidden) else error.message
        message = f"quota and offering were not looked at: {missing}"
        return (info("preflight-skipped", message, field="spec.machine", hint="--no-preflight leaves it out"),)
    return (*_offered(pool, sizes, location), *_quota(pool, usages, location))


def _sizes(arm: Arm, path: str, location: str) -> dict[str, Json]:
    query = {"api-version": _SKUS, "$filter": f"location eq '{location}'"}
    rows = arm.rows("ResourceSkus_List", path, **query)
    return {row["name"].lower(): row for row in rows if row.get("resourceType") == "virtualMachines"}


def _offered(pool: ResolvedPool, sizes: Mapping[str, Json], location: str) -> Iterator[Finding]:
    row = sizes.get(pool.machine.name.lower())
    restrictions: Sequence[Json] = row.get("restrictions", ()) if row else ()
    if row is None or any(one.get("type") == "Location" for one in restrictions):
        message = f"{pool.machine.name} is not offered to this subscription in {location}"
        near = tuple(one["name"] for one in sizes.values() if _has_gpu(one) and not one.get("restrictions"))[:5]
        hint = "choose another machine or region, or ask Azure for access to the size"
        yield Finding("stock", message, field="spec.machine", nearest=near, hint=hint)
        return
    zones = _zones(row, restrictions)
    for index, zone in enumerate(pool.zones):
        if zone not in zones:
            message = f"{pool.machine.name} is not offered in zone {zone} of {location}"
            hint = " ".join(f"--zone {one}" for one in zones) or "leave the zones out"
            yield Finding("stock", message, field=f"spec.zones[{index}]", nearest=zones, hint=hint)
    if pool.spot and _capabilities(row).get("LowPriorityCapable") == "False":
        message = f"{pool.machine.name} is not sold as Spot"
        yield Finding("stock", message, field="spec.capacity", hint="--capacity on-demand")


def _capabilities(row: Json) -> dict[str, str]:
    return {one["name"]: one["value"] for one in row.get("capabilities", ())}


def _has_gpu(row: Json) -> bool:
    return _capabilities(row).get("GPUs", "0") != "0"


def _zones(row: Json, restrictions: Sequence[Json]) -> tuple[str, ...]:
    """Zones in which the subscription may have the machine."""
    all_zones = {zone for place in row.get("locationInfo", ()) for zone in place.get("zones", ())}
    barred = {
        zone
        for one in restrictions
        if one.get("type") == "Zone"
        for zone in one.get("restrictionInfo", {}).get("zones", ())
    }
    return tuple(sorted(all_zones - barred))


def _quota(pool: ResolvedPool, usages: Sequence[Json], location: str) -> Iterator[Finding]:
    """Spot counts against one quota of the region, whatever the family
    (Azure/karpenter-provider-azure pkg/fake/aksmachinesapi.go)."""
    vcpus = pool.machine.vcpus
    if vcpus is None:
        return
    wanted = {"lowprioritycores"} if pool.spot else {"cores", (pool.machine.quota or "").lower()}
    for row in usages:
        metric = str(row.get("name", {}).get("value", ""))
        if metric.lower() in wanted:
            left = int(row.get("limit", 0)) - int(row.get("currentValue", 0))
            yield from _short(pool, vcpus, metric, left, location)


def _short(pool: ResolvedPool, vcpus: int, metric: str, left: int, location: str) -> Iterator[Finding]:
    first, most = pool.nodes.count * vcpus, pool.nodes.max * vcpus
    hint = "ask for more, or use fewer nodes, another region or --spot, which has a quota of its own"
    detail = {"quota": {"metric": metric, "needed": first, "left": left, "missing": max(first - left, 0)}}
    if first > left:
        message = f"quota {metric} of {location}: {first} vCPUs are needed and {left} are left"
        yield Finding("quota", message, field="spec.nodes", hint=hint, detail=detail)
    elif most > left:
        message = f"quota {metric} of {location} holds {max(left, 0) // vcpus} nodes more, and max is {pool.nodes.max}"
        yield warning("quota-below-max", message, field="spec.nodes.max", hint=hint, detail=detail)
