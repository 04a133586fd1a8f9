"""Where the nodes are to be: zones, and subnets, which are how EKS says zones."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fracgpu.errors import Finding
from fracgpu.providers import ClusterFacts
from fracgpu.providers.eks.subnets import subnets_of, zone_of
from fracgpu.resolve import ResolvedPool

_ZONE = re.compile(r"[a-z]+(-[a-z]+)+-\d+[a-z-].*")
_ZONES = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-regions-availability-zones.html"


def check(pool: ResolvedPool, facts: ClusterFacts | None) -> Iterator[Finding]:
    """Every finding about zones and subnets."""
    wrong = [*_names(pool)]
    yield from wrong
    if pool.zones and pool.eks.subnets:
        message = "zones choose among the cluster's subnets, and subnets are named here"
        yield Finding("conflicting-fields", message, field="spec.zones", hint="leave one of them out")
    elif facts is not None and not wrong:
        yield from _subnets(pool, facts)


def _names(pool: ResolvedPool) -> Iterator[Finding]:
    """A zone of another region never has a subnet of the cluster, and one named twice is a slip."""
    region = pool.cluster.region
    for index, zone in enumerate(pool.zones):
        field = f"spec.zones[{index}]"
        if zone in pool.zones[:index]:
            yield Finding("invalid-value", f"{zone} stands twice", field=field, hint="leave one out")
        elif not _is_zone(zone, region):
            message = f"{zone} is not a zone of {region or 'AWS'}"
            hint = f"a zone is {region} and a letter" if region else "a zone is a region and a letter: us-east-1a"
            yield Finding("invalid-value", message, field=field, hint=hint, link=_ZONES)


def _is_zone(zone: str, region: str | None) -> bool:
    """Its name begins with its region's, also that of a Local Zone: us-east-1a, us-east-1-bos-1a."""
    if not _ZONE.fullmatch(zone):
        return False
    return region is None or bool(re.match(rf"{re.escape(region)}[a-z-]", zone))


def _subnets(pool: ResolvedPool, facts: ClusterFacts) -> Iterator[Finding]:
    zones = tuple(sorted(set(zone_of(facts).values())))
    without = [zone for zone in pool.zones if zone not in zones]
    if pool.zones and facts.subnets and not zones:
        message = "which zones the cluster's subnets are in may not be read, so none can be chosen by its zone"
        hint = "allow ec2:DescribeSubnets, or name subnets by eks.subnets"
        yield Finding("invalid-value", message, field="spec.zones", hint=hint)
    elif pool.zones and (without or not subnets_of(pool, facts)):
        where = ", ".join(without or pool.zones)
        message = f"the cluster has no subnet in {where}, only in {', '.join(zones) or 'none'}"
        hint = "--zone with one of those, or name subnets by eks.subnets"
        yield Finding("invalid-value", message, field="spec.zones", nearest=zones, hint=hint)
    elif not subnets_of(pool, facts):
        hint = "aws eks describe-cluster --name NAME --query cluster.resourcesVpcConfig.subnetIds; then eks.subnets"
        yield Finding("missing-field", "the cluster names no subnets", field="spec.eks.subnets", hint=hint)
