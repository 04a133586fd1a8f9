"""What Kubernetes itself asks of labels and taints, on every cloud; each cloud's `rules` add its own.

https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fracgpu.errors import Finding
from fracgpu.resolve import ResolvedPool
from fracgpu.taints import Taint

_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_DOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")

RESERVED = ("kubernetes.io", "k8s.io")
SETTABLE = ("kubelet.kubernetes.io", "node.kubernetes.io")
"""Of RESERVED, what a kubelet may set on its own node:
https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#noderestriction"""

VALUE_FORM = "at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends"
KEY_FORM = f"{VALUE_FORM}, and perhaps a domain and '/' before it"


def is_key(key: str) -> bool:
    """Whether a text may be the key of a label or taint: `[domain/]name`."""
    domain, slash, name = key.rpartition("/")
    return bool(_NAME.fullmatch(name)) and (not slash or (len(domain) <= 253 and bool(_DOMAIN.fullmatch(domain))))


def is_value(value: str) -> bool:
    """Whether a text may be the value of a label or taint; it may be empty."""
    return not value or bool(_NAME.fullmatch(value))


def domain_of(key: str) -> str:
    """What stands before the slash of a key; empty where there is none."""
    return key.rpartition("/")[0]


def in_domain(key: str, *domains: str) -> bool:
    """Whether a key's domain is one of these or lies under one."""
    domain = domain_of(key)
    return any(domain == one or domain.endswith(f".{one}") for one in domains)


def is_reserved(key: str) -> bool:
    """Whether a label's domain is one of Kubernetes' own."""
    return in_domain(key, *RESERVED)


def may_be_set(key: str) -> bool:
    """Whether Kubernetes lets a node carry a reserved label from its birth."""
    return in_domain(key, *SETTABLE)


def check_labels(pool: ResolvedPool) -> Iterator[Finding]:
    """Every label that Kubernetes would refuse."""
    for key, value in pool.labels.items():
        field = f"spec.labels.{key}"
        if not is_key(key):
            yield Finding("invalid-label", f"{key!r} is no label key", field=field, hint=f"a key is {KEY_FORM}")
        elif not is_value(value):
            message = f"{value!r} is no value for the label {key}"
            yield Finding("invalid-label", message, field=field, hint=f"a value is {VALUE_FORM}")


def check_taints(pool: ResolvedPool) -> Iterator[Finding]:
    """Every taint that Kubernetes would refuse: bad words, or one key and effect twice."""
    seen: set[tuple[str, str]] = set()
    for taint in pool.taints:
        yield from _check_taint(taint)
        if (taint.key, taint.effect) in seen:
            message = f"{taint.key} with {taint.effect} stands twice; a node has one value for them"
            yield Finding("invalid-taint", message, field="spec.taints", hint="leave one out")
        seen.add((taint.key, taint.effect))


def _check_taint(taint: Taint) -> Iterator[Finding]:
    if not is_key(taint.key):
        message = f"{taint.key!r} is no taint key"
        yield Finding("invalid-taint", message, field="spec.taints", hint=f"a key is {KEY_FORM}")
    elif not is_value(taint.value):
        message = f"{taint.value!r} is no value for the taint {taint.key}"
        yield Finding("invalid-taint", message, field="spec.taints", hint=f"a value is {VALUE_FORM}")
