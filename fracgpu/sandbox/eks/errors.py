"""EKS's refusals as botocore reads them: a code in a header, a message and names in the JSON body."""

from __future__ import annotations

import uuid

from werkzeug.wrappers import Response

from fracgpu.sandbox.http import json_response
from fracgpu.sandbox.world import Json

STATUSES = {
    "AccessDeniedException": 403,
    "BadRequestException": 400,
    "ClientException": 400,
    "InvalidParameterException": 400,
    "InvalidRequestException": 400,
    "MissingAuthenticationTokenException": 403,
    "NotFoundException": 404,
    "ResourceInUseException": 409,
    "ResourceLimitExceededException": 400,
    "ResourceNotFoundException": 404,
    "SerializationException": 400,
    "ServerException": 500,
    "ServiceUnavailableException": 503,
    "ThrottlingException": 429,
    "UnknownOperationException": 404,
    "UnrecognizedClientException": 403,
}
"""Code -> HTTP status, as the service model of EKS declares them."""

_CODES = {403: "AccessDeniedException", 404: "ResourceNotFoundException", 409: "ResourceInUseException"} | {
    429: "ThrottlingException",
    503: "ServiceUnavailableException",
}


class EksError(Exception):
    """What EKS answers instead of doing the call; `names` stand beside the message in the body (clusterName ...)."""

    def __init__(self, code: str, message: str, **names: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.names = names


def invalid(message: str) -> EksError:
    """The request says something that EKS cannot do; never worth a retry."""
    return EksError("InvalidParameterException", message)


def invalid_request(message: str) -> EksError:
    """The request does not go with the state of the cluster or with itself."""
    return EksError("InvalidRequestException", message)


def in_use(message: str) -> EksError:
    """The name is taken, or the group is busy."""
    return EksError("ResourceInUseException", message)


def not_found(message: str) -> EksError:
    """No such cluster, node group or update."""
    return EksError("ResourceNotFoundException", message)


def answer(error: EksError) -> Response:
    """The error as an HTTP answer."""
    return error_body(STATUSES.get(error.code, 400), error.code, error.message, **error.names)


def error_body(status: int, code: str | None, message: str, /, **names: str) -> Response:
    """An answer of that status; without a code, the one that EKS has for the status."""
    if code is None:
        code = _CODES.get(status, "ClientException" if status < 500 else "ServerException")
    body: Json = {**names, "message": message}
    return json_response(body, status, {"x-amzn-ErrorType": code, "x-amzn-RequestId": str(uuid.uuid4())})
