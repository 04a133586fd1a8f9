"""What Azure says when it will not give machines: which quota is short by how much, or where there are none left."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fracgpu.errors import NoCapacity, Quota, Stock

QUOTA_CODES = frozenset({"ErrCode_InsufficientVCPUQuota", "InsufficientVCPUQuota", "QuotaExceeded"})
STOCK_CODES = frozenset(
    {
        "SkuNotAvailable",
        "ZonalAllocationFailed",
        "AllocationFailed",
        "OverconstrainedAllocationRequest",
        "OverconstrainedZonalAllocationRequest",
        "AvailabilityZoneNotSupported",
    }
)
_FIGURES = (
    re.compile(
        r"left regional vcpu quota (?P<left>\d+), requested quota (?P<needed>\d+)(?P<metric>)",
        re.IGNORECASE | re.DOTALL,
    ),
    re.compile(
        r"vcpu quota requested (?P<needed>\d+), remaining (?P<left>\d+) for family (?P<metric>.+?) for region",
        re.IGNORECASE,
    ),
    re.compile(
        r"exceeding approved (?P<metric>.+?) quota.*?Current Limit: (?P<limit>\d+), Current Usage: (?P<used>\d+), "
        r"Additional Required: (?P<needed>\d+)",
        re.IGNORECASE | re.DOTALL,
    ),
)
"""https://learn.microsoft.com/troubleshoot/azure/azure-kubernetes/error-codes/insufficientvcpuquota-error and
Azure/karpenter-provider-azure pkg/fake/aksmachinesapi.go"""
_QUOTA = re.compile(r"exceeding approved .+? quota|insufficient (regional )?vcpu quota", re.IGNORECASE)
_STOCK = re.compile(
    r"do not have sufficient capacity|Capacity Restrictions|cannot be allocated, because", re.IGNORECASE
)
_NOT_OFFERED = re.compile(
    r"VM size .* is not allowed in your subscription in location '(?P<location>[^']+)'", re.DOTALL
)
_SIZES = re.compile(r"available VM sizes are (?P<sizes>.+)", re.IGNORECASE | re.DOTALL)
_ZONES = re.compile(r"supported zones for location '[^']*' are (?P<zones>[^.]*)")
_ZONE = re.compile(r"in zone (?P<zone>\w+)")
_QUOTA_PAGE = "https://portal.azure.com/#view/Microsoft_Azure_Capacity/QuotaMenuBlade"


def shortage(codes: frozenset[str], text: str, detail: Mapping[str, Any]) -> NoCapacity | None:
    """The error for an answer that means no machines; None where it means something else."""
    if codes & QUOTA_CODES or _QUOTA.search(text):
        return _quota(text, detail)
    if _NOT_OFFERED.search(text):
        return _not_offered(text, detail)
    if codes & STOCK_CODES or _STOCK.search(text):
        return _stock(codes, text, detail)
    return None


def _quota(text: str, detail: Mapping[str, Any]) -> Quota:
    found = next((match for pattern in _FIGURES if (match := pattern.search(text))), None)
    if not found:
        return Quota(f"the subscription's quota does not allow it: {text}", hint=_hint(""), detail=detail)
    named = found.groupdict()
    metric = named.get("metric") or "cores"
    needed = int(named["needed"])
    left = int(named["left"]) if named.get("left") else int(named["limit"]) - int(named["used"])
    message = f"quota {metric}: {needed} vCPUs are needed and {left} are left, {needed - left} too few"
    figures = {"metric": metric, "needed": needed, "left": left, "missing": needed - left}
    return Quota(message, hint=_hint(metric), detail={**detail, "quota": figures})


def _hint(metric: str) -> str:
    if metric.lower().startswith("lowpriority"):
        return f"all Spot machines of a region share it; ask for more at {_QUOTA_PAGE}, or use --capacity on-demand"
    return f"ask for more at {_QUOTA_PAGE}, or use fewer nodes, another region or --spot, which has a quota of its own"


def _not_offered(text: str, detail: Mapping[str, Any]) -> Stock:
    found = _SIZES.search(text)
    sizes = re.findall(r"[\w-]+", found["sizes"]) if found else []
    gpus = tuple(size for size in sizes if re.match(r"standard_n[cdgv]", size, re.IGNORECASE))
    hint = "choose another machine or region, or ask Azure for access to the size"
    return Stock(
        "the subscription is not offered this machine in the cluster's region",
        hint=hint,
        nearest=gpus[:5],
        detail=detail,
    )


def _stock(codes: frozenset[str], text: str, detail: Mapping[str, Any]) -> Stock:
    supported = _ZONES.search(text)
    if "AvailabilityZoneNotSupported" in codes or supported:
        zones = tuple(re.findall(r"\w+", supported["zones"])) if supported else ()
        hint = " ".join(f"--zone {zone}" for zone in zones) or "leave the zones out"
        return Stock(
            "the machine is not offered in these zones", hint=hint, nearest=zones, field="spec.zones", detail=detail
        )
    zone = _ZONE.search(text)
    where = f" in zone {zone['zone']}" if zone else ""
    hint = (
        "try other zones (--zone), another machine, --spot or a reservation; --min 0 lets the pool wait for a machine"
    )
    return Stock(f"Azure has no machine of this type to give{where}", hint=hint, detail=detail)
