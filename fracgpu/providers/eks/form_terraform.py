"""A node group as `aws_eks_node_group` of hashicorp/aws, with an `aws_launch_template` where it has one.

https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/eks_node_group
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fracgpu.errors import Finding, info
from fracgpu.plan import Json, Resource
from fracgpu.providers.eks.desired import NEW
from fracgpu.providers.eks.form_gaps import gap, open_member
from fracgpu.providers.eks.template import USER_DATA, is_moving
from fracgpu.providers.hcl import Block, Expression, data, identifier, quoted, resource, variable
from fracgpu.resolve import ResolvedPool

REPAIR = {"enabled": "enabled"}
"""Members of nodeRepairConfig that every provider version with the block has."""


def terraform(resources: Sequence[Resource], pool: ResolvedPool) -> tuple[str, tuple[Finding, ...]]:
    """The resources, after them what they leave to be given or looked up, and what they cannot say."""
    *templates, group = resources
    name = identifier(pool.name)
    texts = [*(_template(one, name) for one in templates), _group(group.body, name, pool)]
    texts += [*_open(group.body, name, pool), *_looked_up_version(group.body.get("launchTemplate"), name)]
    return "\n".join(texts), tuple(_notes(group.body, name))


def _open(body: Json, name: str, pool: ResolvedPool) -> Iterator[str]:
    """What only the cluster knows. Named after the pool, so that the texts of several pools make one configuration."""
    if "nodeRole" not in body:
        yield variable(_role(name), f"ARN of the IAM role of the nodes of {pool.name}")
    if "subnets" not in body:
        yield data("aws_eks_cluster", name, {"name": body["clusterName"]})
    if "subnets" not in body and pool.zones:
        filters = {"subnet-id": Expression(_subnets(name, zones=False)), "availability-zone": list(pool.zones)}
        blocks = [Block({"name": key, "values": values}) for key, values in filters.items()]
        yield data("aws_subnets", name, {"filter": blocks})


def _looked_up_version(said: Json | None, name: str) -> Iterator[str]:
    """A version has to be said, and a word such as $Latest is another than the number that EKS tells, at every plan
    (https://github.com/terraform-aws-modules/terraform-aws-eks/issues/1446)."""
    if said and (said.get("version") is None or is_moving(said["version"])):
        yield data("aws_launch_template", name, {"name": said.get("name"), "id": said.get("id")})


def _role(name: str) -> str:
    return f"{name}_node_role_arn"


def _subnets(name: str, *, zones: bool) -> str:
    """The cluster's subnets, or those of them that are in the pool's zones."""
    return f"data.aws_subnets.{name}.ids" if zones else f"data.aws_eks_cluster.{name}.vpc_config[0].subnet_ids"


def _template(template: Resource, name: str) -> str:
    data = template.body["LaunchTemplateData"]
    text = template.decoded.get(USER_DATA)
    options = data["MetadataOptions"]
    members: Json = {
        "name": template.name,
        "instance_type": data.get("InstanceType"),
        "user_data": Expression(f"base64encode({quoted(text)})") if text else None,
        "tags": {tag["Key"]: tag["Value"] for tag in template.body["TagSpecifications"][0]["Tags"]},
        "block_device_mappings": [_volume(one) for one in data.get("BlockDeviceMappings", ())] or None,
        "metadata_options": Block(
            {
                "http_tokens": options["HttpTokens"],
                "http_put_response_hop_limit": options["HttpPutResponseHopLimit"],
            }
        ),
        "placement": Block({"group_name": data["Placement"]["GroupName"]}) if "Placement" in data else None,
        **_reservation(data),
    }
    return resource("aws_launch_template", name, members)


def _volume(mapping: Json) -> Block:
    disk = mapping["Ebs"]
    ebs = Block(
        {
            "volume_size": disk.get("VolumeSize"),
            "volume_type": disk["VolumeType"],
            "delete_on_termination": disk["DeleteOnTermination"],
        }
    )
    return Block({"device_name": mapping["DeviceName"], "ebs": ebs})


def _reservation(data: Json) -> Json:
    target = data.get("CapacityReservationSpecification", {}).get("CapacityReservationTarget")
    if not target:
        return {}
    said = Block(
        {
            "capacity_reservation_id": target.get("CapacityReservationId"),
            "capacity_reservation_resource_group_arn": target.get("CapacityReservationResourceGroupArn"),
        }
    )
    market = data.get("InstanceMarketOptions", {}).get("MarketType")
    return {
        "capacity_reservation_specification": Block({"capacity_reservation_target": said}),
        "instance_market_options": Block({"market_type": market}) if market else None,
    }


def _group(body: Json, name: str, pool: ResolvedPool) -> str:
    sizes = body["scalingConfig"]
    members: Json = {
        "cluster_name": body["clusterName"],
        "node_group_name": body["nodegroupName"],
        "node_role_arn": body.get("nodeRole") or Expression(f"var.{_role(name)}"),
        "subnet_ids": body.get("subnets") or Expression(_subnets(name, zones=bool(pool.zones))),
        "instance_types": body.get("instanceTypes"),
        "ami_type": body["amiType"],
        "capacity_type": body["capacityType"],
        "disk_size": body.get("diskSize"),
        "version": body.get("version"),
        "release_version": body.get("releaseVersion"),
        "labels": body.get("labels"),
        "tags": body.get("tags"),
        "scaling_config": Block(
            {"min_size": sizes["minSize"], "max_size": sizes["maxSize"], "desired_size": sizes["desiredSize"]}
        ),
        "taint": [_taint(taint) for taint in body.get("taints", ())] or None,
        "launch_template": _launch_template(body.get("launchTemplate"), name),
        "update_config": _updates(body.get("updateConfig")),
        "node_repair_config": _repair(body.get("nodeRepairConfig")),
        "lifecycle": _lifecycle(pool),
    }
    return resource("aws_eks_node_group", name, members)


def _taint(taint: Json) -> Block:
    return Block({"key": taint["key"], "value": taint.get("value"), "effect": taint["effect"]})


def _launch_template(said: Json | None, name: str) -> Block | None:
    if said is None:
        return None
    if said.get("version") == NEW:
        made = f"aws_launch_template.{name}"
        return Block({"name": Expression(f"{made}.name"), "version": Expression(f"{made}.latest_version")})
    version = said.get("version")
    if version is None or is_moving(version):
        word = "latest_version" if version == "$Latest" else "default_version"
        version = Expression(f"data.aws_launch_template.{name}.{word}")
    return Block({"name": said.get("name"), "id": said.get("id"), "version": version})


def _updates(said: Json | None) -> Block | None:
    words = {"maxUnavailable": "max_unavailable", "maxUnavailablePercentage": "max_unavailable_percentage"}
    members: dict[str, Any] = {words[key]: value for key, value in (said or {}).items() if key in words}
    return Block(members) if members else None


def _repair(said: Json | None) -> Block | None:
    return Block({REPAIR[key]: value for key, value in said.items() if key in REPAIR}) if said else None


def _lifecycle(pool: ResolvedPool) -> Block | None:
    """The autoscaler's count is not Terraform's to put back."""
    if not pool.nodes.autoscaling:
        return None
    return Block({"ignore_changes": [Expression("scaling_config[0].desired_size")]})


def _notes(body: Json, name: str) -> Iterator[Finding]:
    if "nodeRole" not in body:
        yield open_member("nodeRole", f"the variable {_role(name)}")
    if "updateStrategy" in body.get("updateConfig", {}):
        field = "spec.eks.updateConfig.updateStrategy"
        yield gap("not every version of the provider has an update strategy; it is left out", field)
    others = sorted(set(body.get("nodeRepairConfig", {})) - set(REPAIR))
    if others:
        message = f"not every version of the provider has {', '.join(others)} of node repair; left out"
        yield gap(message, "spec.eks.nodeRepairConfig")
    message = "the autoscaler reads these tags from the group itself: no tag of the auto scaling group is needed"
    link = "https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/aws/README.md"
    if any(key.startswith("k8s.io/cluster-autoscaler/") for key in body["tags"]):
        yield info("autoscaler-tags", message, field="spec.tags", link=link)
