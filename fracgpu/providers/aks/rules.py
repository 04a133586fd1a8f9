"""What AKS refuses or what bites on it, found before anything is sent. Each larger subject has a file of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fracgpu.errors import Finding, info, warning
from fracgpu.providers import ClusterFacts, fraction_rules, other_clouds, plugin_rules
from fracgpu.providers.aks import count_rules, label_rules, machine_rules, sharing_rules, tag_rules
from fracgpu.providers.aks.desired import deallocates, os_type
from fracgpu.resolve import ResolvedPool
from fracgpu.spec import Capacity

_NAMES = "https://learn.microsoft.com/azure/aks/create-node-pools"
_SPOT = "https://learn.microsoft.com/azure/aks/spot-node-pool"
_DEALLOCATE = "https://learn.microsoft.com/azure/aks/scale-down-mode"


def rules(pool: ResolvedPool, facts: ClusterFacts | None) -> Iterator[Finding]:  # noqa: ARG001 - see Provider
    """Every finding about a pool, in the order of the file form. Nothing here depends on the cluster."""
    yield from _name(pool)
    yield from fraction_rules.check(pool)
    yield from sharing_rules.check(pool)
    yield from plugin_rules.check(pool)
    yield from machine_rules.check(pool)
    yield from count_rules.check(pool)
    yield from _capacity(pool)
    yield from _price(pool)
    yield from _zones(pool)
    yield from label_rules.check(pool)
    yield from tag_rules.check(pool)
    yield from _deallocation(pool)
    yield from _upgrades(pool)
    yield from _identifiers(pool)
    yield from other_clouds.check(pool)


def _name(pool: ResolvedPool) -> Iterator[Finding]:
    most = 6 if os_type(pool) == "Windows" else 12
    if re.fullmatch(rf"[a-z][a-z0-9]{{0,{most - 1}}}", pool.name):
        return
    near = nearest_name(pool.name, most)
    message = f"{pool.name!r} is no pool name on AKS: lower-case letters and digits, a letter first, at most {most}"
    hint = f"call it {near}"
    yield Finding("invalid-name", message, field="metadata.name", hint=hint, nearest=(near,), link=_NAMES)


def nearest_name(name: str, most: int = 12) -> str:
    """The legal name most like this one."""
    return re.sub(r"[^a-z0-9]", "", name.lower()).lstrip("0123456789")[:most] or "gpu"


def _capacity(pool: ResolvedPool) -> Iterator[Finding]:
    said = pool.aks
    if pool.spot:
        message = (
            "AKS labels Spot nodes kubernetes.azure.com/scalesetpriority=spot and taints them with the same: pods, and "
            "the device plugin's DaemonSet, must tolerate it beside nvidia.com/gpu"
        )
        link = "https://github.com/Azure/AKS/issues/4418"
        yield info("spot-taint-added", message, field="spec.capacity", link=link)
        if said.mode == "System":
            hint = "--set aks.mode=User, or --capacity on-demand"
            message = "a Spot pool cannot be a System pool"
            yield Finding("spot-system-pool", message, field="spec.capacity", hint=hint, link=_SPOT)
    if pool.capacity is Capacity.RESERVED and not said.reservation:
        message = "reserved capacity needs the capacity reservation group"
        hint = "--set aks.reservation=/subscriptions/.../capacityReservationGroups/NAME"
        yield Finding("missing-field", message, field="spec.aks.reservation", hint=hint)
    if said.reservation and pool.capacity is not Capacity.RESERVED:
        message = f"a capacity reservation group is named, and the capacity is {pool.capacity}"
        yield Finding("conflicting-fields", message, field="spec.aks.reservation", hint="--capacity reserved")


def _price(pool: ResolvedPool) -> Iterator[Finding]:
    policy, price = pool.aks.eviction_policy, pool.aks.spot_max_price
    for name, value in (("evictionPolicy", policy), ("spotMaxPrice", price)):
        if value is not None and not pool.spot:
            message = f"{name} is for Spot pools, and the capacity is {pool.capacity}"
            yield Finding("conflicting-fields", message, field=f"spec.aks.{name}", hint="--spot, or leave it out")
    if price is None or price == -1:
        return
    if price <= 0 or round(price, 5) != price:
        message = f"spotMaxPrice is -1 or above 0 with at most 5 decimals, not {price}"
        yield Finding(
            "invalid-value", message, field="spec.aks.spotMaxPrice", nearest=("-1",), hint="leave it out for -1"
        )
    else:
        message = f"nodes are evicted when the price passes {price}; a pool without nodes hides that it is too low"
        link = "https://github.com/Azure/AKS/issues/4404"
        yield warning("spot-price-capped", message, field="spec.aks.spotMaxPrice", hint="-1 never is", link=link)


def _zones(pool: ResolvedPool) -> Iterator[Finding]:
    for index, zone in enumerate(pool.zones):
        field = f"spec.zones[{index}]"
        if not re.fullmatch(r"[1-9]", zone):
            digit = zone[-1:] if re.fullmatch(r"[1-9]", zone[-1:]) else "1"
            message = f"{zone} is no zone of Azure, which numbers them 1, 2, 3"
            yield Finding("invalid-value", message, field=field, hint=f"--zone {digit}", nearest=(digit,))
        elif zone in pool.zones[:index]:
            yield Finding("invalid-value", f"zone {zone} stands twice", field=field, hint="leave one out")


def _deallocation(pool: ResolvedPool) -> Iterator[Finding]:
    if not deallocates(pool):
        return
    field = "spec.aks.scaleDownMode" if pool.aks.scale_down_mode == "Deallocate" else "spec.aks.evictionPolicy"
    if pool.aks.disk_type == "Ephemeral":
        message = "nodes with an ephemeral OS disk cannot be stopped and kept"
        yield warning("deallocate-ephemeral", message, field=field, hint="--set aks.diskType=Managed", link=_DEALLOCATE)
    if pool.aks.driver == "None":
        message = "a driver that the GPU Operator installs fails on nodes that were stopped and started again"
        link = "https://github.com/NVIDIA/gpu-operator/issues/729"
        yield warning("deallocate-driver-none", message, field=field, hint="Delete, or aks.driver Install", link=link)
    if pool.aks.eviction_policy == "Deallocate":
        message = "evicted nodes are kept, stopped, and go on counting against the quota"
        yield info("evicted-nodes-count", message, field="spec.aks.evictionPolicy", link=_SPOT)


def _upgrades(pool: ResolvedPool) -> Iterator[Finding]:
    said = pool.aks.upgrade_settings
    if said is None:
        return
    if pool.spot and said.max_surge is not None:
        message = "Spot pools have no surge nodes"
        field = "spec.aks.upgradeSettings.maxSurge"
        link = "https://github.com/hashicorp/terraform-provider-azurerm/issues/29318"
        yield Finding("conflicting-fields", message, field=field, hint="leave maxSurge out", link=link)
    for name, value in (("maxSurge", said.max_surge), ("maxUnavailable", said.max_unavailable)):
        if value is not None and not re.fullmatch(r"\d+%?", value):
            message = f"{name} is a number of nodes or a percentage, not {value!r}"
            field = f"spec.aks.upgradeSettings.{name}"
            yield Finding("invalid-value", message, field=field, nearest=("10%",), hint=f'{name}: "10%"')


def _identifiers(pool: ResolvedPool) -> Iterator[Finding]:
    """Ids of Azure are paths; a bare name is the usual mistake."""
    said = pool.aks
    parts = (
        ("subnetId", said.subnet_id, "subnets"),
        ("podSubnetId", said.pod_subnet_id, "subnets"),
        ("reservation", said.reservation, "capacityReservationGroups"),
    )
    for name, value, kind in parts:
        if value is not None and not re.fullmatch(rf"/subscriptions/.+/{kind}/[^/]+", value, re.IGNORECASE):
            message = f"{name} is the whole id of the resource, not {value!r}"
            hint = f"/subscriptions/.../{kind}/NAME; az resource list shows ids"
            yield Finding("invalid-value", message, field=f"spec.aks.{name}", hint=hint)
    if said.version is not None and not re.fullmatch(r"\d+\.\d+(\.\d+)?", said.version):
        message = f"{said.version!r} is no Kubernetes version"
        yield Finding("invalid-value", message, field="spec.aks.version", hint="such as 1.34 or 1.34.2")
