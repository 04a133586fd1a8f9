"""Changes of node groups: UpdateNodegroupConfig, UpdateNodegroupVersion, DescribeUpdate, ListUpdates."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from typing import Any

from fracgpu.sandbox.eks import checks, clusters, groups, life, templates
from fracgpu.sandbox.eks.call import Call
from fracgpu.sandbox.eks.errors import in_use, invalid, invalid_request, not_found
from fracgpu.sandbox.world import Cluster, Json, Operation, Pool

CONFIG_MEMBERS: dict[str, type] = {
    "labels": dict,
    "taints": dict,
    "scalingConfig": dict,
    "updateConfig": dict,
    "nodeRepairConfig": dict,
    "warmPoolConfig": dict,
    "clientRequestToken": str,
}
FAILURES = {
    "ConfigUpdate": (
        "ClusterUnreachable",
        "EKS is unable to communicate with your Kubernetes cluster API server to update node group {name}",
    ),
    "VersionUpdate": (
        "PodEvictionFailure",
        "Reached max retries while trying to evict pods from nodes in node group {name}",
    ),
}
"""What an update says that was told to fail: a new version drains nodes, a changed config talks to Kubernetes.

https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html
https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html#troubleshoot-managed-node-groups
"""

Params = list[tuple[str, Any]]


def update_config(call: Call, cluster_name: str, name: str) -> Json:
    """UpdateNodegroupConfig: labels, taints, sizes and the like, on the nodes that are there as well."""
    checks.members(call.body, CONFIG_MEMBERS)
    cluster = clusters.get(call, cluster_name)
    pool = groups.get(cluster, name)
    again = groups.repeated(call, cluster, "config", name)
    if again:
        return _shown(cluster, again)
    _idle(pool)
    after, params = _configured(call, pool)
    if not params:
        raise invalid_request(f"No changes were given for node group {name}")

    def finish(operation: Operation) -> None:
        failed = _failed(operation)
        if not failed:
            pool.body.update(after)
            life.scale(call.world, call.aws, cluster, pool, operation.outcome)
        _end(operation, pool, failed)

    return _begin(call, cluster, pool, "config", params, finish)


def update_version(call: Call, cluster_name: str, name: str) -> Json:
    """UpdateNodegroupVersion: a newer AMI, or another version of the group's template; every node is replaced."""
    checks.members(call.body, {"launchTemplate": dict, "version": str, "releaseVersion": str, "force": bool})
    cluster = clusters.get(call, cluster_name)
    pool = groups.get(cluster, name)
    again = groups.repeated(call, cluster, "version", name)
    if again:
        return _shown(cluster, again)
    _idle(pool)
    after, data, params = _released(call, pool)

    def finish(operation: Operation) -> None:
        failed = _failed(operation)
        if not failed:
            pool.body.update(after)
            pool.extra.update(data)
            pool.incarnation += 1
            pool.size = 0
            life.scale(call.world, call.aws, cluster, pool, operation.outcome)
        _end(operation, pool, failed)

    return _begin(call, cluster, pool, "version", params, finish)


def describe_update(call: Call, cluster_name: str, update_id: str) -> Json:
    """DescribeUpdate; of a node group's update only with the node group's name."""
    cluster = clusters.get(call, cluster_name)
    row = cluster.extra["updates"].get(update_id)
    if row is None or row["nodegroup"] not in call.query.get("nodegroupName", []):
        error = not_found(f"No update found for ID: {update_id}")
        error.names["clusterName"] = cluster_name
        raise error
    return _shown(cluster, update_id)


def list_updates(call: Call, cluster_name: str) -> Json:
    """ListUpdates of a node group; a cluster itself has none here."""
    cluster = clusters.get(call, cluster_name)
    group = call.query.get("nodegroupName", [""])[0]
    if group:
        groups.get(cluster, group)
    ids = [update_id for update_id, row in cluster.extra["updates"].items() if row["nodegroup"] == group]
    return clusters.paged(call, "updateIds", ids)


def _idle(pool: Pool) -> None:
    if pool.state != "ACTIVE":
        # https://github.com/aws/containers-roadmap/issues/2204
        raise in_use("Nodegroup cannot be updated as it is currently not in Active State")


def _configured(call: Call, pool: Pool) -> tuple[Json, Params]:
    """(members of the group after the update, what the update says of itself). Raises EksError."""
    after: Json = {}
    params: Params = []
    if call.body.get("labels"):
        after["labels"] = _labels(pool, call.body["labels"], params)
    if call.body.get("taints"):
        after["taints"] = _taints(pool, call.body["taints"], params)
    sizes = call.body.get("scalingConfig")
    if sizes:
        after["scalingConfig"] = _sizes({**pool.body["scalingConfig"], **sizes})
        params += [(f"{member[0].upper()}{member[1:]}", value) for member, value in sizes.items()]
    config = call.body.get("updateConfig")
    if config:
        checks.update_config(config, {**pool.body, **after}["scalingConfig"]["maxSize"])
        after["updateConfig"] = config
        params += [(f"{member[0].upper()}{member[1:]}", value) for member, value in config.items()]
    for member, kind in (("nodeRepairConfig", "NodeRepairConfig"), ("warmPoolConfig", "WarmPoolEnabled")):
        if call.body.get(member):
            after[member] = {**pool.body.get(member, {}), **call.body[member]}
            params.append((kind, call.body[member]))
    return after, params


