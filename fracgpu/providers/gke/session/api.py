"""Calls of google.container.v1.ClusterManager in JSON, each with its time limit, each error translated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from google.api_core import exceptions
from google.api_core.retry import Retry
from google.auth.exceptions import GoogleAuthError, TransportError
from google.cloud.container_v1.types import cluster_service
from google.protobuf import json_format
from google.rpc import error_details_pb2

from fracgpu.errors import FracgpuError, NotSignedIn
from fracgpu.plan import Json
from fracgpu.providers.gke.failures import SIGN_IN, Said, translated

READ_SECONDS, WRITE_SECONDS = 15.0, 45.0


def _passes(error: BaseException) -> bool:
    """An answer that another one soon after may better; not one that says itself when to ask again."""
    if isinstance(error, exceptions.TooManyRequests):
        return _retry_info(error) is None
    return isinstance(error, (exceptions.ServiceUnavailable, exceptions.InternalServerError))


def _retry_info(error: Any) -> Any:
    details = getattr(error, "details", None) or ()
    return next((one for one in details if isinstance(one, error_details_pb2.RetryInfo)), None)


_AGAIN = Retry(predicate=_passes, initial=0.2, maximum=1.0, multiplier=2.0, timeout=4.0)
"""Reads are asked again for a few seconds; the SDK's own twenty would keep a person waiting for an endpoint that is
down."""


class Api:
    """The client, by the API's own names of its calls."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def read(self, call: str, request: Json) -> Json:
        """A call that changes nothing; asked again where the connection fails."""
        return self._call(call, request, _AGAIN, READ_SECONDS)

    def write(self, call: str, request: Json) -> Json:
        """A call that changes something; asked once, since an answer may be lost after the work was begun."""
        return self._call(call, request, None, WRITE_SECONDS)

    def _call(self, call: str, request: Json, retry: Retry | None, timeout: float) -> Json:
        message_class = getattr(cluster_service, f"{call}Request")
        message = message_class.pb(message_class())
        json_format.ParseDict(request, message)
        method = getattr(self._client, re.sub(r"(?<!^)([A-Z])", r"_\1", call).lower())
        with translating(call):
            answer = method(request=message_class.wrap(message), retry=retry, timeout=timeout)
        found: Json = json_format.MessageToDict(type(answer).pb(answer))
        return found


@contextmanager
def translating(call: str) -> Iterator[None]:
    """The SDK's errors as ours."""
    try:
        yield
    except exceptions.RetryError as error:
        raise _of(error.cause, call) if error.cause else _plain("UNAVAILABLE", error, call) from error
    except exceptions.GoogleAPICallError as error:
        raise _of(error, call) from error
    except TransportError as error:
        raise _plain("UNAVAILABLE", error, call) from error
    except GoogleAuthError as error:
        detail = {"message": str(error), "call": call}
        raise NotSignedIn("Google does not accept the credentials", hint=SIGN_IN, detail=detail) from error


def _plain(code: str, error: Exception, call: str) -> FracgpuError:
    return translated(Said(code, str(error), call=call))


def _of(error: Any, call: str) -> FracgpuError:
    """An error of the server, by its gRPC status and the google.rpc details that came with it."""
    status = getattr(error, "grpc_status_code", None)
    code = status.name if status else {504: "DEADLINE_EXCEEDED", 503: "UNAVAILABLE"}.get(error.code, "UNKNOWN")
    details = getattr(error, "details", None) or ()
    request = next((one for one in details if isinstance(one, error_details_pb2.RequestInfo)), None)
    again = _retry_info(error)
    said = Said(
        code=code,
        message=str(getattr(error, "message", error)),
        reason=getattr(error, "reason", None),
        metadata=dict(getattr(error, "metadata", None) or {}),
        request_id=request.request_id if request else None,
        retry_after=again.retry_delay.seconds + again.retry_delay.nanos / 1e9 if again else None,
        call=call,
    )
    return translated(said)
