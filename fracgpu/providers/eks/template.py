"""The launch template beside a node group: user data, disk, placement and reservation, which a group alone cannot say.

What EKS takes in a template: https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
"""

from __future__ import annotations

import base64

from fracgpu.options import TemplateSays
from fracgpu.plan import Json, Resource
from fracgpu.providers.eks import bottlerocket, user_data
from fracgpu.providers.eks.facts import capacity_block, instance_types
from fracgpu.providers.eks.names import LAUNCH_TEMPLATE, own_template, template_tags
from fracgpu.resolve import ResolvedPool
from fracgpu.sharing import Backend
from fracgpu.spec import Capacity

USER_DATA = "LaunchTemplateData.UserData"

DEFAULT_VOLUME = "gp3"


def launch_template(pool: ResolvedPool) -> Resource | None:
    """The pool's own template as CreateLaunchTemplate takes it; None where the group says it all."""
    if not needed(pool):
        return None
    name, text = own_template(pool), text_of(pool)
    body: Json = {
        "LaunchTemplateName": name,
        "LaunchTemplateData": _data(pool, text),
        "TagSpecifications": [{"ResourceType": "launch-template", "Tags": _tags(pool)}],
    }
    decoded = {USER_DATA: text} if text else {}
    return Resource(LAUNCH_TEMPLATE, name, pool.name, pool.cluster, body, decoded)


def needed(pool: ResolvedPool) -> bool:
    """Whether something is said that only a template can say, and that none of the user's own says."""
    text = "" if says(pool, TemplateSays.SHARING) else text_of(pool)
    placed = pool.capacity is Capacity.RESERVED or pool.eks.placement_group
    return bool(text or pool.eks.disk_type or _bottlerocket_disk(pool) or placed)


def says(pool: ResolvedPool, what: TemplateSays) -> bool:
    """Whether a template of the user's own brings this."""
    said = pool.eks.launch_template
    return said is not None and what in (said.says or ())


def is_moving(version: str | None) -> bool:
    """Whether a version is `$Latest` or `$Default`, which EKS turns into a number when the group is made
    (https://github.com/terraform-aws-modules/terraform-aws-eks/issues/1446)."""
    return (version or "").startswith("$")


def _bottlerocket_disk(pool: ResolvedPool) -> bool:
    """Bottlerocket keeps images and containers on its second volume, which the group's diskSize does not mean."""
    return pool.backend is Backend.BOTTLEROCKET and pool.disk_gb is not None


def text_of(pool: ResolvedPool) -> str:
    """The user data in plain text; empty for none."""
    if pool.backend is Backend.BOTTLEROCKET:
        return bottlerocket.settings(pool)
    return user_data.text(pool)


def _data(pool: ResolvedPool, text: str) -> Json:
    data: Json = {}
    if text:
        data["UserData"] = encode(text)
    if pool.disk_gb is not None or pool.eks.disk_type:
        data["BlockDeviceMappings"] = [_volume(pool)]
    # A pod is one hop behind its node, and EKS sets this only in templates of its own:
    # https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html#launch-template-basics
    data["MetadataOptions"] = {"HttpTokens": "required", "HttpPutResponseHopLimit": 2}
    if pool.eks.placement_group:
        data["Placement"] = {"GroupName": pool.eks.placement_group}
    return data | _reservation(pool)


def _volume(pool: ResolvedPool) -> Json:
    """The volume that holds images and containers: the root, but Bottlerocket's second one
    (https://github.com/bottlerocket-os/bottlerocket#default-volumes)."""
    device = "/dev/xvdb" if pool.backend is Backend.BOTTLEROCKET else "/dev/xvda"
    disk: Json = {"VolumeType": pool.eks.disk_type or DEFAULT_VOLUME, "DeleteOnTermination": True}
    if pool.disk_gb is not None:
        disk = {"VolumeSize": pool.disk_gb, **disk}
    return {"DeviceName": device, "Ebs": disk}


def _reservation(pool: ResolvedPool) -> Json:
    """https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html"""
    name = pool.eks.reservation
    if pool.capacity is not Capacity.RESERVED or not name:
        return {}
    member = "CapacityReservationResourceGroupArn" if name.startswith("arn:") else "CapacityReservationId"
    data: Json = {"CapacityReservationSpecification": {"CapacityReservationTarget": {member: name}}}
    if capacity_block(pool):
        data["InstanceMarketOptions"] = {"MarketType": "capacity-block"}
        data["InstanceType"] = instance_types(pool)[0]
    return data


def _tags(pool: ResolvedPool) -> list[Json]:
    return [{"Key": key, "Value": value} for key, value in template_tags(pool.cluster.name, pool.name).items()]


def encode(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def decode(data: str | None) -> str:
    """The text behind base64, however it was wrapped; empty for none and for what is no text."""
    try:
        return base64.b64decode(data or "").decode()
    except ValueError:
        return ""
