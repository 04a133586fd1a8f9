"""Between GKE's protocol messages and their JSON form. The one module of the front that needs Google's library."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

from google.cloud.container_v1.types import cluster_service as types
from google.protobuf import empty_pb2, json_format
from google.rpc import error_details_pb2, status_pb2

from fracgpu.sandbox.gke.errors import HTTP_STATUS, GkeError, invalid
from fracgpu.sandbox.world import Json

_RESPONSES: dict[str, Any] = {
    "GetCluster": types.Cluster,
    "ListClusters": types.ListClustersResponse,
    "ListNodePools": types.ListNodePoolsResponse,
    "GetNodePool": types.NodePool,
    "GetServerConfig": types.ServerConfig,
    "ListOperations": types.ListOperationsResponse,
}
"""Calls that answer with something else than an Operation."""

_KNOWN_DETAILS = (error_details_pb2.ErrorInfo, error_details_pb2.RetryInfo)
"""Named so that their descriptors are loaded, which the JSON form of an `Any` needs."""


def request_class(call: str) -> Any:
    """The protocol buffer class of a call's request."""
    return _plain(getattr(types, f"{call}Request"))


def response_class(call: str) -> Any:
    """The protocol buffer class of a call's answer."""
    if call == "CancelOperation":
        return empty_pb2.Empty
    return _plain(_RESPONSES.get(call, types.Operation))


def _plain(wrapper: Any) -> Any:
    """The class beneath proto-plus's wrapper."""
    return type(wrapper.pb(wrapper()))


def to_json(message: Any, *, numbers: bool = False) -> Json:
    """A message in proto3 JSON: enums as words (or numbers), int64 as text, fields at zero left out."""
    found: Json = json_format.MessageToDict(message, use_integers_for_enums=numbers)
    return found


def to_message(call_class: Any, body: Json) -> Any:
    """A message from JSON of the sandbox's own making."""
    pools = body.get("nodePools")
    if not pools:
        return json_format.ParseDict(body, call_class())
    message = json_format.ParseDict({**body, "nodePools": []}, call_class())
    message.node_pools.extend(_pool(json.dumps(pool)) for pool in pools)
    return message


@lru_cache(maxsize=2048)
def _pool(text: str) -> Any:
    """A node pool, kept because parsing hundreds of them for each list is what would take longest."""
    return json_format.Parse(text, _plain(types.NodePool)())


def read_request(call: str, body: Json, *, strict: bool) -> Json:
    """A request that came as JSON, in the form that `to_json` gives. Raises INVALID_ARGUMENT where it does not fit.

    `strict` refuses fields that the message does not have; a beta client may well send some.
    """
    try:
        message = json_format.ParseDict(body, request_class(call)(), ignore_unknown_fields=not strict)
    except json_format.ParseError as error:
        raise invalid(_explain(str(error))) from None
    return to_json(message)


def _explain(text: str) -> str:
    """Google's words for JSON that does not fit the message."""
    unknown = re.search(r'has no field named "([^"]+)"(?: at "([^"]+)")?', text)
    if unknown is None:
        return f"Invalid JSON payload received. {text}"
    path = re.sub(r"(?<!^)([A-Z])", r"_\1", (unknown[2] or "").partition(".")[2]).lower()
    where = f" at '{path}'" if path else ""
    return f'Invalid JSON payload received. Unknown name "{unknown[1]}"{where}: Cannot find field.'


def status_message(error: GkeError) -> Any:
    """An error as google.rpc.Status, with its details."""
    code = list(HTTP_STATUS).index(error.code) + 1
    body = {"code": code, "message": error.message, "details": error.details()}
    return json_format.ParseDict(body, status_pb2.Status())
