"""`fracgpu pool update`."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, NamedTuple

import typer

from fracgpu.cli.choices import ReplaceOption, WaitOption, YesOption
from fracgpu.cli.connect import named_cluster
from fracgpu.cli.consent import consent_to_clusters
from fracgpu.cli.duration import TimeoutOption, seconds
from fracgpu.cli.flags import SpecFlags, with_spec
from fracgpu.cli.output import Output, OutputOption
from fracgpu.cli.pool.revising import revise
from fracgpu.cli.spec_of import one_document, spec_words, validated
from fracgpu.errors import Finding, Invalid
from fracgpu.operations.apply import How
from fracgpu.operations.drain import Drain
from fracgpu.operations.prepare import prepare
from fracgpu.operations.revise import Edit
from fracgpu.operations.update import as_declared, overlaid
from fracgpu.resolve import ClusterRef


@with_spec
def update(
    flags: SpecFlags,
    name: Annotated[str | None, typer.Argument(help="Name of the pool", show_default=False)] = None,
    wait: WaitOption = True,
    timeout: TimeoutOption = "45m",
    replace_: ReplaceOption = False,
    yes: YesOption = False,
    out: OutputOption = Output.TABLE,
) -> None:
    """Change what can be changed in place, by flags or to what a file says.

    Labels, tags and taints are added to those that the pool has; KEY- takes one out.
    """
    limit = seconds(timeout)
    name, cluster, edit = _from_file(name, flags, yes=yes) if flags.file else _from_flags(name, flags, yes=yes)
    revise(name, cluster, edit, How(wait, drain=Drain()), out, limit=limit, may_replace=replace_, yes=yes)


def _from_file(name: str | None, flags: SpecFlags, *, yes: bool) -> tuple[str, ClusterRef, Edit]:
    from fracgpu.catalog.load import load

    document = one_document(name, flags)
    prepared = prepare(document.pool, load(), origin=document.origin)
    consent_to_clusters([document], yes=yes)
    return prepared.pool.name, prepared.pool.cluster, as_declared(document.pool)


def _from_flags(name: str | None, flags: SpecFlags, *, yes: bool) -> tuple[str, ClusterRef, Edit]:
    if name is None:
        raise Invalid.one("usage", "which pool? name it", field="NAME", hint="fracgpu pool list")
    label, tag, taint = (_parted(words) for words in (flags.label, flags.tag, flags.taint))
    findings: list[Finding] = []
    said = spec_words(replace(flags, label=label.kept, tag=tag.kept, taint=taint.kept), findings)
    cluster = validated({"spec": {"cluster": said.pop("cluster", {})}}, findings).spec.cluster
    parts = {"labels": label, "tags": tag, "taints": taint}
    gone = {field: part.gone for field, part in parts.items() if part.gone}
    said = {key: value for key, value in said.items() if value not in ({}, None)}
    if not said and not gone:
        raise Invalid.one(
            "usage", "nothing to change is named", field="FLAGS", hint="--label k=v, --max 6, -f FILE ..."
        )
    return name, named_cluster(cluster, yes=yes), overlaid(said, gone, validated)


class _Parts(NamedTuple):
    kept: list[str] | None
    gone: list[str]


def _parted(words: list[str] | None) -> _Parts:
    """`KEY-` takes a label, tag or taint out, as with kubectl."""
    gone = [word for word in words or () if word.endswith("-") and "=" not in word and ":" not in word]
    kept = [word for word in words or () if word not in gone]
    return _Parts(kept or None, [word[:-1] for word in gone])
