"""SPEC FLAGS, files and names -> NodePools as written."""

from __future__ import annotations

import typing
from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import UnionType
from typing import Any

from fracgpu.catalog.models import ProviderName
from fracgpu.cli.cluster_sources import Sourced, cluster_of, names_something
from fracgpu.cli.flags import SpecFlags
from fracgpu.errors import Finding, Invalid
from fracgpu.manifest import Document, Origin, read_paths
from fracgpu.mistakes import findings_of
from fracgpu.options import AksOptions, EksOptions, GkeOptions
from fracgpu.spec import Cluster, NodePool

FLAG_ORIGIN = Origin("")
OPTIONS: dict[str, type[AksOptions | GkeOptions | EksOptions]] = {
    "aks": AksOptions,
    "gke": GkeOptions,
    "eks": EksOptions,
}


def documents(name: str | None, flags: SpecFlags, cloud: ProviderName | None = None) -> list[Document]:
    """The pools that a command is about: those of -f, or the one that the flags say.

    `cloud` is the one that the command implies where neither flags nor file name a cluster.
    """
    written = from_files(name, flags) if flags.file else [Document(from_flags(name, flags), FLAG_ORIGIN)]
    return [with_cluster(one, cloud) for one in written]


def one_document(name: str | None, flags: SpecFlags) -> Document:
    """The one pool that a command is about. Raises Invalid where files hold several."""
    found = documents(name, flags)
    if len(found) > 1:
        names = tuple(one.pool.metadata.name or "(no name)" for one in found)
        message = f"{len(found)} pools in {', '.join(flags.file or ())}, and this command takes one"
        raise Invalid.one("usage", message, hint="name one of them, or use: fracgpu pool apply -f", nearest=names)
    return found[0]


def from_files(name: str | None, flags: SpecFlags) -> list[Document]:
    """The pools of -f; the one called `name`, where a name is given."""
    if flags.said:
        words = ", ".join("--" + word.replace("_", "-") for word in flags.said)
        raise Invalid.one(
            "conflicting-fields", f"-f and {words}: the file says it all", hint="leave the flags or the file out"
        )
    found = read_paths(flags.file or ())
    if name is None:
        return found
    if len(found) == 1 and found[0].pool.metadata.name is None:
        return [replace(found[0], pool=_named(found[0].pool, name))]
    matching = [one for one in found if one.pool.metadata.name == name]
    if not matching:
        names = tuple(one.pool.metadata.name or "" for one in found)
        raise Invalid.one("usage", f"no pool called {name} in {', '.join(flags.file or ())}", nearest=names)
    return matching


def _named(pool: NodePool, name: str) -> NodePool:
    return pool.model_copy(update={"metadata": pool.metadata.model_copy(update={"name": name})})


def with_cluster(document: Document, cloud: ProviderName | None = None) -> Document:
    """The pool with its cluster, as a whole from the first source that says anything of it.

    A source other than the pool itself that names another cloud than `cloud` is none: a cluster of that cloud without
    a name is what is left.
    """
    spec = document.pool.spec
    found = cluster_of(spec.cluster)
    if cloud is not None and found.cluster.provider != cloud and not names_something(spec.cluster):
        found = Sourced(Cluster(provider=cloud.value), "the command")
    pool = document.pool.model_copy(update={"spec": spec.model_copy(update={"cluster": found.cluster})})
    return replace(document, pool=pool, guessed=found.guessed)


def from_flags(name: str | None, flags: SpecFlags) -> NodePool:
    """The file form of the flags. Raises Invalid with every flag that is wrong."""
    findings: list[Finding] = []
    body = {"metadata": {"name": name} if name is not None else {}, "spec": spec_words(flags, findings)}
    return validated(body, findings)


def validated(body: dict[str, Any], findings: Sequence[Finding] = ()) -> NodePool:
    """A NodePool of plain data. Raises Invalid with `findings` and what pydantic says, in our words."""
    from pydantic import ValidationError

    problems = list(findings)
    pool: NodePool | None = None
    try:
        pool = NodePool.model_validate(body)
    except ValidationError as error:
        problems += findings_of(error)
    if problems or pool is None:
        raise Invalid(problems)
    return pool


