"""The mark of ownership in a body: whoever changes a pool without taking it over leaves it out."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from fracgpu.errors import Invalid
from fracgpu.plan import Resource
from fracgpu.spec import MARK_KEYS

FLEET_NAME = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
"""What is legal as the value of an Azure tag, a GKE resource label and an AWS tag alike."""


def fleet_name(name: str) -> str:
    """The name, if it can be written on every cloud. Raises Invalid."""
    if FLEET_NAME.fullmatch(name):
        return name
    message = f"{name!r} is no name for a fleet: lower-case letters, digits and '-', at most 63"
    raise Invalid.one("invalid-value", message, field="--fleet", hint="--fleet team-a")


def unmarked(resource: Resource) -> Resource:
    """The resource without the mark, wherever its cloud keeps it."""
    return replace(resource, body=_without(resource.body))


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without(inner) for key, inner in value.items() if key not in MARK_KEYS}
    if isinstance(value, list):
        return [_without(item) for item in value if not (isinstance(item, dict) and item.get("Key") in MARK_KEYS)]
    return value
