"""One call of the EKS API as its handlers see it: region, parameters, the world, and EC2 beside it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fracgpu.sandbox.aws.signature import scope
from fracgpu.sandbox.eks.errors import EksError
from fracgpu.sandbox.world import Json, World

if TYPE_CHECKING:
    from werkzeug.wrappers import Request

    from fracgpu.sandbox.aws.backend import Backend


@dataclass(frozen=True, slots=True)
class Call:
    """What a handler may look at. `outcome` is what a fault wants of the operation that the call begins."""

    world: World
    aws: Backend
    region: str
    endpoint: str
    body: Json
    query: dict[str, list[str]] = field(default_factory=dict)
    outcome: str | None = None

    @property
    def partition(self) -> str:
        """`aws` but for China and GovCloud."""
        return {"cn": "aws-cn", "us-gov": "aws-us-gov"}.get(re.split(r"-(?=[a-z]+-\d)", self.region)[0], "aws")

    def arn(self, kind: str, *names: str) -> str:
        """The ARN of a resource of EKS in this region and account."""
        return f"arn:{self.partition}:eks:{self.region}:{self.aws.account}:{kind}/{'/'.join(names)}"


def region_of(request: Request) -> str:
    """The region that the request is signed for. Raises EksError where it is not signed at all."""
    signed = scope(request.headers.get("Authorization", ""))
    if signed is None:
        raise EksError("MissingAuthenticationTokenException", "Missing Authentication Token")
    return signed.region


def json_body(request: Request) -> Json:
    """The members of the request; empty where there is no body. Raises EksError where it is not a JSON object."""
    raw = request.get_data()
    try:
        body: Any = json.loads(raw) if raw else {}
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise EksError("SerializationException", "the body is not a JSON object")
    return body
