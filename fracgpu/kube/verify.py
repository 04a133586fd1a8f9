"""What a pool promises, held against what its nodes show; node by node, and by what keeps pods from their slices.

What counts is `status.allocatable`. Labels that say a cut has succeeded are read and not trusted:
https://github.com/NVIDIA/gpu-operator/issues/603
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fracgpu import migconfig, pluginkey
from fracgpu.errors import Finding, Level, info
from fracgpu.kube.causes import counted, managed
from fracgpu.kube.pluginpods import plugin_problems
from fracgpu.kube.promise import Promise
from fracgpu.kube.quantity import whole
from fracgpu.plan import Json

PRODUCT = "nvidia.com/gpu.product"
INVALID = "-MIG-INVALID"
FAILED_CUT = "fracgpu.dev/mig-failed"
"""Taint of a node that could not cut its GPUs when it booted."""
GPU_RESOURCES = ("nvidia.com/gpu", "nvidia.com/mig-")
BLOCKING = ("NoSchedule", "NoExecute")

PodsOn = Callable[[str], Sequence[Json]]


@dataclass(frozen=True, slots=True)
class NodeVerdict:
    """One node: what it should have allocatable, what it has, and everything that is wrong with it."""

    name: str
    expected: Mapping[str, int]
    allocatable: Mapping[str, int]
    problems: tuple[Finding, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.problems

    def to_json(self) -> Json:
        return {
            "name": self.name,
            "ok": self.ok,
            "expected": dict(self.expected),
            "allocatable": dict(self.allocatable),
            "problems": [problem.message for problem in self.problems],
            "findings": [problem.to_json() for problem in self.problems],
        }


@dataclass(frozen=True, slots=True)
class Verification:
    """A pool's nodes. `proven` is False where there is no node that could prove anything."""

    pool: str
    nodes: tuple[NodeVerdict, ...]
    wanted: int | None = None
    """How many nodes the cloud says the pool has; None where it does not say."""
    notes: tuple[Finding, ...] = field(default=())

    @property
    def proven(self) -> bool:
        return bool(self.nodes)

    @property
    def problems(self) -> tuple[Finding, ...]:
        """What is wrong with the pool as a whole."""
        missing = (self.wanted or 0) - len(self.nodes)
        if missing <= 0:
            return ()
        message = f"{len(self.nodes)} of {self.wanted} nodes have joined the cluster"
        return (Finding("nodes-missing", message, hint="fracgpu pool show says what the cloud knows"),)

    @property
    def ok(self) -> bool:
        return not self.problems and all(node.ok for node in self.nodes)

    def to_json(self) -> Json:
        return {
            "pool": self.pool,
            "ok": self.ok,
            "proven": self.proven,
            "nodes": [node.to_json() for node in self.nodes],
            "problems": [problem.message for problem in self.problems],
            "notes": [note.to_json() for note in self.notes],
        }


def verify(promise: Promise, nodes: Sequence[Json], pods_on: PodsOn, wanted: int | None = None) -> Verification:
    """Hold nodes against the promise. `pods_on` is asked only about nodes whose resources are not as promised."""
    verdicts = tuple(_verdict(promise, node, pods_on) for node in sorted(nodes, key=_name))
    notes = () if verdicts or wanted else (_unproven(promise.name),)
    return Verification(promise.name, verdicts, wanted, notes)


def _unproven(name: str) -> Finding:
    message = f"{name} has no node, so nothing is proven: neither capacity nor slices"
    return info(
        "capacity-unproven-at-zero", message, hint=f"fracgpu pool verify {name} --prove starts one, and ends it"
    )


def _verdict(promise: Promise, node: Json, pods_on: PodsOn) -> NodeVerdict:
    expected, shown = promise.resources, allocatable(node)
    problems = [*_not_ready(node), *_resources(expected, shown)]
    if problems:
        problems += _causes(promise, node, pods_on)
    problems += [*_labels(promise, node), *_taints(promise, node), *_pending(promise, node), *_signs(node)]
    return NodeVerdict(_name(node), expected, shown, tuple(problems))


def _name(node: Json) -> str:
    return str(node["metadata"]["name"])


def _labels_of(node: Json) -> Mapping[str, str]:
    return node["metadata"].get("labels") or {}


def allocatable(node: Json) -> dict[str, int]:
    """The GPU resources of a node."""
    found = (node.get("status") or {}).get("allocatable") or {}
    return {name: whole(text) for name, text in sorted(found.items()) if name.startswith(GPU_RESOURCES)}


def _not_ready(node: Json) -> Iterator[Finding]:
    conditions = (node.get("status") or {}).get("conditions") or ()
    ready: Json = next((one for one in conditions if one.get("type") == "Ready"), {})
    if ready.get("status") != "True":
        why = ready.get("message") or ready.get("reason") or "it has not said that it is ready"
        yield Finding("node-not-ready", f"the node is not ready: {why}", hint="kubectl describe node has its events")


