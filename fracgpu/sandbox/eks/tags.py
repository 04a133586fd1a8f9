"""Tags of clusters and node groups: TagResource, UntagResource, ListTagsForResource."""

from __future__ import annotations

from typing import Any

from fracgpu.sandbox.eks import checks, clusters
from fracgpu.sandbox.eks.call import Call
from fracgpu.sandbox.eks.errors import EksError
from fracgpu.sandbox.world import Json


def list_tags(call: Call, arn: str) -> Json:
    """ListTagsForResource."""
    return {"tags": _tags(call, arn)}


def tag(call: Call, arn: str) -> Json:
    """TagResource: adds to the tags or overwrites; nothing else about the resource changes."""
    added = call.body.get("tags")
    if not isinstance(added, dict) or not added:
        raise EksError("BadRequestException", "tags is required")
    tags = _tags(call, arn)
    checks.tags({**tags, **added})
    tags.update(added)
    return {}


def untag(call: Call, arn: str) -> Json:
    """UntagResource; keys that are not there are no error."""
    tags = _tags(call, arn)
    for key in call.query.get("tagKeys", []):
        tags.pop(key, None)
    return {}


def _tags(call: Call, arn: str) -> dict[str, Any]:
    """The tags of the cluster or node group of that ARN. Raises EksError."""
    missing = EksError("NotFoundException", f"The resource {arn} could not be found.")
    kind, *names = arn.rpartition(":")[2].split("/")
    if not arn.startswith(call.arn(kind, *names[:1])):
        raise missing
    cluster = clusters.get(call, names[0])
    if kind == "cluster":
        tags: dict[str, Any] = cluster.extra["tags"]
        return tags
    pool = cluster.pools.get(names[1]) if kind == "nodegroup" and len(names) > 1 else None
    if pool is None or pool.body["nodegroupArn"] != arn:
        raise missing
    found: dict[str, Any] = pool.body["tags"]
    return found
