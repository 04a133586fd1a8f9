"""What only a cluster knows: subnets and their zones, a node role, its version, the way to its Kubernetes API."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from botocore.signers import RequestSigner

from fracgpu.errors import Finding, Forbidden, FracgpuError, NotFound, warning
from fracgpu.plan import Json
from fracgpu.providers import ClusterFacts, Inventory, KubeAccess
from fracgpu.providers.eks.facts import instance_types
from fracgpu.providers.eks.rules import AUTO_MODE
from fracgpu.providers.eks.session.calls import Refused, answers, ask, every, ours
from fracgpu.providers.eks.session.door import Door
from fracgpu.providers.eks.subnets import ZONES, subnets_of, zone_of
from fracgpu.resolve import ClusterRef, ResolvedPool

_TOKEN_SECONDS = 60
"""How long the signature may be presented; the token that it makes lives for 15 minutes
(https://github.com/kubernetes-sigs/aws-iam-authenticator)."""
_TOKEN_LIFE = timedelta(minutes=14)


class ClusterView:
    """One EKS cluster. Calls raise Refused and our own errors."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._cluster: Json | None = None
        self._facts: ClusterFacts | None = None

    @property
    def _eks(self) -> Any:
        return self._door.client("eks")

    def describe(self) -> Json:
        """What DescribeCluster says. Raises NotFound, naming the clusters that there are."""
        if self._cluster is None:
            try:
                self._cluster = ask(self._eks, "describe_cluster", name=self._door.cluster.name)["cluster"]
            except Refused as refused:
                raise self.missing(refused) from refused.__cause__
        return self._cluster

    def missing(self, refused: Refused) -> FracgpuError:
        """The error for an answer that may mean that there is no such cluster."""
        if refused.said.code != "ResourceNotFoundException":
            return ours(refused)
        name, region = self._door.cluster.name, self._door.cluster.region
        try:
            known = tuple(every(self._eks, "list_clusters", "clusters"))
        except (Refused, FracgpuError):
            known = ()
        hint = f"it has {', '.join(known[:5])}" if known else f"aws eks list-clusters --region {region}"
        return NotFound(f"there is no cluster {name} in {region}", nearest=known, hint=hint, detail=refused.said.detail)

    def inventory(self) -> Inventory:
        """The region's clusters."""
        own = self._door.cluster
        names = every(self._eks, "list_clusters", "clusters")
        return Inventory(tuple(ClusterRef(own.provider, name, region=own.region) for name in names))

    def facts(self) -> ClusterFacts:
        """Subnets, their zones, the role of a group that there is, version."""
        cluster = self.describe()
        subnets = tuple((cluster.get("resourcesVpcConfig") or {}).get("subnetIds") or ())
        zones = self._zones(subnets)
        self._facts = ClusterFacts(
            zones=tuple(sorted(set(zones.values()))),
            version=cluster.get("version"),
            subnets=subnets,
            node_role=self._role(),
            extra={ZONES: zones, AUTO_MODE: bool((cluster.get("computeConfig") or {}).get("enabled"))},
        )
        return self._facts

    def _zones(self, subnets: Sequence[str]) -> dict[str, str]:
        """Subnet -> zone; empty where EC2 may not be asked."""
        if not subnets:
            return {}
        try:
            rows = ask(self._door.client("ec2"), "describe_subnets", SubnetIds=list(subnets))["Subnets"]
        except Refused as refused:
            if isinstance(ours(refused), Forbidden) or refused.said.code == "InvalidSubnetID.NotFound":
                return {}
            raise
        return {row["SubnetId"]: row["AvailabilityZone"] for row in rows}

    def _role(self) -> str | None:
        """The role of the first group that has one; a new group of the cluster can use it too."""
        for name in every(self._eks, "list_nodegroups", "nodegroups", clusterName=self._door.cluster.name):
            members = {"clusterName": self._door.cluster.name, "nodegroupName": name}
            role = ask(self._eks, "describe_nodegroup", **members)["nodegroup"].get("nodeRole")
            if role:
                return str(role)
        return None

    def preflight(self, pool: ResolvedPool) -> list[Finding]:
        """A warning for machines that EC2 offers in none of the zones, or in only some of them."""
        facts = self._facts or self.facts()
        zones = {zone_of(facts).get(subnet) for subnet in subnets_of(pool, facts)} - {None}
        wanted = tuple(instance_types(pool))
        offered = self._offered(wanted)
        without = sorted(zone for zone in zones if zone is not None and zone not in offered)
        if not without:
            return []
        near = tuple(sorted(offered))
        message = f"EC2 does not offer {' or '.join(wanted)} in {', '.join(without)}"
        hint = f"--zone with one of {', '.join(near)}" if near else "another region, or another machine"
        return [warning("not-offered-in-zone", message, field="spec.machine", hint=hint, nearest=near)]

    def _offered(self, wanted: tuple[str, ...]) -> frozenset[str]:
        """The zones in which EC2 offers one of these types; asked once a region and run, since it does not change."""

        def ask_ec2() -> frozenset[str]:
            filters = [{"Name": "instance-type", "Values": list(wanted)}]
            members = {"LocationType": "availability-zone", "Filters": filters}
            rows = every(
                self._door.client("ec2"), "describe_instance_type_offerings", "InstanceTypeOfferings", **members
            )
            return frozenset(row["Location"] for row in rows)

        return self._door.access.answered(("eks offers", self._door.region, wanted), ask_ec2)

    def kube_access(self) -> KubeAccess:
        """The cluster's endpoint, and a token that AWS's own identity is behind."""
        cluster = self.describe()
        authority = (cluster.get("certificateAuthority") or {}).get("data")
        return KubeAccess(
            server=cluster["endpoint"],
            ca_pem=base64.b64decode(authority).decode() if authority else None,
            token=self._token(),
            expires=(datetime.now(UTC) + _TOKEN_LIFE).timestamp(),
        )

    def _token(self) -> str:
        """A signed request of GetCallerIdentity that the cluster sends on to learn who asks."""
        sts = self._door.client("sts")
        with answers("get_credentials"):
            signer = RequestSigner(
                sts.meta.service_model.service_id,
                self._door.region,
                "sts",
                "v4",
                sts._request_signer._credentials,
                self._door.session.get_component("event_emitter"),
            )
            url = signer.generate_presigned_url(
                {
                    "method": "GET",
                    "url": f"{sts.meta.endpoint_url.rstrip('/')}/?Action=GetCallerIdentity&Version=2011-06-15",
                    "body": {},
                    "headers": {"x-k8s-aws-id": self._door.cluster.name},
                    "context": {},
                },
                region_name=self._door.region,
                expires_in=_TOKEN_SECONDS,
                operation_name="",
            )
        return "k8s-aws-v1." + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")
