"""Calls of Azure Resource Manager in JSON, each with its time limit and retries, each error translated."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from azure.core.exceptions import (
    ClientAuthenticationError,
    DecodeError,
    HttpResponseError,
    ServiceRequestError,
    ServiceResponseError,
)
from azure.core.pipeline.policies import RetryPolicy
from azure.core.rest import HttpRequest
from azure.mgmt.containerservice import ContainerServiceClient

from fracgpu.errors import FracgpuError
from fracgpu.plan import Json
from fracgpu.providers.aks.failures import Said, translated
from fracgpu.providers.aks.session.identity import Door, not_signed_in

CONNECT_SECONDS, READ_SECONDS, WRITE_SECONDS = 4, 20, 60
PATIENCE = 10.0
"""Seconds of Retry-After that a call sits out by itself; longer ones are told, so that one sees what is waited for."""


class _Retry(RetryPolicy[Any, Any]):
    """The SDK's own, but for long pauses. PUT and DELETE are asked again too: ETags make a second one harmless."""

    def is_retry(self, settings: dict[str, Any], response: Any) -> bool:
        pause = self.get_retry_after(response)
        again = (pause is None or pause <= PATIENCE) and bool(super().is_retry(settings, response))
        if again:
            response.http_response.close()  # a PUT's answer is a stream, and the SDK lets it lie
        return again


@dataclass(frozen=True, slots=True)
class Answer:
    """To a call that begins an operation: its HTTP status, and the URL under which the operation can be looked at."""

    status: int
    url: str | None


class Arm:
    """The client of one subscription."""

    def __init__(self, door: Door) -> None:
        self.subscription = door.cluster.subscription or ""
        self._endpoint = door.endpoint
        retry = _Retry(
            retry_total=3,
            retry_connect=1,
            retry_read=2,
            retry_status=3,
            retry_backoff_factor=0.3,
            retry_backoff_max=5,
        )
        self._client: Any = ContainerServiceClient(
            door.credential,
            self.subscription,
            base_url=door.endpoint,
            retry_policy=retry,
            connection_timeout=CONNECT_SECONDS,
            read_timeout=READ_SECONDS,
            **door.options,
        )
        self._credential = door.credential
        weakref.finalize(self, self._client.close)

    def token(self, scope: str) -> tuple[str, float]:
        """A token of the caller's for another of Azure's services, and when it ends. Raises NotSignedIn."""
        with translating("get_token"):
            found = self._credential.get_token(scope)
        return found.token, float(found.expires_on)

    def pools(self) -> Any:
        """The SDK's calls on agent pools; each inside `calling`."""
        return self._client.agent_pools

    def clusters(self) -> Any:
        """The SDK's calls on clusters; each inside `calling`."""
        return self._client.managed_clusters

    def calling(self, call: str) -> AbstractContextManager[None]:
        """Translates what is raised inside, as the answer to the API's call of that name."""
        return translating(call)

    def write(self, call: str, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Answer:
        """A call that begins an operation."""
        answers: list[Any] = []

        def keep(response: Any) -> None:
            answers.append(response.http_response)

        with translating(call):
            method(*args, polling=False, raw_response_hook=keep, read_timeout=WRITE_SECONDS, **kwargs)
        last = answers[-1]  # of several tries
        return Answer(last.status_code, last.headers.get("Azure-AsyncOperation"))

    def get(self, call: str, url: str, **query: str) -> tuple[Json, Mapping[str, str]]:
        """A GET of any resource, by a path or by a URL that Azure gave; body and headers.

        Raises CloudError for a URL of another host, which must not see the token.
        """
        own, asked = urlsplit(self._endpoint), urlsplit(url)
        if asked.netloc and (asked.scheme, asked.netloc) != (own.scheme, own.netloc):
            raise translated(Said(None, "ForeignHost", f"{asked.netloc} is not {own.netloc}", call=call))
        with translating(call):
            response = self._client.send_request(HttpRequest("GET", url, params=query))
            response.raise_for_status()
            body: Json = response.json()
        return body, {name.lower(): value for name, value in response.headers.items()}

    def rows(self, call: str, path: str, **query: str) -> Iterator[Json]:
        """All rows of a list that comes in pages."""
        body, _ = self.get(call, path, **query)
        yield from body.get("value", ())
        while following := body.get("nextLink"):
            body, _ = self.get(call, following)
            yield from body.get("value", ())


@contextmanager
def translating(call: str) -> Iterator[None]:
    """The SDK's errors as ours."""
    try:
        yield
    except (ServiceRequestError, ServiceResponseError) as error:
        raise translated(Said(503, type(error).__name__, str(error), call=call)) from error
    except ClientAuthenticationError as error:
        raise (_of(error, call) if error.response is not None else not_signed_in(error)) from error
    except DecodeError as error:
        raise translated(Said(None, "DecodeError", f"the answer is no JSON: {error.message}", call=call)) from error
    except HttpResponseError as error:
        raise _of(error, call) from error


def _of(error: HttpResponseError, call: str) -> FracgpuError:
    """An answer that refuses. Code and message are in `error`, wrapped (Resource Manager) or not (AKS)."""
    said: Any = error.error
    response: Any = error.response
    headers = {name.lower(): value for name, value in response.headers.items()} if response is not None else {}
    inner = tuple((str(one.code or ""), str(one.message or "")) for one in (said.details or ()) if one) if said else ()
    return translated(
        Said(
            status=error.status_code,
            code=str(said.code) if said and said.code else str(error.status_code),
            message=str(said.message if said and said.message else error.message),
            inner=inner,
            request_id=headers.get("x-ms-request-id"),
            retry_after=seconds(headers.get("retry-after")),
            call=call,
        )
    )


def seconds(text: str | None) -> float | None:
    """Retry-After in seconds; None where there is none, or where it is a date."""
    return float(text) if text and text.replace(".", "", 1).isdecimal() else None
