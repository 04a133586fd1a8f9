"""GKE's versions, such as 1.34.5-gke.1153000, in their order."""

from __future__ import annotations

import re


def older(version: str, than: str) -> bool:
    """Whether one version is older than another, as far as both are said: 1.34 is not older than 1.34.5-gke.1."""
    mine, other = _numbers(version), _numbers(than)
    length = min(len(mine), len(other))
    return mine[:length] < other[:length]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))
