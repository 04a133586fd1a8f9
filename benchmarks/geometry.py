"""How many questions of geometry are answered in a second: `python benchmarks/geometry.py`.

"first" asks for each layout for the first time (remembered answers are dropped before), "again" a second time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from itertools import product
from time import perf_counter

from fracgpu.catalog import geometry
from fracgpu.catalog.geometry import Layout
from fracgpu.catalog.load import load
from fracgpu.catalog.models import Gpu

GPUS = ("a30-24gb", "a100-40gb", "h200-141gb-sxm", "rtx-pro-6000-blackwell-96gb")
MEMOS = (geometry._fit, geometry._nearest, geometry._valid, geometry._maximal, geometry._candidates)


def forget() -> None:
    for memo in MEMOS:
        memo.cache_clear()


def layouts(gpu: Gpu) -> list[Layout]:
    """Every choice of up to two instances of each profile: about as many that fit as do not."""
    names = [row.name for row in gpu.profiles][:7]
    counts = (dict(zip(names, some, strict=True)) for some in product(range(3), repeat=len(names)))
    return [Layout.of(gpu, some) for some in counts]


def rate(ask: Callable[[Layout], object], over: Iterable[Layout]) -> float:
    """Questions a second."""
    questions = list(over)
    start = perf_counter()
    for layout in questions:
        ask(layout)
    return len(questions) / (perf_counter() - start)


def measure(gpu: Gpu) -> dict[str, float]:
    asked = layouts(gpu)

    def fit(layout: Layout) -> object:
        return geometry.fit(gpu, layout)

    def nearest(layout: Layout) -> object:
        return geometry.nearest_layouts(gpu, layout)

    def full(_: Layout) -> object:
        return geometry.maximal_layouts(gpu, attributes=True)

    forget()
    figures = {"fit, first": rate(fit, asked), "fit, again": rate(fit, asked)}
    forget()
    figures["full layouts, first"] = rate(full, asked[:1])
    nearest(asked[0])
    figures["nearest, first"] = rate(nearest, asked[:300])
    figures["nearest, again"] = rate(nearest, asked[:300])
    return figures


def main() -> None:
    for key in GPUS:
        for what, figure in measure(load().gpu(key)).items():
            sys.stdout.write(f"{key:30} {what:22} {figure:12,.0f} a second\n")


if __name__ == "__main__":
    main()
