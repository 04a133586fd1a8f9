"""What differs between a pool as it is and as it should be: what AWS adds does not, what it can change is in place.

`ADDED` is the one list of what EKS and EC2 put into an answer by themselves. Everything not on it that the desired body
leaves open is not compared at all.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace

from fracgpu.differences import Comparison, Effect, Path
from fracgpu.plan import Json, Resource
from fracgpu.providers import FLEET, MANAGED
from fracgpu.providers.eks.desired import NEW, taint_order, usual_repair, usual_update
from fracgpu.providers.eks.names import LAUNCH_TEMPLATE, NODEGROUP
from fracgpu.providers.eks.template import decode, encode, is_moving

_DESCRIBE = "https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html"
_VERSIONS = "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_LaunchTemplateVersion.html"

SENT = frozenset(
    {
        "clusterName",
        "nodegroupName",
        "scalingConfig",
        "diskSize",
        "subnets",
        "instanceTypes",
        "amiType",
        "remoteAccess",
        "nodeRole",
        "labels",
        "taints",
        "tags",
        "launchTemplate",
        "updateConfig",
        "nodeRepairConfig",
        "warmPoolConfig",
        "capacityType",
        "version",
        "releaseVersion",
    }
)
"""Members of CreateNodegroup; what else DescribeNodegroup tells is EKS's own."""

DEFAULT_DISK_GB = 20


@dataclass(frozen=True, slots=True)
class Added:
    """One thing that AWS adds, and what takes it out of a body again. `source` is where it is known from."""

    kind: str
    what: str
    source: str
    remove: Callable[[Json], None]


def _outputs(body: Json) -> None:
    for name in set(body) - SENT:
        del body[name]


def _mark(body: Json) -> None:
    kept = {key: value for key, value in body.pop("tags", {}).items() if key not in (MANAGED, FLEET)}
    if kept:
        body["tags"] = kept


def _own_tags(body: Json) -> None:
    """Tags of AWS's own, such as those of a CloudFormation stack, can be neither set nor removed."""
    kept = {key: value for key, value in body.pop("tags", {}).items() if not key.lower().startswith("aws:")}
    if kept:
        body["tags"] = kept


def _update_config(body: Json) -> None:
    said = {key: value for key, value in body.pop("updateConfig", {}).items() if value is not None}
    if usual_update(said):
        body["updateConfig"] = usual_update(said)


def _node_repair(body: Json) -> None:
    said = usual_repair(body.pop("nodeRepairConfig", None))
    if said:
        body["nodeRepairConfig"] = said


def _orders(body: Json) -> None:
    if "subnets" in body:
        body["subnets"] = sorted(body["subnets"])
    if "taints" in body:
        taints = [{key: value for key, value in taint.items() if value} for taint in body["taints"]]
        body["taints"] = sorted(taints, key=taint_order)


def _empty(body: Json) -> None:
    for name in [name for name, value in body.items() if value in (None, [], {})]:
        del body[name]


def _user_data(body: Json) -> None:
    """base64 may be wrapped in more ways than one."""
    data = body["LaunchTemplateData"]
    if decode(data.get("UserData")):
        data["UserData"] = encode(decode(data["UserData"]))


def _unsaid(body: Json) -> None:
    """EC2 answers with members that are empty where nothing was said."""
    body["LaunchTemplateData"] = _without_empty(body["LaunchTemplateData"])


def _without_empty(value: Json) -> Json:
    inner = {key: _without_empty(one) if isinstance(one, dict) else one for key, one in value.items()}
    return {key: one for key, one in inner.items() if one not in (None, [], {})}


