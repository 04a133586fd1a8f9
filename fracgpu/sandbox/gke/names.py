"""GKE's resource names: what a request is about, and how the server writes names, zones and links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from zlib import crc32

from fracgpu.sandbox.gke.errors import GkeError, invalid, not_found
from fracgpu.sandbox.world import Cloud, Cluster, Json, NoSuchCluster, World

API = "https://container.googleapis.com/v1"

_LOCATION = re.compile(r"([a-z]+-[a-z]+\d{1,2})(?:-([a-z]))?")
_NAME = re.compile(
    r"projects/(?P<project>[^/]+)/(?:locations|zones)/(?P<location>[^/]+)"
    r"(?:/clusters/(?P<cluster>[^/]+)(?:/nodePools/(?P<pool>[^/]+))?|/operations/(?P<operation>[^/]+))?"
)

_ZONES = {"us-central1": "abcf", "us-east1": "bcd", "europe-west1": "bcd"}
"""Regions whose zones are not a, b and c (https://cloud.google.com/compute/docs/regions-zones)."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a request is about; parts that it does not name are empty."""

    project: str
    location: str
    cluster: str = ""
    pool: str = ""
    operation: str = ""

    @property
    def scope(self) -> str:
        """Zonal things have `zones` in the server's messages and links, regional ones `locations`."""
        return f"projects/{self.project}/{'zones' if zonal(self.location) else 'locations'}/{self.location}"

    @property
    def cluster_name(self) -> str:
        return f"{self.scope}/clusters/{self.cluster}"

    @property
    def pool_name(self) -> str:
        return f"{self.cluster_name}/nodePools/{self.pool}"

    @property
    def operation_name(self) -> str:
        return f"{self.scope}/operations/{self.operation}"


def target(request: Json) -> Target:
    """Read `name` or `parent`, else the old fields (projectId, zone, clusterId ...). Raises INVALID_ARGUMENT."""
    name = request.get("name") or request.get("parent")
    if name:
        match = _NAME.fullmatch(str(name))
        if match is None:
            raise invalid(f'Invalid resource name "{name}".')
        found = Target(**match.groupdict(default=""))
    else:
        keys = ("projectId", "zone", "clusterId", "nodePoolId", "operationId")
        found = Target(*(str(request.get(key, "")) for key in keys))
    if not found.project or (found.location != "-" and not _LOCATION.fullmatch(found.location)):
        raise invalid(f'Location "{found.location}" does not exist.')
    return found


def cluster_of(world: World, about: Target) -> Cluster:
    """The cluster, made on first sight. Raises NOT_FOUND for names that begin with `missing-`."""
    if not about.cluster or about.location == "-":
        raise invalid("The cluster's name and location must be given.")
    try:
        return world.cluster(Cloud.GKE, about.project, about.location, about.cluster)
    except NoSuchCluster:
        raise not_found(about.cluster_name) from None


def target_of(cluster: Cluster, pool: str = "") -> Target:
    project, location, name = cluster.path
    return Target(project, location, name, pool)


def zonal(location: str) -> bool:
    match = _LOCATION.fullmatch(location)
    return match is not None and match[2] is not None


def region(location: str) -> str:
    match = _LOCATION.fullmatch(location)
    return match[1] if match else location


def region_zones(location: str) -> tuple[str, ...]:
    """All zones of the region that a location is or lies in."""
    of = region(location)
    return tuple(f"{of}-{letter}" for letter in _ZONES.get(of, "abc"))


def cluster_zones(location: str, name: str) -> tuple[str, ...]:
    """The zones where a cluster puts nodes unless told otherwise.

    A regional cluster was made with one node location, as one does for scarce GPUs, so that a pool of one node is
    possible; a name that begins with `regional-` means one that spans three, GKE's own default.
    """
    if zonal(location):
        return (location,)
    return region_zones(location)[: 3 if name.startswith("regional-") else 1]


def instance_groups(cluster: Cluster, pool: str, zones: tuple[str, ...]) -> list[str]:
    """The managed instance groups behind a pool, one a zone."""
    compute = f"https://www.googleapis.com/compute/v1/projects/{cluster.path[0]}/zones"
    stem = f"gke-{cluster.name[:16]}-{pool[:16]}"
    return [f"{compute}/{zone}/instanceGroupManagers/{stem}-{digest(*cluster.path, pool, zone)}-grp" for zone in zones]


def digest(*parts: str) -> str:
    """Eight hex digits that are the same each time for the same names."""
    return f"{crc32('/'.join(parts).encode()):08x}"


def no_such_pool(about: Target) -> GkeError:
    return not_found(about.pool_name)
