"""The Kubernetes client's errors as ours."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import httpx2
import msgspec
from lightkube import ApiError
from lightkube.core.exceptions import ConfigError

from fracgpu.errors import (
    CloudError,
    Conflict,
    Forbidden,
    FracgpuError,
    NotFound,
    NotOurs,
    NotSignedIn,
    Throttled,
    Unreachable,
)
from fracgpu.plan import Json


@contextlib.contextmanager
def translated(server: str) -> Iterator[None]:
    """What is raised inside, translated."""
    try:
        yield
    except ApiError as error:
        raise _answer(error, server) from error
    except httpx2.HTTPStatusError as error:
        raise _status(error.response.status_code, _words(error.response), server, error.response) from error
    except KeyError as error:  # the client takes it for granted that every answer says its Content-Type
        if error.args != ("Content-Type",) or not isinstance(error.__context__, httpx2.HTTPStatusError):
            raise
        answer = error.__context__.response
        raise _status(answer.status_code, _words(answer), server, answer) from error
    except msgspec.MsgspecError as error:
        message = f"what answers at {server} is no Kubernetes API: {error}"
        raise CloudError(message, hint="is a proxy or a login page in the way? kubectl get nodes -v 8") from error
    except httpx2.TransportError as error:
        message = f"the Kubernetes API at {server} does not answer: {str(error) or type(error).__name__}"
        hint = "is it private, or behind a VPN? kubectl get nodes shows the same"
        raise Unreachable(message, hint=hint) from error
    except ConfigError as error:
        raise NotSignedIn(f"the cluster's credentials cannot be used: {error}", hint="kubectl get nodes") from error


def _words(response: httpx2.Response) -> str:
    """What an answer says that is no Status: its text, or where it leads, or its code in words."""
    if response.is_redirect:
        return f"{response.status_code}, go to {response.headers.get('Location')}"
    return response.text[:300].strip() or f"{response.status_code} {response.reason_phrase}"


def _answer(error: ApiError, server: str) -> FracgpuError:
    status = error.status
    said = status.message or "no reason given"
    causes = [cause.message for cause in (status.details.causes if status.details else None) or () if cause.message]
    message = "; ".join([said, *(cause for cause in dict.fromkeys(causes) if cause not in said)])
    return _status(int(status.code or 0), message, server, error.response)


def _status(code: int, message: str, server: str, response: httpx2.Response) -> FracgpuError:
    detail = {"status": code, "server": server}
    said = f"the Kubernetes API says: {message}"
    match code:
        case 401:
            return NotSignedIn(said, hint="sign in to the cloud again", detail=detail)
        case 403:
            return Forbidden(said, hint="ask for a role in the cluster that permits it", detail=detail)
        case 404:
            return NotFound(said, hint="kubectl get nodes shows whether it is the cluster meant", detail=detail)
        case 409:
            return _conflict(said, detail)
        case 429 | 502 | 503 | 504:
            wait = response.headers.get("Retry-After", "")
            pause = float(wait) if wait.isdecimal() else None
            return Throttled(said, retry_after=pause, hint="try again in a minute", detail=detail)
        case 500:
            return Unreachable(f"the Kubernetes API could not answer: {message}", hint="try again", detail=detail)
        case _:
            return CloudError(said, hint="kubectl get nodes shows whether it answers others", detail=detail)


def _conflict(message: str, detail: Json) -> Conflict:
    return NotOurs(message, hint="another tool wrote these fields; change them with it", detail=detail)
