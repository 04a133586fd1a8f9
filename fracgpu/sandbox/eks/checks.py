"""What EKS refuses in the members of a node group, with its texts where they are publicly known.

Sources of the texts, in order of use: awsdocs/amazon-eks-user-guide#617, eksctl-io/eksctl#4007,
aws-controllers-k8s/community#2208, sassoftware/viya4-iac-aws#298, ministryofjustice/cloud-platform-infrastructure#4595,
hashicorp/terraform-provider-aws#26535, crossplane-contrib/provider-upjet-aws#866.
"""

from __future__ import annotations

import re
from typing import Any

from fracgpu.sandbox.eks.errors import EksError, invalid
from fracgpu.sandbox.eks.releases import AMI_TYPES
from fracgpu.sandbox.world import Json

MEMBERS: dict[str, type] = {
    "clusterName": str,
    "nodegroupName": str,
    "scalingConfig": dict,
    "diskSize": int,
    "subnets": list,
    "instanceTypes": list,
    "amiType": str,
    "remoteAccess": dict,
    "nodeRole": str,
    "labels": dict,
    "taints": list,
    "tags": dict,
    "clientRequestToken": str,
    "launchTemplate": dict,
    "updateConfig": dict,
    "nodeRepairConfig": dict,
    "warmPoolConfig": dict,
    "capacityType": str,
    "version": str,
    "releaseVersion": str,
}
EFFECTS = ("NO_SCHEDULE", "NO_EXECUTE", "PREFER_NO_SCHEDULE")
CAPACITY_TYPES = ("ON_DEMAND", "SPOT", "CAPACITY_BLOCK")
RESERVED_PREFIXES = ("kubernetes.io/", "k8s.io/", "eks.amazonaws.com/")
MAX_TAINTS = 50
MAX_TAGS = 50

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
_ROLE = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]+")
_SUBNET = re.compile(r"subnet-[0-9a-z]+")
_VALUE = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_VALUE_TEXT = (
    "field must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)


def members(body: Json, known: dict[str, type] = MEMBERS) -> None:
    """Members that EKS does not know are left alone by it; those of a wrong JSON type it cannot read."""
    for name, kind in known.items():
        value = body.get(name)
        if value is not None and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
            raise EksError("SerializationException", f"{name} cannot be read as {kind.__name__}")


def created(body: Json) -> None:
    """The members of CreateNodegroup that can be judged by themselves. Raises EksError for the first that is wrong."""
    members(body)
    name(body.get("nodegroupName"))
    if not _ROLE.fullmatch(body.get("nodeRole") or ""):
        raise invalid("Invalid Role Arn" if body.get("nodeRole") else "nodeRole is required")
    subnets(body.get("subnets"))
    one_of("amiType", body.get("amiType"), AMI_TYPES)
    one_of("capacityType", body.get("capacityType"), CAPACITY_TYPES)
    labels(body.get("labels") or {})
    taints(body.get("taints") or [])
    tags(body.get("tags") or {})
    if len(body.get("instanceTypes") or []) > 20:
        raise invalid("instanceTypes can have at most 20 members")
    if body.get("diskSize") is not None and not 1 <= body["diskSize"] <= 16384:
        raise invalid("diskSize must be between 1 and 16384 GiB")


def name(value: Any) -> None:
    """A node group's name."""
    if not isinstance(value, str) or not value:
        raise invalid("nodegroupName is required")
    if not _NAME.fullmatch(value):
        raise invalid(
            f"nodegroupName {value} is not valid: at most 63 characters, beginning with a letter or a digit, "
            "then letters, digits, hyphens and underscores"
        )


def subnets(values: Any) -> None:
    """At least one, each by its id."""
    if not values:
        raise invalid("subnets is required")
    for value in values:
        if not isinstance(value, str) or not _SUBNET.fullmatch(value):
            raise invalid(f"The subnet ID '{value}' is malformed")


def one_of(member: str, value: Any, allowed: tuple[str, ...]) -> None:
    """An enumerated member, when it is there."""
    if value is not None and value not in allowed:
        raise invalid(f"Invalid {member}: {value}, must be one of these [{', '.join(allowed)}]")


def labels(values: Json) -> None:
    """Labels to put on nodes: the prefixes that are EKS's and the kubelet's own are refused."""
    for key, value in values.items():
        prefix, _, short = key.rpartition("/")
        if any(reserved in f"{prefix}/" for reserved in RESERVED_PREFIXES):
            raise invalid(f"Label cannot contain reserved prefixes [{', '.join(RESERVED_PREFIXES)}]")
        if not 1 <= len(key) <= 63 or not _VALUE.fullmatch(short):
            raise invalid(f"Invalid label key: {key}")
        if not isinstance(value, str) or not _VALUE.fullmatch(value):
            raise invalid(f"Invalid value: {value} : {_VALUE_TEXT}")
        if len(value) > 63:
            raise invalid(f"Invalid value: {value} : must be no more than 63 characters")


def taints(values: list[Any]) -> None:
    """Taints in EKS's own words for the effects."""
    if len(values) > MAX_TAINTS:
        raise invalid(f"Nodegroup can have at most {MAX_TAINTS} taints")
    for taint in values:
        effect, key, value = (taint.get(member) for member in ("effect", "key", "value"))
        if effect not in EFFECTS:
            raise invalid(f"Invalid taint effect: {effect}, must be one of these [{', '.join(EFFECTS)}]")
        if not key or len(key) > 253 or not _VALUE.fullmatch(key.rpartition("/")[2]):
            raise invalid(f"Invalid taint key: {key}")
        if value and (len(value) > 63 or not _VALUE.fullmatch(value)):
            raise invalid(f"Invalid value: {value} : {_VALUE_TEXT}")


def tags(values: Json) -> None:
    """Tags of the group itself."""
    if len(values) > MAX_TAGS:
        raise invalid(f"a resource can have at most {MAX_TAGS} tags")
    for key, value in values.items():
        if not 1 <= len(key) <= 128 or key.lower().startswith("aws:"):
            raise invalid(f"Invalid tag key: {key}")
        if not isinstance(value, str) or len(value) > 256:
            raise invalid(f"Invalid tag value of {key}")


def scaling(config: Json) -> None:
    """The three sizes of a new group."""
    low, wanted, high = config["minSize"], config["desiredSize"], config["maxSize"]
    if min(low, wanted) < 0 or high < 1:
        raise invalid("minSize and desiredSize must be at least 0, maxSize at least 1")
    if low > high:
        raise invalid("minSize can't be greater than maxSize")
    if wanted > high:
        raise invalid("desiredSize can't be greater than maxSize")
    if low > wanted:
        raise invalid("minSize can't be greater than desiredSize")


def update_config(config: Json, largest: int) -> None:
    """How many nodes an update may take away at a time: a number or a percentage."""
    number, percentage = config.get("maxUnavailable"), config.get("maxUnavailablePercentage")
    if number is not None and percentage is not None:
        raise invalid("maxUnavailable and maxUnavailablePercentage cannot both be specified")
    if number is not None and not 1 <= number <= min(100, max(largest, 1)):
        raise invalid("max-unavailable must be within the range 1 and max size of the node group")
    if percentage is not None and not 1 <= percentage <= 100:
        raise invalid("max-unavailable-percentage must be within the range 1 and 100")
    one_of("updateStrategy", config.get("updateStrategy"), ("DEFAULT", "MINIMAL"))
