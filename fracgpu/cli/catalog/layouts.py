"""`fracgpu catalog layouts`: every way to cut a GPU that leaves no room for another slice."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fracgpu.catalog import geometry
from fracgpu.catalog.geometry import Arrangement, Layout
from fracgpu.catalog.load import load
from fracgpu.catalog.models import Gpu
from fracgpu.cli import output
from fracgpu.cli.catalog.pick import gpus_called
from fracgpu.cli.output import DrawnOption, Output
from fracgpu.errors import Invalid

AttributesOption = Annotated[bool, typer.Option("--attributes", help="Also profiles with +me, +gfx, -me")]


def layouts(
    gpu: Annotated[str, typer.Option("--gpu", help="GPU, as a100-40gb")],
    attributes: AttributesOption = False,
    out: DrawnOption = Output.TABLE,
) -> None:
    """Every maximal layout of a GPU: where its slices lie, and what it leaves idle."""
    found = gpus_called(load(), gpu)
    capable = [one for one in found if one.mig]
    if not capable:
        hint = "--time-slicing N or --mps N shares it whole"
        raise Invalid.one("gpu-not-mig-capable", f"{found[0].product} has no MIG", field="--gpu", hint=hint)
    rows = [(one, layout) for one in capable for layout in geometry.maximal_layouts(one, attributes=attributes)]
    if output.write_document(out, "LayoutList", {"items": [layout_json(*row) for row in rows]}, picture=True):
        return
    match out:
        case Output.NAME:
            output.write("\n".join(str(layout) for _, layout in rows))
        case Output.SVG:
            output.write(_svg(capable, rows))
        case _:
            _draw(capable, rows, pictures=out is Output.WIDE)


def arranged(gpu: Gpu, layout: Layout) -> Arrangement:
    """Where the slices of a layout lie. A maximal layout always fits."""
    answer = geometry.fit(gpu, layout)
    assert isinstance(answer, Arrangement), f"{layout} is maximal and does not fit on {gpu.key}"
    return answer


def layout_json(gpu: Gpu, layout: Layout) -> dict[str, Any]:
    """One layout: its slices, their places in creation order, and what is left over."""
    arrangement, unused = arranged(gpu, layout), geometry.left(gpu, layout)
    return {
        "gpu": gpu.key,
        "profiles": layout.counts,
        "placements": [
            {"profile": one.profile, "start": one.start, "size": one.size} for one in arrangement.placements
        ],
        "creationOrder": list(arrangement.creation_order),
        "unused": {"computeSlices": unused.compute_slices, "memorySlices": unused.memory_slices},
        "proven": arrangement.proven,
        "unsettled": [{"code": doubt.code, "text": doubt.text, "link": doubt.link} for doubt in arrangement.unsettled],
    }


def _svg(gpus: list[Gpu], rows: list[tuple[Gpu, Layout]]) -> str:
    from fracgpu.cli.svg import gpu_svg

    if len(gpus) > 1:
        near = tuple(one.key for one in gpus)
        raise Invalid.one("usage", "a picture is of one GPU", field="--gpu", nearest=near)
    return gpu_svg(gpus[0], [(str(layout), arranged(one, layout)) for one, layout in rows])


def _draw(gpus: list[Gpu], rows: list[tuple[Gpu, Layout]], *, pictures: bool) -> None:
    """A table a GPU; with pictures each layout drawn as its slices too."""
    for gpu in gpus:
        own = [layout for one, layout in rows if one is gpu]
        proof = "" if all(arranged(gpu, layout).proven for layout in own) else " (placements not seen on this GPU)"
        output.write(f"{gpu.key}: {len(own)} layouts{proof}")
        if not pictures:
            output.table(("LAYOUT", "IDLE COMPUTE", "IDLE MEMORY", "SLICES"), [_line(gpu, layout) for layout in own])
            continue
        for layout in own:
            picture(gpu, layout)


def _line(gpu: Gpu, layout: Layout) -> list[Any]:
    unused = geometry.left(gpu, layout)
    return [str(layout), unused.compute_slices, unused.memory_slices, layout.instances]


def picture(gpu: Gpu, layout: Layout) -> None:
    """A layout drawn in the terminal."""
    from fracgpu.cli.draw import gpu_picture

    output.render(gpu_picture(gpu, arranged(gpu, layout)))
