"""EKS as the AWS CLI and boto3 expect it: clusters, managed node groups and their updates, tags, a few add-ons."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from werkzeug.exceptions import HTTPException
from werkzeug.routing import Map, Rule
from werkzeug.wrappers import Request, Response

from fracgpu.sandbox.aws import backend as aws_backend
from fracgpu.sandbox.eks import clusters, groups, tags, updates
from fracgpu.sandbox.eks.call import Call, json_body, region_of
from fracgpu.sandbox.eks.errors import EksError, answer, error_body
from fracgpu.sandbox.eks.shape import shape
from fracgpu.sandbox.http import apply_fault, json_response
from fracgpu.sandbox.world import Cloud, Json, World

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

CALLS: dict[str, Callable[..., Json]] = {
    "ListClusters": clusters.list_clusters,
    "DescribeCluster": clusters.describe_cluster,
    "ListAddons": clusters.list_addons,
    "DescribeAddon": clusters.describe_addon,
    "CreateNodegroup": groups.create_nodegroup,
    "ListNodegroups": groups.list_nodegroups,
    "DescribeNodegroup": groups.describe_nodegroup,
    "DeleteNodegroup": groups.delete_nodegroup,
    "UpdateNodegroupConfig": updates.update_config,
    "UpdateNodegroupVersion": updates.update_version,
    "ListUpdates": updates.list_updates,
    "DescribeUpdate": updates.describe_update,
    "ListTagsForResource": tags.list_tags,
    "TagResource": tags.tag,
    "UntagResource": tags.untag,
}
"""The API's own name of a call -> what carries it out; faults name them so, too."""

_GROUP = "/clusters/<cluster>/node-groups/<group>"
_ROUTES = Map(
    [
        Rule("/clusters", methods=["GET"], endpoint="ListClusters"),
        Rule("/clusters/<cluster>", methods=["GET"], endpoint="DescribeCluster"),
        Rule("/clusters/<cluster>/addons", methods=["GET"], endpoint="ListAddons"),
        Rule("/clusters/<cluster>/addons/<addon>", methods=["GET"], endpoint="DescribeAddon"),
        Rule("/clusters/<cluster>/node-groups", methods=["POST"], endpoint="CreateNodegroup"),
        Rule("/clusters/<cluster>/node-groups", methods=["GET"], endpoint="ListNodegroups"),
        Rule(_GROUP, methods=["GET"], endpoint="DescribeNodegroup"),
        Rule(_GROUP, methods=["DELETE"], endpoint="DeleteNodegroup"),
        Rule(f"{_GROUP}/update-config", methods=["POST"], endpoint="UpdateNodegroupConfig"),
        Rule(f"{_GROUP}/update-version", methods=["POST"], endpoint="UpdateNodegroupVersion"),
        Rule("/clusters/<cluster>/updates", methods=["GET"], endpoint="ListUpdates"),
        Rule("/clusters/<cluster>/updates/<update>", methods=["GET"], endpoint="DescribeUpdate"),
        Rule("/tags/<path:arn>", methods=["GET"], endpoint="ListTagsForResource"),
        Rule("/tags/<path:arn>", methods=["POST"], endpoint="TagResource"),
        Rule("/tags/<path:arn>", methods=["DELETE"], endpoint="UntagResource"),
    ],
    merge_slashes=False,
    strict_slashes=False,
)


def app(world: World) -> WSGIApplication:
    """The EKS front of that world."""
    world.shapes[Cloud.EKS] = shape
    world.founders[Cloud.EKS] = clusters.found

    @Request.application
    def front(request: Request) -> Response:
        try:
            return _answer(world, request)
        except EksError as error:
            return answer(error)

    return front


def _answer(world: World, request: Request) -> Response:
    region = region_of(request)
    try:
        name, where = _ROUTES.bind_to_environ(request.environ).match()
    except HTTPException:
        raise EksError("UnknownOperationException", f"The sandbox has no {request.method} {request.path}") from None
    names = {"cluster": "clusterName", "group": "nodegroupName", "addon": "addonName"}
    named = {names[key]: str(value) for key, value in where.items() if key in names}
    fault = world.faults.take(Cloud.EKS, name)
    failed = apply_fault(fault, partial(error_body, **named))
    if failed is not None:
        return failed
    call = Call(
        world,
        aws_backend.of(world),
        region,
        request.host_url.rstrip("/"),
        json_body(request),
        request.args.to_dict(flat=False),
        fault.outcome if fault else None,
    )
    return _carried_out(name, call, list(where.values()), named)


def _carried_out(name: str, call: Call, where: list[str], named: dict[str, str]) -> Response:
    if not call.aws.has(call.region):
        raise EksError("UnrecognizedClientException", f"There is no region {call.region}.")
    with call.world.lock:
        call.world.settle()
        try:
            return json_response(CALLS[name](call, *where))
        except EksError as error:
            error.names = {**named, **error.names}
            raise
