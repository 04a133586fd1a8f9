"""Node groups: CreateNodegroup, DescribeNodegroup, ListNodegroups, DeleteNodegroup."""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from dataclasses import asdict

from fracgpu.sandbox.aws.backend import InstanceType, Template
from fracgpu.sandbox.eks import capacity, checks, clusters, life, templates
from fracgpu.sandbox.eks.call import Call
from fracgpu.sandbox.eks.errors import EksError, in_use, invalid, not_found
from fracgpu.sandbox.eks.releases import (
    DEFAULT_AMI_TYPE,
    LAST_FOR_AL2,
    VERSION,
    VERSIONS,
    architecture,
    for_gpus,
    image,
    release,
)
from fracgpu.sandbox.world import Cloud, Cluster, Json, Pool

DEFAULT_MACHINE = "t3.medium"
DEFAULT_DISK_GIB = 20
DEFAULT_SIZE = 2
KEPT = ("remoteAccess", "nodeRepairConfig", "warmPoolConfig", "labels", "taints")
"""Members that DescribeNodegroup gives back as they came, and not at all when they did not come."""


def create_nodegroup(call: Call, cluster_name: str) -> Json:
    """CreateNodegroup: checks what EKS checks, then the group is CREATING."""
    cluster = clusters.get(call, cluster_name)
    body = call.body
    checks.created(body)
    name = body["nodegroupName"]
    if repeated(call, cluster, "create", name):
        return _shown(cluster.pools[name])
    if name in cluster.pools:
        raise in_use(f"NodeGroup already exists with name {name} and cluster name {cluster_name}")
    _within_limits(call, cluster)
    pool = _made(call, cluster, name)
    cluster.pools[name] = pool
    remember(call, cluster, "create", name, name)
    call.world.begin(
        cluster,
        "CreateNodegroup",
        name,
        lambda operation: life.come_up(call.world, call.aws, operation),
        outcome=call.outcome,
    )
    return _shown(pool)


def describe_nodegroup(call: Call, cluster_name: str, name: str) -> Json:
    """DescribeNodegroup."""
    cluster = clusters.get(call, cluster_name)
    life.recover(call.world, call.aws, cluster)
    return _shown(get(cluster, name))


def list_nodegroups(call: Call, cluster_name: str) -> Json:
    """ListNodegroups, in pages."""
    return clusters.paged(call, "nodegroups", list(clusters.get(call, cluster_name).pools))


def delete_nodegroup(call: Call, cluster_name: str, name: str) -> Json:
    """DeleteNodegroup: the nodes go first, then the group."""
    cluster = clusters.get(call, cluster_name)
    pool = get(cluster, name)
    if pool.state in ("DELETING", "UPDATING"):
        raise in_use(f"Nodegroup cannot be deleted as it is currently {pool.state}")
    for operation in list(cluster.running()):
        operation.done = operation.done or operation.pool == name
    pool.state, pool.size = "DELETING", 0
    call.world.begin(cluster, "DeleteNodegroup", name, life.go_away, outcome=call.outcome)
    call.world.touch(cluster)
    return _shown(pool)


def get(cluster: Cluster, name: str) -> Pool:
    """The group of that name. Raises EksError for one that is not there."""
    pool = cluster.pools.get(name)
    if pool is None:
        error = not_found(f"No node group found for name: {name}.")
        error.names.update(clusterName=cluster.name, nodegroupName=name)
        raise error
    return pool


def repeated(call: Call, cluster: Cluster, kind: str, group: str) -> str | None:
    """What was answered to the same clientRequestToken before; None for a new one. Raises EksError on other content."""
    token = call.body.get("clientRequestToken")
    row = cluster.extra["tokens"].get((kind, token)) if token else None
    if row is None:
        return None
    if row["asked"] != _fingerprint(call, group):
        raise invalid("The clientRequestToken was used before with other parameters")
    return str(row["answer"])


def remember(call: Call, cluster: Cluster, kind: str, group: str, answer: str) -> None:
    """Note the clientRequestToken of a call that was carried out; it is forgotten with the group."""
    token = call.body.get("clientRequestToken")
    if token:
        row = {"asked": _fingerprint(call, group), "answer": answer, "nodegroup": group}
        cluster.extra["tokens"][(kind, token)] = row


def machines_for(call: Call, names: list[str], ami_type: str) -> list[InstanceType]:
    """Those instance types. Raises EksError where EC2 lacks one or the AMI type is not for it.

    https://github.com/eksctl-io/eksctl/issues/7754, https://github.com/terraform-aws-modules/terraform-aws-eks/issues/1279
    """
    found = {name: call.aws.instance_type(name) for name in names}
    missing = [name for name, machine in found.items() if machine is None]
    if missing:
        raise invalid(f"The following supplied instance types do not exist: [{', '.join(missing)}]")
    machines = [machine for machine in found.values() if machine is not None]
    wrong = [machine.name for machine in machines if not _fits(machine, ami_type)]
    if wrong:
        raise invalid(f"[{', '.join(wrong)}] is not a valid instance type for requested amiType {ami_type}")
    return machines


def _fits(machine: InstanceType, ami_type: str) -> bool:
    if ami_type == "CUSTOM":
        return True
    return architecture(ami_type) in machine.architectures and (bool(machine.gpus) or not for_gpus(ami_type))


def _within_limits(call: Call, cluster: Cluster) -> None:
    most = capacity.limit(call.world, capacity.GROUPS_PER_CLUSTER, call.region, 30)
    if most is not None and len(cluster.pools) >= most:
        raise EksError("ResourceLimitExceededException", f"Managed node groups per cluster limit of {most} exceeded")


