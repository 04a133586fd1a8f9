"""Tags by Azure's rules: https://learn.microsoft.com/azure/azure-resource-manager/management/tag-resources"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fracgpu.errors import Finding
from fracgpu.providers.aks.desired import tags
from fracgpu.resolve import ResolvedPool
from fracgpu.spec import MARK_KEYS

_TAGS = "https://learn.microsoft.com/azure/azure-resource-manager/management/tag-resources#limitations"
_FORBIDDEN = re.compile(r"[<>%&\\?/\x00-\x1f\x7f]")
_MOST, _LONGEST_KEY, _LONGEST_VALUE = 50, 512, 256
_NO_DRIVER = "skipgpudriverinstall"


def check(pool: ResolvedPool) -> Iterator[Finding]:
    """Every tag that Azure would refuse or take for another."""
    total = len(tags(pool))
    if total > _MOST:
        message = f"{total} tags, fracgpu's own among them, are more than the {_MOST} of a resource"
        yield Finding("invalid-tag", message, field="spec.tags", hint="leave some out", link=_TAGS)
    seen: dict[str, str] = {}
    for key, value in pool.tags.items():
        yield from _tag(key, value)
        yield from _case(key, seen)
        seen[key.lower()] = key


def _tag(key: str, value: str) -> Iterator[Finding]:
    field = f"spec.tags.{key}"
    if not key or len(key) > _LONGEST_KEY or len(value) > _LONGEST_VALUE:
        message = f"a tag's key has 1 to {_LONGEST_KEY} characters, its value at most {_LONGEST_VALUE}"
        yield Finding("invalid-tag", message, field=field, hint="shorten it", link=_TAGS)
    elif _FORBIDDEN.search(key):
        near = _FORBIDDEN.sub("_", key)
        message = f"{key!r} has a character that Azure forbids in a tag's key: < > % & \\ ? /"
        yield Finding("invalid-tag", message, field=field, hint=f"{near}={value}", nearest=(near,), link=_TAGS)
    if key.lower() == _NO_DRIVER:
        message = "AKS has retired the tag SkipGPUDriverInstall and refuses it on new pools"
        link = "https://github.com/Azure/AKS/issues/4925"
        yield Finding("invalid-tag", message, field=field, hint="--set aks.driver=None does the same", link=link)


def _case(key: str, seen: dict[str, str]) -> Iterator[Finding]:
    """Azure does not tell keys apart by case (https://learn.microsoft.com/azure/aks/use-tags)."""
    field = f"spec.tags.{key}"
    if key.lower() in seen:
        message = f"{key} and {seen[key.lower()]} are one tag: Azure does not tell keys apart by case"
        yield Finding("invalid-tag", message, field=field, hint="leave one out", link=_TAGS)
    if key not in MARK_KEYS and key.lower() in MARK_KEYS:
        message = f"the tag {key} is fracgpu's own mark of ownership, in other letters"
        yield Finding("invalid-tag", message, field=field, hint="leave it out; fracgpu writes it")
