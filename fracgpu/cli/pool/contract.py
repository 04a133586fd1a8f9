"""The contract of a pool, printed: what its nodes advertise, what a pod asks for, and its GPUs drawn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from fracgpu.advertise import Explanation
from fracgpu.cli import output
from fracgpu.cli.output import Output, say_notes
from fracgpu.errors import Invalid
from fracgpu.resolve import ResolvedPool
from fracgpu.sharing import Mig

if TYPE_CHECKING:
    from fracgpu.catalog.geometry import Arrangement


def show_contract(explanation: Explanation, out: Output) -> None:
    """Print it; notes stand in the document, or on stderr."""
    if output.write_document(out, "Explanation", explanation.to_json(), picture=True):
        return
    match out:
        case Output.NAME:
            output.write(f"nodepool/{explanation.pool.name}")
        case Output.SVG:
            output.write(_svg(explanation.pool))
        case _:
            output.write(explanation_text(explanation))
            if out is Output.WIDE:
                _draw(explanation.pool)
    say_notes(explanation.notes)


def arrangements(pool: ResolvedPool) -> Iterator[tuple[str, Arrangement]]:
    """Each way in which GPUs of a node are cut, with its GPUs in words, where its slices are known to lie."""
    from fracgpu.catalog import geometry

    devices = pool.sharing.cut.devices if isinstance(pool.sharing.cut, Mig) else ()
    for layout in dict.fromkeys(devices):
        found = geometry.fit(pool.gpu, geometry.Layout(layout)) if layout else None
        if isinstance(found, geometry.Arrangement):
            count = devices.count(layout)
            yield f"{count} GPU{'s' if count > 1 else ''} of a node: {geometry.Layout(layout or ())}", found


def _svg(pool: ResolvedPool) -> str:
    from fracgpu.cli.svg import gpu_svg

    panels = list(arrangements(pool))
    if not panels:
        hint = "--mig PROFILE cuts it; -o table says how it is shared"
        raise Invalid.one("usage", "there is a picture of GPUs that are cut only", field="--output", hint=hint)
    return gpu_svg(pool.gpu, panels)


def _draw(pool: ResolvedPool) -> None:
    from fracgpu.cli.draw import gpu_picture

    for _, arrangement in arrangements(pool):
        output.render(gpu_picture(pool.gpu, arrangement))


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


def _request(said: dict[str, Any]) -> str:
    pod = said["pod"]
    limit = pod["maxPerContainer"]
    return f"{pod['resource']}: 1" + (f" (at most {limit} a container)" if limit else "")


def _pairs(pairs: dict[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in pairs.items()) or "none"


def _slice(said: dict[str, Any]) -> str:
    memory, compute = said["slice"]["memoryGib"], said["slice"]["computeFraction"]
    amount = f"{memory} GiB" if memory is not None else "memory unknown"
    return f"{amount}, {compute:.1%} of a GPU's compute"
