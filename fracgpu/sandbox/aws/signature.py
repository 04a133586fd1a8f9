"""For whom an AWS request is signed: region and service stand in the scope of its credential.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html; the signature itself is not checked.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_SCOPE = re.compile(r"Credential=[^/,\s]+/\d{8}/(?P<region>[a-z0-9-]+)/(?P<service>[a-z0-9-]+)/aws4_request")


class Scope(NamedTuple):
    region: str
    service: str


def scope(authorization: str) -> Scope | None:
    """What the Authorization header says; None where the request is not signed at all."""
    found = _SCOPE.search(authorization)
    return Scope(found["region"], found["service"]) if found else None