def _resources(expected: Mapping[str, int], shown: Mapping[str, int]) -> Iterator[Finding]:
    for name, count in expected.items():
        have = shown.get(name, 0)
        if have != count:
            yield Finding("slices-missing", f"{name}: {have} allocatable, {count} promised")
    for name, count in shown.items():
        if count and name not in expected:
            what = "whole GPUs or slices" if name == "nvidia.com/gpu" else "a resource"
            message = f"{name}: {count} allocatable, {what} that the pool does not promise"
            yield Finding("unexpected-resource", message, hint="pods that ask for it would get what belongs to others")


def _causes(promise: Promise, node: Json, pods_on: PodsOn) -> Iterator[Finding]:
    """Why the resources may be wrong: the plugin, and taints that keep it off."""
    yield from counted(promise, allocatable(node))
    yield from managed(promise, _labels_of(node))
    yield from plugin_problems(promise, pods_on(_name(node)))
    for taint in _foreign_taints(promise, node):
        message = f"the taint {taint} is not the pool's, and keeps off what does not tolerate it, the plugin too"
        yield Finding("foreign-taint", message, hint="fracgpu plugin values has tolerations for the pool's own taints")


def _pending(promise: Promise, node: Json) -> Iterator[Finding]:
    """A taint that a node should have lost by now."""
    have = {one["key"] for one in _taints_of(node)}
    for taint in promise.facts.startup_taints:
        if taint.key in have:
            message = f"the startup taint {taint} is still there, so no pod comes onto the node"
            hint = "fracgpu plugin mig-taint prints what lifts it once the GPUs are cut"
            yield Finding("startup-taint", message, hint=hint)


def _labels(promise: Promise, node: Json) -> Iterator[Finding]:
    """What pods select by, what the user asked for, and what plugin and MIG manager go by."""
    facts, have = promise.facts, _labels_of(node)
    keys = {*facts.selector, *promise.pool.labels, pluginkey.LABEL, migconfig.LABEL}
    for key, value in facts.labels.items():
        if key in keys and have.get(key) != value:
            shown = f"is {have[key]}" if key in have else "is missing"
            yield Finding("label-missing", f"the label {key} {shown}; {value} was promised")


def _taints(promise: Promise, node: Json) -> Iterator[Finding]:
    have = {(one["key"], one.get("value") or "", one["effect"]) for one in _taints_of(node)}
    for taint in promise.facts.taints:
        if (taint.key, taint.value, taint.effect.value) not in have:
            yield Finding("taint-missing", f"the taint {taint} is missing, so pods that want no GPU may land here")
    if any(key == FAILED_CUT for key, _, _ in have):
        message = f"the node could not cut its GPUs and says so with the taint {FAILED_CUT}"
        yield Finding(
            "mig-failed", message, hint="journalctl and /var/log on the node have the reason; then replace it"
        )


def _taints_of(node: Json) -> Sequence[Json]:
    return (node.get("spec") or {}).get("taints") or ()


def _foreign_taints(promise: Promise, node: Json) -> list[str]:
    """Taints that keep pods off and are neither the pool's nor Kubernetes' own."""
    facts = promise.facts
    own = {(taint.key, taint.effect.value) for taint in (*facts.taints, *facts.startup_taints)}
    return [
        f"{one['key']}={one.get('value') or ''}:{one['effect']}"
        for one in _taints_of(node)
        if one["effect"] in BLOCKING
        and (one["key"], one["effect"]) not in own
        and not one["key"].startswith("node.kubernetes.io/")
        and one["key"] != FAILED_CUT
    ]


def _signs(node: Json) -> Iterator[Finding]:
    """Labels by which NVIDIA's parts say that something is wrong."""
    labels = _labels_of(node)
    product = labels.get(PRODUCT, "")
    if product.endswith(INVALID):
        message = f"{PRODUCT} is {product}: MIG is on, and not every GPU is cut alike"
        yield Finding("mig-invalid", message, hint="strategy mixed, or a cut that is the same on every GPU")
    if labels.get(migconfig.STATE_LABEL) == "failed":
        name = labels.get(migconfig.LABEL, "its config")
        message = f"the MIG manager failed to apply {name}"
        yield Finding("mig-failed", message, hint="fracgpu plugin mig-parted has the configs that the pools need")


def failures(verification: Verification) -> tuple[Finding, ...]:
    """Everything that is wrong, each with the node that it is wrong on."""
    of_nodes = (
        Finding(one.code, f"{node.name}: {one.message}", Level.ERROR, hint=one.hint)
        for node in verification.nodes
        for one in node.problems
    )
    return (*verification.problems, *of_nodes)