def spec_words(flags: SpecFlags, findings: list[Finding]) -> dict[str, Any]:
    """The spec that the flags say, in the file form."""
    spec: dict[str, Any] = {
        "cluster": _given(
            provider=flags.provider,
            name=flags.cluster,
            resourceGroup=flags.resource_group,
            subscription=flags.subscription,
            project=flags.project,
            location=flags.location,
            region=flags.region,
        ),
        "gpu": flags.gpu,
        "machine": flags.machine,
        "sharing": _sharing(flags, findings),
        "nodes": _given(count=flags.nodes, min=flags.min, max=flags.max),
        "capacity": _capacity(flags, findings),
        "disk": _given(sizeGb=flags.disk_gb),
        "zones": flags.zone or None,
        "labels": _pairs(flags.label, "--label", "invalid-label", findings),
        "taints": flags.taint or None,
        "tags": _pairs(flags.tag, "--tag", "invalid-tag", findings),
        "gpuTaint": False if flags.no_gpu_taint else None,
    }
    spec |= settings(flags.set or (), findings)
    if flags.backend:
        spec.setdefault("eks", {}).setdefault("backend", flags.backend.lower())
    return {key: value for key, value in spec.items() if value is not None}


def _given(**members: Any) -> dict[str, Any]:
    return {key: value for key, value in members.items() if value is not None}


def _capacity(flags: SpecFlags, findings: list[Finding]) -> str | None:
    if flags.spot and flags.capacity and flags.capacity.lower() != "spot":
        message = f"--spot and --capacity {flags.capacity}"
        findings.append(Finding("conflicting-fields", message, field="spec.capacity", hint="say one of them"))
    return "spot" if flags.spot else flags.capacity and flags.capacity.lower()


def _sharing(flags: SpecFlags, findings: list[Finding]) -> dict[str, Any]:
    sharing: dict[str, Any] = {}
    if flags.mig is not None:
        sharing["mig"] = read_mig(flags.mig, findings)
        if flags.mig_strategy:
            sharing["mig"]["strategy"] = flags.mig_strategy.lower()
    elif flags.mig_strategy:
        message = "--mig-strategy names MIG slices, and --mig is not given"
        findings.append(Finding("conflicting-fields", message, field="spec.sharing.mig.strategy", hint="--mig PROFILE"))
    if flags.time_slicing is not None:
        sharing["timeSlicing"] = {"replicas": flags.time_slicing}
    if flags.mps is not None:
        sharing["mps"] = {"replicas": flags.mps}
    if flags.one_share_per_container:
        if flags.time_slicing is None:
            field = "spec.sharing.timeSlicing.failRequestsGreaterThanOne"
            message = "--one-share-per-container goes with --time-slicing"
            findings.append(
                Finding("conflicting-fields", message, field=field, hint="--time-slicing N, or leave it out")
            )
        else:
            sharing["timeSlicing"]["failRequestsGreaterThanOne"] = True
    if flags.rename_shared:
        sharing["renameByDefault"] = True
    return sharing


DIGITS = 9
LAYOUT_HINT = "--mig 3g.20gb=1,1g.5gb=2"


def read_mig(text: str, findings: list[Finding]) -> dict[str, Any]:
    """`1g.5gb` as a profile, `3g.20gb=1,1g.5gb=2` as a layout."""
    if "=" not in text and "," not in text:
        return {"profile": text.strip()}
    layout: dict[str, Any] = {}
    for part in text.split(","):
        profile, equals, count = (word.strip() for word in part.partition("="))
        if not profile or (equals and not count.isdecimal()) or len(count) > DIGITS:
            message = f"{part.strip()[:60] or text!r} is not PROFILE=COUNT"
            finding = Finding("invalid-value", message, field="spec.sharing.mig.layout", hint=LAYOUT_HINT)
            findings += [] if finding in findings else [finding]
            continue
        layout[profile] = layout.get(profile, 0) + int(count or 1)
    return {"layout": layout}


