"""Counts of extended resources, as Kubernetes writes them.

https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
"""

from __future__ import annotations

from typing import Any

SUFFIXES = {"k": 1000, "M": 1000**2, "Ki": 1024, "Mi": 1024**2}


def whole(text: Any) -> int:
    """The count; extended resources are whole numbers, and the API may write 2000 as 2k."""
    said = str(text)
    for suffix, factor in SUFFIXES.items():
        if said.endswith(suffix):
            return int(said.removesuffix(suffix)) * factor
    return int(said)
