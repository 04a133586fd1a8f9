"""What EKS refuses or what bites on it, found before anything is sent. Each larger subject has a file of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fracgpu.errors import Finding, info, warning
from fracgpu.providers import ClusterFacts, other_clouds
from fracgpu.providers.eks import (
    ami,
    foreign_template,
    label_rules,
    machine_rules,
    place_rules,
    repair_rules,
    sharing_rules,
    text_rules,
)
from fracgpu.providers.eks.names import GROUP_NAME, nearest_group_name
from fracgpu.resolve import ResolvedPool

MOST_NODES = 450
"""Nodes of a managed group, a quota that can be raised: https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html"""

AUTO_MODE = "autoMode"
"""`ClusterFacts.extra`: the cluster runs EKS Auto Mode."""

_SKEW = "https://docs.aws.amazon.com/eks/latest/userguide/update-managed-node-group.html"
_UPDATES = "https://docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupUpdateConfig.html"


def rules(pool: ResolvedPool, facts: ClusterFacts | None) -> Iterator[Finding]:
    """Every finding about a pool; `facts` None is offline."""
    yield from _name(pool)
    yield from machine_rules.check(pool)
    yield from sharing_rules.check(pool)
    yield from foreign_template.rules(pool)
    yield from _nodes(pool)
    yield from place_rules.check(pool, facts)
    yield from _cluster(pool, facts)
    yield from _versions(pool, facts)
    yield from label_rules.check(pool)
    yield from _update_config(pool)
    yield from repair_rules.check(pool)
    yield from text_rules.check(pool)
    yield from other_clouds.check(pool)


def _name(pool: ResolvedPool) -> Iterator[Finding]:
    if GROUP_NAME.fullmatch(pool.name):
        return
    near = nearest_group_name(pool.name)
    message = f"{pool.name!r} is no node group name: at most 63 letters, digits, '-' and '_', a letter or digit first"
    yield Finding("invalid-name", message, field="metadata.name", hint=f"call it {near}", nearest=(near,))


def _nodes(pool: ResolvedPool) -> Iterator[Finding]:
    if pool.nodes.max > MOST_NODES:
        message = f"a node group has at most {MOST_NODES} nodes unless that quota was raised"
        field = "spec.nodes.max" if pool.nodes.autoscaling else "spec.nodes.count"
        yield warning("nodes-over-quota", message, field=field, hint="several pools, or raise the quota")
    if pool.nodes.count == 0:
        message = "a group that begins without nodes is ACTIVE at once, and proves neither quota nor stock nor slices"
        hint = "--nodes 1 asks for a machine at once"
        yield info("capacity-unproven-at-zero", message, field="spec.nodes.count", hint=hint)


def _cluster(pool: ResolvedPool, facts: ClusterFacts | None) -> Iterator[Finding]:
    if facts is None:
        left = [name for name, said in _left_open(pool).items() if not said]
        if left:
            message = f"{' and '.join(left)} come from the cluster, and are known only when the pool is made"
            yield info("resolved-at-apply", message, field="spec.eks", hint="eks.subnets and eks.nodeRole say them")
        return
    if not (pool.eks.node_role or facts.node_role):
        message = "the cluster has no node group yet whose role could be used"
        hint = "--set eks.nodeRole=arn:aws:iam::ACCOUNT:role/NAME; aws iam list-roles shows them"
        link = "https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html"
        yield Finding("missing-field", message, field="spec.eks.nodeRole", hint=hint, link=link)
    if facts.extra.get(AUTO_MODE):
        message = "the cluster runs EKS Auto Mode, whose own nodes take no fractions; this group stands beside them"
        link = "https://docs.aws.amazon.com/eks/latest/userguide/automode.html"
        yield info("beside-auto-mode", message, field="spec.cluster.name", link=link)


def _versions(pool: ResolvedPool, facts: ClusterFacts | None) -> Iterator[Finding]:
    """A group's Kubernetes is never newer than its cluster's, and an Amazon Linux image is of one Kubernetes."""
    said, release = pool.eks.version, pool.eks.release_version or ""
    cluster = facts.version if facts else None
    if said and cluster and _minor(said) > _minor(cluster):
        message = f"the cluster has Kubernetes {cluster}, and its node groups none that is newer: {said}"
        near = (cluster,)
        yield Finding("invalid-value", message, field="spec.eks.version", nearest=near, hint="leave it out", link=_SKEW)
    of_image = _minor(release) if not str(ami.ami_type(pool)).startswith("BOTTLEROCKET") else ()
    wanted = said or cluster
    if wanted and of_image and of_image != _minor(wanted):
        message = f"the image release {release} is of another Kubernetes than {wanted}"
        yield Finding("conflicting-fields", message, field="spec.eks.releaseVersion", hint="leave one of them out")


def _minor(version: str) -> tuple[int, ...]:
    """1.34.1-20260901 -> (1, 34); empty for what is no version."""
    found = re.match(r"(\d+)\.(\d+)", version)
    return tuple(map(int, found.groups())) if found else ()


def _left_open(pool: ResolvedPool) -> dict[str, object]:
    return {"subnets": pool.eks.subnets, "the node role": pool.eks.node_role}


def _update_config(pool: ResolvedPool) -> Iterator[Finding]:
    said = pool.eks.update_config
    if said is None:
        return
    field = "spec.eks.updateConfig"
    number, percentage = said.max_unavailable, said.max_unavailable_percentage
    if number is not None and percentage is not None:
        message = "an update takes away a number of nodes or a percentage, not both"
        yield Finding(
            "conflicting-fields", message, field=f"{field}.maxUnavailable", hint="leave one out", link=_UPDATES
        )
    most = min(100, max(pool.nodes.max, 1))
    if number is not None and not 1 <= number <= most:
        message = f"maxUnavailable is 1 to {most} here: at most 100, and at most the group's maximum"
        near = (str(min(max(number, 1), most)),)
        yield Finding(
            "invalid-value", message, field=f"{field}.maxUnavailable", nearest=near, hint=near[0], link=_UPDATES
        )
    if percentage is not None and not 1 <= percentage <= 100:
        message, near = f"maxUnavailablePercentage is 1 to 100, not {percentage}", (str(min(max(percentage, 1), 100)),)
        path, hint = f"{field}.maxUnavailablePercentage", f"--set eks.updateConfig.maxUnavailablePercentage={near[0]}"
        yield Finding("invalid-value", message, field=path, nearest=near, hint=hint, link=_UPDATES)