ADDED: tuple[Added, ...] = (
    Added(NODEGROUP, "what only the server writes", _DESCRIBE, _outputs),
    Added(NODEGROUP, "the mark of ownership", "fracgpu's own; never part of a diff", _mark),
    Added(NODEGROUP, "tags that begin with aws:", "https://docs.aws.amazon.com/tag-editor/latest/userguide", _own_tags),
    Added(NODEGROUP, "an update config of one node at a time", _DESCRIBE, _update_config),
    Added(NODEGROUP, "node repair that is off", _DESCRIBE, _node_repair),
    Added(NODEGROUP, "an order of its own", _DESCRIBE, _orders),
    Added(NODEGROUP, "empty members", _DESCRIBE, _empty),
    Added(LAUNCH_TEMPLATE, "user data wrapped otherwise", _VERSIONS, _user_data),
    Added(LAUNCH_TEMPLATE, "empty members", _VERSIONS, _unsaid),
)


def settled(observed: Resource) -> Resource:
    """The observed resource without what AWS added, in the form in which `desired` speaks."""
    body = copy.deepcopy(observed.body)
    for added in ADDED:
        if added.kind == observed.kind:
            added.remove(body)
    return replace(observed, body=body)


def granted(observed: Json, desired: Json) -> Json:
    """What AWS may move while the desired body lets it.

    The mark of ownership; the node count between the limits, which is the autoscaler's; what EKS tells of a template
    beside what was said of it.
    """
    body = {**observed}
    mark = {key: value for key, value in desired.get("tags", {}).items() if key in (MANAGED, FLEET)}
    if mark:
        body["tags"] = {**observed.get("tags", {}), **mark}
    sizes, wanted = observed.get("scalingConfig", {}), desired.get("scalingConfig", {})
    if _moves(sizes.get("desiredSize"), wanted):
        body["scalingConfig"] = {**sizes, "desiredSize": wanted.get("desiredSize")}
    template, said = observed.get("launchTemplate"), desired.get("launchTemplate")
    if template and said:
        body["launchTemplate"] = _template(template, said)
    return body


def _template(observed: Json, said: Json) -> Json:
    """A template as it was said: by its name or by its id, which EKS tells both; and with a version where one was.

    The version of fracgpu's own follows from the template's content. Left open or
    named `$Latest`, EKS takes the one that is so then, and keeps it.
    """
    if said.get("version") == NEW and observed.get("name") == said["name"]:
        return said
    told = {key: value for key, value in observed.items() if key in said}
    return {**told, "version": said["version"]} if is_moving(said.get("version")) else told


def _moves(size: int | None, wanted: Json) -> bool:
    """Whether a node count is one that the autoscaler may have chosen."""
    low, high = wanted.get("minSize", 0), wanted.get("maxSize", 0)
    return size is not None and low < high and low <= size <= high


_FIXED = "EKS sets it when the group is made; a new group is needed"
_RECYCLED = "EKS replaces the nodes, by the update config"
_REPLACED: tuple[Path, ...] = (
    ("subnets",),
    ("nodeRole",),
    ("instanceTypes",),
    ("amiType",),
    ("capacityType",),
    ("diskSize",),
    ("remoteAccess",),
    ("launchTemplate",),
)
_ROLLED: tuple[Path, ...] = (("launchTemplate", "version"), ("version",), ("releaseVersion",))
"""https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateNodegroupVersion.html"""

_GROUP = Comparison(
    owned=frozenset(
        {("labels",), ("taints",), ("tags",), ("launchTemplate",), ("updateConfig",), ("nodeRepairConfig",)}
    ),
    effects={**dict.fromkeys(_REPLACED, Effect.REPLACE), **dict.fromkeys(_ROLLED, Effect.ROLLING)},
    why={**dict.fromkeys(_REPLACED, _FIXED), **dict.fromkeys(_ROLLED, _RECYCLED)},
    granted=granted,
    follows={("launchTemplate", "version"): LAUNCH_TEMPLATE},
)

_DATA: Path = ("LaunchTemplateData",)
_TEMPLATE = Comparison(
    owned=frozenset({_DATA}),
    effects={_DATA: Effect.ROLLING, ("TagSpecifications",): Effect.IGNORED},
    why={_DATA: "a new version of the template, which the group's nodes are replaced for"},
)


def comparison(kind: str) -> Comparison:
    """How resources of a kind are compared."""
    return _TEMPLATE if kind == LAUNCH_TEMPLATE else _GROUP
