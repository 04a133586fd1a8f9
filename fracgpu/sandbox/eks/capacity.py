"""How many nodes of a group EC2 would launch, and the health issue that says why not all.

Neither quota nor stock is ever refused by EKS's own calls: they show as text in `health.issues` of the group.
https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html#troubleshoot-managed-node-groups
"""

from __future__ import annotations

from collections.abc import Iterable

from fracgpu.sandbox.aws.backend import Backend
from fracgpu.sandbox.settings import quota, switched
from fracgpu.sandbox.world import Cloud, Cluster, Json, Pool, World

ON_DEMAND = {
    "p": ("L-417A185B", "Running On-Demand P instances", "P"),
    "g": ("L-DB2E81BA", "Running On-Demand G and VT instances", "G"),
    "": ("L-1216C47A", "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", "Standard"),
}
SPOT = {
    "p5": ("L-C4BD4855", "All P5 Spot Instance Requests", "P5 Spot"),
    "p": ("L-7212CCBC", "All P4, P3 and P2 Spot Instance Requests", "P Spot"),
    "g": ("L-3819A6DF", "All G and VT Spot Instance Requests", "G Spot"),
    "": ("L-34B43A08", "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests", "Standard Spot"),
}
"""Quotas in vCPUs by how the instance type begins: EC2's code, its name, and a short word for `sandbox set quota`."""

GROUPS_PER_CLUSTER = ("L-6D54EA21", "Managed node groups per cluster", "nodegroups")
NODES_PER_GROUP = ("L-BD136A63", "Nodes per managed node group", "nodes-per-nodegroup")

METRICS = frozenset(
    name for names in (*ON_DEMAND.values(), *SPOT.values(), GROUPS_PER_CLUSTER, NODES_PER_GROUP) for name in names
)


def limit(world: World, metric: tuple[str, ...], region: str, standard: int | None = None) -> int | None:
    """The limit that `sandbox set quota` gave one of a quota's names, else the standard one; None for no limit."""
    said = (quota(world, Cloud.EKS, name, region) for name in metric)
    return next((value for value in said if value is not None), standard)


def launch(world: World, aws: Backend, cluster: Cluster, pool: Pool, wanted: int) -> tuple[int, Json | None]:
    """(nodes that come up, the health issue or None). Puts the zones that have the machine into `pool.zones`."""
    if wanted <= 0:
        return 0, None
    region = cluster.path[0]
    zones = _zones(aws, region, pool)
    if not zones:
        return 0, issue(pool, _unsupported(aws, region, pool))
    pool.zones = zones
    bound = limit(world, _metric(pool), region)
    if bound is None:
        return wanted, None
    vcpus = pool.extra["machine"]["vcpus"]
    free = max(0, bound - _used(world, pool, region)) // vcpus
    return min(wanted, free), issue(pool, _over_quota(pool, bound)) if free < wanted else None


def no_stock(pool: Pool) -> Json:
    """The health issue of a group whose machines a zone does not have just now."""
    machine, zone = pool.extra["machine"]["name"], (pool.zones or ("",))[0]
    if pool.body["capacityType"] == "SPOT":
        return issue(
            pool,
            "Could not launch Spot Instances. UnfulfillableCapacity - Unable to fulfill capacity due to your request "
            "configuration. Please adjust your request and try again. Launching EC2 instance failed.",
        )
    return issue(
        pool,
        f"Could not launch On-Demand Instances. InsufficientInstanceCapacity - We currently do not have sufficient "
        f"{machine} capacity in the Availability Zone you requested ({zone}). Our system will be working on "
        f"provisioning additional capacity. You can currently get {machine} capacity by not specifying an Availability "
        "Zone in your request. Launching EC2 instance failed.",
    )


def issue(pool: Pool, message: str, code: str = "AsgInstanceLaunchFailures") -> Json:
    """One entry of `health.issues`, on the group's auto scaling group."""
    return {
        "code": code,
        "message": message,
        "resourceIds": [group["name"] for group in pool.body["resources"]["autoScalingGroups"]],
    }


def _zones(aws: Backend, region: str, pool: Pool) -> tuple[str, ...]:
    machines, zones = pool.extra["machines"], pool.extra["subnetZones"]
    if pool.extra["invented"]:
        return tuple(
            zone
            for zone in zones
            if any(switched(aws.settings, Cloud.EKS, machine, zone) is not False for machine in machines)
        )
    return tuple(zone for zone in zones if any(aws.offers(region, machine, zone) for machine in machines))


def _unsupported(aws: Backend, region: str, pool: Pool) -> str:
    machine, zones = pool.extra["machine"]["name"], pool.extra["subnetZones"]
    from fracgpu.sandbox.aws.offerings import zones_of

    others = ", ".join(sorted(zones_of(aws.settings, region, machine)))
    instead = f" or choosing {others}" if others else ""
    return (
        f"Could not launch On-Demand Instances. Unsupported - Your requested instance type ({machine}) is not "
        f"supported in your requested Availability Zone ({', '.join(zones)}). Please retry your request by "
        f"not specifying an Availability Zone{instead}. Launching EC2 instance failed."
    )


def _over_quota(pool: Pool, bound: int) -> str:
    if pool.body["capacityType"] == "SPOT":
        return (
            "Could not launch Spot Instances. MaxSpotInstanceCountExceeded - Max spot instance count exceeded. "
            "Launching EC2 instance failed."
        )
    return (
        "Could not launch On-Demand Instances. VcpuLimitExceeded - You have requested more vCPU capacity than your "
        f"current vCPU limit of {bound} allows for the instance bucket that the specified instance type belongs to. "
        "Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit. "
        "Launching EC2 instance failed."
    )


def _metric(pool: Pool) -> tuple[str, str, str]:
    table = SPOT if pool.body["capacityType"] == "SPOT" else ON_DEMAND
    machine = pool.extra["machine"]["name"]
    return table[next(prefix for prefix in table if machine.startswith(prefix))]


def _used(world: World, pool: Pool, region: str) -> int:
    """vCPUs of the same quota that run in the region already, those of the group itself left out."""
    return sum(other.size * other.extra["machine"]["vcpus"] for other in _others(world, pool, region))


def _others(world: World, pool: Pool, region: str) -> Iterable[Pool]:
    for cluster in world.clusters.values():
        if cluster.cloud is Cloud.EKS and cluster.path[0] == region:
            yield from (
                other for other in cluster.pools.values() if other is not pool and _metric(other) == _metric(pool)
            )
