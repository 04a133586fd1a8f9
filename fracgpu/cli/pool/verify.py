"""`fracgpu pool verify`: the nodes, held against the promise."""

from __future__ import annotations

from typing import Annotated

import typer

from fracgpu.catalog.load import load
from fracgpu.cli import output
from fracgpu.cli.again import cluster_words
from fracgpu.cli.choices import YesOption
from fracgpu.cli.connect import connect
from fracgpu.cli.consent import confirm, consent_to_clusters
from fracgpu.cli.duration import TimeoutOption, seconds
from fracgpu.cli.flags import SpecFlags, with_spec
from fracgpu.cli.globals import GLOBALS
from fracgpu.cli.output import Output, OutputOption, say_notes
from fracgpu.cli.progress import watch
from fracgpu.cli.promised import cluster_meant
from fracgpu.cli.spec_of import one_document
from fracgpu.errors import Invalid
from fracgpu.kube.promise import Promise
from fracgpu.kube.verify import NodeVerdict, Verification
from fracgpu.operations.listing import found
from fracgpu.operations.promises import declared
from fracgpu.operations.prove import prove as start_and_look
from fracgpu.operations.verify import missing
from fracgpu.operations.verify import verify as look
from fracgpu.operations.wait import Wait
from fracgpu.providers import Observed, Session, provider
from fracgpu.resolve import ClusterRef


@with_spec
def verify(
    flags: SpecFlags,
    name: Annotated[str | None, typer.Argument(help="Name of the pool", show_default=False)] = None,
    prove: Annotated[bool, typer.Option("--prove", help="Start a node where there is none, look, and end it")] = False,
    timeout: TimeoutOption = "45m",
    yes: YesOption = False,
    out: OutputOption = Output.TABLE,
) -> None:
    """Hold the nodes of a pool against what it promises, or against what a file or flags say of it. Exit 6 where they
    fall short."""
    promise, cluster, pool = _meant(name, flags, yes=yes)
    session = connect(cluster)
    seen = found(session, pool)
    result = look(session, seen, load(), promise)
    if prove and not result.proven and not result.wanted:
        result = _proven(session, seen, promise, seconds(timeout), yes=yes)
    show_verification(result, out)
    if not result.ok:
        raise missing(result)


def _meant(name: str | None, flags: SpecFlags, *, yes: bool) -> tuple[Promise | None, ClusterRef, str]:
    """The promise where one is said, the cluster, and the pool's name."""
    if flags.describes:
        document = one_document(name, flags)
        promise = declared([document], load(), placeholder=False).items[0]
        consent_to_clusters([document], yes=yes)
        return promise, promise.pool.cluster, promise.name
    if name is None:
        raise Invalid.one("usage", "which pool? give its NAME, or -f FILE", hint="fracgpu pool list")
    return None, cluster_meant(flags, yes=yes), name


def _proven(session: Session, seen: Observed, promise: Promise | None, limit: float, *, yes: bool) -> Verification:
    confirm(f"Start a node of {seen.name}, and end it afterwards?", f"--prove starts a node of {seen.name}", yes=yes)
    again = back_to_zero(seen)
    output.say(f"should this be cut short, what puts the pool back is: {again}")
    wait = Wait.start(seen.name, seen.cluster, limit, again)
    return watch(start_and_look(session, seen, load(), wait, promise), again)


def back_to_zero(seen: Observed) -> str:
    """The command that puts a pool back whose proof was broken off: no node, and the autoscaler's own minimum."""
    sandbox = "--sandbox " if GLOBALS.sandbox else ""
    limits = provider(seen.cluster.provider).read(seen)[0].spec.nodes
    low = f" --min {limits.min or 0}" if limits.max is not None and limits.min != limits.max else ""
    return f"fracgpu {sandbox}pool scale {seen.name} --nodes 0{low} {cluster_words(seen.cluster)}"


def show_verification(result: Verification, out: Output) -> None:
    """Node by node; a document with -o json or yaml."""
    if output.write_document(out, "Verification", result.to_json()):
        return
    if out is Output.NAME:
        output.write("\n".join(f"node/{node.name}" for node in result.nodes if node.ok))
        return
    for node in result.nodes:
        output.write(_line(node))
    for problem in result.problems:
        output.write(f"{problem.message}")
    if result.ok and result.proven:
        output.write(f"{result.pool}: {len(result.nodes)} of {len(result.nodes)} nodes as promised")
    elif result.ok:
        output.write(f"{result.pool}: there is no node to look at, so nothing is proven")
    say_notes(result.notes)


def _line(node: NodeVerdict) -> str:
    shown = ", ".join(f"{name}: {count}" for name, count in node.allocatable.items()) or "no GPU resources"
    lines = [f"{'ok  ' if node.ok else 'FAIL'}  {node.name}  {shown}"]
    for problem in node.problems:
        lines.append(f"      {problem.message}")
        if problem.hint:
            lines.append(f"      hint: {problem.hint}")
    return "\n".join(lines)