def _made(call: Call, cluster: Cluster, name: str) -> Pool:
    """The pool that the request asks for, not yet in its cluster. Raises EksError."""
    body = call.body
    template = templates.resolve(call, body["launchTemplate"]) if body.get("launchTemplate") else None
    templates.agree(body, template)
    data = template.data if template else {}
    ami_type = "CUSTOM" if data.get("ImageId") else body.get("amiType") or DEFAULT_AMI_TYPE
    names = body.get("instanceTypes") or [data.get("InstanceType") or DEFAULT_MACHINE]
    machines = machines_for(call, names, ami_type)
    group = _described(call, cluster, name, ami_type, template)
    zones, invented = _zones(call, cluster, body["subnets"])
    extra = {
        "machine": asdict(machines[0]),
        "machines": [machine.name for machine in machines],
        "template": data,
        "image": data.get("ImageId") or image(call.region, ami_type),
        "subnetZones": zones,
        "invented": invented,
    }
    return Pool(Cloud.EKS, name, group, "CREATING", zones=zones, extra=extra)


def _described(call: Call, cluster: Cluster, name: str, ami_type: str, template: Template | None) -> Json:
    body, group_id, now = call.body, str(uuid.uuid4()), time.time()
    sizes = _sizes(call, body.get("scalingConfig") or {})
    image_id = template.data.get("ImageId") if template else None
    version, release_version = versions(body, ami_type, image_id)
    update_config = body.get("updateConfig") or {"maxUnavailable": 1}
    checks.update_config(update_config, sizes["maxSize"])
    group: Json = {
        "nodegroupName": name,
        "nodegroupArn": call.arn("nodegroup", cluster.name, name, group_id),
        "clusterName": cluster.name,
        "version": version,
        "releaseVersion": release_version,
        "createdAt": now,
        "modifiedAt": now,
        "capacityType": body.get("capacityType") or "ON_DEMAND",
        "scalingConfig": sizes,
        "subnets": body["subnets"],
        "amiType": ami_type,
        "nodeRole": body["nodeRole"],
        "resources": {"autoScalingGroups": [{"name": f"eks-{name}-{group_id}"}]},
        "health": {"issues": []},
        "updateConfig": update_config,
        "tags": dict(body.get("tags") or {}),
        **{member: body[member] for member in KEPT if body.get(member)},
    }
    if template is None:
        group["diskSize"] = body.get("diskSize") or DEFAULT_DISK_GIB
    else:
        group["launchTemplate"] = {"id": template.id, "name": template.name, "version": str(template.version)}
    if not (template and template.data.get("InstanceType")):
        group["instanceTypes"] = body.get("instanceTypes") or [DEFAULT_MACHINE]
    return group


def versions(body: Json, ami_type: str, image_id: str | None = None) -> tuple[str, str]:
    """(Kubernetes version, AMI release) that the members mean; of a custom AMI the release is its id.

    https://github.com/scylladb/scylla-cluster-tests/issues/12524, https://github.com/awslabs/amazon-eks-ami/issues/435
    """
    version, wanted = body.get("version") or VERSION, body.get("releaseVersion")
    if version not in VERSIONS:
        raise invalid(f"Requested Nodegroup version {version} is not supported; the cluster's version is {VERSION}")
    if ami_type.startswith("AL2_") and version > LAST_FOR_AL2:
        raise invalid(f"AMI Type {ami_type} is only supported for kubernetes versions {LAST_FOR_AL2} or earlier")
    newest = release(ami_type, version)
    if wanted and not wanted.startswith(f"{version}.") and not ami_type.startswith("BOTTLEROCKET"):
        raise invalid(f"Requested Nodegroup release version {wanted} is invalid. Allowed release version is {newest}")
    return version, image_id or wanted or newest


def _sizes(call: Call, config: Json) -> Json:
    """The three sizes; EKS takes two nodes where it is told nothing."""
    low = config.get("minSize", min(DEFAULT_SIZE, config.get("desiredSize", DEFAULT_SIZE)))
    high = config.get("maxSize", max(DEFAULT_SIZE, low, config.get("desiredSize", 0)))
    sizes = {"minSize": low, "maxSize": high, "desiredSize": config.get("desiredSize", max(low, min(2, high)))}
    checks.scaling(sizes)
    most = capacity.limit(call.world, capacity.NODES_PER_GROUP, call.region, 450)
    if most is not None and high > most:
        raise EksError("ResourceLimitExceededException", f"Nodes per managed node group limit of {most} exceeded")
    return sizes


def _zones(call: Call, cluster: Cluster, subnets: list[str]) -> tuple[tuple[str, ...], bool]:
    """(zones of the subnets, whether they were made up). Other clusters than the sandbox's own may name any subnet."""
    known = {subnet.id: subnet.zone for subnet in call.aws.subnets(call.region)}
    missing = [subnet for subnet in subnets if subnet not in known]
    if not missing:
        return tuple(dict.fromkeys(known[subnet] for subnet in subnets)), False
    if cluster.name == clusters.DEFAULT_CLUSTER:
        raise invalid(f"The subnet ID '{missing[0]}' does not exist")
    return tuple(f"{call.region}{letter}" for letter, _ in zip("abcdef", subnets, strict=False)), True


def _shown(pool: Pool) -> Json:
    return {"nodegroup": {**pool.body, "status": pool.state}}


def _fingerprint(call: Call, group: str) -> str:
    text = json.dumps([group, call.body], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
