"""`fracgpu catalog`: what there is, offline."""

from __future__ import annotations

from fracgpu.cli.lazy import group

HERE = "fracgpu.cli.catalog"
app = group(
    {
        "gpus": (f"{HERE}.gpus", "gpus", "Every GPU, and what it can be cut into"),
        "profiles": (f"{HERE}.profiles", "profiles", "MIG profiles, and how each cloud says them"),
        "machines": (f"{HERE}.machines", "machines", "Machines of the three clouds that have a GPU"),
        "layouts": (f"{HERE}.layouts", "layouts", "Every way to cut a GPU, drawn"),
    },
    "GPUs, MIG profiles, machines and layouts",
)
