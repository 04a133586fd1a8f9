"""Names that Kubernetes takes.

https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-label-names
"""

from __future__ import annotations

import re

from fracgpu.errors import Invalid

LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
LONGEST = 63


def legal(text: str) -> str:
    """The name nearest to a text; empty where nothing of it can be kept."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:LONGEST].rstrip("-")


def made_of(pool: str, suffix: str) -> str:
    """The name of what is made for a pool, whose own name another rule allows: long, or with capitals."""
    return f"{legal(pool)[: LONGEST - len(suffix) - 1].rstrip('-')}-{suffix}".lstrip("-")


def checked(name: str, flag: str) -> str:
    """The name itself. Raises Invalid for one that Kubernetes refuses, or that says nothing."""
    if LABEL.fullmatch(name):
        return name
    shown = name if len(name) <= LONGEST else f"{name[:LONGEST]}..."
    message = (
        f"{shown!r} is no name for {flag}: at most 63 lower-case letters, digits and '-', none of them '-' at the ends"
    )
    near = (legal(name),) if legal(name) else ()
    raise Invalid.one("invalid-name", message, field=flag, nearest=near, hint=f"{flag} {near[0]}" if near else None)
