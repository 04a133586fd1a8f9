"""Everything of AWS but EKS: calls of the query protocol to EC2, IAM and STS go to moto, faults first."""

from __future__ import annotations

import sys
import traceback
import uuid
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from werkzeug.wrappers import Request, Response

from fracgpu.sandbox.aws import backend as aws_backend
from fracgpu.sandbox.aws.signature import scope
from fracgpu.sandbox.http import apply_fault, json_response
from fracgpu.sandbox.world import Cloud, World

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

_CODES = {400: "InvalidRequest", 403: "UnauthorizedOperation", 429: "RequestLimitExceeded"} | {
    500: "InternalError",
    503: "RequestLimitExceeded",
}


def calls() -> frozenset[str]:
    """The actions of EC2, IAM and STS, by the SDK's own models of them; moto carries out the better part."""
    from botocore.session import get_session

    models = (get_session().get_service_model(service) for service in ("ec2", "iam", "sts"))
    return frozenset(name for model in models for name in model.operation_names)


OURS = ("status", "date", "server", "content-length")
"""Headers that moto sets and an HTTP server sets again."""


def app(world: World) -> WSGIApplication:
    """The front; moto is imported here, so make it where nobody waits or where somebody asked for it."""
    aws_backend.of(world).load()

    @Request.application
    def front(request: Request) -> Response:
        signed = scope(request.headers.get("Authorization", ""))
        if signed is None:
            return _error("ec2")(401, "AuthFailure", "Missing Authentication Token")
        return _answer(world, signed.service, request)

    return front


def _answer(world: World, service: str, request: Request) -> Response:
    request.get_data()  # before the form: werkzeug keeps the bytes only if they were asked for first
    action = request.values.get("Action", "")
    error = _error(service)
    response = apply_fault(world.faults.take(Cloud.EKS, action), error)
    if response is not None:
        return response
    unknown = f"The action {action} is not valid for this web service."
    try:
        answered = aws_backend.of(world).answer(service, request)
    except NotImplementedError:
        return error(400, "InvalidAction", unknown)
    except Exception:  # noqa: BLE001
        # moto knows many actions by half, and fails over what is missing (an image, a key pair) in any way it likes.
        traceback.print_exc(file=sys.stderr)
        return error(400, "UnsupportedOperation", f"The sandbox cannot carry out {action}; its log has the reason.")
    if answered is None:
        return _no_such_service(service, request)
    status, headers, body = answered
    return Response(body, status, {name: value for name, value in headers.items() if name.lower() not in OURS})


def _no_such_service(service: str, request: Request) -> Response:
    """For every other service of AWS, in the form that its clients read."""
    message = f"The sandbox has no {service}; it has eks, ec2, iam and sts."
    if "json" in request.mimetype or request.headers.get("X-Amz-Target"):
        headers = {"x-amzn-ErrorType": "UnknownOperationException"}
        return json_response({"__type": "UnknownOperationException", "message": message}, 400, headers)
    return _error(service)(400, "InvalidAction", message)


class _error:  # noqa: N801
    """Makes error answers: EC2 has a shape of its own, IAM and STS share another."""

    def __init__(self, service: str) -> None:
        self._service = service

    def __call__(self, status: int, code: str | None, message: str) -> Response:
        code = code or _CODES.get(status, "InternalError" if status >= 500 else "InvalidRequest")
        inner = f"<Code>{escape(code)}</Code><Message>{escape(message)}</Message>"
        request_id = uuid.uuid4()
        if self._service == "ec2":
            text = f"<Response><Errors><Error>{inner}</Error></Errors><RequestID>{request_id}</RequestID></Response>"
        else:
            inner = f"<Type>{'Receiver' if status >= 500 else 'Sender'}</Type>{inner}"
            text = f"<ErrorResponse><Error>{inner}</Error><RequestId>{request_id}</RequestId></ErrorResponse>"
        return Response(f'<?xml version="1.0" encoding="UTF-8"?>\n{text}', status, mimetype="text/xml")
