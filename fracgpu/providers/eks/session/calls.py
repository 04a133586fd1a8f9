"""Calls to AWS, and the one place where botocore's errors become ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from json import JSONDecodeError
from typing import Any

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    CredentialRetrievalError,
    HTTPClientError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    SSOError,
    TokenRetrievalError,
)
from botocore.exceptions import ConnectionError as NoConnection

from fracgpu.errors import CloudError, FracgpuError, NotSignedIn, Unreachable
from fracgpu.plan import Json
from fracgpu.providers.eks.failures import SIGN_IN, Said, translated

IDENTITY = (
    NoCredentialsError,
    PartialCredentialsError,
    CredentialRetrievalError,
    TokenRetrievalError,
    SSOError,
    NoRegionError,
    JSONDecodeError,
)
"""Whatever keeps credentials from being had; a credential process that answers no JSON is let through by botocore."""


class Refused(Exception):
    """An error answer of AWS, with its code, before it is made one of ours."""

    def __init__(self, said: Said) -> None:
        super().__init__(said.message)
        self.said = said


@contextmanager
def answers(call: str) -> Iterator[None]:
    """Errors of one call. Raises Refused for an answer, Unreachable, NotSignedIn and CloudError for the rest."""
    try:
        yield
    except ClientError as error:
        raise Refused(_said(error, call)) from error
    except IDENTITY as error:
        raise no_identity(error) from error
    except (HTTPClientError, NoConnection) as error:
        raise Unreachable(f"AWS cannot be reached: {_plain(error)}", hint="is the network up?") from error
    except BotoCoreError as error:
        hint = "run it again; aws sts get-caller-identity shows whether AWS's SDK works at all"
        raise CloudError(f"{call} failed: {_plain(error)}", hint=hint, detail={"call": call}) from error


@contextmanager
def translating() -> Iterator[None]:
    """Whatever answer was not expected becomes one of our errors."""
    try:
        yield
    except Refused as error:
        raise ours(error) from error.__cause__


def no_identity(error: Exception) -> NotSignedIn:
    """Why there are no credentials, in botocore's words, but for what a credential process has said: that may be a
    secret."""
    if isinstance(error, JSONDecodeError) or getattr(error, "kwargs", {}).get("provider") == "custom-process":
        message = "the credential_process of the AWS configuration gave no credentials"
        return NotSignedIn(message, hint="run it by hand: it stands in ~/.aws/config; aws sts get-caller-identity")
    return NotSignedIn(f"AWS credentials cannot be had: {error}", hint=SIGN_IN)


def ours(refused: Refused) -> FracgpuError:
    return translated(refused.said)


def ask(client: Any, call: str, **members: Any) -> Json:
    """One call by its method's name; the answer as plain JSON. Raises Refused and our errors."""
    with answers(call):
        answer = getattr(client, call)(**members)
    answer.pop("ResponseMetadata", None)
    plain: Json = to_json(answer)
    return plain


def every(client: Any, call: str, member: str, **members: Any) -> list[Any]:
    """All items of a paged call."""
    with answers(call):
        found = client.get_paginator(call).paginate(**members).build_full_result().get(member, [])
    rows: list[Any] = to_json(found)
    return rows


def to_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: to_json(one) for key, one in value.items()}
    if isinstance(value, list):
        return [to_json(one) for one in value]
    return value.isoformat() if isinstance(value, datetime) else value


def _said(error: ClientError, call: str) -> Said:
    answer: dict[str, Any] = dict(error.response)
    meta = answer.get("ResponseMetadata", {})
    inner = answer.get("Error", {})
    pause = meta.get("HTTPHeaders", {}).get("retry-after", "")
    known = ("clusterName", "nodegroupName", "validZones")
    return Said(
        code=str(inner.get("Code", "")),
        message=str(inner.get("Message") or answer.get("message") or "no reason given"),
        status=int(meta.get("HTTPStatusCode", 0)),
        request_id=meta.get("RequestId"),
        retry_after=float(pause) if pause.replace(".", "", 1).isdigit() else None,
        call=call,
        more={key: answer[key] for key in known if answer.get(key)},
    )


def _plain(error: Exception) -> str:
    """The reason without the URL's query, which may be signed."""
    return str(error).split("?", 1)[0]