def _pairs(written: Iterable[str] | None, flag: str, code: str, findings: list[Finding]) -> dict[str, str] | None:
    if not written:
        return None
    pairs: dict[str, str] = {}
    field = f"spec.{flag.strip('-')}s"
    for text in written:
        key, equals, value = text.partition("=")
        if not equals or not key:
            message, hint = f"{flag} {text!r} is not KEY=VALUE", f"{flag} team=vision"
            findings.append(Finding(code, message, field=field, hint=hint))
        elif pairs.get(key, value) != value:
            message = f"{flag} {key} is said twice, {pairs[key]!r} and {value!r}"
            findings.append(Finding(code, message, field=f"{field}.{key}", hint="leave one of the two out"))
        elif flag == "--label" and "=" in value.partition(",")[2]:
            hint = " ".join(f"{flag} {part}" for part in text.split(","))
            findings.append(Finding(code, f"{flag} {text!r} is several", field=field, hint=hint))
        pairs[key] = value
    return pairs


def settings(written: Iterable[str], findings: list[Finding]) -> dict[str, Any]:
    """`aks.osSku=Ubuntu` ... as the mappings that they mean. Text fields take the text as typed, others YAML, lists
    `a,b`."""
    result: dict[str, Any] = {}
    for text in written:
        path, equals, value = text.partition("=")
        steps = path.split(".")
        if not equals or steps[0] not in OPTIONS or len(steps) < 2:
            message = f"--set {text!r} is not aks|gke|eks.FIELD=VALUE"
            findings.append(Finding("usage", message, field="--set", hint=_set_hint(path, value)))
            continue
        if not _put(result, steps, _typed(OPTIONS[steps[0]], steps[1:], value)):
            message = f"--set {text!r}: another --set gives this field, or the one it is under, a value"
            findings.append(Finding("usage", message, field="--set", hint="leave one of the two out"))
    return result


def _set_hint(path: str, value: str) -> str:
    """The setting that was meant: with its cloud, and with a value."""
    field = path.removeprefix("spec.")
    known = {cloud: {one.alias for one in model.model_fields.values()} for cloud, model in OPTIONS.items()}
    clouds = [cloud for cloud, fields in known.items() if field in fields]
    named = [f"{cloud}.{field}" for cloud in clouds] or ([field] if field.partition(".")[0] in OPTIONS else [])
    return " or ".join(f"--set {name}={value or 'VALUE'}" for name in named) or "--set aks.osSku=Ubuntu"


def _put(tree: dict[str, Any], steps: Sequence[str], value: Any) -> bool:
    """Set a value in nested mappings; False where another stands there, or something on the way is no mapping."""
    *owners, last = steps
    for step in owners:
        inner: Any = tree.setdefault(step, {})
        if not isinstance(inner, dict):
            return False
        tree = inner
    if last in tree and tree[last] != value:
        return False
    tree[last] = value
    return True


def _typed(model: Any, steps: Sequence[str], value: str) -> Any:
    """The value as its field's type wants it; an unknown field is left to validation."""
    info = next((one for name, one in model.model_fields.items() if steps[0] in (name, one.alias)), None)
    kinds = _kinds(info.annotation) if info else set()
    if len(steps) > 1:
        inner = next((kind for kind in kinds if hasattr(kind, "model_fields")), None)
        return _typed(inner, steps[1:], value) if inner else _yaml(value)
    if list in kinds:
        text = value.strip()
        return _yaml(text) if text.startswith("[") else [part.strip() for part in text.split(",")]
    return value if str in kinds or not kinds else _yaml(value)


def _yaml(text: str) -> Any:
    """The text read as YAML; as it is where that cannot be."""
    import yaml

    from fracgpu.yamltext import load_all

    try:
        return next(load_all(text), None)
    except yaml.YAMLError:
        return text


def _kinds(annotation: Any) -> set[Any]:
    """The plain types that an annotation allows; a Literal of words counts as text."""
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, UnionType):
        return set().union(*(_kinds(part) for part in typing.get_args(annotation)))
    if origin is typing.Annotated:
        return _kinds(typing.get_args(annotation)[0])
    if origin is typing.Literal:
        return {type(word) for word in typing.get_args(annotation)}
    if origin is not None:
        return {origin}
    if isinstance(annotation, type) and issubclass(annotation, str):
        return {str}
    return set() if annotation is type(None) else {annotation}
