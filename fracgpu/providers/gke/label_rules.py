"""Labels, taints and tags: Kubernetes' own rules, GKE's reserved words, Compute Engine's rules for resource labels."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fracgpu.errors import Finding, warning
from fracgpu.pluginkey import LABEL
from fracgpu.providers import plugin_rules
from fracgpu.providers.kubernetes_syntax import RESERVED, check_labels, check_taints, is_reserved, may_be_set
from fracgpu.resolve import ResolvedPool
from fracgpu.sharing import SharingKind
from fracgpu.taints import GPU_TAINT_KEY

NO_PLUGIN = "gke-no-default-nvidia-gpu-device-plugin"
"""The label that keeps GKE's device plugin, and the managed driver with it, off a node
(https://github.com/NVIDIA/aicr/issues/2047)."""

USERS_OWN = frozenset({f"cloud.google.com/{NO_PLUGIN}", "cloud.google.com/gke-nvidia-gpu-dra-driver"})
"""Labels of cloud.google.com that are for users to set."""

_TAG_KEY = re.compile(r"[a-z][-_a-z0-9]{0,62}")
_TAG_VALUE = re.compile(r"[-_a-z0-9]{0,63}")
_TAG_FORM = "lower-case letters, digits, '_' and '-', at most 63"
_TAG_DOCS = "https://cloud.google.com/compute/docs/labeling-resources#requirements"
_NETWORK_TAG = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
_MOST_TAGS = 64
_LONGEST_LABELS = 1024
_LABEL_DOCS = "https://cloud.google.com/kubernetes-engine/docs/how-to/update-existing-nodepools"


def check(pool: ResolvedPool) -> Iterator[Finding]:
    """Every finding about labels, taints, tags and network tags."""
    yield from check_labels(pool)
    yield from _total(pool)
    yield from _reserved(pool)
    yield from _without_effect(pool)
    yield from check_taints(pool)
    yield from _empty_taints(pool)
    yield from _tags(pool)
    yield from _network_tags(pool)


def _total(pool: ResolvedPool) -> Iterator[Finding]:
    written = ",".join(f"{key}={value}" for key, value in pool.labels.items())
    if len(written) > _LONGEST_LABELS:
        message = f"the labels are {len(written)} characters in all, and GKE takes {_LONGEST_LABELS}, as key=value,..."
        hint = "leave some out, or shorten them"
        yield Finding("invalid-label", message, field="spec.labels", hint=hint, link=_LABEL_DOCS)


def _reserved(pool: ResolvedPool) -> Iterator[Finding]:
    for key in pool.labels:
        field = f"spec.labels.{key}"
        if is_reserved(key) and may_be_set(key):
            message = f"{key}: that GKE takes labels of this domain is not documented"
            yield warning("label-reserved", message, field=field, hint="use a domain of your own")
        elif is_reserved(key):
            message = f"{key}: labels of {' and '.join(RESERVED)} are Kubernetes' own"
            yield Finding("invalid-label", message, field=field, hint="use a domain of your own")
        elif key.rpartition("/")[2] == NO_PLUGIN and pool.sharing.kind is not SharingKind.WHOLE:
            message = f"{key} keeps GKE's device plugin off the nodes, and MIG and sharing live in that plugin"
            link = "https://github.com/NVIDIA/aicr/issues/2047"
            yield Finding("sharing-conflict", message, field=field, hint="leave the label out", link=link)
        elif key.startswith("cloud.google.com/gke-") and key not in USERS_OWN:
            yield Finding("invalid-label", f"{key} is a label that GKE sets itself", field=field, hint="leave it out")


def _without_effect(pool: ResolvedPool) -> Iterator[Finding]:
    yield from plugin_rules.mig_label(pool)
    if LABEL in pool.labels:
        message = f"GKE's device plugin does not look at the label {LABEL}"
        hint = "sharing.timeSlicing or sharing.mps shares the GPUs of a pool"
        yield warning("label-without-effect", message, field=f"spec.labels.{LABEL}", hint=hint)


def _empty_taints(pool: ResolvedPool) -> Iterator[Finding]:
    """A taint without a value is legal on GKE; with the GPU taint's key it shuts out what tolerates `present` alone."""
    for taint in pool.taints:
        if taint.value:
            continue
        hint = f"{taint.key}=present:{taint.effect}"
        message = f"the taint {taint.key} has no value; autoscalers that scale from zero may not see it"
        if taint.key == GPU_TAINT_KEY:
            message = "the GPU taint has no value, and what tolerates nvidia.com/gpu=present alone is kept off"
        yield warning("taint-without-value", message, field="spec.taints", hint=hint, nearest=(hint,))


def _tags(pool: ResolvedPool) -> Iterator[Finding]:
    if len(pool.tags) >= _MOST_TAGS:
        message = f"{len(pool.tags)} tags and fracgpu's mark are more than the {_MOST_TAGS} labels of a machine"
        yield Finding("invalid-tag", message, field="spec.tags", hint=f"at most {_MOST_TAGS - 1}", link=_TAG_DOCS)
    for key, value in pool.tags.items():
        field = f"spec.tags.{key}"
        if not _TAG_KEY.fullmatch(key):
            message = f"{key!r} is no key of a resource label: a lower-case letter, then {_TAG_FORM}"
            near = _plain(key).lstrip("-_0123456789")
            hint = f"{near}={value}" if near else "begin with a letter"
            nearest = (near,) if near else ()
            yield Finding("invalid-tag", message, field=field, hint=hint, nearest=nearest, link=_TAG_DOCS)
        elif not _TAG_VALUE.fullmatch(value):
            message = f"{value!r} is no value of a resource label: {_TAG_FORM}"
            near = _plain(value)
            yield Finding("invalid-tag", message, field=field, hint=f"{key}={near}", nearest=(near,), link=_TAG_DOCS)
        elif key.startswith("goog"):
            message = f"{key}: labels that begin with goog are Google's own"
            yield Finding("invalid-tag", message, field=field, hint="use another key", link=_TAG_DOCS)


def _plain(text: str) -> str:
    return re.sub(r"[^-_a-z0-9]+", "-", text.lower()).strip("-")[:63]


def _network_tags(pool: ResolvedPool) -> Iterator[Finding]:
    for index, tag in enumerate(pool.gke.network_tags or ()):
        if not _NETWORK_TAG.fullmatch(tag):
            message = f"{tag!r} is no network tag: lower-case letters, digits and '-', a letter first, at most 63"
            link = "https://cloud.google.com/vpc/docs/add-remove-network-tags"
            near = _plain(tag).replace("_", "-").lstrip("-0123456789").rstrip("-")
            hint, field = near or "begin with a letter", f"spec.gke.networkTags[{index}]"
            yield Finding("invalid-tag", message, field=field, hint=hint, link=link)