def _labels(pool: Pool, change: Json, params: Params) -> Json:
    added, removed = change.get("addOrUpdateLabels") or {}, change.get("removeLabels") or []
    checks.labels(added)
    params += [("LabelsToAdd", added)] if added else []
    params += [("LabelsToRemove", removed)] if removed else []
    return {key: value for key, value in {**pool.body.get("labels", {}), **added}.items() if key not in removed}


def _taints(pool: Pool, change: Json, params: Params) -> list[Json]:
    added, removed = change.get("addOrUpdateTaints") or [], change.get("removeTaints") or []
    checks.taints([*added, *removed])
    params += [("TaintsToAdd", added)] if added else []
    params += [("TaintsToRemove", removed)] if removed else []
    gone = {(taint["key"], taint["effect"]) for taint in [*added, *removed]}
    left = [taint for taint in pool.body.get("taints", []) if (taint["key"], taint["effect"]) not in gone]
    checks.taints([*left, *added])
    return [*left, *added]


def _sizes(sizes: Json) -> Json:
    low, wanted, high = sizes["minSize"], sizes["desiredSize"], sizes["maxSize"]
    # https://github.com/terraform-aws-modules/terraform-aws-eks/issues/3306
    if wanted > high:
        raise invalid(f"desired capacity {wanted} can't be greater than max size {high}")
    if low > wanted:
        raise invalid(f"Minimum capacity {low} can't be greater than desired size {wanted}")
    checks.scaling(sizes)
    return sizes


def _released(call: Call, pool: Pool) -> tuple[Json, Json, Params]:
    """(members of the group, what else changes about it, what the update says of itself). Raises EksError."""
    body = call.body
    spec, born = body.get("launchTemplate"), pool.body.get("launchTemplate")
    if pool.body["amiType"] == "CUSTOM" and body.get("version"):
        # https://github.com/eksctl-io/eksctl/issues/5999
        raise invalid("You cannot specify the field kubernetesVersion when using custom AMIs.")
    if spec:
        return _retemplated(call, pool, spec, born)
    if pool.body["amiType"] == "CUSTOM":
        raise invalid(templates.NO_TEMPLATE)
    version, release_version = groups.versions(body, pool.body["amiType"])
    after = {"version": version, "releaseVersion": release_version}
    return after, {}, [("Version", version), ("ReleaseVersion", release_version)]


def _retemplated(call: Call, pool: Pool, spec: Json, born: Any) -> tuple[Json, Json, Params]:
    if born is None:
        raise invalid(f"Node group {pool.name} was not created with a launch template and cannot be given one")
    template = templates.resolve(call, spec)
    if template.id != born["id"]:
        raise invalid("The launch template of a node group cannot be replaced by another, only its version changed")
    names = pool.body.get("instanceTypes") or [template.data.get("InstanceType") or groups.DEFAULT_MACHINE]
    groups.machines_for(call, names, pool.body["amiType"])
    after = {"launchTemplate": {"id": template.id, "name": template.name, "version": str(template.version)}}
    params: Params = [("LaunchTemplateName", template.name), ("LaunchTemplateVersion", str(template.version))]
    return after, {"template": template.data}, params


def _begin(
    call: Call, cluster: Cluster, pool: Pool, kind: str, params: Params, finish: Callable[[Operation], None]
) -> Json:
    update_id = str(uuid.uuid4())
    update: Json = {
        "id": update_id,
        "status": "InProgress",
        "type": "ConfigUpdate" if kind == "config" else "VersionUpdate",
        "params": [{"type": name, "value": _text(value)} for name, value in params],
        "createdAt": time.time(),
        "errors": [],
    }
    cluster.extra["updates"][update_id] = {"update": update, "nodegroup": pool.name}
    pool.state = "UPDATING"
    groups.remember(call, cluster, kind, pool.name, update_id)
    call.world.begin(cluster, update["type"], pool.name, finish, id=update_id, outcome=call.outcome)
    return {"update": update}


def _failed(operation: Operation) -> bool:
    return operation.outcome == "failed"


def _end(operation: Operation, pool: Pool, failed: bool) -> None:
    update = operation.cluster.extra["updates"][operation.id]["update"]
    update["status"] = "Failed" if failed else "Successful"
    pool.body["modifiedAt"] = time.time()
    if failed:
        pool.state = "ACTIVE"
        code, text = FAILURES[update["type"]]
        update["errors"] = [{"errorCode": code, "errorMessage": text.format(name=pool.name), "resourceIds": []}]


def _shown(cluster: Cluster, update_id: str) -> Json:
    return {"update": cluster.extra["updates"][update_id]["update"]}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
