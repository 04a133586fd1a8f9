"""`fracgpu pool explain`: the contract of a pool, offline."""

from __future__ import annotations

from typing import Annotated

import typer

from fracgpu.advertise import Explanation
from fracgpu.advertise import explain as contract
from fracgpu.catalog.load import load
from fracgpu.cli import output
from fracgpu.cli.flags import SpecFlags, with_spec
from fracgpu.cli.output import Output, OutputOption, say_notes
from fracgpu.cli.spec_of import one_document
from fracgpu.operations.prepare import prepare


@with_spec
def explain(
    flags: SpecFlags,
    name: Annotated[str | None, typer.Argument(help="Name of the pool", show_default=False)] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings fail")] = False,
    out: OutputOption = Output.TABLE,
) -> None:
    """What the nodes of a pool will advertise, and what a pod must ask for."""
    document = one_document(name, flags)
    prepared = prepare(document.pool, load(), placeholder=True, strict=strict, origin=document.origin)
    explanation = contract(prepared.pool, prepared.provider.node_facts(prepared.pool))
    if not output.write_document(out, "Explanation", explanation.to_json()):
        output.write(explanation_text(explanation))
        say_notes(explanation.notes)


def explanation_text(explanation: Explanation) -> str:
    """The contract for a person."""
    said = explanation.to_json()
    pool = explanation.pool
    rows = [
        ("machine", f"{said['machine']}: {said['gpusPerNode']} x {pool.gpu.product}"),
        ("per GPU", f"{said['slicesPerGpu']} x {said['sharesPerSlice']} (slices x shares)"),
        ("a node advertises", ", ".join(f"{name}: {count}" for name, count in said["perNode"]["resources"].items())),
        ("a pod asks for", _request(said)),
        ("node selector", _pairs(said["pod"]["nodeSelector"])),
        ("tolerations", ", ".join(map(str, explanation.facts.taints)) or "none"),
        ("one request gets", _slice(said)),
        ("isolation", ", ".join(f"{what} {how}" for what, how in said["isolation"].items())),
        ("idle per GPU", f"{said['unused']['computeSlices']} compute, {said['unused']['memorySlices']} memory slices"),
        ("device plugin", f"run by the {said['plugin']}"),
    ]
    if said["pod"]["hostIPC"]:
        rows.append(("pod spec", "hostIPC: true"))
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name.ljust(width)}  {value}" for name, value in rows)


def _request(said: dict) -> str:  # type: ignore[type-arg]
    pod = said["pod"]
    limit = pod["maxPerContainer"]
    return f"{pod['resource']}: 1" + (f" (at most {limit} a container)" if limit else "")


def _pairs(pairs: dict[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in pairs.items()) or "none"


def _slice(said: dict) -> str:  # type: ignore[type-arg]
    memory, compute = said["slice"]["memoryGib"], said["slice"]["computeFraction"]
    amount = f"{memory} GiB" if memory is not None else "memory unknown"
    return f"{amount}, {compute:.1%} of a GPU's compute"
