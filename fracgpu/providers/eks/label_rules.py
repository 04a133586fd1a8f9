"""Labels, taints and tags: Kubernetes' own rules, EKS's reserved words and bounds, what autoscaler and charts look for.

https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html
"""

from __future__ import annotations

from collections.abc import Iterator

from fracgpu.errors import Finding, warning
from fracgpu.migconfig import LABEL as MIG_LABEL
from fracgpu.providers import MANAGED, plugin_rules
from fracgpu.providers.eks.autoscaler import ACCELERATOR, PREFIX, resource_tags
from fracgpu.providers.eks.facts import labels, taints
from fracgpu.providers.kubernetes_syntax import RESERVED as KUBERNETES
from fracgpu.providers.kubernetes_syntax import check_labels, check_taints, in_domain
from fracgpu.resolve import ResolvedPool
from fracgpu.sharing import Backend, Mig, Strategy

RESERVED = (*KUBERNETES, "eks.amazonaws.com")
_RESERVED_LINK = "https://github.com/aws/containers-roadmap/issues/1451"

MOST_TAINTS = 50
MOST_TAGS = 50
LONGEST_KEY = 63
LONGEST_TAG_KEY, LONGEST_TAG_VALUE = 128, 256


def check(pool: ResolvedPool) -> Iterator[Finding]:
    """Every finding about labels, taints and tags."""
    yield from check_labels(pool)
    yield from _labels(pool)
    yield from _mig_label(pool)
    yield from _accelerator(pool)
    yield from check_taints(pool)
    yield from _taints(pool)
    yield from _tags(pool)


def _labels(pool: ResolvedPool) -> Iterator[Finding]:
    for key, value in pool.labels.items():
        field = f"spec.labels.{key}"
        reserved = next((word for word in RESERVED if in_domain(key, word)), None)
        if reserved:
            message = f"{key}: EKS takes no labels of {reserved}"
            yield Finding("invalid-label", message, field=field, hint="use a domain of your own", link=_RESERVED_LINK)
        elif len(key) > LONGEST_KEY:
            message = f"{key}: EKS takes label keys of at most {LONGEST_KEY} characters, domain included"
            yield Finding("invalid-label", message, field=field, hint="use a shorter domain")
        if not value:
            message = f"the label {key} has no value, which EKS refuses"
            link = "https://github.com/aws-controllers-k8s/community/issues/2208"
            near = (f"{key}=true",)
            yield Finding("invalid-label", message, field=field, hint=near[0], nearest=near, link=link)


def _mig_label(pool: ResolvedPool) -> Iterator[Finding]:
    said = pool.labels.get(MIG_LABEL)
    field, hint = f"spec.labels.{MIG_LABEL}", "leave it out: --mig with --backend gpu-operator writes it"
    if said is None:
        return
    if not isinstance(pool.sharing.cut, Mig):
        yield from plugin_rules.mig_label(pool)
    elif labels(pool)[MIG_LABEL] != said or pool.backend is not Backend.GPU_OPERATOR:
        message = f"the label {MIG_LABEL} says {said}, and the pool something else"
        yield Finding("conflicting-fields", message, field=field, hint=hint)


def _accelerator(pool: ResolvedPool) -> Iterator[Finding]:
    """The autoscaler waits for nvidia.com/gpu on nodes with this label, and these show slices or shares instead."""
    mixed = isinstance(pool.sharing.cut, Mig) and pool.sharing.cut.strategy is Strategy.MIXED
    if ACCELERATOR in pool.labels and (mixed or pool.sharing.renamed):
        message = f"with {ACCELERATOR} the autoscaler takes nodes without nvidia.com/gpu for unready, and stops scaling"
        link = "https://github.com/kubernetes/autoscaler/issues/8095"
        field = f"spec.labels.{ACCELERATOR}"
        yield warning("scale-from-zero-blind", message, field=field, hint="leave the label out", link=link)


def _taints(pool: ResolvedPool) -> Iterator[Finding]:
    if len(taints(pool)) > MOST_TAINTS:
        message = f"{len(taints(pool))} taints, and EKS takes {MOST_TAINTS} at most"
        yield Finding("invalid-taint", message, field="spec.taints", hint="leave some out")
    for taint in pool.taints:
        near = (f"{taint.key}=present:{taint.effect}",)
        if not taint.value:
            message = f"the taint {taint.key} has no value, and the Cluster Autoscaler does not see such taints"
            link = "https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/aws/aws_manager.go"
            yield warning("scale-from-zero-blind", message, field="spec.taints", hint=near[0], nearest=near, link=link)
        if pool.backend is not Backend.BOTTLEROCKET:  # whose device plugin is a service of the host
            yield from plugin_rules.unusual_gpu_taint(taint, pool)


def _tags(pool: ResolvedPool) -> Iterator[Finding]:
    for key, value in pool.tags.items():
        field = f"spec.tags.{key}"
        if key.lower().startswith("aws:"):
            message = f"{key}: tags that begin with aws: are AWS's own"
            yield Finding("invalid-tag", message, field=field, hint="use another key")
        elif not 1 <= len(key) <= LONGEST_TAG_KEY:
            message = f"a tag's key has 1 to {LONGEST_TAG_KEY} characters, not {len(key)}"
            yield Finding("invalid-tag", message, field=field, hint="use another key")
        if len(value) > LONGEST_TAG_VALUE:
            message = f"the value of the tag {key} has {len(value)} characters; {LONGEST_TAG_VALUE} are the most"
            yield Finding("invalid-tag", message, field=field, hint="shorten it")
    yield from _autoscaler_tags(pool)
    count = len({**resource_tags(pool), **pool.tags, MANAGED: "true"})
    if count > MOST_TAGS:
        message = f"{count} tags, fracgpu's own among them, and EKS takes {MOST_TAGS} at most"
        yield Finding("invalid-tag", message, field="spec.tags", hint="leave some out")


def _autoscaler_tags(pool: ResolvedPool) -> Iterator[Finding]:
    own = resource_tags(pool)
    for key, value in pool.tags.items():
        if key.startswith(PREFIX) and own.get(key, value) != value:
            message = f"the tag {key} tells the autoscaler of {value} a node, and a node has {own[key]}"
            field = f"spec.tags.{key}"
            yield warning("scale-from-zero-blind", message, field=field, hint="leave it out: fracgpu writes it")
