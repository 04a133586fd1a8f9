"""What GKE refuses in labels, taints, network tags and resource labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from fracgpu.sandbox.gke.errors import invalid_field
from fracgpu.sandbox.world import Json

_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_DOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_TAG = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
_RESOURCE_KEY = re.compile(r"[a-z][-_a-z0-9]{0,62}")
_RESOURCE_VALUE = re.compile(r"[-_a-z0-9]{0,63}")

_AT = "node_pool.config"

_EFFECTS = ("NO_SCHEDULE", "PREFER_NO_SCHEDULE", "NO_EXECUTE")


def check_labels(labels: Mapping[str, str]) -> None:
    """Kubernetes labels; those of Kubernetes' own domains are not for users to set."""
    for key, value in labels.items():
        if not _is_key(key):
            raise invalid_field(f"{_AT}.labels", key, "It is not a valid label key.")
        domain = key.rpartition("/")[0]
        if re.search(r"(^|\.)(kubernetes|k8s)\.io$", domain):
            raise invalid_field(f"{_AT}.labels", key, "Keys of kubernetes.io and k8s.io are reserved.")
        if value and not _NAME.fullmatch(value):
            raise invalid_field(f"{_AT}.labels", value, f'It is not a valid value of label "{key}".')


def check_taints(taints: Iterable[Json]) -> None:
    for taint in taints:
        key, value, effect = (taint.get(name, "") for name in ("key", "value", "effect"))
        if not _is_key(key):
            raise invalid_field(f"{_AT}.taints", key, "It is not a valid taint key.")
        if value and not _NAME.fullmatch(value):
            raise invalid_field(f"{_AT}.taints", value, f'It is not a valid value of taint "{key}".')
        if effect not in _EFFECTS:
            raise invalid_field(f"{_AT}.taints", effect, f"The effect is one of {', '.join(_EFFECTS)}.")


def check_tags(tags: Iterable[str]) -> None:
    """Network tags (https://cloud.google.com/vpc/docs/add-remove-network-tags)."""
    for tag in tags:
        if not _TAG.fullmatch(tag):
            raise invalid_field(f"{_AT}.tags", tag, "It is not a valid network tag.")


def check_resource_labels(labels: Mapping[str, str]) -> None:
    """Compute Engine's labels (https://cloud.google.com/compute/docs/labeling-resources#requirements)."""
    if len(labels) > 64:
        raise invalid_field(f"{_AT}.resource_labels", len(labels), "At most 64 may be given.")
    for key, value in labels.items():
        if not _RESOURCE_KEY.fullmatch(key) or not _RESOURCE_VALUE.fullmatch(value):
            raise invalid_field(f"{_AT}.resource_labels", f"{key}={value}", "It is not a valid label.")


def _is_key(key: str) -> bool:
    domain, slash, name = key.rpartition("/")
    return bool(_NAME.fullmatch(name)) and (not slash or bool(_DOMAIN.fullmatch(domain) and len(domain) <= 253))
