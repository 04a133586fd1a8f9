"""EKS clusters: every name is there (but those that begin with `missing-`), in the default VPC, with one CPU group."""

from __future__ import annotations

import base64
import hashlib
import time
from dataclasses import asdict

from fracgpu.sandbox.aws.backend import InstanceType
from fracgpu.sandbox.eks.call import Call
from fracgpu.sandbox.eks.errors import invalid, not_found
from fracgpu.sandbox.eks.releases import VERSION, image, release
from fracgpu.sandbox.environment import kubernetes_url, secure
from fracgpu.sandbox.world import Cloud, Cluster, Json, NoSuchCluster, Pool

SYSTEM_GROUP = "system"
SYSTEM_MACHINE = InstanceType("m5.large", 2, 8.0, ("x86_64",))
DEFAULT_CLUSTER = "sandbox"
ADDONS = ("coredns", "eks-pod-identity-agent", "kube-proxy", "vpc-cni")
PAGE = 100


def found(cluster: Cluster) -> None:
    """Give a cluster that is seen for the first time its CPU group; what needs EC2 is filled in by `get`."""
    region = cluster.path[0]
    ami = "AL2023_x86_64_STANDARD"
    body: Json = {
        "nodegroupName": SYSTEM_GROUP,
        "clusterName": cluster.name,
        "version": VERSION,
        "releaseVersion": release(ami, VERSION),
        "createdAt": time.time(),
        "modifiedAt": time.time(),
        "capacityType": "ON_DEMAND",
        "scalingConfig": {"minSize": 1, "maxSize": 3, "desiredSize": 1},
        "instanceTypes": [SYSTEM_MACHINE.name],
        "amiType": ami,
        "diskSize": 20,
        "health": {"issues": []},
        "updateConfig": {"maxUnavailable": 1},
        "tags": {},
    }
    zones = (f"{region}a", f"{region}b")
    extra = {
        "machine": asdict(SYSTEM_MACHINE),
        "machines": [SYSTEM_MACHINE.name],
        "template": {},
        "image": image(region, ami),
        "subnetZones": zones,
        "invented": True,
    }
    pool = Pool(Cloud.EKS, SYSTEM_GROUP, body, "ACTIVE", size=1, zones=zones, extra=extra)
    cluster.pools[SYSTEM_GROUP] = pool
    cluster.extra.update(created=time.time(), tags={}, tokens={}, updates={})


def get(call: Call, name: str) -> Cluster:
    """The cluster of that name. Raises EksError for one that is not there."""
    try:
        cluster = call.world.cluster(Cloud.EKS, call.region, name)
    except NoSuchCluster as missing:
        error = not_found(f"No cluster found for name: {name}.")
        error.names["clusterName"] = name
        raise error from missing
    if "subnets" not in cluster.extra:
        _furnish(call, cluster)
    return cluster


def _furnish(call: Call, cluster: Cluster) -> None:
    subnets = call.aws.cluster_subnets(call.region)
    cluster.extra["subnets"] = [subnet.id for subnet in subnets]
    cluster.extra["vpc"] = subnets[0].vpc if subnets else ""
    system = cluster.pools.get(SYSTEM_GROUP)
    if system is not None:
        group_id = _hash(*cluster.path, SYSTEM_GROUP)
        system.body["subnets"] = cluster.extra["subnets"][:2]
        system.body["nodeRole"] = call.aws.node_role(call.partition)
        system.body["nodegroupArn"] = call.arn("nodegroup", cluster.name, SYSTEM_GROUP, group_id)
        system.body["resources"] = {"autoScalingGroups": [{"name": f"eks-{SYSTEM_GROUP}-{group_id}"}]}


def list_clusters(call: Call) -> Json:
    """ListClusters: those of the region that somebody has asked for, and the sandbox's own."""
    paths = [path for cloud, path in call.world.clusters if cloud is Cloud.EKS and path[0] == call.region]
    return paged(call, "clusters", sorted(name for _, name in paths))


def describe_cluster(call: Call, name: str) -> Json:
    """DescribeCluster. The endpoint is the sandbox's Kubernetes API over https, as kubectl wants it."""
    cluster = get(call, name)
    group = "sg-" + _hash(*cluster.path, "group")[:17]
    return {
        "cluster": {
            "name": name,
            "arn": call.arn("cluster", name),
            "createdAt": cluster.extra["created"],
            "version": VERSION,
            "endpoint": kubernetes_url(secure(call.endpoint), Cloud.EKS, cluster.path),
            "roleArn": f"arn:{call.partition}:iam::{call.aws.account}:role/{name}-cluster",
            "resourcesVpcConfig": {
                "subnetIds": cluster.extra["subnets"],
                "securityGroupIds": [],
                "clusterSecurityGroupId": group,
                "vpcId": cluster.extra["vpc"],
                "endpointPublicAccess": True,
                "endpointPrivateAccess": False,
                "publicAccessCidrs": ["0.0.0.0/0"],
            },
            "kubernetesNetworkConfig": {"serviceIpv4Cidr": "10.100.0.0/16", "ipFamily": "ipv4"},
            "logging": {"clusterLogging": [{"types": [], "enabled": False}]},
            "status": "ACTIVE",
            "certificateAuthority": {"data": call.world.tls.authority_data},
            "platformVersion": "eks.1",
            "tags": cluster.extra["tags"],
            "accessConfig": {"authenticationMode": "API_AND_CONFIG_MAP"},
            "upgradePolicy": {"supportType": "EXTENDED"},
            "health": {"issues": []},
        }
    }


def list_addons(call: Call, name: str) -> Json:
    """ListAddons."""
    get(call, name)
    return paged(call, "addons", list(ADDONS))


def describe_addon(call: Call, name: str, addon: str) -> Json:
    """DescribeAddon, of the few that every cluster has."""
    cluster = get(call, name)
    if addon not in ADDONS:
        error = not_found(f"No addon: {addon} found in cluster: {name}")
        error.names.update(clusterName=name, addonName=addon)
        raise error
    addon_id = _hash(*cluster.path, addon)
    return {
        "addon": {
            "addonName": addon,
            "clusterName": name,
            "status": "ACTIVE",
            "addonVersion": "v1.0.0-eksbuild.1",
            "health": {"issues": []},
            "addonArn": call.arn("addon", name, addon, addon_id),
            "createdAt": cluster.extra["created"],
            "modifiedAt": cluster.extra["created"],
            "tags": {},
        }
    }


def paged(call: Call, member: str, rows: list[str]) -> Json:
    """One page of a list by `maxResults` (1 to 100) and `nextToken`. Raises EksError for tokens it never gave."""
    limit = call.query.get("maxResults", [str(PAGE)])[0]
    if not limit.isdigit() or not 1 <= int(limit) <= PAGE:
        raise invalid(f"maxResults must be between 1 and {PAGE}")
    token = call.query.get("nextToken", [""])[0]
    try:
        start = int(base64.urlsafe_b64decode(token).decode()) if token else 0
    except ValueError as error:
        raise invalid("Invalid nextToken") from error
    end = start + int(limit)
    page: Json = {member: rows[start:end]}
    if end < len(rows):
        page["nextToken"] = base64.urlsafe_b64encode(str(end).encode()).decode()
    return page


def _hash(*parts: str) -> str:
    digest = hashlib.sha256("/".join(parts).encode()).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}"
