"""What all HTTP fronts do alike: carry out a fault, lose an answer, answer in JSON."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from typing import Any

from werkzeug.wrappers import Response

from fracgpu.sandbox.faults import Fault

ErrorBody = Callable[[int, str | None, str], Response]
"""(HTTP status, the cloud's error code if one was set, message) -> the error as that cloud words it."""

_answer = threading.local()


def apply_fault(fault: Fault | None, error_body: ErrorBody) -> Response | None:
    """Carry out a fault of an HTTP call. Never call it while holding `World.lock`: it may sleep.

    A Response is the call's answer: return it and do nothing else. None means to go on; the caller hands
    `fault.outcome` to `World.begin`. A drop without an error is carried out after the call has done its work, which is
    how an answer gets lost on the way; with an error nothing is done and nothing is answered. With an outcome and no
    status, code and message are the operation's, not the call's.
    """
    if fault is None:
        return None
    if fault.delay:
        time.sleep(fault.delay)
    if fault.drop:
        lose_answer()
    if fault.status is None and (fault.outcome or not (fault.code or fault.message or fault.retry_after is not None)):
        return None
    status = fault.status or (500 if fault.retry_after is None else 429)
    response = error_body(status, fault.code, fault.message or "The sandbox was told to fail this call.")
    if fault.retry_after is not None:
        response.headers["Retry-After"] = str(fault.retry_after)
    return response


def lose_answer() -> None:
    """Close the connection instead of sending the answer to the request that this thread serves."""
    _answer.lost = True


def keep_answer() -> None:
    """This thread begins with a new request, whose answer is sent unless it is lost."""
    _answer.lost = False


def answer_is_lost() -> bool:
    """Whether `lose_answer` was called since the request of this thread began."""
    return bool(_answer.lost)


def json_response(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON answer."""
    return Response(json.dumps(body), status=status, headers=headers, mimetype="application/json")
