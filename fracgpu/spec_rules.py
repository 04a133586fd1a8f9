"""Checks that need nothing but the spec; every finding is returned at once."""

from __future__ import annotations

from collections.abc import Iterator

from fracgpu.errors import Finding
from fracgpu.spec import MARK_KEYS, MigSpec, NodePoolSpec, NodesSpec, SharingSpec


def check(spec: NodePoolSpec) -> Iterator[Finding]:
    """Findings that need only the spec: what excludes what, and numbers that no GPU or cloud could make right."""
    yield from _check_sharing(spec.sharing)
    yield from _check_nodes(spec.nodes)
    yield from _check_eks_backend(spec)
    if spec.gke and spec.gke.accelerator_count is not None and spec.gke.accelerator_count < 1:
        message = f"{spec.gke.accelerator_count} GPUs a node"
        yield Finding("invalid-value", message, field="spec.gke.acceleratorCount", nearest=("1",), hint="leave it out")
    for key in spec.tags or {}:
        if key in MARK_KEYS:
            message = f"the tag {key} is fracgpu's own mark of ownership"
            yield Finding("invalid-tag", message, field=f"spec.tags.{key}", hint="leave it out; fracgpu writes it")


def _check_sharing(sharing: SharingSpec) -> Iterator[Finding]:
    if sharing.time_slicing and sharing.mps:
        message = "a GPU is shared by time-slicing or by MPS, not by both"
        yield Finding("sharing-conflict", message, field="spec.sharing.mps", hint="leave one of the two out")
    for name, share in (("timeSlicing", sharing.time_slicing), ("mps", sharing.mps)):
        if share and share.replicas < 2:
            yield Finding(
                "replicas-out-of-range",
                f"{share.replicas} is no sharing: the device plugin takes 2 replicas or more",
                field=f"spec.sharing.{name}.replicas",
                hint=f"leave {name} out for whole GPUs",
                nearest=("2",),
            )
    if sharing.rename_by_default and not (sharing.time_slicing or sharing.mps):
        message = "renameByDefault names shares, and nothing is shared here"
        yield Finding(
            "conflicting-fields",
            message,
            field="spec.sharing.renameByDefault",
            hint="add timeSlicing or mps, or leave it out",
        )
    if sharing.mig:
        yield from _check_mig(sharing.mig)


def _check_mig(mig: MigSpec) -> Iterator[Finding]:
    field = "spec.sharing.mig"
    said = [name for name in ("profile", "layout", "devices") if getattr(mig, name) is not None]
    if not said:
        yield Finding("missing-field", "mig needs a profile, a layout or devices", field=field, hint="profile: 1g.5gb")
    if len(said) > 1:
        message = f"mig has {' and '.join(said)}; one of them says what the GPUs are cut into"
        yield Finding("conflicting-fields", message, field=f"{field}.{said[1]}", hint=f"leave {said[1]} out")
    for path, layout in _layouts(mig):
        for profile, count in (layout or {}).items():
            if count < 1:
                hint = "1 or more, or leave it out"
                yield Finding("invalid-value", f"{count} instances of {profile}", field=f"{path}.{profile}", hint=hint)
        if layout is not None and not layout:
            yield Finding("invalid-value", "an empty layout cuts nothing", field=path, hint="name at least one profile")


def _layouts(mig: MigSpec) -> Iterator[tuple[str, dict[str, int] | None]]:
    if mig.layout is not None:
        yield "spec.sharing.mig.layout", mig.layout
    for index, layout in enumerate(mig.devices or []):
        yield f"spec.sharing.mig.devices[{index}]", layout


def _check_nodes(nodes: NodesSpec) -> Iterator[Finding]:
    for name in ("count", "min", "max"):
        value = getattr(nodes, name)
        if value is not None and value < 0:
            yield Finding("nodes-out-of-range", f"{value} nodes", field=f"spec.nodes.{name}", nearest=("0",))
    if nodes.min is not None and nodes.max is None:
        message = "min without max: the autoscaler needs both ends"
        yield Finding("missing-field", message, field="spec.nodes.max", hint="--max N, or --nodes N for a fixed size")
    if nodes.min is not None and nodes.max is not None and nodes.min > nodes.max:
        message = f"min {nodes.min} is above max {nodes.max}"
        yield Finding("nodes-out-of-range", message, field="spec.nodes.min", nearest=(str(nodes.max),))
    elif nodes.count is not None and nodes.max is not None:
        low = nodes.min or 0
        if not low <= nodes.count <= nodes.max:
            near = str(min(max(nodes.count, low), nodes.max))
            message = f"{nodes.count} nodes are outside min {low} and max {nodes.max}"
            yield Finding("nodes-out-of-range", message, field="spec.nodes.count", nearest=(near,))
    if nodes.max == 0:
        yield Finding(
            "nodes-out-of-range", "max 0 is a pool that can never have a node", field="spec.nodes.max", nearest=("1",)
        )


def _check_eks_backend(spec: NodePoolSpec) -> Iterator[Finding]:
    """`sharing.mig.backend` and `eks.backend` are one setting in two places."""
    inner = spec.sharing.mig.backend if spec.sharing.mig else None
    outer = spec.eks.backend if spec.eks else None
    if inner and outer and inner is not outer:
        message = f"eks.backend says {outer}, sharing.mig.backend says {inner}"
        yield Finding("conflicting-fields", message, field="spec.sharing.mig.backend", hint="say it once")
